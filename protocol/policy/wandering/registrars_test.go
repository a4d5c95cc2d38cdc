package wandering

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// slotWalker is a walker among 20 members, of which 1 to 12 are the slot's registrars.
func slotWalker(t *testing.T, self byte, preset string, p policy.Params) *walker {
	p.Preset = preset
	made, err := New(p, policy.Surroundings{
		Self: ident.Member{self}, Random: rand.NewPCG(1, uint64(self)), Roster: everybody{20, self}, Slot: ident.Member{200},
	})
	require.NoError(t, err)
	w := made.(*walker)
	w.Step(second, policy.Event{Kind: policy.Timer}, nil)
	return w
}

// registered are the members that are told that a token is with the teller.
func registered(actions []policy.Action) (list []byte) {
	for _, a := range kinds(actions, policy.Tell) {
		var m body
		if parseBody(a.Field, &m) && m.kind == heard && m.sight.age == 0 {
			list = append(list, a.To[0])
		}
	}
	return list
}

// P-48: three registrars hear of a token that rests, and again each half least window.
func TestRegistrars_Holder_Told(t *testing.T) {
	w := slotWalker(t, 15, Fair, table1)
	told := registered(w.Step(2*second, arrival(9, 1000), nil))
	require.Len(t, told, registrarsTold)
	for _, m := range told {
		require.LessOrEqual(t, m, byte(registrars))
	}
	require.Empty(t, registered(w.Step((2*second).Add(w.least/2-1), policy.Event{Kind: policy.Timer}, nil)))
	require.Len(t, registered(w.Step((2*second).Add(w.least/2), policy.Event{Kind: policy.Timer}, nil)), registrarsTold)

	w = slotWalker(t, 15, Fair, table1)
	w.Step(2*second, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
	require.Empty(t, registered(w.Step(2*second, arrival(9, 1000), nil)), "a turn tells the witnesses")
}

// P-39: a registrar answers a poll with all that it was told, others with one of that.
func TestRegistrars_Poll_AllTold(t *testing.T) {
	for self, answers := range map[byte]int{3: 3, 15: 1} {
		w := slotWalker(t, self, Light, table1)
		for from := byte(16); from <= 18; from++ {
			w.Step(2*second, said(from, body{kind: heard, member: ident.Member{from}, sight: sight{id: ident.Token{9}, born: 1000, hop: uint64(from)}}), nil)
		}
		require.Len(t, told(w.Step(3*second, said(20, body{kind: poll, age: 10_000}), nil), 20, heard), answers)
	}
}

// P-38: registrars are polled before others, nobody twice.
func TestRegistrars_Silence_Polled(t *testing.T) {
	w := slotWalker(t, 15, Light, table1)
	asked := make(map[ident.Member]bool)
	for now := 2 * second; len(asked) == 0; now += 60 * second {
		for _, a := range kinds(w.Step(now, policy.Event{Kind: policy.Timer}, nil), policy.Tell) {
			require.False(t, asked[a.To])
			asked[a.To] = true
		}
	}
	require.Len(t, asked, 19)
	require.False(t, asked[w.self])
}

// P-38: a token may stay with each holder for max_hold, and with nobody yet.
func TestPast_LongOperationOrBeginning_NoPoll(t *testing.T) {
	p := table1
	p.MaxHold = time.Hour
	w := slotWalker(t, 15, Light, p)
	for now := 2 * second; now < clock.Instant(2*time.Hour); now += 60 * second {
		require.Empty(t, kinds(w.Step(now, policy.Event{Kind: policy.Timer}, nil), policy.Tell))
	}
}

// P-42: a holder whose candidate is silent does not run once more, but lets the token
// wander.
func TestFair_CandidateSilent_Wanders(t *testing.T) {
	p := table1
	p.MinInterval = time.Millisecond
	w := walkerAt(t, 1, Fair, p)
	w.Step(2*second, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
	w.Step(3*second, arrivalWith(9, 1000, carrying(0, time.Second, waiter{ident.Member{5}, 1 << 20})), nil)
	require.True(t, w.running)
	w.Step(6*second, policy.Event{Kind: policy.OperationEnded, Operated: true, Token: policy.Token{ID: ident.Token{9}}}, nil)
	w.Step(6*second, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
	for now := 6 * second; w.have; now += second / 4 {
		require.False(t, w.running, "a candidate is sought")
		require.Less(t, now, 20*second)
		w.Step(now, policy.Event{Kind: policy.Timer}, nil)
		if w.have {
			w.Step(now, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
		}
	}
}
