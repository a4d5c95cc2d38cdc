package ringcheck

import (
	"fmt"
	"strconv"
	"strings"
)

// Action is a kind of step.
type Action byte

// The actions. Their letters are those of schedules.
const (
	Ask      Action = 'r' // the processor needs the token
	Deliver  Action = 'd' // the first message on the link that leaves the processor arrives
	Leave    Action = 'x' // the processor leaves its critical section
	Withdraw Action = 'w' // the processor no longer needs the token it waits for
	Overtake Action = 'o' // on the link that leaves the processor a message overtakes one of the other kind, and arrives
)

// Step is one action at one processor.
type Step struct {
	Action    Action
	Processor int
}

// String is the step as schedules write it, as "d3".
func (s Step) String() string { return string(s.Action) + strconv.Itoa(s.Processor) }

// Schedule is a run of a ring: what happens in which order. It begins with a
// quiet ring whose token rests at processor 0 (in S it has just left there).
type Schedule []Step

// String is the steps with blanks between, as in "r0 r1 d1 x0".
func (s Schedule) String() string {
	words := make([]string, len(s))
	for i, step := range s {
		words[i] = step.String()
	}
	return strings.Join(words, " ")
}

// ParseSchedule reads what String writes. Error: ErrSchedule.
func ParseSchedule(text string) (Schedule, error) {
	var s Schedule
	for word := range strings.FieldsSeq(text) {
		p, err := strconv.Atoi(word[1:])
		if err != nil || p < 0 || !strings.ContainsRune("rdxwo", rune(word[0])) {
			return nil, fmt.Errorf("%w: %q", ErrSchedule, word)
		}
		s = append(s, Step{Action(word[0]), p})
	}
	return s, nil
}
