package circulation

import (
	"fmt"
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// Recorded is one event that a policy was told, with the time and the questions
// that it then asked its Roster.
type Recorded struct {
	Now   clock.Instant
	Event policy.Event
	Asked []policy.Asked
}

// Replay makes a policy as a Simulation does, tells it the recorded events one
// after the other, and returns what it answered to each. The Roster is the
// recorded one. If another driver recorded the events with a policy in the same
// state and with the same surroundings, the answers are the same. Errors: those
// of catalog.New, and ErrAsked when the policy asks the Roster other questions
// than it did there.
func Replay(name string, params policy.Params, in policy.Surroundings, events []Recorded) ([][]policy.Action, error) {
	asked := &transcript{}
	in.Roster = asked
	made, err := catalog.New(name, params, in)
	if err != nil {
		return nil, err
	}
	answers := make([][]policy.Action, len(events))
	for i := range events {
		asked.left = events[i].Asked
		answers[i] = made.Step(events[i].Now, events[i].Event, nil)
		if asked.strayed || len(asked.left) > 0 {
			return nil, fmt.Errorf("%w: at event %d", ErrAsked, i)
		}
		for k := range answers[i] { // they are the policy's until its next Step
			answers[i][k].Field = slices.Clone(answers[i][k].Field)
		}
	}
	return answers, nil
}

// transcript is a Roster that answers as another one did.
type transcript struct {
	left    []policy.Asked
	strayed bool // something else was asked
}

func (r *transcript) Draw(n int, to []ident.Member) []ident.Member {
	return r.answer(policy.Asked{N: n}, to)
}

func (r *transcript) Others(n int, to []ident.Member) []ident.Member {
	return r.answer(policy.Asked{N: n, Others: true}, to)
}

func (r *transcript) Size() int {
	if len(r.left) == 0 || r.left[0].Of != (ident.Member{}) || r.left[0].N != 0 {
		r.strayed = true
		return 0
	}
	n := r.left[0].Size
	r.left = r.left[1:]
	return n
}

func (r *transcript) Witnesses(of ident.Member, n int, to []ident.Member) []ident.Member {
	return r.answer(policy.Asked{Of: of, N: n}, to)
}

func (r *transcript) answer(q policy.Asked, to []ident.Member) []ident.Member {
	if len(r.left) == 0 || r.left[0].Of != q.Of || r.left[0].N != q.N || r.left[0].Others != q.Others {
		r.strayed = true
		return to
	}
	to = append(to, r.left[0].Answer...)
	r.left = r.left[1:]
	return to
}
