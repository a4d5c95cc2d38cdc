package member_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

// oneKey is the key of everybody.
type oneKey struct{ *signature.PublicKey }

func (k oneKey) Key(ident.Member) *signature.PublicKey { return k.PublicKey }

// complain has the policy do so many times, and returns what the member writes down.
func (j *judge) complain(a policy.Action, times int) (list []effect.Persist) {
	for range times {
		j.puppet.next = append(j.puppet.next, a)
	}
	j.step(member.Demand{Request: uint64(len(j.puppet.events)) + 100, Resource: resource})
	for _, e := range j.effects {
		if p, ok := e.(effect.Persist); ok && p.Record.Kind() == journal.KindComplained {
			list = append(list, p)
		}
	}
	j.step(member.Withdraw{Request: uint64(len(j.puppet.events)) + 99})
	return list
}

// TestComplain_Policy_SignedRecord: P-82. The record says all that the policy did, and waits for no disk. Without a span
// nothing is taken up.
func TestComplain_Policy_SignedRecord(t *testing.T) {
	j, others := newJudge(t, 1, false)
	about := others[0].id()
	list := j.complain(policy.Action{
		Kind: policy.Complain, To: about, Token: ident.Token{5}, Hop: 7, Measure: policy.Barred, Cause: policy.Excused,
	}, 1)
	require.Len(t, list, 1)
	assert.False(t, list[0].Sync)
	c, err := token.NewVerifier(others[0].group, oneKey{keyOf(t, 1).Public()}).Complaint(list[0].Record.(*journal.Complained).Complaint)
	require.NoError(t, err)
	assert.Equal(t, token.ComplaintBody{
		Resource: resource, Signer: j.ID(), Accused: about, Token: ident.Token{5}, Hop: 7, Measure: uint64(policy.Barred),
		Cause: uint64(policy.Excused), Time: list[0].At / 1000,
	}, c.Body())
	assert.Empty(t, j.remembers())
}

// TestComplain_AboutNobodyOrItself_NotWritten: no policy does so.
func TestComplain_AboutNobodyOrItself_NotWritten(t *testing.T) {
	j, _ := newJudge(t, 0, false)
	for _, about := range []ident.Member{{}, j.ID()} {
		assert.Empty(t, j.complain(policy.Action{Kind: policy.Complain, To: about, Measure: policy.Struck, Cause: policy.Kept}, 1))
	}
}

// TestComplain_Many_Bounded: as many as there are back-offs at once, and one a minute.
func TestComplain_Many_Bounded(t *testing.T) {
	j, others := newJudge(t, 1, false)
	a := policy.Action{Kind: policy.Complain, To: others[0].id(), Measure: policy.Struck, Cause: policy.Kept}
	assert.Len(t, j.complain(a, 100), 64)
	assert.Empty(t, j.complain(a, 1))
	j.after(10 * time.Minute)
	assert.Len(t, j.complain(a, 100), 10)
}

// TestComplain_AllMeasuresAndCauses_HaveNumbers: those of package policy are those that may be signed.
func TestComplain_AllMeasuresAndCauses_HaveNumbers(t *testing.T) {
	assert.Len(t, policy.Measures(), token.MaxMeasure)
	assert.Len(t, policy.Causes(), token.MaxCause)
}

// acts has the policy act against another member for a while.
func (j *judge) acts(m *someone, what policy.Measure, span time.Duration) {
	require.Len(j.t, j.complain(policy.Action{Kind: policy.Complain, To: m.id(), Measure: what, Cause: policy.Kept, Span: span}, 1), 1)
}

// remembered is what a policy is told of a measure: how much is left of it.
type remembered struct {
	who        ident.Member
	what       policy.Measure
	left, span time.Duration
}

// remembers restarts the member on a boot clock that has begun anew, and returns what the policy is told of what it
// did before, and that this is the first thing that it is told.
func (j *judge) remembers() (list []remembered) {
	j.now.Boot = clock.Instant(time.Minute)
	j.restart()
	j.puppet.events = nil
	j.after(time.Minute) // greetings are awaited
	for i, e := range j.puppet.events {
		if e.Kind == policy.Acted {
			assert.Len(j.t, list, i)
			list = append(list, remembered{e.From, e.Measure, e.At.Sub(j.begunAt()), e.Span})
		}
	}
	return list
}

// begunAt is when the policy began.
func (j *judge) begunAt() clock.Instant { return clock.Instant(time.Minute) }

// off lets time pass while the member is off, and sets its clock by so much.
func (j *judge) off(d, set time.Duration) {
	j.now.Wall = j.now.Wall.Add(d + set)
	j.now.Boot = j.now.Boot.Add(d)
}

// TestComplain_AfterRestart_PolicyToldWhatIsLeft: P-84. What a member does against others goes on after a restart, for as
// long as is left of it; also what has ended less than a day ago, which counts for the next one.
func TestComplain_AfterRestart_PolicyToldWhatIsLeft(t *testing.T) {
	for _, checkpoint := range []bool{false, true} {
		j, others := newJudge(t, 2, false)
		a, b := others[0], others[1]
		j.acts(a, policy.Struck, time.Hour)
		j.acts(b, policy.GivenUp, time.Minute)
		j.acts(b, policy.Barred, 8*time.Hour)
		j.acts(a, policy.BackedOff, 2*time.Minute)
		j.after(10 * time.Minute)
		if checkpoint {
			j.checkpoint()
		}
		j.off(20*time.Minute, 0)
		want := []remembered{
			{a.id(), policy.Struck, 30 * time.Minute, time.Hour}, {b.id(), policy.GivenUp, -29 * time.Minute, time.Minute},
			{b.id(), policy.Barred, 7*time.Hour + 30*time.Minute, 8 * time.Hour}, {a.id(), policy.BackedOff, -28 * time.Minute, 2 * time.Minute},
		}
		assert.Equal(t, want, j.remembers())
		j.checkpoint()
		j.off(24*time.Hour-time.Minute, 0) // a minute has passed in between
		want[0].left -= 24 * time.Hour
		want[2].left -= 24 * time.Hour
		assert.Equal(t, []remembered{want[0], want[2]}, j.remembers())
		j.checkpoint()
		j.off(32*time.Hour, 0)
		assert.Empty(t, j.remembers())
	}
}

// TestComplain_LaterOne_InPlaceOfEarlier: P-84. A strike ends a back-off of one that is given up, and a longer one a shorter.
func TestComplain_LaterOne_InPlaceOfEarlier(t *testing.T) {
	j, others := newJudge(t, 1, false)
	m := others[0]
	j.acts(m, policy.GivenUp, time.Minute)
	j.acts(m, policy.Struck, time.Hour)
	j.after(time.Hour)
	j.acts(m, policy.Struck, 2*time.Hour)
	assert.Equal(t, []remembered{{m.id(), policy.Struck, 2 * time.Hour, 2 * time.Hour}}, j.remembers())
}

// TestComplain_ClockSet_NeverLonger: P-84. Nobody is acted against for longer than without the restart. Where the journal shows
// that the clock was set back, nothing is taken up.
func TestComplain_ClockSet_NeverLonger(t *testing.T) {
	const span, ran, off = time.Hour, 10 * time.Minute, 20 * time.Minute
	for _, test := range []struct {
		name string
		what func(*judge)
		left []time.Duration
	}{
		{"kept right", func(j *judge) { j.off(off, 0) }, []time.Duration{30 * time.Minute}},
		{"forward", func(j *judge) { j.off(off, 25*time.Minute) }, []time.Duration{5 * time.Minute}},
		{"forward beyond its end", func(j *judge) { j.off(off, time.Hour) }, []time.Duration{-30 * time.Minute}},
		{"forward by days", func(j *judge) { j.off(off, 30*24*time.Hour) }, nil},
		{"back before the last record", func(j *judge) { j.off(off, -off-2*time.Second) }, nil},
		{"back before it began", func(j *judge) { j.off(off, -5*time.Hour) }, nil},
		{"back in small steps", func(j *judge) { j.off(off, -time.Second) }, []time.Duration{30*time.Minute + time.Second}},
		{"back while it ran", func(j *judge) {
			j.off(0, -ran-5*time.Minute)
			j.acts(j.others[1], policy.BackedOff, time.Minute)
			j.off(off, 0)
		}, nil},
		{"back while it ran, and a checkpoint", func(j *judge) {
			j.off(0, -ran/2)
			j.after(time.Second)
			j.checkpoint()
			j.off(off, 0)
		}, nil},
		{"back and forward while it ran, and a checkpoint", func(j *judge) {
			j.off(0, -ran/2)
			j.after(time.Second)
			j.off(0, ran/2)
			j.after(time.Second)
			j.checkpoint()
			j.off(off-2*time.Second, 0)
		}, []time.Duration{30 * time.Minute}},
		{"back by less than it was off", func(j *judge) { j.off(off, -15*time.Minute) }, []time.Duration{45 * time.Minute}}, // not held
	} {
		t.Run(test.name, func(t *testing.T) {
			j, others := newJudge(t, 2, false)
			j.acts(others[0], policy.Struck, span)
			j.after(ran)
			j.acts(others[1], policy.Struck, span) // a record of that time
			test.what(j)
			var left []time.Duration
			for _, r := range j.remembers() {
				if r.who == others[0].id() {
					left = append(left, r.left)
				}
			}
			assert.Equal(t, test.left, left)
		})
	}
}

// TestComplain_NotOfThisMember_NotTakenUp: what another one has signed changes nothing here, nor does a complaint of
// a time to come, or about a slot that is gone.
func TestComplain_NotOfThisMember_NotTakenUp(t *testing.T) {
	j, others := newJudge(t, 2, false)
	for _, test := range []struct {
		signer   *someone
		resource string
		ago      time.Duration
	}{{others[1], resource, 0}, {j.self, "gone", 0}, {j.self, resource, -time.Hour}, {j.self, resource, 25 * time.Hour}} {
		body := token.ComplaintBody{
			Resource: test.resource, Signer: test.signer.id(), Accused: others[0].id(), Token: ident.Token{5}, Measure: uint64(policy.Struck),
			Cause: uint64(policy.Kept), Time: uint64(j.now.Wall.Add(-test.ago).UnixMilli()),
		}
		body.SetSpan(uint64(time.Hour.Milliseconds()))
		c, err := body.Sign(test.signer.group, test.signer.key)
		require.NoError(t, err)
		before := j.journal
		j.journal = append(slices.Clone(before), journal.Stamped{At: j.now.Micros(), Record: &journal.Complained{Complaint: c.Raw()}})
		assert.Empty(t, j.remembers())
		j.journal = before
	}
}

// TestComplain_Many_RememberedBounded: P-84. Beyond the bound, the one that ends first is forgotten.
func TestComplain_Many_RememberedBounded(t *testing.T) {
	j, _ := newJudge(t, 1, false)
	for i := range 300 {
		j.after(time.Minute)
		j.complain(policy.Action{Kind: policy.Complain, To: ident.Member{9, byte(i), byte(i >> 8)}, Measure: policy.Struck, Cause: policy.Kept, Span: 20 * time.Hour}, 1)
	}
	list := j.remembers()
	require.Len(t, list, 192)
	assert.Equal(t, ident.Member{9, 108}, list[0].who)
}
