package doctor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/doctor"
	"github.com/wandertoken/wander/node/explain"
)

// well are the facts of a member that lacks nothing.
func well() *doctor.Facts {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f := &doctor.Facts{
		Others: 2, Dialled: 3, Accepted: 1, LongestRTT: 20 * time.Millisecond, Listens: true, Advertised: []string{"192.0.2.7:4133"},
		Own: []string{"127.0.0.1/8", "192.0.2.7/24"}, MTU: 1500, Buffer: 425984, Version: "v1", Protocol: "wander/1", Now: now,
	}
	f.Status = api.Status{
		Why: api.Why{Cause: explain.OK, Sentence: "nothing keeps it"}, Name: "m1", GroupName: "crew", UptimeS: 7200,
		Peers: make([]api.PeerStatus, 2), CertificateExpires: now.Add(80 * 24 * time.Hour),
		Resources: []api.ResourceStatus{{Name: "tape", Slots: []api.SlotStatus{{Gate: &api.GateStatus{Reachable: true}}}}},
	}
	return f
}

func find(t *testing.T, list []api.Check, name string) api.Check {
	t.Helper()
	for _, c := range list {
		if c.Name == name {
			return c
		}
	}
	t.Fatal("no check " + name)
	return api.Check{}
}

func TestJudge_NothingWrong_AllFine(t *testing.T) {
	list := doctor.Judge(well())
	assert.Len(t, list, 11)
	for _, c := range list {
		assert.Equal(t, api.Fine, c.Result, c)
		assert.Empty(t, c.Advice, c)
		assert.NotEmpty(t, c.Finding, c)
	}
	assert.False(t, doctor.Failed(list))
}

func TestJudge_EachTrouble_Found(t *testing.T) {
	for name, c := range map[string]struct {
		trouble func(*doctor.Facts)
		check   string
		want    api.Result
		words   string
	}{
		"isolated":         {func(f *doctor.Facts) { f.Status.Cause = explain.Isolated }, "daemon", api.Fail, "up 2h"},
		"isolated holder":  {func(f *doctor.Facts) { f.Status.Cause, f.Status.Resources[0].Slots[0].Held = explain.Isolated, true }, "daemon", api.Warn, ""},
		"late":             {func(f *doctor.Facts) { f.Status.Cause = explain.Late }, "daemon", api.Warn, ""},
		"alone":            {func(f *doctor.Facts) { f.Others = 0 }, "peers", api.Warn, "knows no other"},
		"one is silent":    {func(f *doctor.Facts) { f.Suspected = 1 }, "peers", api.Warn, "1 do not answer"},
		"all are silent":   {func(f *doctor.Facts) { f.Suspected = 2 }, "peers", api.Fail, ""},
		"none connected":   {func(f *doctor.Facts) { f.Status.Peers = nil }, "peers", api.Warn, "0 of 2 other members connected"},
		"cut off":          {func(f *doctor.Facts) { f.Status.Peers, f.Failed = nil, 173 }, "udp out", api.Warn, "173 dials reached nobody, and no connection stands now"},
		"some have failed": {func(f *doctor.Facts) { f.Absent = map[string]int{doctor.HasFailed: 4, "left": 1} }, "peers", api.Warn, "0 do not answer; take no part: 4 failed, 1 left"},
		"some have left":   {func(f *doctor.Facts) { f.Absent = map[string]int{"left": 1} }, "peers", api.Fine, "take no part: 1 left"},
		"all are revoked":  {func(f *doctor.Facts) { f.Others, f.Absent = 0, map[string]int{"revoked": 7} }, "peers", api.Warn, "no other member takes part: 7 revoked"},
		"no way out":       {func(f *doctor.Facts) { f.Dialled, f.Accepted, f.Failed = 0, 0, 4 }, "udp out", api.Fail, "4 dials reached nobody"},
		"way in only":      {func(f *doctor.Facts) { f.Dialled, f.Failed = 0, 4 }, "udp out", api.Warn, ""},
		"not dialled":      {func(f *doctor.Facts) { f.Dialled = 0 }, "udp out", api.Skipped, ""},
		"no way in":        {func(f *doctor.Facts) { f.Accepted = 0 }, "udp in", api.Warn, "has dialled this one in 2h"},
		"just up":          {func(f *doctor.Facts) { f.Accepted, f.Status.UptimeS = 0, 5 }, "udp in", api.Skipped, ""},
		"dials out only":   {func(f *doctor.Facts) { f.Listens = false }, "udp in", api.Skipped, ""},
		"no address":       {func(f *doctor.Facts) { f.Advertised = nil }, "address", api.Fail, ""},
		"NAT":              {func(f *doctor.Facts) { f.Advertised = []string{"203.0.113.9:4133"} }, "address", api.Fine, "behind NAT, and others get in"},
		"NAT, no way in":   {func(f *doctor.Facts) { f.Advertised, f.Accepted = []string{"203.0.113.9:4133"}, 0 }, "address", api.Warn, "203.0.113.9:4133: it is behind NAT"},
		"dialled back":     {func(f *doctor.Facts) { f.Back = back(1, 0) }, "udp in", api.Fine, "m2 was asked to dial this member, and was answered at 192.0.2.7:4133; "},
		"in part":          {func(f *doctor.Facts) { f.Back = back(1, 1) }, "udp in", api.Warn, "was answered at 192.0.2.7:4133, and was not answered at 192.0.2.8:4133 (nobody answers)"},
		"shut to one":      {func(f *doctor.Facts) { f.Back = back(0, 1) }, "udp in", api.Warn, "1 connection that other members dialled"},
		"shut":             {func(f *doctor.Facts) { f.Back, f.Accepted = back(0, 1), 0 }, "udp in", api.Fail, "was not answered at"},
		"nothing to dial":  {func(f *doctor.Facts) { f.Back, f.Accepted = back(0, 0), 0 }, "udp in", api.Warn, "in 2h"},
		"seen from there":  {func(f *doctor.Facts) { f.Back = back(1, 0) }, "address", api.Fine, "; m2 sees it at 203.0.113.9:1024, which this machine does not have: it is behind NAT, and others get in"},
		"advertises wrong": {func(f *doctor.Facts) { f.Back, f.Accepted = back(0, 0), 0 }, "address", api.Warn, "advertises an address that is not the NAT's"},
		"a name":           {func(f *doctor.Facts) { f.Advertised, f.Accepted = []string{"m1.example:4133"}, 0 }, "address", api.Fine, ""},
		"clock":            {func(f *doctor.Facts) { f.Status.Link.ClockAheadS = -3 }, "clock", api.Warn, "3s behind the median"},
		"clock, far":       {func(f *doctor.Facts) { f.Status.Link.ClockAheadS = 90 }, "clock", api.Fail, "1m30s ahead of the median"},
		"clock, slow net":  {func(f *doctor.Facts) { f.Status.Link.ClockAheadS, f.LongestRTT = 3, 2*time.Second }, "clock", api.Fine, "within 2.05s"},
		"no clocks":        {func(f *doctor.Facts) { f.Status.Peers = nil }, "clock", api.Skipped, ""},
		"expired":          {func(f *doctor.Facts) { f.Status.Invalid = "expired" }, "certificate", api.Fail, "expired"},
		"expires":          {func(f *doctor.Facts) { f.Renewal = "in 3 days" }, "certificate", api.Warn, "in 3 days"},
		"renewed late": {func(f *doctor.Facts) {
			f.Status.Invalid, f.Status.Renewing = "expired", "certificate ended 3d ago; renewing within the grace of 7d"
		}, "certificate", api.Fail, "within the grace of 7d"},
		"retired key":     {func(f *doctor.Facts) { f.Status.KeyRetired = true }, "certificate", api.Warn, "retired"},
		"small packets":   {func(f *doctor.Facts) { f.MTU = 1200 }, "path mtu", api.Fail, "1200 bytes"},
		"unknown packets": {func(f *doctor.Facts) { f.MTU = 0 }, "path mtu", api.Skipped, ""},
		"small buffer":    {func(f *doctor.Facts) { f.Buffer = 4096 }, "udp buffer", api.Warn, "4 KiB; quic-go asks for 7168 KiB"},
		"unknown buffer":  {func(f *doctor.Facts) { f.Buffer = 0 }, "udp buffer", api.Skipped, ""},
		"no gate":         {func(f *doctor.Facts) { f.Status.Resources[0].Slots[0].Gate.Reachable = false }, "gate of tape", api.Fail, "no program runs"},
		"gate that is stuck": {func(f *doctor.Facts) {
			*f.Status.Resources[0].Slots[0].Gate = api.GateStatus{Reachable: true, Said: "stuck", Hinders: "stuck", SaidS: new(float64)}
		}, "gate of tape", api.Fail, `said "stuck" 0.0 s ago`},
		"gate that refuses": {func(f *doctor.Facts) {
			*f.Status.Resources[0].Slots[0].Gate = api.GateStatus{Reachable: true, Said: "refused: too soon", Hinders: "refused", NotBefore: f.Now.Add(time.Second)}
		}, "gate of tape", api.Warn, "too soon"},
		"gate that counts": {func(f *doctor.Facts) { *f.Status.Resources[0].Slots[0].Gate = api.GateStatus{Observes: true} }, "gate of tape", api.Warn, "only observes"},
		"a warning":        {func(f *doctor.Facts) { f.Status.Warnings = []api.Warning{{Cause: explain.Late, Sentence: "look"}} }, "warning", api.Warn, "look"},
	} {
		t.Run(name, func(t *testing.T) {
			f := well()
			c.trouble(f)
			list := doctor.Judge(f)
			got := find(t, list, c.check)
			assert.Equal(t, c.want, got.Result, got)
			assert.Contains(t, got.Finding, c.words)
			assert.Equal(t, c.want == api.Fail, doctor.Failed(list))
			if c.want == api.Warn || c.want == api.Fail {
				assert.NotEmpty(t, got.Advice)
			}
		})
	}
}

// back is what m2 has seen behind a NAT, by how many addresses answered and did not.
func back(answered, failed int) *doctor.Back {
	b := &doctor.Back{By: "m2", Seen: "203.0.113.9:1024"}
	if answered > 0 {
		b.Answered = []string{"192.0.2.7:4133"}
	}
	if failed > 0 {
		b.Failed = []string{"192.0.2.8:4133 (nobody answers)"}
	}
	return b
}

func TestDialsBack_EachOutcome_Judged(t *testing.T) {
	for want, b := range map[api.Result]*doctor.Back{api.Skipped: nil, api.Fine: back(1, 0), api.Warn: back(1, 1), api.Fail: back(0, 1)} {
		got := doctor.DialsBack(b, "m1")
		assert.Equal(t, want, got.Result)
		assert.Equal(t, want == api.Warn || want == api.Fail, got.Advice != "")
	}
	assert.Contains(t, doctor.DialsBack(nil, "m1").Finding, "wander doctor m1")
	assert.Equal(t, "m2 knows no address of this member, and sees it at 203.0.113.9:1024", doctor.DialsBack(back(0, 0), "m1").Finding)
}

func TestSyncs_Disk_Judged(t *testing.T) {
	ms := func(list ...int) (took []time.Duration) {
		for _, n := range list {
			took = append(took, time.Duration(n)*time.Millisecond)
		}
		return took
	}
	assert.Equal(t, api.Check{Name: "disk", Result: api.Fine, Finding: "3 syncs: half within 2ms, the longest 300ms"}, doctor.Syncs(ms(300, 1, 2)))
	assert.Equal(t, api.Warn, doctor.Syncs(ms(1, 150, 200)).Result)
	assert.Equal(t, api.Fail, doctor.Syncs(ms(1, 1, 2500)).Result)
}
