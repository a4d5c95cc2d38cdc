package handoff

import "github.com/wandertoken/wander/protocol/transition"

// State is the state of one hop of one token at this member (handoff rules §2).
// The receiver's states come before custody, the sender's after it.
type State uint8

// The states. Hold, Sent, Closed and Dropped, if reached by a transfer, are
// together "taken": the machine answers a repeated transfer by the same
// receipt.
const (
	None    State = iota // nothing is known, or everything is forgotten
	Live                 // a reservation, counted against the capacity
	Lapsed               // a reservation that is no longer counted; its transfer is still taken
	Voided               // its transfer was declined permanently
	Hold                 // custody is here
	Sent                 // custody was given away, and the answer has not come
	Closed               // custody was given away, and the answer has come or is given up
	Dropped              // the token was removed here
	states
)

var stateNames = [states]string{"NONE", "LIVE", "LAPSED", "VOIDED", "HOLD", "SENT", "CLOSED", "DROPPED"}

func (s State) String() string { return transition.Name(stateNames[:], "state", uint8(s)) }

// Event is something that happens to one hop of one token.
type Event uint8

// The events of the sender, then those of the receiver.
const (
	SenderOffer      Event = iota // an OFFER goes out
	SenderAccept                  // an ACCEPT came in
	SenderRelease                 // the transfer is signed
	SenderRetransmit              // the transfer goes out again
	SenderReceipt                 // it was taken
	SenderVoid                    // it was declined: custody continues at the burned hop
	SenderUnknown                 // the receiver cannot say
	SenderGiveUp                  // the sender stops asking
	SenderDrop                    // the policy removes the token

	ReceiverOffer     // an OFFER came in and is accepted
	ReceiverExpire    // the reservation's time is over
	ReceiverCancel    // the sender does not want it any more
	ReceiverTake      // the transfer came in and is taken
	ReceiverDecline   // the transfer came in and is declined
	ReceiverDuplicate // an answered transfer came in again
	ReceiverStale     // a transfer came in whose number is forgotten
	ReceiverForget    // the record is deleted
	events
)

var eventNames = [events]string{
	"sender OFFER", "sender ACCEPT", "sender RELEASE", "sender RETRANSMIT", "sender RECEIPT",
	"sender VOID", "sender UNKNOWN", "sender GIVEUP", "sender DROP",
	"receiver OFFER", "receiver EXPIRE", "receiver CANCEL", "receiver TAKE", "receiver DECLINE",
	"receiver DUPLICATE", "receiver STALE", "receiver FORGET",
}

func (e Event) String() string { return transition.Name(eventNames[:], "event", uint8(e)) }

// Transition is one row of the machines' tables.
type Transition transition.Row[State, Event]

// Transitions are the tables of handoff rules §3 and §4. The machine ignores an
// event in a state that has no row for it.
var Transitions = []Transition{
	{Hold, SenderOffer, Hold},
	{Hold, SenderAccept, Hold},
	{Hold, SenderRelease, Sent},
	{Hold, SenderDrop, Dropped},
	{Sent, SenderRetransmit, Sent},
	{Sent, SenderReceipt, Closed},
	{Sent, SenderVoid, Closed},
	{Sent, SenderUnknown, Sent},
	{Sent, SenderGiveUp, Closed},

	{None, ReceiverOffer, Live},
	{None, ReceiverTake, Hold},
	{None, ReceiverDecline, Voided},
	{None, ReceiverStale, None},
	{Live, ReceiverOffer, Live},
	{Live, ReceiverExpire, Lapsed},
	{Live, ReceiverCancel, Lapsed},
	{Live, ReceiverTake, Hold},
	{Live, ReceiverDecline, Voided},
	{Live, ReceiverStale, Live},
	{Live, ReceiverForget, None},
	{Lapsed, ReceiverOffer, Live},
	{Lapsed, ReceiverTake, Hold},
	{Lapsed, ReceiverDecline, Voided},
	{Lapsed, ReceiverStale, Lapsed},
	{Lapsed, ReceiverForget, None},
	{Voided, ReceiverDuplicate, Voided},
	{Voided, ReceiverForget, None},
	{Hold, ReceiverDuplicate, Hold},
	{Sent, ReceiverDuplicate, Sent},
	{Closed, ReceiverDuplicate, Closed},
	{Closed, ReceiverForget, None},
	{Dropped, ReceiverDuplicate, Dropped},
	{Dropped, ReceiverForget, None},
}

var table = transition.NewTable(states, events, Transitions)

// after is the state that follows s on e, and whether e can happen in s.
func after(s State, e Event) (State, bool) { return table.After(s, e) }
