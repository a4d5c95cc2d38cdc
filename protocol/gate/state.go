package gate

import "github.com/wandertoken/wander/protocol/transition"

// State is what happens at one slot.
type State uint8

// The states. Only Idle lets a session begin.
const (
	Idle    State = iota // nobody is in
	Opening              // a session is journalled, its open hook runs
	Open                 // a session is in progress
	Closing              // the close hook runs, or it has confirmed and the slot settles
	Stuck                // close has failed: shut until the operator has looked
	states
)

var stateNames = [states]string{"IDLE", "OPENING", "OPEN", "CLOSING", "STUCK"}

func (s State) String() string { return transition.Name(stateNames[:], "state", uint8(s)) }

// Event is what can happen at a slot.
type Event uint8

// The events.
const (
	Choose       Event = iota // a waiter is chosen, and journalled
	Recover                   // a start finds a session in the journal, or no journal
	RecoverStuck              // a start finds in the journal that close has failed
	Opened                    // the open hook has done its work
	OpenFailed                // it has failed, or its time is over
	Cut                       // sign-out, deadline, lost connection, successor, revocation
	Confirmed                 // close has confirmed that work has ended
	CloseFailed               // it has failed, or its time is over
	Settled                   // the settle time behind the confirmation is over
	Clear                     // the operator lets close run again
	events
)

var eventNames = [events]string{
	"CHOOSE", "RECOVER", "RECOVER STUCK", "OPENED", "OPEN FAILED", "CUT", "CONFIRMED", "CLOSE FAILED", "SETTLED", "CLEAR",
}

func (e Event) String() string { return transition.Name(eventNames[:], "event", uint8(e)) }

// Transition is one row of the table.
type Transition transition.Row[State, Event]

// Transitions are all that can happen. The only way to Idle is from Closing, by a close that has
// confirmed and settled.
var Transitions = []Transition{
	{Idle, Choose, Opening},
	{Idle, Recover, Closing},
	{Idle, RecoverStuck, Stuck},
	{Opening, Opened, Open},
	{Opening, OpenFailed, Closing},
	{Opening, Cut, Closing},
	{Open, Cut, Closing},
	{Closing, Confirmed, Closing},
	{Closing, Settled, Idle},
	{Closing, CloseFailed, Stuck},
	{Stuck, Clear, Closing},
}

var table = transition.NewTable(states, events, Transitions)

// after is the state that follows s on e, and whether e can happen in s.
func after(s State, e Event) (State, bool) { return table.After(s, e) }
