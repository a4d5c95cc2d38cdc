package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/protocol/ident"
)

func s(v float64) *float64 { return &v }

// noon is when the tests look.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// memberCases are what a member shows, and the words for it.
var memberCases = map[string]struct {
	change func(st *api.Status)
	cause  api.Cause
	words  string
}{
	"nothing": {func(*api.Status) {}, explain.OK, "nothing keeps"},
	"revoked": {func(st *api.Status) { st.Invalid = "revoked"; st.Stopping = true }, explain.Revoked, "revoked"},
	"expired": {func(st *api.Status) { st.Invalid = "expired" }, explain.Expired, "expired; it ends at 2026-01-02T03:04:05Z"},
	"expired, and renewed": {func(st *api.Status) {
		st.Invalid, st.Renewing = "expired", "certificate ended 3d ago; renewing within the grace of 7d"
	}, explain.Expired, "this member's certificate ended 3d ago; renewing within the grace of 7d: no member hands it a token until then"},
	"stopping":              {func(st *api.Status) { st.Stopping = true }, explain.Stopping, "stopping"},
	"recalling":             {func(st *api.Status) { st.Journal.Recalling = true; st.UptimeS = 3 }, explain.Recalling, "restarted 3.0 s ago"},
	"all others are gone":   {func(st *api.Status) { st.Link = api.LinkStatus{Isolated: true, NobodyLeft: true, LastHeardS: s(31)} }, explain.Isolated, "no other member takes part any more"},
	"nobody can be dialled": {func(st *api.Status) { st.Link = api.LinkStatus{Isolated: true, NoAddresses: true} }, explain.NoAddresses, "only dial out"},
	"nothing ever came back": {func(st *api.Status) {
		st.Link, st.UptimeS = api.LinkStatus{Isolated: true, Silent: true, Unanswered: 6}, 20
	}, explain.UDPBlocked, "6 dials went out since the start 20 s ago, and nothing came back"},
	"one dial":  {func(st *api.Status) { st.Link = api.LinkStatus{Isolated: true, Silent: true, Unanswered: 1} }, explain.Isolated, "since the start"},
	"a refusal": {func(st *api.Status) { st.Link = api.LinkStatus{Isolated: true, Unanswered: 6} }, explain.Isolated, "since the start"},
	"cut off later": {func(st *api.Status) {
		st.Link = api.LinkStatus{Isolated: true, Silent: true, Unanswered: 6, LastHeardS: s(12)}
	}, explain.Isolated, "no peer answered for 12 s"},
	"late":         {func(st *api.Status) { st.Membership.Patience, st.Membership.LateS = 4, 2.5 }, explain.Late, "not scheduled for 2.5 s; it waits 4 times"},
	"no answer":    {func(st *api.Status) { st.Link.SilentS = 2.5 }, explain.NoAnswer, "no peer has answered for 2.5 s, though"},
	"an answer":    {func(st *api.Status) { st.Link.SilentS = 1.9 }, explain.OK, ""},
	"clock ahead":  {func(st *api.Status) { st.Link.ClockAheadS = 3600 }, explain.Clock, "1h ahead"},
	"clock behind": {func(st *api.Status) { st.Link.ClockAheadS = -90 }, explain.Clock, "90 s behind"},
	"clock near":   {func(st *api.Status) { st.Link.ClockAheadS = -59 }, explain.OK, ""},
	"retired key":  {func(st *api.Status) { st.KeyRetired = true }, explain.RetiredKey, "retired"},
	"retired key, so refused by all": {func(st *api.Status) {
		st.KeyRetired, st.Link = true, api.LinkStatus{Isolated: true, LastHeardS: s(20), SilentS: 20}
	}, explain.RetiredKey, "until it renews"},
	"behind": {func(st *api.Status) { st.Membership.Behind, st.ConfigurationVersion = true, 4 }, explain.Behind, "later than configuration 4"},
}

func TestStatus_Member_CauseNamed(t *testing.T) {
	for name, c := range memberCases {
		st := api.Status{CertificateExpires: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
		c.change(&st)
		explain.Status(&st, noon)
		assert.Equal(t, c.cause, st.Cause, name)
		assert.Contains(t, st.Sentence, c.words, name)
	}
}

// m3 is another member that has the token.
func m3(how api.How) *api.HolderStatus {
	return &api.HolderStatus{Name: "m3", Member: ident.Member{3}, How: how, ByName: "m5", AgeS: 12}
}

// slotCases are what a slot shows for whose resource programs wait, and the words for it.
var slotCases = map[string]struct {
	slot  api.SlotStatus
	cause api.Cause
	words string
}{
	"leaving":                         {api.SlotStatus{Leaving: true, Executing: true}, explain.Leaving, "lacks it"},
	"running":                         {api.SlotStatus{Held: true, Executing: true, Holder: &api.HolderStatus{How: api.Here, ProgramS: s(7), ProgramEndsS: s(13)}}, explain.Running, "for 7.0 s, and is killed in 13 s"},
	"gate unreachable":                {api.SlotStatus{Gate: &api.GateStatus{}}, explain.GateUnreachable, "cannot be reached"},
	"another gate":                    {api.SlotStatus{Gate: &api.GateStatus{Unreached: "another gate answered: 0707"}}, explain.GateUnreachable, "cannot be reached: another gate answered: 0707"},
	"gate observes":                   {api.SlotStatus{Held: true, Gate: &api.GateStatus{Observes: true}}, explain.TokenHere, "2 programs wait"},
	"gate stuck":                      {api.SlotStatus{Held: true, Gate: &api.GateStatus{Reachable: true, Said: "stuck", Hinders: "stuck"}}, explain.GateStuck, "cannot end"},
	"gate refuses":                    {api.SlotStatus{Held: true, Gate: &api.GateStatus{Reachable: true, Said: "refused: window", Hinders: "refused", NotBefore: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}}, explain.GateRefuses, `"refused: window", until 2026-01-02T03:04:05Z`},
	"gate busy":                       {api.SlotStatus{Held: true, Gate: &api.GateStatus{Reachable: true, Said: "busy", Hinders: "busy"}}, explain.GateBusy, "still has the session"},
	"gate stuck, for another member":  {api.SlotStatus{Gate: &api.GateStatus{Reachable: true, Said: "stuck", Hinders: "stuck"}, Holder: m3(api.Said)}, explain.Elsewhere, "m3"},
	"gate refused, for another time":  {api.SlotStatus{Gate: &api.GateStatus{Reachable: true, Said: "refused: window", Hinders: "refused", NotBefore: noon.Add(-time.Second)}, Holder: m3(api.Said)}, explain.Elsewhere, "m3"},
	"gate refuses for a while":        {api.SlotStatus{Gate: &api.GateStatus{Reachable: true, Said: "refused: window", Hinders: "refused", NotBefore: noon.Add(time.Second)}, Holder: m3(api.Said)}, explain.GateRefuses, "until 2026-01-02T12:00:01Z"},
	"gate lies":                       {api.SlotStatus{Held: true, Gate: &api.GateStatus{Reachable: true, Said: "opens 0", Hinders: "useless"}}, explain.GateRefuses, `lets no program in: it says "opens 0"`},
	"gate was stuck a while ago":      {api.SlotStatus{Gate: &api.GateStatus{Reachable: true, Said: "stuck", Hinders: "stuck", SaidS: s(119)}, Holder: m3(api.Said)}, explain.GateStuck, `could not end the session before: it said "stuck" 119 s ago`},
	"gate was stuck long ago":         {api.SlotStatus{Gate: &api.GateStatus{Reachable: true, Said: "stuck", Hinders: "stuck", SaidS: s(121)}, Holder: m3(api.Said)}, explain.Elsewhere, "m3"},
	"gate was busy a while ago":       {api.SlotStatus{Gate: &api.GateStatus{Reachable: true, Said: "busy", Hinders: "busy", SaidS: s(3)}, Holder: m3(api.Said)}, explain.Elsewhere, "m3"},
	"gate busy for long":              {api.SlotStatus{Held: true, Gate: &api.GateStatus{Reachable: true, Said: "busy", Hinders: "busy", AskedS: s(42)}}, explain.GateBusy, "the session before (asked 42 s ago), and opens"},
	"gate silent for long":            {api.SlotStatus{Held: true, Gate: &api.GateStatus{Reachable: true, Said: "asked", Hinders: "unanswered", AskedS: s(3)}}, explain.GateBusy, "has not answered yet (asked 3.0 s ago)"},
	"gate asked":                      {api.SlotStatus{Held: true, Gate: &api.GateStatus{Reachable: true, Said: "asked", Hinders: "unanswered"}}, explain.GateBusy, "has not answered yet"},
	"gate has closed":                 {api.SlotStatus{Held: true, Gate: &api.GateStatus{Reachable: true, Said: "closed: deadline"}}, explain.TokenHere, "2 programs wait"},
	"gate busy, for another member":   {api.SlotStatus{Gate: &api.GateStatus{Reachable: true, Said: "busy", Hinders: "busy"}, Holder: m3(api.Said)}, explain.Elsewhere, "m3"},
	"votes":                           {api.SlotStatus{Held: true, IsolatedS: 5, Missing: make([]ident.Member, 2)}, explain.VotesMissing, "for 5.0 s: the votes of 2 members"},
	"here":                            {api.SlotStatus{Held: true}, explain.TokenHere, "the token is here"},
	"lost":                            {api.SlotStatus{Search: &api.SearchStatus{Stage: "lost", DueS: s(14)}, Holder: m3(api.Proved)}, explain.Replacing, "due in at most 14 s; last with m3 (12 s ago, by its receipt)"},
	"searching":                       {api.SlotStatus{Search: &api.SearchStatus{Stage: "asking"}, LastSeenS: s(3)}, explain.Searching, "asks the others"},
	"runs elsewhere":                  {api.SlotStatus{Holder: &api.HolderStatus{Name: "m3", How: api.Said, AgeS: 2, ProgramEndsS: s(18)}}, explain.RunsElsewhere, "m3 runs its program (2.0 s ago, says m3 itself), for 18 s more"},
	"a program here runs long":        {api.SlotStatus{Held: true, Executing: true, Long: &api.LongStatus{TookS: 42, UsualS: 1}, Holder: &api.HolderStatus{How: api.Here, ProgramS: s(42), ProgramEndsS: s(13)}}, explain.RunsLong, "for 42 s, and is killed in 13 s at the latest; turns of late took 1.0 s: it may hang"},
	"a program elsewhere runs long":   {api.SlotStatus{Long: &api.LongStatus{TookS: 42, UsualS: 1}, Holder: &api.HolderStatus{Name: "m3", How: api.Said, AgeS: 0.3, ProgramS: s(42), ProgramEndsS: s(18)}}, explain.RunsLong, "m3 runs its program, for 42 s or more (0.3 s ago, says m3 itself), for 18 s more at most; turns of late took 1.0 s: no prediction"},
	"a turn takes long":               {api.SlotStatus{Long: &api.LongStatus{TookS: 42, UsualS: 1}, Holder: &api.HolderStatus{Name: "m3", How: api.Said, AgeS: 30, SinceS: s(42)}}, explain.RunsLong, "token with m3 for 42 s or more (30 s ago, says m3 itself); turns of late took 1.0 s"},
	"away":                            {api.SlotStatus{Holder: &api.HolderStatus{Name: "m3", How: api.Said, AgeS: 2, ProgramEndsS: s(300), AwayS: s(300)}}, explain.HolderAway, "m3 is away while its machine restarts (2.0 s ago, says m3 itself), for 5m more at most"},
	"held across one without session": {api.SlotStatus{Held: true, Executing: true, Gate: &api.GateStatus{}, Holder: &api.HolderStatus{How: api.Here, ProgramEndsS: s(300), AwayS: s(300)}}, explain.Running, "across a restart of its machine, without a session at the gate, for 5m"},
	"held across one with session":    {api.SlotStatus{Held: true, Executing: true, Gate: &api.GateStatus{Session: 7}, Holder: &api.HolderStatus{How: api.Here, ProgramEndsS: s(300), AwayS: s(300)}}, explain.Running, "across a restart of its machine, for 5m"},
	"held across a restart":           {api.SlotStatus{Held: true, Executing: true, Holder: &api.HolderStatus{How: api.Here, ProgramEndsS: s(300), AwayS: s(300)}}, explain.Running, "this member holds it across a restart of its machine, for 5m more at most"},
	"queued":                          {api.SlotStatus{Holder: m3(api.Said), Eta: &api.EtaStatus{P50S: 40, Basis: "order", Before: 4}}, explain.Queued, "token with m3 (12 s ago, says m3 itself), 4 wait before you, about 40 s"},
	"one before":                      {api.SlotStatus{Holder: m3(api.Told), Eta: &api.EtaStatus{P50S: 20, Basis: "order", Before: 1}}, explain.Queued, "says m5), 1 waits before you, about 20 s"},
	"next, and the turn is long":      {api.SlotStatus{Holder: m3(api.Told), Eta: &api.EtaStatus{Basis: "order", Overdue: true}}, explain.Next, "you are next; the present turn takes longer than usual"},
	"queued, and the turn is long":    {api.SlotStatus{Holder: m3(api.Told), Eta: &api.EtaStatus{P50S: 20, Basis: "order", Before: 4, Overdue: true}}, explain.Queued, "4 wait before you, about 20 s after the present turn, which takes longer than usual"},
	"next, and overdue":               {api.SlotStatus{Holder: m3(api.Told), Eta: &api.EtaStatus{Basis: "order"}}, explain.Next, "you are next, later than predicted"},
	"overdue":                         {api.SlotStatus{Holder: m3(api.Told), Eta: &api.EtaStatus{Basis: "returns"}}, explain.Elsewhere, "says m5), later than predicted"},
	"next":                            {api.SlotStatus{Holder: m3(api.Told), Eta: &api.EtaStatus{P50S: 3, Basis: "order"}}, explain.Next, "you are next, about 3.0 s"},
	"elsewhere":                       {api.SlotStatus{Holder: m3(api.Told), Eta: &api.EtaStatus{P50S: 300, Basis: "returns"}}, explain.Elsewhere, "back in about 5m"},
	"no token":                        {api.SlotStatus{}, explain.NoToken, "no token has come here yet: there may be none, and this member knows no other one"},
	"no token, and nobody has one":    {api.SlotStatus{Search: &api.SearchStatus{Stage: "lost", DueS: s(30)}}, explain.NoToken, "makes the first in at most 30 s"},
	"founding":                        {api.SlotStatus{Founding: true}, explain.NoToken, "agreeing which one makes the first"},
	"no news":                         {api.SlotStatus{LastSeenS: s(30)}, explain.NoNews, "it was here 30 s ago"},
}

func TestStatus_ProgramsWait_CauseNamed(t *testing.T) {
	for name, c := range slotCases {
		st := api.Status{Resources: []api.ResourceStatus{{Name: "tape", Waiting: 2, Slots: []api.SlotStatus{c.slot}}}}
		explain.Status(&st, noon)
		assert.Equal(t, c.cause, st.Resources[0].Cause, name)
		assert.Contains(t, st.Resources[0].Sentence, c.words, name)
	}
}

// TestStatus_WindowClosed_SaysUntilWhen: also while nobody waits, since the next program would find it so. A program runs on.
func TestStatus_WindowClosed_SaysUntilWhen(t *testing.T) {
	w := api.WindowStatus{Text: "Mon-Fri 22:00-06:00 Europe/Rome", Closed: true, Opens: time.Date(2026, 11, 30, 22, 0, 0, 0, time.FixedZone("CET", 3600))}
	for waiting, want := range map[int]string{
		3: "closed until Mon 30 Nov 22:00 CET (windows Mon-Fri 22:00-06:00 Europe/Rome); 3 programs wait",
		0: "closed until Mon 30 Nov 22:00 CET (windows Mon-Fri 22:00-06:00 Europe/Rome); no program waits",
	} {
		st := api.Status{Resources: []api.ResourceStatus{
			{Name: "tape", Waiting: waiting, Windows: &w, Slots: []api.SlotStatus{{Held: true, IsolatedS: 3}}},
			{Name: "disk", Windows: &w, Slots: []api.SlotStatus{{Held: true, Executing: true}}},
			{Name: "line", Windows: &api.WindowStatus{}, Slots: []api.SlotStatus{{Held: true}}},
			{Name: "never", Windows: &api.WindowStatus{Text: "x", Closed: true}, Slots: []api.SlotStatus{{}}},
			{Name: "ahead", Windows: &api.WindowStatus{Text: "x", Closed: true, ByGate: true, Opens: w.Opens}, Slots: []api.SlotStatus{{}}},
		}}
		explain.Status(&st, noon)
		assert.Equal(t, explain.WindowClosed, st.Resources[0].Cause)
		assert.Equal(t, want, st.Resources[0].Sentence)
		assert.Equal(t, explain.Running, st.Resources[1].Cause)
		assert.Equal(t, explain.TokenHere, st.Resources[2].Cause)
		assert.Equal(t, "closed (windows x); no program waits", st.Resources[3].Sentence)
		assert.Equal(t, "closed by the clock of its gate until Mon 30 Nov 22:00 CET (windows x); no program waits", st.Resources[4].Sentence)
	}
}

func TestStatus_NobodyWaits_Idle(t *testing.T) {
	st := api.Status{Resources: []api.ResourceStatus{
		{Name: "a", Slots: []api.SlotStatus{{Holder: m3(api.Said), Eta: &api.EtaStatus{Basis: "order"}}}},
		{Name: "b", Slots: []api.SlotStatus{{Gate: &api.GateStatus{}, LastSeenS: s(1)}}},
		{Name: "c", NoPlace: true, Waiting: 1, Slots: []api.SlotStatus{{LastSeenS: s(1)}}},
	}}
	explain.Status(&st, noon)
	assert.Equal(t, "no program waits here; token with m3 (12 s ago, says m3 itself)", st.Resources[0].Sentence)
	assert.Equal(t, explain.GateUnreachable, st.Resources[1].Cause, "the next program would find that so")
	assert.Equal(t, explain.NoPlace, st.Resources[2].Cause)
}

// Of several slots that one counts whose token comes first.
func TestStatus_SeveralSlots_FirstToComeNamed(t *testing.T) {
	far, near := api.SlotStatus{Holder: m3(api.Told), Eta: &api.EtaStatus{P50S: 50}}, api.SlotStatus{Holder: m3(api.Said), Eta: &api.EtaStatus{P50S: 5}}
	for _, list := range [][]api.SlotStatus{{far, near}, {near, far}, {{}, near, far}} {
		st := api.Status{Resources: []api.ResourceStatus{{Waiting: 1, Slots: list}}}
		explain.Status(&st, noon)
		assert.Contains(t, st.Resources[0].Sentence, "itself), back in about 5.0 s")
	}
	st := api.Status{Resources: []api.ResourceStatus{{Waiting: 1, Slots: []api.SlotStatus{near, {Held: true}}}}}
	explain.Status(&st, noon)
	assert.Equal(t, explain.TokenHere, st.Resources[0].Cause)
}

// A gate's word about one slot keeps nobody from the token of another one.
func TestStatus_OneSlotBlocked_OtherNamed(t *testing.T) {
	stuck, here := api.SlotStatus{Gate: &api.GateStatus{Reachable: true, Said: "stuck", Hinders: "stuck"}}, api.SlotStatus{Slot: 1, Held: true, Gate: &api.GateStatus{Reachable: true}}
	held := stuck
	held.Held = true
	for name, c := range map[string]struct {
		list []api.SlotStatus
		want api.Cause
	}{
		"its token is elsewhere":    {[]api.SlotStatus{stuck, here}, explain.TokenHere},
		"its token is here":         {[]api.SlotStatus{held, here}, explain.TokenHere},
		"it comes last":             {[]api.SlotStatus{here, held}, explain.TokenHere},
		"all are blocked":           {[]api.SlotStatus{held, held}, explain.GateStuck},
		"the other one is not here": {[]api.SlotStatus{{Holder: m3(api.Said)}, held}, explain.GateStuck},
	} {
		st := api.Status{Resources: []api.ResourceStatus{{Waiting: 1, Slots: c.list}}}
		explain.Status(&st, noon)
		assert.Equal(t, c.want, st.Resources[0].Cause, name)
	}
}

// Who has a token is cut off, and not down.
func TestIsDown_TokenHere_OnlyWithoutOthers(t *testing.T) {
	for _, c := range []api.Cause{explain.NoAddresses, explain.UDPBlocked, explain.Isolated} {
		assert.True(t, explain.IsDown(c, false), c)
		assert.False(t, explain.IsDown(c, true), c)
	}
	for _, c := range []api.Cause{explain.NoDaemon, explain.DaemonSilent, explain.Revoked} {
		assert.True(t, explain.IsDown(c, true), c)
	}
	assert.False(t, explain.IsDown(explain.Late, false))
	assert.True(t, explain.Holds(&api.ResourceStatus{Slots: []api.SlotStatus{{}, {Held: true}}}))
	assert.False(t, explain.Holds(&api.ResourceStatus{Slots: []api.SlotStatus{{}}}))
}

// Each cause has a case here, unless only a command can say it.
func TestCauses_Each_Provoked(t *testing.T) {
	seen := map[api.Cause]bool{explain.WindowClosed: true, explain.Idle: true, explain.NoPlace: true, explain.NotConfigured: true}
	for _, c := range memberCases {
		seen[c.cause] = true
	}
	for _, c := range slotCases {
		seen[c.cause] = true
	}
	for _, list := range [][]explain.Row{explain.OfMember, explain.OfResource} {
		for _, r := range list {
			said := strings.Contains(r.Meaning, "said by the command")
			require.Equal(t, !said, seen[r.Cause] && r.Cause != explain.NotConfigured, r.Cause)
		}
	}
}
