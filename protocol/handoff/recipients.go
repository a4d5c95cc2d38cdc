package handoff

import (
	"maps"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

// recipients is what a sender knows of the custody memory of each peer that it
// sends tokens to, and what it has promised to them: that all transfers with an
// accept number below the promised one are settled.
type recipients map[ident.Member]*recipient

// recipient is a peer: one memory for each of its incarnations.
type recipient struct {
	current  *memory   // of the incarnation that was met last; nil: none was
	memories []*memory // oldest first, the current one included
}

// memory is what a sender knows about the custody memory of one incarnation.
type memory struct {
	incarnation ident.Incarnation
	next        uint64 // 1 + the highest accept number from it
	promised    uint64 // durably: transfers below this are settled
	floor       uint64 // what is below this it has forgotten, by its own word
	// open are the numbers of transfers without an answer: true while it is
	// awaited, false when this member has given up.
	open map[uint64]bool
}

// maxMemories bounds the incarnations of a peer that are remembered beyond
// those that owe an answer. An incarnation that was replaced does not
// come back, unless two members have one key; then a few alternate.
const maxMemories = 8

// of finds or makes the entry of a peer.
func (rs recipients) of(id ident.Member) *recipient {
	r := rs[id]
	if r == nil {
		r = &recipient{}
		rs[id] = r
	}
	return r
}

// memory finds or makes the memory of a peer's incarnation, met or not.
func (rs recipients) memory(id ident.Member, incarnation ident.Incarnation) *memory {
	return rs.of(id).of(incarnation)
}

// meet notes which incarnation a peer is. Another one has another memory, with
// numbers and promises of its own. What the former one was promised, and what it
// owes, holds should it come back. replaced reports that there was another one.
func (rs recipients) meet(id ident.Member, incarnation ident.Incarnation) (mem *memory, replaced bool) {
	r := rs.of(id)
	if r.current == nil || r.current.incarnation != incarnation {
		r.current, replaced = r.of(incarnation), true
	}
	return r.current, replaced
}

// met is the memory of a peer's incarnation, if it is the one that was met last, or
// else nil.
func (rs recipients) met(id ident.Member, incarnation ident.Incarnation) *memory {
	r := rs[id]
	if r == nil || r.current == nil || r.current.incarnation != incarnation {
		return nil
	}
	return r.current
}

// promise is the promise to state to a peer, or nil.
func (rs recipients) promise(id ident.Member) *wire.Settled {
	r := rs[id]
	if r == nil || r.current == nil || r.current.promised == 0 {
		return nil
	}
	return &wire.Settled{Incarnation: r.current.incarnation, Below: r.current.promised}
}

// checkpoint returns the promises for a checkpoint: to every remembered
// incarnation of each peer, the current one last, so that Replay takes it for the
// one that was met last.
func (rs recipients) checkpoint() (list []journal.Record) {
	for _, id := range sortedMembers(rs) {
		r := rs[id]
		for _, mem := range r.memories {
			if mem != r.current {
				list = mem.appendPromise(list, id)
			}
		}
		if r.current != nil {
			list = r.current.appendPromise(list, id)
		}
	}
	return list
}

func (mem *memory) appendPromise(list []journal.Record, id ident.Member) []journal.Record {
	if mem.promised == 0 {
		return list
	}
	return append(list, mem.record(id))
}

func (mem *memory) record(id ident.Member) *journal.Settled {
	return &journal.Settled{Receiver: id, Incarnation: mem.incarnation, Below: mem.promised}
}

// of is the memory of an incarnation, made if need be.
func (r *recipient) of(incarnation ident.Incarnation) *memory {
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
func (r *recipient) forgetOldest() {
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

// isForgotten reports whether the receiver takes no transfer with this number any
// more: it was promised that none comes, or has said that it forgot it.
func (mem *memory) isForgotten(number uint64) bool {
	return number < mem.promised || number < mem.floor
}

// mayPromise reports whether enough numbers have been used since the last promise.
func (mem *memory) mayPromise() bool { return mem.next >= mem.promised+settleBlock }

// promise renews the promise if it has grown enough: all below a number is settled,
// but nothing from the lowest on that an ACCEPT in hand may still use. It reports
// whether there is a promise to journal.
//
// A transfer that a volatile member gave up counts as settled: it will never
// act on an answer. Otherwise one give-up would pin the receiver's floor until it
// has no room for this member's transfers any more. Custody is safe either way,
// since a raised floor only makes a late copy worthless; what such a copy could
// have revived is lost, and the sender has called it lost already.
func (mem *memory) promise(lowest uint64) bool {
	below := min(mem.next, lowest)
	for number, awaited := range mem.open {
		if awaited {
			below = min(below, number)
		}
	}
	if below < mem.promised+settleBlock {
		return false
	}
	mem.promised = below
	maps.DeleteFunc(mem.open, func(number uint64, _ bool) bool { return number < below })
	return true
}
