package ring

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Algorithm says by which rules a processor acts.
type Algorithm uint8

// The algorithms. Those after E are the paper's text to the letter, or nearly:
// they are wrong, and are here so that an explorer can show it.
const (
	S Algorithm = iota // the token always moves (section 2)
	Q                  // the token counts requests (section 3), corrected
	D                  // the token makes a check tour (section 4), corrected
	E                  // D with one state: a tour from the last request on

	QPublished // section 3 to the letter
	DPublished // section 4 to the letter
	// QDeferred and DDeferred are those with correction 1 only: a request that
	// arrives during a critical section is recorded, and nothing more.
	QDeferred
	DDeferred

	algorithms = iota
)

var algorithmNames = [algorithms]string{"s", "q", "d", "e", "q-published", "d-published", "q-deferred", "d-deferred"}

// String is the algorithm's name in lower case, as in "e" or "q-published".
func (a Algorithm) String() string {
	if int(a) < len(algorithmNames) {
		return algorithmNames[a]
	}
	return "unknown"
}

// ErrAlgorithm is why a name is not an algorithm's; the error that wraps it
// lists those that are.
var ErrAlgorithm = errors.New("unknown ring algorithm")

// ParseAlgorithm is the algorithm that String calls so. Error: ErrAlgorithm.
func ParseAlgorithm(name string) (Algorithm, error) {
	i := slices.Index(algorithmNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("%w %q, known are %s", ErrAlgorithm, name, strings.Join(algorithmNames[:], ", "))
	}
	return Algorithm(i), nil
}

// rules are what the algorithms differ in. A Station's methods are the rest.
type rules struct {
	ask    func(s *Station) bool            // it needs the token, which is not here: is a request sent?
	relay  func(s *Station) bool            // a request arrived, and the token is not here: is it sent on?
	absorb func(s *Station, n int)          // a request arrived where the token is
	hop    func(s *Station, n int)          // the token came
	serve  func(s *Station, n int)          // it came to a processor that waits and now enters its section
	moves  func(s *Station) bool            // does the token that is here move on?
	leaves func(s *Station, held bool) bool // and at the exit? held: entered because the token was here
	hasty  bool                             // a request passes the token on even during a section
	active bool                             // a token that looks for requests is marked Active
}

var rulesOf = [algorithms]rules{
	S: rulesS, Q: rulesQ, D: rulesD, E: rulesE,
	QPublished: literal(rulesQPublished), DPublished: literal(rulesDPublished),
	QDeferred: rulesQPublished, DDeferred: rulesDPublished,
}

// literal adds what correction 1 takes away.
func literal(r rules) rules {
	r.hasty = true
	return r
}

// nothing is for an event at which an algorithm does nothing.
func nothing(*Station, int) {}

// others is how many processors there are beside one.
func others(n int) uint32 { return uint32(max(n-1, 0)) }

// less is a counter decremented, which stops at 0: below it only faults lead.
func less(count uint32) uint32 { return max(count, 1) - 1 }
