package wandering

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// Demand that is told again is announced again a gathering time after the last
// announcement: the first may be lost, and the next one by itself is 1.5 rounds away.
func TestWalker_DemandToldAgain_AnnouncedAgain(t *testing.T) {
	w := walkerAt(t, 18, Fair, policy.Params{
		OperationTime: 4 * time.Second, MembersMax: 8, SkipDelay: time.Second, MinInterval: time.Second,
	})
	demand := policy.Event{Kind: policy.DemandChanged, Demand: true}
	said := func(from, to clock.Instant) (n int) {
		for now := from; now < to; now += clock.Instant(10 * time.Millisecond) {
			n += len(kinds(w.Step(now, policy.Event{Kind: policy.Timer}, nil), policy.Tell))
		}
		return n
	}
	w.Step(2*second, demand, nil)
	first := said(2*second, 7*second)
	assert.Positive(t, first)
	assert.Zero(t, said(7*second, 10*second), "once is enough")
	for range 3 {
		w.Step(10*second, demand, nil)
	}
	assert.Equal(t, first, said(10*second, 15*second))
}

// suspecting is everybody, but for a member that is suspected, which has no witnesses.
type suspecting struct {
	everybody
	suspect ident.Member
}

func (s suspecting) Witnesses(of ident.Member, n int, to []ident.Member) []ident.Member {
	if of == s.suspect {
		return to
	}
	return s.everybody.Witnesses(of, n, to)
}

// Two liars that write each other on the token, and seem dead until they are inquired
// about, would share it among themselves: nobody else says when they were served.
func TestCandidate_WithoutWitnesses_PassedOver(t *testing.T) {
	for _, c := range []struct {
		others int // members but the holder and the suspect
		passed bool
	}{{others: 18}, {others: 1}, {others: 0, passed: true}} {
		suspect := byte(c.others + 2)
		made, err := New(policy.Params{
			Preset: Fair, OperationTime: 4 * time.Second, MembersMax: 8, SkipDelay: time.Second, MinInterval: 10 * time.Second,
		}, policy.Surroundings{
			Self: ident.Member{1}, Random: rand.NewPCG(1, 1),
			Roster: suspecting{everybody{c.others + 2, 1}, ident.Member{suspect}},
		})
		require.NoError(t, err)
		w := made.(*walker)
		w.Step(second, policy.Event{Kind: policy.Timer}, nil)
		var list candidates
		list.insert(second, candidate{member: ident.Member{suspect}, served: second - clock.Instant(time.Hour), weight: 1})
		e := arrival(1, 1)
		e.Token.Field = list.append(second, []byte{baggageForm, 0, 0, 0, 0, 0})
		w.Step(second, e, nil)
		passed := false
		for now := second; now < 4*second; now += clock.Instant(50 * time.Millisecond) {
			w.Step(now, policy.Event{Kind: policy.Timer}, nil)
			for _, a := range w.Step(now, said(suspect, body{kind: answer, member: ident.Member{suspect}, what: willing, age: 1 << 30}), nil) {
				passed = passed || a.Kind == policy.Pass && a.To == (ident.Member{suspect})
			}
		}
		assert.Equal(t, c.passed, passed, "%d others", c.others)
	}
}
