package spec_test

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/wire"
)

var update = flag.Bool("update", false, "render the tables of the texts anew")

// table is a table in Markdown, or anything else that is rendered.
type table struct{ lines []string }

func newTable(columns ...string) *table {
	t := &table{}
	t.row(columns...)
	t.lines = append(t.lines, strings.Repeat("| --- ", len(columns))+"|")
	return t
}

func (t *table) row(cells ...string) {
	line := "|"
	for _, c := range cells {
		line += strings.TrimRight(" "+c, " ") + " |"
	}
	t.lines = append(t.lines, line)
}

func (t *table) String() string { return strings.Join(t.lines, "\n") + "\n" }

// rendered are the tables of the texts by the names in their marks.
func rendered(t *testing.T) map[string]*table {
	return map[string]*table{
		"contents":      contents(t),
		"requirements":  requirementTable(t),
		"kinds":         kindTable(t),
		"settings":      settingsTable(),
		"gate-settings": gateSettingsTable(),
		"parameters":    parameterTable(),
		"presets":       presetTable(),
		"messages":      messageTable(t),
		"refusals":      refusalTable(t),
		"sender":        transitionTable("sender"),
		"receiver":      transitionTable("receiver"),
		"tuning":        tuningTable(t),
		"connections":   connectionTable(),
		"close codes":   closeTable(t),
		"records":       recordTable(t),
		"drop reasons":  dropTable(t),
		"measures":      measureTable(t),
		"causes":        causeTable(t),
		"end causes":    endTable(t),
		"evidence":      evidenceTable(),
		"api codes":     apiTable(t),
		"limits":        limitTable(t),
		"objects":       objectTable(t),
		"refused":       refusedTable(t),
		"rejections":    rejectionTable(t),
		"times":         timesTable(),

		"api paths":      pathTable(t),
		"acquire fields": fieldTable(t, reflect.TypeFor[api.AcquireRequest](), acquireWords),
		"grant fields":   fieldTable(t, reflect.TypeFor[api.Grant](), grantWords),
		"waiting fields": fieldTable(t, reflect.TypeFor[api.Waiting](), waitingWords),
		"release fields": fieldTable(t, reflect.TypeFor[api.ReleaseRequest](), releaseWords),
		"renewal fields": fieldTable(t, reflect.TypeFor[api.Renewal](), renewalWords),

		"status fields":  statusTable(t),
		"status causes":  reasonTable(),
		"member fields":  memberTable(t),
		"checkup fields": fieldTable(t, reflect.TypeFor[api.Checkup](), checkupWords),
		"probe fields":   fieldTable(t, reflect.TypeFor[api.ProbeRequest](), probeWords),
		"history fields": fieldTable(t, reflect.TypeFor[api.History](), historyWords),
		"examples":       examples(t),
	}
}

// chapters are those of the core.
var chapters = regexp.MustCompile(`(?m)^## (.*)$`)

// contents is the core's table of contents, in one line.
func contents(t *testing.T) *table {
	var links []string
	for _, h := range chapters.FindAllStringSubmatch(page(t, core), -1) {
		links = append(links, "["+h[1]+"](#"+anchor(h[1])+")")
	}
	return &table{lines: []string{strings.Join(links, " · ")}}
}

func marks(name string) (begin, end string) {
	return "<!-- begin " + name + " -->\n", "<!-- end " + name + " -->\n"
}

// Tables in the text are those of the code.
func TestTables(t *testing.T) {
	pages, found, marked := append([]string{"README.md"}, texts...), make(map[string]bool), 0
	tables := rendered(t)
	for _, file := range pages {
		text := page(t, file)
		marked += strings.Count(text, "<!-- begin ")
		for name, want := range tables {
			begin, end := marks(name)
			before, rest, here := strings.Cut(text, begin)
			if !here {
				continue
			}
			require.False(t, found[name], "two tables %q", name)
			found[name] = true
			have, after, whole := strings.Cut(rest, end)
			require.True(t, whole, name)
			if *update {
				text = before + begin + want.String() + end + after
				continue
			}
			assert.Equal(t, want.String(), have, "table %q in %s: run go test ./spec -update and read the difference", name, file)
		}
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		}
	}
	assert.Len(t, found, len(tables), "a table that stands nowhere")
	assert.Equal(t, len(tables), marked, "a mark without a table")
}

// transitionTable is one side's machine: a row for each state in which
// something can happen, a column for each event.
func transitionTable(side string) *table {
	next := make(map[handoff.State]map[handoff.Event]handoff.State)
	var states []handoff.State
	var events []handoff.Event
	for _, row := range handoff.Transitions {
		if !strings.HasPrefix(row.Event.String(), side) {
			continue
		}
		if next[row.From] == nil {
			next[row.From] = make(map[handoff.Event]handoff.State)
			states = append(states, row.From)
		}
		next[row.From][row.Event] = row.To
		if !slices.Contains(events, row.Event) {
			events = append(events, row.Event)
		}
	}
	slices.Sort(states)
	slices.Sort(events)
	columns := []string{side + ", in"}
	for _, e := range events {
		columns = append(columns, strings.TrimPrefix(e.String(), side+" "))
	}
	t := newTable(columns...)
	for _, s := range states {
		cells := []string{"**" + s.String() + "**"}
		for _, e := range events {
			cell := ""
			if to, ok := next[s][e]; ok {
				cell = to.String()
			}
			cells = append(cells, cell)
		}
		t.row(cells...)
	}
	return t
}

// Every row of the code's table is in one of the two of the text, and no state
// or event is without a name.
func TestTransitions_Table_Whole(t *testing.T) {
	cells := 0
	for _, side := range []string{"sender", "receiver"} {
		text := transitionTable(side).String()
		for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == '|' || r == ' ' || r == '\n' }) {
			if slices.ContainsFunc(handoff.Transitions, func(x handoff.Transition) bool { return x.To.String() == word }) {
				cells++
			}
		}
		assert.NotContains(t, text, "state ")
		assert.NotContains(t, text, "event ")
	}
	assert.Equal(t, len(handoff.Transitions), cells)
}

// meaning gives each number of the code its words, and fails for one that has
// none, or words for which there is no number.
func meaning(t *testing.T, t2 *table, names []string, words map[string]string) {
	t.Helper()
	for i, name := range names {
		require.NotEmpty(t, words[name], "no meaning of %s: say it in spec/tables_test.go, where %s has one", name, names[0])
		t2.row(fmt.Sprint(i+1), name, words[name])
	}
	require.Len(t, words, len(names))
}

// named are the names of the numbers from 1 on, up to the first that has none.
func named[N fmt.Stringer](number func(int) N, unnamed string) []string {
	var names []string
	for n := 1; ; n++ {
		name := number(n).String()
		if strings.HasPrefix(name, unnamed) {
			return names
		}
		names = append(names, name)
	}
}

func kindTable(t *testing.T) *table {
	names := named(func(n int) envelope.Kind { return envelope.Kind(n) }, "kind ")
	words := map[string][2]string{
		"certificate":   {"a CA", "`certificate-claims`"},
		"authority":     {"a CA", "`authority`"},
		"configuration": {"a CA", "`configuration`"},
		"revocation":    {"a CA", "`revocation`"},
		"endpoint":      {"the member", "`endpoint`"},
		"genesis":       {"the generator", "`genesis`"},
		"transfer":      {"the sender", "`transfer`"},
		"receipt":       {"the receiver", "`answer`"},
		"void":          {"the receiver", "`answer`"},
		"unknown":       {"the receiver", "`answer`"},
		"leave":         {"the member", "`leave`"},
		"failure":       {"the witness", "`failure`"},
		"request":       {"the key that it is about", "`request`"},
		"complaint":     {"the member that complains", "`complaint`"},
		"statement":     {"the holder", "`statement`"},
		"gate-answer":   {"a gate", "`gate-answer`"},
	}
	require.Len(t, words, len(names))
	out := newTable("kind", "signed by", "payload")
	for _, name := range names {
		require.NotEmpty(t, words[name], name)
		out.row(name, words[name][0], words[name][1])
	}
	return out
}

// alternatives is a rule's choice of arrays: number, name, and what the CDDL says of each
// behind it.
func alternatives(t *testing.T, file, rule string, named func(n int) fmt.Stringer, columns ...string) *table {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	_, choice, _ := strings.Cut(string(text), "\n"+rule+" = ")
	choice, _, _ = strings.Cut(choice, "\n\n")
	out := newTable(columns...)
	for i, line := range strings.Split(choice, "\n") {
		_, meaning, _ := strings.Cut(line, "; ")
		require.NotEmpty(t, meaning, "%s: %q says nothing behind it", file, line)
		out.row(fmt.Sprint(i+1), named(i+1).String(), meaning)
	}
	return out
}

func messageTable(t *testing.T) *table {
	return alternatives(t, "wire.cddl", "message", func(n int) fmt.Stringer { return wire.Type(n) }, "type", "message", "what it says")
}

func refusalTable(t *testing.T) *table {
	names := named(func(n int) wire.Refusal { return wire.Refusal(n) }, "refusal ")
	out := newTable("`reason`", "name", "meaning")
	meaning(t, out, names, map[string]string{
		"busy":             "no room for another reservation",
		"stopping":         "the receiver shuts down",
		"unknown resource": "the receiver's configuration has no such resource or slot",
		"genesis time":     "too far ahead, or too long ago (**H-41**)",
		"newborn token":    "the receiver backs off from the token's generator (**P-69**)",
		"hop too high":     "more hops than a token of that age can have made (**H-41**)",
		"signer not valid": "the offerer is not eligible (**D-4**)",
		"bad title":        "the genesis does not verify, or is another token's",
		"recalling":        "the receiver has restarted, and does not know yet whether its journal is whole (**H-72**)",
	})
	return out
}

func recordTable(t *testing.T) *table {
	return alternatives(t, "journal.cddl", "record", func(n int) fmt.Stringer { return journal.Kind(n) }, "kind", "record", "what it says")
}

func dropTable(t *testing.T) *table {
	names := named(func(n int) policy.DropReason { return policy.DropReason(n) }, "unknown")
	out := newTable("`reason`", "name", "meaning")
	meaning(t, out, names, map[string]string{
		"superseded":   "a token of higher precedence is known, or **H-41**",
		"overflow":     "there are more tokens than the policy wants, here or in the group",
		"spent":        "the policy makes a token for each operation, and this one's is over",
		"forked":       "another custody of the token is here (**H-30**); no policy says so",
		"unconfigured": "the configuration in force lacks the token's slot (**P-46**); no policy says so",
	})
	return out
}

// measureTable is how a member acts against another one.
func measureTable(t *testing.T) *table {
	names := named(func(n int) policy.Measure { return policy.Measure(n) }, "measure")
	out := newTable("`measure`", "name", "what begins, for a while")
	meaning(t, out, names, map[string]string{
		"struck":          "the accused is struck (**P-78**): suspected, and all others are told so",
		"given up":        "it is given up (**P-74**): suspected, and nobody is told",
		"barred":          "it is barred (**P-76**, **P-77**, **P-81**): no token is passed to it",
		"backed off from": "no newborn token of it is taken (**P-69**)",
	})
	return out
}

// causeTable is why a member does so.
func causeTable(t *testing.T) *table {
	names := named(func(n int) policy.Cause { return policy.Cause(n) }, "cause")
	out := newTable("`cause`", "name", "what the signer has concluded")
	meaning(t, out, names, map[string]string{
		"kept a token":                                 "the accused was told that somebody waits, and still has the token (**P-74**)",
		"gave no account of a token":                   "it has said nothing of a token that it had said it has (**P-74**, 2)",
		"denied a token":                               "it has said that it never had a token that it had said it has (**P-74**, 1), or that the signer passed to it (**P-76**, 3)",
		"denied a token against its receipt":           "its receipt shows that it knows of the token (**P-75**)",
		"in doubt with others":                         "its word of passes stands against that of two others, or twice against that of one (**P-76**, 1 and 2)",
		"sent a token that never came":                 "it has said that it sent the signer a token, which has not come (**P-76**, 4)",
		"explained losses without a proof":             "it has done so more often than is excused (**P-81**)",
		"dropped a token for one that nobody confirms": "the giver of the other token does not confirm it (**P-77**)",
		"made a token beside another one":              "it made one while another one circulated (**P-69**)",
	})
	return out
}

// endTable is how a member learns that a program has ended.
func endTable(t *testing.T) *table {
	names := named(func(n int) journal.EndCause { return journal.EndCause(n) }, "cause")
	out := newTable("`cause`", "name", "how the member learned that the program has ended")
	meaning(t, out, names, map[string]string{
		"reported":  "what ran the program reported it",
		"deadline":  "the deadline came while the member ran",
		"restarted": "the deadline had passed, or the machine had been rebooted, when the member restarted",
	})
	return out
}

// evidenceTable is what the records of evidence say.
func evidenceTable() *table {
	out := newTable("`what`", "evidence of kind")
	for _, kind := range evidence.Kinds() {
		if !kind.AgainstGate() { // no member writes those down
			out.row(kind.String(), fmt.Sprint(uint8(kind)))
		}
	}
	out.row(handoff.GiversOfOneHop, "none")
	return out
}

func closeTable(t *testing.T) *table {
	words := map[string]string{
		"closed":                         "nothing is wrong; also the answer to a peer that has ended its half of the stream",
		"idle":                           "no frames for the idle timeout (**T-14**)",
		"replaced by another connection": "**T-12**",
		"shutting down":                  "the member stops",
		"protocol violation":             "a frame or preamble against this chapter, or a certificate that has run out (**T-17**)",
		"member revoked":                 "after the peer's revocation has been handed over (**D-9**)",
		"overload":                       "too many connections, or a peer that does not read",
		"internal error":                 "the member failed",
	}
	out := newTable("code", "error", "meaning")
	for code := transport.Code(0); code.String() != transport.ErrLost.Error(); code++ {
		require.NotEmpty(t, words[code.String()], "%v", code)
		out.row(fmt.Sprint(uint64(code)), nameOf(t, (&transport.CloseError{Code: code}).Unwrap()), words[code.String()])
		delete(words, code.String())
	}
	require.Empty(t, words)
	return out
}

func tuningTable(t *testing.T) *table {
	words := map[string]string{
		"OfferTimeout":    "how long the first OFFER to a peer waits; each further one twice as long",
		"OffersPerPeer":   "unanswered OFFERs after which another member is asked",
		"NobodyPause":     "wait when nobody can be asked",
		"RetransmitFirst": "wait for the answer to the first TRANSFER; doubles",
		"RetransmitMax":   "longest wait between two",
		"UnknownPause":    "wait once the receiver has said UNKNOWN",
		"GiveUp":          "after this, a volatile sender stops asking",
		"Lifetime":        "how long a reservation counts, and an ACCEPT may be used",
		"Kept":            "how long a lapsed reservation is remembered, so that a late OFFER gets the same number",
	}
	out := newTable("time", "default", "meaning")
	v := reflect.ValueOf(handoff.DefaultTuning)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		require.NotEmpty(t, words[name], name)
		out.row(name, fmt.Sprint(v.Field(i).Interface()), words[name])
	}
	require.Len(t, words, v.NumField())
	return out
}
