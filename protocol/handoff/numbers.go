package handoff

import "github.com/wandertoken/wander/protocol/journal"

// numbers are the accept numbers of this incarnation and the sequence numbers of
// the tokens made here. Both start at 1, so that a promise of 0 says nothing.
type numbers struct{ accepts, sequence series }

// series gives out ascending numbers. A crash wastes some and repeats none: they are
// reserved in blocks, durably before the first of a block is used.
type series struct {
	next uint64
	mark uint64 // reserved below this
}

func newNumbers() numbers { return numbers{series{1, 1}, series{1, 1}} }

// draw spends the next number. reserved is false when it began a block: then
// record has to be persisted before the number is used.
func (s *series) draw() (n uint64, reserved bool) {
	n = s.next
	s.next++
	if s.next <= s.mark {
		return n, true
	}
	s.mark = n + acceptBlock
	return n, false
}

// record is what the journal has of both.
func (n *numbers) record() *journal.Counters {
	return &journal.Counters{Accepts: n.accepts.mark, Sequence: n.sequence.mark}
}

// replay skips the rest of the blocks that a record has reserved.
func (n *numbers) replay(r *journal.Counters) {
	accepts, sequence := max(1, r.Accepts), max(1, r.Sequence)
	n.accepts, n.sequence = series{accepts, accepts}, series{sequence, sequence}
}
