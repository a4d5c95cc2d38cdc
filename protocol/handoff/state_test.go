package handoff_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/handoff"
)

func rowsOf(match func(handoff.Transition) bool) (list []handoff.Transition) {
	for _, row := range handoff.Transitions {
		if match(row) {
			list = append(list, row)
		}
	}
	return list
}

func allows(s handoff.State, e handoff.Event) bool {
	return len(rowsOf(func(r handoff.Transition) bool { return r.From == s && r.Event == e })) > 0
}

var allStates = []handoff.State{
	handoff.None, handoff.Live, handoff.Lapsed, handoff.Voided, handoff.Hold, handoff.Sent, handoff.Closed, handoff.Dropped,
}

// TestTransitions states what the tables of handoff rules §3 and §4 say, in
// other words than the table in the code.
func TestTransitions(t *testing.T) {
	seen := make(map[handoff.Transition]bool)
	for _, row := range handoff.Transitions {
		one := handoff.Transition{From: row.From, Event: row.Event}
		assert.False(t, seen[one], "%v on %v is decided twice", row.From, row.Event)
		seen[one] = true
	}
	custody := rowsOf(func(r handoff.Transition) bool { return r.To == handoff.Hold && r.From != handoff.Hold })
	assert.Len(t, custody, 3)
	for _, row := range custody {
		assert.Equal(t, handoff.ReceiverTake, row.Event, "custody begins by taking, and in no other way")
		assert.Contains(t, []handoff.State{handoff.None, handoff.Live, handoff.Lapsed}, row.From)
	}
	for s, want := range map[handoff.State][]handoff.State{
		handoff.Voided:  {handoff.None},
		handoff.Hold:    {handoff.Sent, handoff.Dropped},
		handoff.Sent:    {handoff.Closed},
		handoff.Closed:  {handoff.None},
		handoff.Dropped: {handoff.None},
	} {
		var to []handoff.State
		for _, row := range rowsOf(func(r handoff.Transition) bool { return r.From == s && r.To != s }) {
			if !slices.Contains(to, row.To) {
				to = append(to, row.To)
			}
		}
		assert.ElementsMatch(t, want, to, s)
	}
}

func TestTransitions_EachState_AsInTheTable(t *testing.T) {
	for _, s := range allStates {
		taken := s >= handoff.Hold
		decided := taken || s == handoff.Voided
		assert.Equal(t, decided, allows(s, handoff.ReceiverDuplicate), "%v: what is decided answers its transfer again", s)
		assert.Equal(t, !decided, allows(s, handoff.ReceiverTake), "%v: what is decided is never taken", s)
		assert.Equal(t, !decided, allows(s, handoff.ReceiverDecline), "%v: nor declined", s)
		assert.Equal(t, !decided, allows(s, handoff.ReceiverStale), "%v", s)
		assert.Equal(t, !decided, allows(s, handoff.ReceiverOffer), "%v: an OFFER of a decided hop is ignored", s)
		forgettable := s != handoff.Hold && s != handoff.Sent && s != handoff.None
		assert.Equal(t, forgettable, allows(s, handoff.ReceiverForget), "%v: custody and unanswered transfers are never forgotten", s)
		for _, e := range []handoff.Event{handoff.SenderOffer, handoff.SenderAccept, handoff.SenderRelease, handoff.SenderDrop} {
			assert.Equal(t, s == handoff.Hold, allows(s, e), "%v, %v", s, e)
		}
		for _, e := range []handoff.Event{
			handoff.SenderRetransmit, handoff.SenderReceipt, handoff.SenderVoid, handoff.SenderUnknown, handoff.SenderGiveUp,
		} {
			assert.Equal(t, s == handoff.Sent, allows(s, e), "%v, %v", s, e)
		}
	}
}

func TestStatesAndEvents_Each_Named(t *testing.T) {
	names := make(map[string]bool)
	for _, row := range handoff.Transitions {
		names[row.From.String()], names[row.Event.String()] = true, true
	}
	assert.Len(t, names, 8+17)
	assert.Equal(t, "state 99", handoff.State(99).String())
	assert.Equal(t, "event 99", handoff.Event(99).String())
}
