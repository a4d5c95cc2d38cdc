package audit_test

import (
	"bytes"
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

// tellHonest is a story in which everything happens that may.
func tellHonest(a, b, c *audittest.Author) {
	title := a.Generate()
	a.Operate(title, 1, 2)
	title = b.Hand(a.Hand(title, b), c)
	declined := c.Send(title, a)
	title = c.Reclaim(title, declined, a.Decline(declined))
	title = c.Hand(title, b)
	b.Operate(title, 1, 2)
	other := b.Generate()
	b.Write(&journal.Dropped{Token: other.Token(), Hop: 0, Reason: 1})
	leave, err := certificate.Leave{Member: c.ID, Time: c.Millis()}.Sign(c.Group.ID(), c.Key)
	if err != nil {
		panic(err)
	}
	a.Know(journal.KnownLeave, leave.Raw())
}

func TestHonestMembers(t *testing.T) {
	w := audittest.New("ann", "ben", "cleo")
	tellHonest(w.List[0], w.List[1], w.List[2])
	r := w.Report(audit.Options{})
	assert.Empty(t, r.Findings)
	assert.Empty(t, r.More)
	assert.Equal(t, 3, r.Handoffs())
	assert.Empty(t, r.Unverified)
	// 2 geneses, 4 transfers, 3 receipts; the void in two records counts once.
	assert.Equal(t, 10, r.Signatures)
	require.Len(t, r.Resources, 1)
	tape := r.Resources[0]
	assert.Equal(t, 2, tape.Operations)
	assert.Equal(t, 1, tape.Dropped)
	assert.Equal(t, 1, tape.Gaps.Count)
	weight, squares := 0.0, 0.0
	for _, s := range tape.Shares {
		weight += float64(s.Present)
		squares += float64(s.Operations*s.Operations) / float64(s.Present)
	}
	assert.InDelta(t, 4/(weight*squares), tape.JainOperations, 1e-9, "two of three with one each; cleo left early")
	assert.Len(t, r.Members, 3)
	assert.Len(t, r.Clocks, 2)
	for _, m := range r.Members {
		assert.Len(t, m.Spans, 1)
		assert.Equal(t, m.Name == "cleo", m.Left)
	}
}

// One after the other and together, on one processor and on several, an audit says
// the same.
func TestSameReport(t *testing.T) {
	w := audittest.New("ann", "ben", "cleo")
	tellHonest(w.List[0], w.List[1], w.List[2])
	w.List[0].Forge()
	want := w.Report(audit.Options{})
	for name, o := range map[string]audit.Options{
		"one by one": {OneByOne: true},
		"backwards": {Parallel: func(n int, do func(int)) {
			for i := n - 1; i >= 0; i-- {
				do(i)
			}
		}},
		"random": {Random: bytes.NewReader(bytes.Repeat([]byte{7}, 1000))},
	} {
		assert.Equal(t, want.Findings, w.Report(o).Findings, name)
	}
}

// What becomes of tokens, by the rule of section 7.
func TestLosses(t *testing.T) {
	w := audittest.New("ann", "ben", "cleo")
	a, b, c := w.List[0], w.List[1], w.List[2]
	atEnd := a.Generate()
	onTheWay := a.Generate()
	a.Send(onTheWay, b)
	givenUp := c.Generate()
	b.Decline(c.Send(givenUp, b))
	c.Write(&journal.Closed{Token: givenUp.Token()})
	b.Write(&journal.Incarnation{Incarnation: ident.Incarnation{77}, Member: b.ID, Durable: true})
	held := b.Generate()
	a.Write(&journal.Incarnation{Incarnation: ident.Incarnation{78}, Member: a.ID, Durable: true})
	r := w.Report(audit.Options{})
	assert.Empty(t, r.Findings)
	rules := make(map[ident.Token]string)
	for _, one := range r.Tokens {
		rules[one.ID] = one.Rule
		assert.Equal(t, one.ID != held.Token(), one.Fate.Lost())
	}
	assert.Equal(t, map[ident.Token]string{
		atEnd.Token(): "V1", onTheWay.Token(): "V2", givenUp.Token(): "V3", held.Token(): "",
	}, rules)
}

func TestLoss_ByFloor_Found(t *testing.T) {
	w := audittest.New("ann", "ben")
	a, b := w.List[0], w.List[1]
	a.Send(a.Generate(), b)
	b.Write(&journal.Floor{Offerer: a.ID, Floor: 1}) // below 1: the number 1 still counts
	assert.Equal(t, audit.UnderWay, w.Report(audit.Options{}).Tokens[0].Fate)
	b.Write(&journal.Floor{Offerer: a.ID, Floor: 2})
	lost := w.Report(audit.Options{}).Tokens[0]
	assert.Equal(t, audit.LostFloor, lost.Fate)
	assert.Equal(t, "V4", lost.Rule)
}

// Operations that overlap by clocks that may be apart are told from those that
// overlap for certain.
func TestOverlap_ClocksOff_Possible(t *testing.T) {
	w := audittest.New("ann", "ben")
	a, b := w.List[0], w.List[1]
	b.Ahead = -45 * time.Second // ben's clock is late
	one := a.Generate()
	a.Operate(one, 1, 2)
	next := a.Hand(one, b) // by his clock it was taken before it was sent
	b.Operate(next, 1, 2)
	r := w.Report(audit.Options{})
	assert.Empty(t, r.Findings)
	require.Len(t, r.Clocks, 1)
	lead, sign := r.Clocks[0], int64(1)
	if lead.A != a.ID {
		sign = -1
	}
	ahead := sign * b.Ahead.Microseconds()
	assert.LessOrEqual(t, lead.Least, ahead)
	assert.GreaterOrEqual(t, lead.Most, ahead)
	assert.True(t, lead.Consistent())
	o := r.Resources[0].Overlap
	assert.Zero(t, o.Certain)

	other := b.Generate() // now two tokens, and at once for certain
	a.Write(&journal.Counters{})
	third := b.Hand(next, a)
	a.Write(&journal.Started{Grant: ident.Grant{9}, Token: third.Token(), Hop: third.Hop(), Resource: "tape"})
	for range 6 {
		b.Write(&journal.Counters{})
	}
	b.Operate(other, 2, 2)
	for range 6 {
		b.Write(&journal.Counters{})
	}
	a.Write(&journal.Ended{Grant: ident.Grant{9}, Operated: true})
	o = w.Report(audit.Options{}).Resources[0].Overlap
	assert.Equal(t, 2, o.MostPossible)
}

// What is outside of the time or the resource asked for is left out.
func TestBounds(t *testing.T) {
	w := audittest.New("ann", "ben", "cleo")
	a, b, c := w.List[0], w.List[1], w.List[2]
	title := a.Generate()
	a.Operate(title, 1, 2)
	a.Hand(title, b)
	c.Decline(a.Sign(title, c))
	now := uint64(w.Now.UnixMicro())
	assert.Len(t, w.Report(audit.Options{To: now + 1}).Findings, 1)
	assert.Empty(t, w.Report(audit.Options{From: now + 1}).Findings)
	assert.Empty(t, w.Report(audit.Options{To: uint64(audittest.Start.UnixMicro())}).Findings)
	assert.Empty(t, w.Report(audit.Options{Resource: "disk"}).Findings)
	r := w.Report(audit.Options{Resource: "tape", From: now - uint64(audittest.Tick.Microseconds())})
	assert.Len(t, r.Findings, 1)
	assert.Empty(t, r.Resources, "nothing of it happened since")
}

// A hostile journal cannot make a report without end.
func TestFindings_Many_Bounded(t *testing.T) {
	w := audittest.New("ann")
	for range 1100 {
		w.List[0].Write(&journal.Dropped{Hop: 7})
	}
	r := w.Report(audit.Options{})
	assert.Len(t, r.Findings, 1000)
	assert.Equal(t, 100, r.More[audit.Misfit])
	assert.Equal(t, 1100, r.Count(audit.Misfit))
}

// Numbers from a hostile journal do no harm.
func TestWildTimes(t *testing.T) {
	w := audittest.New("ann", "ben")
	a, b := w.List[0], w.List[1]
	write := func(m *audittest.Author, at uint64, r journal.Record) {
		body, err := journal.Encode(at, r)
		require.NoError(t, err)
		m.Frames = append(m.Frames, journal.Frame{Type: journal.FrameRecord, Seq: uint64(len(m.Frames) + 1), Body: body})
	}
	title := token.Title{Genesis: a.Genesis(1, 1, "tape")}
	tr := a.Sign(title, b, func(b *token.TransferBody) { b.Time = ^uint64(0) })
	write(a, ^uint64(0), &journal.Generated{Genesis: title.Genesis.Raw()})
	write(a, 0, &journal.Started{Token: title.Token(), Resource: "tape", Deadline: ^uint64(0)})
	write(a, ^uint64(0), &journal.Ended{Operated: true})
	write(a, 1, &journal.Sent{Transfer: tr.Raw()})
	write(b, 0, &journal.Held{Transfer: tr.Raw(), Genesis: title.Genesis.Raw()})
	write(b, ^uint64(0), &journal.Dropped{Token: title.Token(), Hop: 1})
	write(b, 5, &journal.Reclaimed{Token: title.Token()})
	write(b, 5, &journal.Started{Token: title.Token(), Hop: ^uint64(0)})
	for _, f := range w.Report(audit.Options{}).Findings {
		assert.False(t, f.Proved(), "%v", f)
	}
}

// TestAudit_ReceiptWithoutTransfer_Kept: a member whose journal is not there has signed for a token
// that others have replaced. With its journal, nothing is kept.
func TestAudit_ReceiptWithoutTransfer_Kept(t *testing.T) {
	w := audittest.New("a", "b", "bad")
	a, b, bad := w.List[0], w.List[1], w.List[2]
	kept := func(from ...*audittest.Author) int {
		for _, m := range w.Report(audit.Options{}, from...).Members {
			if m.ID == bad.ID {
				return m.Kept
			}
		}
		return 0
	}
	a.Hand(a.Generate(), bad)
	assert.Zero(t, kept(a, b), "it may still pass it on")
	b.Hand(a.Hand(a.Generate(), b), a)
	assert.Equal(t, 1, kept(a, b))
	assert.Zero(t, kept(a, b, bad))
}
