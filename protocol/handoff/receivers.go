package handoff

import (
	"maps"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

// receiver is what a sender keeps about a peer that it sends tokens to: one
// memory for each of the peer's incarnations.
type receiver struct {
	current  *memory   // of the incarnation that was met last; nil: none was
	memories []*memory // oldest first, the current one included
}

// memory is what a sender knows about the custody memory of a receiver.
type memory struct {
	incarnation ident.Incarnation
	next        uint64 // 1 + the highest accept number from it
	said        uint64 // promised, durably: settled below this
	floor       uint64 // what it said that it forgot
	// open are the numbers of transfers without an answer: true while it is
	// awaited, false when this member has given up.
	open map[uint64]bool
}

// maxMemories bounds the incarnations of a peer that are remembered beyond
// those that owe an answer. An incarnation that was replaced does not
// come back, unless two members have one key; then a few alternate.
const maxMemories = 8

// receiverOf finds or makes the record of a receiver.
func (m *Machine) receiverOf(id ident.Member) *receiver {
	r := m.receivers[id]
	if r == nil {
		r = &receiver{}
		m.receivers[id] = r
	}
	return r
}

// of is the memory of an incarnation, made if need be.
func (r *receiver) of(incarnation ident.Incarnation) *memory {
	for _, mem := range r.memories {
		if mem.incarnation == incarnation {
			return mem
		}
	}
	if len(r.memories) >= maxMemories {
		r.forgetOldest()
	}
	mem := &memory{incarnation: incarnation, open: make(map[uint64]bool)}
	r.memories = append(r.memories, mem)
	return mem
}

// forgetOldest drops the oldest memory of an incarnation that owes nothing.
func (r *receiver) forgetOldest() {
	for i, mem := range r.memories {
		if mem != r.current && !mem.owes() {
			r.memories = slices.Delete(r.memories, i, i+1)
			return
		}
	}
}

// owes reports whether the answer to a transfer is awaited.
func (mem *memory) owes() bool {
	for _, awaited := range mem.open {
		if awaited {
			return true
		}
	}
	return false
}

// meet notes which incarnation a receiver is. Another one has another memory:
// it has numbers and promises of its own, and ACCEPTs of the former one are
// worthless. What the former one was promised, and what it owes, holds should
// it come back.
func (m *Machine) meet(id ident.Member, incarnation ident.Incarnation) *memory {
	r := m.receiverOf(id)
	if r.current == nil || r.current.incarnation != incarnation {
		r.current = r.of(incarnation)
		m.dropAccepts(id, func(a accepted) bool { return a.named.Incarnation != incarnation })
	}
	return r.current
}

// memoryOf is the memory of a receiver's incarnation, if it is the one that
// was met last, or else nil.
func (m *Machine) memoryOf(id ident.Member, incarnation ident.Incarnation) *memory {
	r := m.receivers[id]
	if r == nil || r.current == nil || r.current.incarnation != incarnation {
		return nil
	}
	return r.current
}

// dropAccepts discards ACCEPTs in hand of one peer. A search that has lost one
// goes on at once: it may have waited for nothing else.
func (m *Machine) dropAccepts(id ident.Member, which func(accepted) bool) {
	for _, rec := range m.passing {
		if rec.pass.forget(func(a accepted) bool { return a.from == id && which(a) }) {
			m.wakeAt(rec, m.now.Boot)
		}
	}
}

// promise renews, when it has grown enough, what this member promises to a
// receiver: everything below the returned number is settled. It is journalled
// ahead of the record that follows in the same step, which is synced, and so
// durable before anything that is said later.
//
// A transfer that a volatile member gave up counts as settled: it will never
// act on an answer. Otherwise one give-up would pin the receiver's floor until it
// has no room for this member's transfers any more. Custody is safe either way,
// since a raised floor only makes a late copy worthless; what such a copy could
// have revived is lost, and the sender has called it lost already.
func (m *Machine) promise(id ident.Member, mem *memory) {
	if mem.next < mem.said+settleBlock {
		return
	}
	below := mem.next
	for number, awaited := range mem.open {
		if awaited {
			below = min(below, number)
		}
	}
	for _, rec := range m.passing {
		for _, a := range rec.pass.accepts {
			if a.from == id && a.named.Incarnation == mem.incarnation {
				below = min(below, a.named.Number)
			}
		}
	}
	if below < mem.said+settleBlock {
		return
	}
	mem.said = below
	maps.DeleteFunc(mem.open, func(number uint64, _ bool) bool { return number < below })
	m.persist(&journal.Settled{Receiver: id, Incarnation: mem.incarnation, Below: below}, false)
}

// settledFor is the promise to state to a receiver, or nil.
func (m *Machine) settledFor(id ident.Member) *wire.Settled {
	r := m.receivers[id]
	if r == nil || r.current == nil || r.current.said == 0 {
		return nil
	}
	return &wire.Settled{Incarnation: r.current.incarnation, Below: r.current.said}
}
