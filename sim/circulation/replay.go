package circulation

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// Recorded is one event that a policy was told, and when.
type Recorded struct {
	Now   clock.Instant
	Event policy.Event
}

// Replay makes a policy as a World does, tells it the events one after the
// other, and returns what it answered to each. With the surroundings that
// another driver gave its policy, in the same state, and with the events that
// it told, the answers are the same. Errors: those of catalog.New.
func Replay(name string, params policy.Params, in policy.Surroundings, events []Recorded) ([][]policy.Action, error) {
	made, err := catalog.New(name, params, in)
	if err != nil {
		return nil, err
	}
	answers := make([][]policy.Action, len(events))
	for i := range events {
		answers[i] = made.Step(events[i].Now, events[i].Event, nil)
		for k := range answers[i] { // they are the policy's until its next Step
			answers[i][k].Field = slices.Clone(answers[i][k].Field)
		}
	}
	return answers, nil
}
