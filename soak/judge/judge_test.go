package judge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/soak/judge"
	"github.com/wandertoken/wander/soak/record"
)

func at(seconds float64) clock.Instant { return clock.Instant(seconds * float64(time.Second)) }

func span(from, to float64) judge.Span { return judge.Span{From: at(from), To: at(to)} }

// program is a run whose first act came 0.1 s after its birth, and whose end was
// seen 0.1 s after its last act.
func program(member string, token string, hop uint64, from, to float64) judge.Run {
	return judge.Run{
		Resource: "tape", Member: member, Token: token, Hop: hop, Deadline: at(to + 10),
		Sure: span(from+0.1, to-0.1), Whole: span(from, to),
	}
}

// audited is an audit of what was written until an instant.
func audited(t *testing.T, certain, possible string, when float64) judge.Audited {
	a, err := judge.ParseAudit([]byte(fmt.Sprintf(
		`{"v":2, "resources": [{"resource": "tape", "tokens": 2, "overlap": {"certain_s": %s, "possible_s": %s}}]}`, certain, possible)))
	require.NoError(t, err)
	return judge.Audited{Audit: a, Copied: span(when, when), Name: "end"}
}

// evidence is that of two members whose programs overlapped from 4.1 s to 4.9 s
// for sure, and from 4 s to 5 s at most.
func evidence(t *testing.T) judge.Evidence {
	return judge.Evidence{
		Resources: []judge.Resource{{Name: "tape", Slots: 1}},
		Runs:      []judge.Run{program("a", "x", 1, 1, 5), program("b", "y", 1, 4, 8)},
		Audits:    []judge.Audited{audited(t, "0.5", "1.5", 20)},
		Began:     at(0), Calm: at(15), Ended: at(20),
	}
}

// broken are the names of the verdicts that are broken.
func broken(list []judge.Verdict) (names []string) {
	for _, v := range list {
		if v.Broken {
			names = append(names, v.Name)
		}
	}
	return names
}

func TestJudge_AuditAndLogAgree_NothingBroken(t *testing.T) {
	assert.Empty(t, broken(judge.Judge(evidence(t))))
}

// Each line is one thing that is wrong, and the verdict that must be broken for it.
func TestJudge_OneThingWrong_VerdictBroken(t *testing.T) {
	const certain, possible = "audit's certain overlap, at most the log's", "log's overlap, at most the audit's possible"
	for name, c := range map[string]struct {
		change func(*testing.T, *judge.Evidence)
		want   string
	}{
		"overlap made up by the audit": {func(t *testing.T, e *judge.Evidence) {
			e.Audits[0] = audited(t, "1.2", "1.5", 20)
		}, certain},
		"overlap made up where there is none": {func(t *testing.T, e *judge.Evidence) {
			e.Runs = e.Runs[:1]
			e.Audits[0] = audited(t, "0.1", "1.5", 20)
		}, certain},
		"overlap missed by the audit": {func(t *testing.T, e *judge.Evidence) {
			e.Audits[0] = audited(t, "0", "0.5", 20)
		}, possible},
		"overlap of programs that still run missed": {func(t *testing.T, e *judge.Evidence) {
			e.Audits[0] = audited(t, "0", "0.2", 4.5)
		}, possible},
		"overlap that is still to come is certain already": {func(t *testing.T, e *judge.Evidence) {
			e.Audits[0] = audited(t, "0.4", "1", 4.2)
		}, certain},
		"resource missing in the audit": {func(_ *testing.T, e *judge.Evidence) {
			e.Audits[0].Resources = nil
		}, possible},
		"overlap missing in the audit": {func(t *testing.T, e *judge.Evidence) {
			e.Audits[0] = audited(t, "null", "null", 20)
		}, "overlap that the audit does not state"},
		"no number": {func(t *testing.T, e *judge.Evidence) {
			e.Audits[0].Resources[0].Overlap.Certain = nil
		}, "overlap that the audit does not state"},
		"no audit": {func(_ *testing.T, e *judge.Evidence) { e.Audits = nil }, "missing audits"},
		"one token twice": {func(_ *testing.T, e *judge.Evidence) {
			e.Runs[1].Token = "x"
		}, "two programs at once under one token"},
		"older hop after a newer one": {func(_ *testing.T, e *judge.Evidence) {
			e.Runs[1] = program("b", "x", 0, 6, 7)
		}, "programs under an older hop of a token than one before them"},
		"beyond the deadline": {func(_ *testing.T, e *judge.Evidence) {
			e.Runs[0].Deadline = at(4)
		}, "longest run beyond its deadline, without a fault there"},
		"daemon died":      {func(_ *testing.T, e *judge.Evidence) { e.Died = []string{"a: exit status 1"} }, "daemons that ended by themselves"},
		"panic":            {func(_ *testing.T, e *judge.Evidence) { e.Panics = []string{"a: panic: x"} }, "panics and data races in the logs"},
		"hung runner":      {func(_ *testing.T, e *judge.Evidence) { e.Hung = []string{"a: tape"} }, "wander runs that did not end when told"},
		"stuck member":     {func(_ *testing.T, e *judge.Evidence) { e.Stuck = []string{"a: timeout"} }, "members that do not answer in the end"},
		"two views":        {func(_ *testing.T, e *judge.Evidence) { e.Views = []string{"a: b failed"} }, "views of the membership that differ in the end"},
		"error of the run": {func(_ *testing.T, e *judge.Evidence) { e.Errors = []string{"audit: x"} }, "errors of the run itself"},
		"strange exit code": {func(_ *testing.T, e *judge.Evidence) {
			e.Asks = []judge.Ask{{Resource: "tape", Member: "a", Span: span(0, 5), Exit: 70}}
		}, "exit codes of wander run that no fault explains"},
		"stall": {func(_ *testing.T, e *judge.Evidence) {
			e.Resources[0].MaxStall = time.Second
			e.Asks = []judge.Ask{{Resource: "tape", Member: "c", Span: span(7, 9.5)}}
		}, "longest time with somebody waiting and nobody running"},
		"monopoly": {func(_ *testing.T, e *judge.Evidence) {
			e.Resources[0].MaxTurn = 1
			e.Runs = append(e.Runs, program("b", "y", 1, 9, 10))
			e.Asks = []judge.Ask{{Resource: "tape", Member: "c", Span: span(1, 12)}}
		}, "most programs of one member in a row while another waited"},
		"a token too many": {func(t *testing.T, e *judge.Evidence) {
			e.Resources[0].MaxTokens = 1
			e.Audits[0].Resources[0].Tokens = 2
		}, "tokens made"},
		"two at once where nobody may": {func(_ *testing.T, e *judge.Evidence) {
			e.Resources[0].Alone = true
		}, "time with two programs or more, at least"},
		"nobody beside another one where the plan is to show that": {func(t *testing.T, e *judge.Evidence) {
			e.Resources[0].Beside = true
			e.Runs[1] = program("b", "y", 1, 6, 8)
			e.Audits[0] = audited(t, "0", "0", 20)
		}, "faults made no two programs run at once, so that the plan shows nothing"},
		"a program on a side without votes": {func(_ *testing.T, e *judge.Evidence) {
			e.Resources[0].MaxSide = time.Minute
			e.Sides = []judge.Side{{Members: []string{"b"}, Idle: []string{"tape"}, Span: span(2, 9)}}
		}, "programs that began on a side without votes"},
		"nobody on a side with votes": {func(_ *testing.T, e *judge.Evidence) {
			e.Resources[0].MaxSide = time.Second
			e.Sides = []judge.Side{{Members: []string{"c"}, Span: span(2, 9)}}
			e.Asks = []judge.Ask{{Resource: "tape", Member: "c", Span: span(1, 12)}}
		}, "longest time with somebody waiting and nobody running on a side of a cut"},
		"one of those who always want left out": {func(_ *testing.T, e *judge.Evidence) {
			e.Resources[0].Always, e.Resources[0].MaxUneven = []string{"a", "b", "c", "d"}, 0.4
		}, "programs of those who always want: mean, over the fewest of one"},
		"not served in the end": {func(_ *testing.T, e *judge.Evidence) {
			e.Asks = []judge.Ask{{Resource: "tape", Member: "c", Span: span(14, 20)}}
		}, "members that waited through the calm at the end"},
	} {
		t.Run(name, func(t *testing.T) {
			e := evidence(t)
			c.change(t, &e)
			assert.Contains(t, broken(judge.Judge(e)), c.want)
		})
	}
}

// TestJudge_EndedEarly_CalmNotJudged: what a run was to show in its end, or as a whole, an
// interrupted one need not have shown.
func TestJudge_EndedEarly_CalmNotJudged(t *testing.T) {
	e := evidence(t)
	e.Calm = 0
	e.Asks = []judge.Ask{{Resource: "tape", Member: "c", Span: span(0, 20)}}
	e.Runs, e.Resources[0].Beside = e.Runs[:1], true
	e.Audits[0] = audited(t, "0", "0", 20)
	assert.Empty(t, broken(judge.Judge(e)))
}

// TestJudge_VotesCameBeforeTheCut_MayBegin: and nobody has to where nobody can have votes.
func TestJudge_VotesCameBeforeTheCut_MayBegin(t *testing.T) {
	e := evidence(t)
	e.Resources[0].MaxSide = time.Second
	e.Sides = []judge.Side{{Members: []string{"b", "c"}, Idle: []string{"tape"}, Span: span(3.9, 9)}}
	e.Asks = []judge.Ask{{Resource: "tape", Member: "c", Span: span(1, 12)}}
	assert.Empty(t, broken(judge.Judge(e)))
}

func TestJudge_Findings_Broken(t *testing.T) {
	for class, want := range map[string]string{"proof": "rules broken, by proof", "suspicion": "rules broken, by suspicion"} {
		e := evidence(t)
		a, err := judge.ParseAudit([]byte(`{"v":2, "findings": [{"class": "` + class + `", "kind": "two custodies at once", "members": ["a"]}]}`))
		require.NoError(t, err)
		e.Audits[0].Findings = a.Findings
		assert.Equal(t, []string{want}, broken(judge.Judge(e)))
	}
}

// TestJudge_EndWrittenLate_SlowOnly: unless the program was seen running.
func TestJudge_EndWrittenLate_SlowOnly(t *testing.T) {
	for detail, slow := range map[string]bool{"nobody saw it end, and its end was written 9s after": true, "it was seen running 9s after": false} {
		a, err := judge.ParseAudit([]byte(`{"v":2, "findings": [{"class": "suspicion", "kind": "grant outlived its deadline", "detail": "` + detail + `"}]}`))
		require.NoError(t, err)
		e := evidence(t)
		e.Audits[0].Findings = a.Findings
		for _, v := range judge.Judge(e) {
			if v.Broken {
				assert.Equal(t, slow, v.Timing, v.Name)
			}
		}
		assert.Len(t, broken(judge.Judge(e)), 1)
	}
}

// Members whose journals went back may lose tokens, and what their journals lack is no
// suspicion; proof is.
func TestJudge_JournalsWentBack_OnlyProofCounts(t *testing.T) {
	for class, want := range map[string][]string{"proof": {"rules broken, by proof"}, "suspicion": nil} {
		a, err := judge.ParseAudit([]byte(`{"v":2, "findings": [{"class": "` + class + `", "kind": "k"}], "losses": [{"resource": "tape", "last": "a"}]}`))
		require.NoError(t, err)
		e := evidence(t)
		e.Rolled = []string{"a"}
		e.Audits[0].Findings, e.Audits[0].Losses = a.Findings, a.Losses
		assert.Equal(t, want, broken(judge.Judge(e)))
	}
}

func TestJudge_TokenLost_OnlyVolatileMembersMay(t *testing.T) {
	a, err := judge.ParseAudit([]byte(`{"v":2, "losses": [{"resource": "tape", "last": "a"}]}`))
	require.NoError(t, err)
	e := evidence(t)
	e.Audits[0].Losses = a.Losses
	assert.Equal(t, []string{"tokens lost by durable members"}, broken(judge.Judge(e)))
	e.Volatile = []string{"a"}
	assert.Empty(t, broken(judge.Judge(e)))
}

// The process of a program is made while wander run waits. It waits until its grant
// begins, which is no sooner than the longest grant before its deadline.
func TestJudge_ProcessOlderThanGrant_WaitsUntilGrant(t *testing.T) {
	e := evidence(t)
	e.Resources[0].MaxHold = 10 * time.Second
	e.Runs = []judge.Run{program("a", "x", 1, 1, 5), program("b", "x", 2, 0, 16)}
	e.Runs[1].Sure = span(12.5, 15.9)
	e.Runs[1].Deadline = at(22.01)
	e.Asks = []judge.Ask{{Resource: "tape", Member: "b", Span: span(0, 16)}}
	for _, v := range judge.Judge(e) {
		switch v.Name {
		case "wait, longest":
			assert.InDelta(t, 12, v.Value, 1e-9)
		case "longest time with somebody waiting and nobody running":
			assert.InDelta(t, 7, v.Value, 1e-9)
		case "time with two programs or more, at most":
			assert.Zero(t, v.Value)
		}
	}
}

// Members that a fault has hit need not be served, and may exceed deadlines.
func TestJudge_FaultAtMember_Excused(t *testing.T) {
	e := evidence(t)
	e.Resources[0].MaxStall = time.Second
	e.Asks = []judge.Ask{{Resource: "tape", Member: "c", Span: span(7, 20)}}
	e.Runs[0].Deadline = at(4)
	require.Len(t, broken(judge.Judge(e)), 3)
	e.Outages = []judge.Outage{{Member: "c", Fault: "cut", Span: span(8.5, 20)}, {Member: "a", Fault: "pause", Span: span(3, 6)}}
	assert.Empty(t, broken(judge.Judge(e)))
}

func TestBroken_OnlyTiming_BySetting(t *testing.T) {
	list := []judge.Verdict{{Broken: true, Timing: true}}
	assert.False(t, judge.Broken(list, false))
	assert.True(t, judge.Broken(list, true))
	assert.True(t, judge.Broken([]judge.Verdict{{Broken: true}}, false))
}

func TestText_Broken_ShownWithNotes(t *testing.T) {
	var b strings.Builder
	judge.Text(&b, []judge.Verdict{{Name: "panics", Value: 1, Max: new(float64), Broken: true, Notes: []string{"m1: panic"}}})
	assert.Contains(t, b.String(), "FAIL")
	assert.Contains(t, b.String(), "m1: panic")
}

func TestParseAudit_OtherVersion_Refused(t *testing.T) {
	_, err := judge.ParseAudit([]byte(`{"v":1}`))
	assert.Error(t, err)
}

func TestRuns_OfLog_BoundedFromBothSides(t *testing.T) {
	line := func(kind record.Kind, pid int, when float64) record.Record {
		return record.Record{Kind: kind, Resource: "tape", Member: "a", PID: pid, Token: "x", Born: at(float64(pid)), At: at(when)}
	}
	runs, err := judge.Runs([]record.Record{
		line(record.Start, 1, 1.1), line(record.Alive, 1, 1.2), line(record.End, 1, 1.3), line(record.Gone, 1, 1.4),
		line(record.Gone, 2, 2.1), // killed before it could write
		line(record.Start, 3, 3.1), line(record.Alive, 3, 3.2), line(record.Gone, 3, 3.5),
		line(record.Start, 4, 4.1), // still runs
	}, at(9))
	require.NoError(t, err)
	var sure, whole []judge.Span
	var ended []bool
	for _, r := range runs {
		sure, whole, ended = append(sure, r.Sure), append(whole, r.Whole), append(ended, r.Ended)
	}
	assert.Equal(t, []judge.Span{span(1.1, 1.3), span(2.1, 2.1), span(3.1, 3.2), span(4.1, 4.1)}, sure)
	assert.Equal(t, []judge.Span{span(1, 1.4), span(2, 2.1), span(3, 3.5), span(4, 9)}, whole)
	assert.Equal(t, []bool{true, false, false, false}, ended)
}

func TestRuns_OneProcessTwoPrograms_Refused(t *testing.T) {
	_, err := judge.Runs([]record.Record{{Kind: record.Start, Member: "a"}, {Kind: record.Start, Member: "b"}}, 0)
	assert.ErrorIs(t, err, judge.ErrLog)
}

func TestOverlap_OfPrograms_CountedBeyondSlots(t *testing.T) {
	runs := []judge.Run{program("a", "x", 1, 0, 10), program("b", "y", 1, 2, 8), program("c", "z", 1, 4, 6), program("a", "x", 2, 20, 30)}
	for more, want := range map[int]time.Duration{0: 20 * time.Second, 1: 6 * time.Second, 2: 2 * time.Second, 3: 0} {
		_, most := judge.Overlap(runs, "tape", more)
		assert.Equal(t, want, most, more)
	}
	least, _ := judge.Overlap(runs, "tape", 1)
	assert.Equal(t, 5800*time.Millisecond, least)
	least, most := judge.Overlap(runs, "other", 0)
	assert.Zero(t, least+most)
}

// What is not known of the log is in favour of the audit, on both sides.
func TestJudge_WithinWhatTheLogCannotTell_NothingBroken(t *testing.T) {
	e := evidence(t) // the programs overlapped for 0.8 s to 1 s
	e.Audits = []judge.Audited{audited(t, "0.9", "0.9", 20)}
	assert.Empty(t, broken(judge.Judge(e)))
}

// Journals that are copied one after the other show what happened until one of
// the instants between: here the overlap was 0.2 s to 0.4 s, and 0.6 s to 0.8 s.
func TestJudge_CopiedWhileMembersRan_NothingBroken(t *testing.T) {
	for _, certain := range []string{"0.1", "0.7"} {
		e := evidence(t)
		e.Audits = []judge.Audited{audited(t, certain, "0.3", 0)}
		e.Audits[0].Copied = span(4.4, 4.8)
		assert.Empty(t, broken(judge.Judge(e)))
	}
}

// value is that of one verdict.
func value(t *testing.T, list []judge.Verdict, name string) float64 {
	for _, v := range list {
		if v.Name == name {
			return v.Value
		}
	}
	t.Fatal("no verdict: ", name)
	return 0
}

func TestJudge_ProgramsInARow_CountedDuringOneWait(t *testing.T) {
	const name = "most programs of one member in a row while another waited"
	e := evidence(t)
	e.Runs = []judge.Run{
		program("a", "x", 1, 0, 1), program("b", "x", 2, 1, 2), program("b", "x", 2, 2, 3), program("b", "x", 2, 3, 4), program("a", "x", 3, 4, 5),
	}
	e.Outages = []judge.Outage{{Member: "a", Fault: "cut", Span: span(0, 1)}} // who is cut off runs alone
	for want, asks := range map[float64][]judge.Ask{
		0: {{Resource: "tape", Member: "d", Span: span(0, 0.9)}},
		1: {{Resource: "tape", Member: "c", Span: span(1.5, 2.5)}, {Resource: "tape", Member: "c", Span: span(2.6, 3.5)}}, // two short waits
		2: {{Resource: "tape", Member: "c", Span: span(1.5, 9)}, {Resource: "tape", Member: "b", Span: span(0, 9)}},
		3: {{Resource: "tape", Member: "c", Span: span(0, 9)}},
	} {
		e.Asks = asks
		assert.InDelta(t, want, value(t, judge.Judge(e), name), 0)
	}
}

func TestJudge_FaultAtWhoRuns_RecoveryMeasured(t *testing.T) {
	const name = "until somebody else ran after kill, longest"
	e := evidence(t)
	e.Runs = []judge.Run{program("b", "x", 0, 0, 1), program("a", "x", 1, 1, 5), program("a", "x", 1, 6, 7), program("b", "x", 2, 8, 9)}
	e.Asks = []judge.Ask{{Resource: "tape", Member: "b", Span: span(2, 9)}}
	e.Outages = []judge.Outage{{Member: "a", Fault: "kill", Span: span(3, 6)}}
	assert.InDelta(t, 8.1-3, value(t, judge.Judge(e), name), 1e-9)
	e.Outages[0].Span = span(5.5, 6) // it did not run then
	for _, v := range judge.Judge(e) {
		assert.NotEqual(t, name, v.Name)
	}
}
