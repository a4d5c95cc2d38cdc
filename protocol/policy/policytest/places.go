package policytest

import "github.com/wandertoken/wander/protocol/policy"

// Place is where a token is by the books of a test that plays a member.
type Place int

// The places.
const (
	Away Place = iota
	Kept       // it rests here
	Used       // it runs here
	Sent       // its Pass is not settled yet
)

// Permitted is where a token may be for an event to tell of it. What is not
// listed tells of no token.
var Permitted = map[policy.EventKind][]Place{
	policy.Arrival:        {Away, Sent},
	policy.Generated:      {Away},
	policy.Resumed:        {Away},
	policy.OperationEnded: {Used},
	policy.PassEnded:      {Sent},
}

// Receives reports whether an event puts a token into the policy's hands.
func Receives(e policy.Event) bool {
	return e.Kind == policy.Arrival || e.Kind == policy.Generated || e.Kind == policy.Resumed ||
		e.Kind == policy.PassEnded && e.Outcome == policy.Returned
}
