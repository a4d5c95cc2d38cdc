package ringcheck

import (
	"math/rand/v2"

	"github.com/wandertoken/wander/protocol/policy/ring"
)

// Random makes a number of steps drawn at random, then no new requests until
// everybody is served (in S: until nobody waits). asking is the probability
// that a step is a request if one is possible; among the others all messages
// that can arrive and all exits are equally likely. The same seed gives the
// same run. Error: ErrProcessors.
func Random(alg ring.Algorithm, n, steps int, asking float64, seed uint64) (*Run, error) {
	r, err := newRun(alg, n)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	var enabled []Step
	for range steps {
		action := Deliver
		if rng.Float64() < asking {
			action = Ask
		}
		if enabled = r.possible(enabled[:0], action); len(enabled) == 0 {
			continue
		}
		if err := r.step(enabled[rng.IntN(len(enabled))]); err != nil {
			return r, err
		}
	}
	for r.waits() || alg != ring.S {
		if enabled = r.possible(enabled[:0], Deliver); len(enabled) == 0 {
			break
		}
		if err := r.step(enabled[rng.IntN(len(enabled))]); err != nil {
			return r, err
		}
	}
	return r, nil
}

// possible appends the requests that can be made, or else all other steps
// without overtaking.
func (r *Ring) possible(steps []Step, action Action) []Step {
	kinds := []Action{Deliver, Leave}
	if action == Ask {
		kinds = kinds[:1]
		kinds[0] = Ask
	}
	for p := range r.stations {
		for _, a := range kinds {
			if s := (Step{a, p}); r.Enabled(s) {
				steps = append(steps, s)
			}
		}
	}
	return steps
}
