package audit_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/audit/audittest"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

var second = uint64(time.Second.Microseconds())

// twoTokens is a world in which ann and ben have a token each, and have measured
// their clocks by handoffs in both directions, which take no time.
func twoTokens() (w *audittest.World, a, b *audittest.Author, first, other token.Title) {
	w = audittest.New("ann", "ben")
	a, b = w.List[0], w.List[1]
	w.Step = 0
	one, two := a.Generate(), b.Generate()
	return w, a, b, b.Hand(a.Hand(one, b), a), a.Hand(b.Hand(two, a), b)
}

// start writes a grant of so many seconds, and ended its end.
func start(m *audittest.Author, t token.Title, n byte, length time.Duration) ident.Grant {
	g := ident.Grant{n, m.Incarnation[0]}
	m.Write(&journal.Started{Grant: g, Token: t.Token(), Hop: t.Hop(), Resource: audittest.Resource, Length: uint64(length)})
	return g
}

func tape(t *testing.T, w *audittest.World, members ...*audittest.Author) audit.Resource {
	r := w.Report(audit.Options{Skew: 5 * second}, members...)
	require.Empty(t, r.Findings)
	require.Len(t, r.Resources, 1)
	return r.Resources[0]
}

// A member that is killed over the deadline of its grant writes the end when it is
// back. Who began meanwhile did not run beside it.
func TestOperation_EndedAtRestart_BoundedByDeadline(t *testing.T) {
	for cause, want := range map[journal.EndCause]uint64{journal.EndRestarted: 0, journal.EndReported: 30} {
		w, a, b, first, other := twoTokens()
		g := start(a, first, 1, 20*time.Second)
		w.Now = w.Now.Add(30 * time.Second)
		h := start(b, other, 2, 40*time.Second)
		w.Now = w.Now.Add(30 * time.Second)
		b.Write(&journal.Ended{Grant: h, Operated: true, Cause: journal.EndReported})
		w.Now = w.Now.Add(40 * time.Second)
		a.Write(&journal.Ended{Grant: g, Operated: true, Cause: cause})
		if cause == journal.EndReported { // late, which is another matter
			assert.InDelta(t, want*second, w.Report(audit.Options{}).Resources[0].Overlap.Recorded, 10)
			continue
		}
		r := tape(t, w)
		assert.Equal(t, 1, r.Bounded)
		assert.Equal(t, want, r.Overlap.Recorded)
		assert.Equal(t, want, r.Overlap.Possible)
	}
}

// An overlap that happens while the journals are copied is possible, up to the
// deadlines.
func TestOperation_NoEnd_OpenAndPossible(t *testing.T) {
	w, a, b, first, other := twoTokens()
	start(a, first, 1, 20*time.Second)
	w.Now = w.Now.Add(5 * time.Second)
	start(b, other, 1, 20*time.Second)
	r := tape(t, w)
	assert.Equal(t, 2, r.Open)
	assert.Equal(t, 2, r.Operations)
	assert.InDelta(t, 15*second, r.Overlap.Recorded, float64(second/10))
	assert.Equal(t, 2, r.Overlap.MostPossible)
	assert.Zero(t, r.Overlap.Certain, "nobody saw them running")
}

// Operations are counted by the local user who asked for them, the one with most first. Those
// that the daemon ran by itself have none.
func TestOperations_Askers_Counted(t *testing.T) {
	w, a, b, first, other := twoTokens()
	run := func(m *audittest.Author, title token.Title, n byte, asker *journal.Asker) {
		g := ident.Grant{n, m.Incarnation[0]}
		m.Write(&journal.Started{Grant: g, Token: title.Token(), Hop: title.Hop(), Resource: audittest.Resource, Length: second, Asker: asker})
		m.Write(&journal.Ended{Grant: g, Operated: true, Cause: journal.EndReported})
	}
	ann, ben := &journal.Asker{User: 1000, Group: 100, Process: 7}, &journal.Asker{User: 1001, Group: 100}
	run(a, first, 1, ann)
	run(a, first, 2, ben)
	run(a, first, 3, ben)
	run(a, first, 4, nil)
	run(b, other, 1, nil)
	of := make(map[ident.Member][]audit.User)
	for _, m := range w.Report(audit.Options{}).Members {
		of[m.ID] = m.Users
	}
	assert.Equal(t, []audit.User{{ID: 1001, Operations: 2}, {ID: 1000, Operations: 1}}, of[a.ID])
	assert.Empty(t, of[b.ID])
}

// Certain is what was seen running of both, whatever was granted.
func TestOverlap_SeenRunning_Certain(t *testing.T) {
	w, a, b, first, other := twoTokens()
	g, h := start(a, first, 1, 20*time.Second), start(b, other, 2, 20*time.Second)
	begin := uint64(w.Now.UnixMicro())
	w.Now = w.Now.Add(20 * time.Second)
	end := func(m *audittest.Author, g ident.Grant, from, to uint64) {
		m.Write(&journal.Ended{Grant: g, Operated: true, Cause: journal.EndReported, SeenFrom: begin + from*second, SeenTo: begin + to*second})
	}
	end(a, g, 1, 10)
	end(b, h, 6, 18)
	o := tape(t, w).Overlap
	drift := 10*second/1000 + 100
	assert.InDelta(t, 4*second, o.Certain, float64(2*drift))
	assert.LessOrEqual(t, o.Certain, 4*second)
	assert.Equal(t, 2, o.MostCertain)
	assert.Equal(t, 1, o.CertainPairs)
	assert.InDelta(t, 20*second, o.Recorded, 100)
}

// A member that runs late writes the end of a program late. Where the program was
// looked at, it outlived its grant only if it was seen running after the deadline, and
// after the member was there again: a machine that stands still kills it when it goes on.
func TestOperation_EndWrittenLate_OutlivedOnlyIfSeen(t *testing.T) {
	for name, c := range map[string]struct {
		there   int    // when the member was there first behind the deadline, in seconds from the start
		seen    uint64 // when the program was seen last; 0: never
		outlive bool
	}{
		"seen until before": {5, 3, false}, "seen after": {5, 12, true}, "never seen": {5, 0, true},
		"seen when the machine went on": {12, 13, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, a, _, first, _ := twoTokens()
			g := start(a, first, 1, 4*time.Second)
			begin := uint64(w.Now.UnixMicro())
			w.Now = w.Now.Add(time.Duration(c.there) * time.Second)
			a.Wait(1)
			w.Now = w.Now.Add(time.Duration(20-c.there) * time.Second)
			end := &journal.Ended{Grant: g, Operated: true, Cause: journal.EndReported}
			if c.seen > 0 {
				end.SeenFrom, end.SeenTo = begin+second, begin+c.seen*second
			}
			a.Write(end)
			outlived := slices.ContainsFunc(w.Report(audit.Options{}).Findings, func(f audit.Finding) bool { return f.Kind == audit.Outlived })
			assert.Equal(t, c.outlive, outlived)
		})
	}
}

// Programs under one token follow each other, however bad the clocks.
func TestOverlap_OneToken_None(t *testing.T) {
	w := audittest.New("ann", "ben", "cleo")
	a, b, c := w.List[0], w.List[1], w.List[2]
	b.Ahead, c.Ahead = -45*time.Second, 20*time.Second
	title := a.Generate()
	a.Operate(title, 1, 2)
	title = a.Hand(title, b)
	b.Operate(title, 1, 2)
	title = b.Hand(title, c)
	c.Operate(title, 1, 2)
	r := tape(t, w)
	assert.Equal(t, 3, r.Operations)
	assert.Zero(t, r.Overlap.Possible)
}

// A custody that was short and handed on to a member whose clock is late seems to
// begin after the next one. That is no finding.
func TestCustody_HandedToLateClock_NoOverlap(t *testing.T) {
	w := audittest.New("ann", "ben")
	w.List[1].Ahead = -45 * time.Second
	w.Step = time.Second
	title := w.List[0].Generate()
	w.List[0].Hand(title, w.List[1])
	w.List[1].Wait(60)
	assert.Empty(t, w.Report(audit.Options{}).Findings)
}

// What a member did with a token whose journal is missing is possible, and no more.
func TestOverlap_MissingJournal_Possible(t *testing.T) {
	w, a, b, first, other := twoTokens()
	a.Hand(first, b) // ben has both
	w.Now = w.Now.Add(10 * time.Second)
	back := b.Hand(other, a)
	start(a, back, 1, 20*time.Second)
	w.Now = w.Now.Add(15 * time.Second)
	a.Wait(1)
	o := tape(t, w, a).Overlap
	assert.Zero(t, o.Recorded)
	assert.InDelta(t, 25*second, o.Possible, float64(second/10), "beside ann's program, and before that under both tokens")
	b.Wait(1)
	assert.Less(t, tape(t, w).Overlap.Possible, second/10, "ben's journal shows that he ran nothing")
}

// A token that a member took with it when it was revoked is lost, and so is one that
// was on its way there.
func TestToken_WithRevokedMember_Lost(t *testing.T) {
	for name, act := range map[string]func(w *audittest.World, a, b *audittest.Author, title token.Title){
		"in its hands": func(_ *audittest.World, a, b *audittest.Author, title token.Title) { a.Hand(title, b) },
		"on its way":   func(_ *audittest.World, a, b *audittest.Author, title token.Title) { a.Send(title, b) },
		"in its hands, by its receipt alone": func(_ *audittest.World, a, b *audittest.Author, title token.Title) {
			a.Hand(title, b)
			b.Frames = nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := audittest.New("ann", "ben")
			a, b := w.List[0], w.List[1]
			act(w, a, b, a.Generate())
			assert.False(t, w.Report(audit.Options{}, a).Tokens[0].Fate.Lost())
			revocation, err := certificate.Revocation{Member: b.ID, Time: w.Millis(), Version: 1}.Sign(w.Group.ID(), w.CA)
			require.NoError(t, err)
			a.Know(journal.KnownRevocation, revocation.Raw())
			journals := []*audittest.Author{a}
			if len(b.Frames) > 0 {
				journals = append(journals, b)
			}
			r := w.Report(audit.Options{}, journals...)
			assert.Equal(t, audit.LostDeparted, r.Tokens[0].Fate)
			assert.Equal(t, 1, r.Resources[0].Lost)
		})
	}
}

// A member without a journal has the custodies that others' signed objects show.
func TestMember_MissingJournal_CustodiesFromOthers(t *testing.T) {
	w := audittest.New("ann", "ben")
	a, b := w.List[0], w.List[1]
	title := a.Generate()
	for range 3 {
		title = b.Hand(a.Hand(title, b), a)
	}
	b.Hand(b.Generate(), a)
	for _, m := range w.Report(audit.Options{}, a).Members {
		if m.ID == b.ID {
			assert.Empty(t, m.Spans)
			assert.Equal(t, 4, m.Custodies, "three that it was handed, and its own token")
		}
	}
	for _, m := range w.Report(audit.Options{}).Members {
		if m.ID == b.ID {
			assert.Equal(t, 4, m.Custodies, "none counts twice")
		}
	}
}

// A member that joined twenty seconds before the end does not spoil the index of two
// who shared for an hour.
func TestShares_LateJoiner_HardlyCounts(t *testing.T) {
	w := audittest.New("ann", "ben", "cleo")
	a, b, c := w.List[0], w.List[1], w.List[2]
	late := c.Frames
	title := a.Generate()
	for n := range 60 {
		a.Operate(title, byte(2*n), 1)
		title = a.Hand(title, b)
		b.Operate(title, byte(2*n+1), 1)
		title = b.Hand(title, a)
	}
	c.Frames = nil
	for range late {
		c.Write(c.Preamble()[len(c.Frames)])
	}
	r := w.Report(audit.Options{}).Resources[0]
	for _, s := range r.Shares {
		if s.Member == c.ID {
			assert.Zero(t, s.Operations)
			assert.Less(t, s.Present, 60*second)
		}
	}
	assert.Greater(t, r.JainOperations, 0.95, "unweighed it would be 2/3")
}

// A member may journal grants for as many resources as it likes. The audit of a journal
// four times as long costs about four times as much, not sixteen.
func TestAudit_ManyResources_CostLinear(t *testing.T) {
	cost := func(resources int) uint64 {
		w, a, _, first, _ := twoTokens()
		for i := range resources {
			g := ident.Grant{byte(i), byte(i >> 8), 1}
			a.Write(&journal.Started{Grant: g, Token: first.Token(), Hop: first.Hop(), Resource: fmt.Sprint("none-", i), Length: 1})
			a.Write(&journal.Ended{Grant: g, Operated: true, Cause: journal.EndReported})
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w.Report(audit.Options{Skew: 5 * second})
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	assert.Less(t, cost(800), 7*cost(200), "bytes allocated")
}
