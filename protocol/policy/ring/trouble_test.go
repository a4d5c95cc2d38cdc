package ring

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// TestTrouble: members disagree about who follows whom and how many they are, and
// change their minds; they restart, give up, and refuse to run; tokens get lost.
// When that has ended, all are served, with one token.
func TestTrouble(t *testing.T) {
	for _, preset := range []string{"e", "q", "d", "s"} {
		t.Run(preset, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkTrouble(t, preset) })
		})
	}
}

func checkTrouble(t *rapid.T, preset string) {
	s := drawSetup(t, preset, rapid.Bool().Draw(t, "reordered"))
	s.params.OperationTime, s.faulty = 100*time.Millisecond, true
	s.kept = true
	s.passing, s.telling = min(s.passing, 10*time.Millisecond), min(s.telling, 10*time.Millisecond)
	s.passLoss = rapid.SampledFrom([]float64{0, 0.2}).Draw(t, "pass loss")
	s.tellLoss = rapid.SampledFrom([]float64{0, 0.2}).Draw(t, "tell loss")
	s.refusals = rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "refusals")
	w := newNetwork(t, s)
	for range rapid.IntRange(1, 50).Draw(t, "troubles") {
		w.trouble(rapid.IntRange(0, 5).Draw(t, "what"), rapid.IntRange(0, s.members-1).Draw(t, "who"))
		w.run(w.now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 20, 300, 3000}).Draw(t, "pause")) * time.Millisecond))
	}
	w.setup.passLoss, w.setup.tellLoss, w.setup.refusals = 0, 0, 0
	w.around()
	w.run(w.now.Add(time.Second))
	for range 3 { // tokens that rest meet when somebody asks
		for i := range w.sites {
			w.want(i)
			w.run(w.now.Add(time.Second))
		}
	}
	w.run(w.now.Add(30 * time.Second))
	require.Zero(t, w.waiting(), "somebody was not heard")
	require.LessOrEqual(t, len(w.tokens), 1)
}

func (w *network) trouble(what, i int) {
	s := w.sites[i]
	switch what {
	case 0:
		s.next = w.rng.IntN(len(w.sites))
		e := policy.Event{Kind: policy.Neighbour, Members: w.rng.IntN(len(w.sites) + 3)}
		if s.next != i {
			e.From = memberID(s.next)
		}
		w.step(i, e)
	case 1:
		w.want(i)
	case 2:
		w.withdraw(i)
	case 3:
		if len(w.tokens) == 0 && w.minted < 200 {
			w.mint(i)
		}
	case 4:
		w.around()
	case 5:
		w.restart(i)
	}
}

// restart makes a member's policy anew, at once.
func (w *network) restart(i int) {
	s := w.sites[i]
	if s.runs != (ident.Token{}) {
		w.running--
	}
	w.start(i)
	w.sites[i].asked = clock.Never
	w.step(i, policy.Event{Kind: policy.Timer})
}
