package handoff

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// Check returns an error for the first invariant of the machine's state that
// does not hold, or nil. Tests and simulations call it after every step. A
// member does not call it: the invariants hold whatever others send, and a look
// at every record would cost too much.
func (m *Machine) Check() error {
	for _, check := range []func() error{
		m.book.check, m.offers.check, func() error { return m.recipients.check(m.book) },
		m.checkNumbers, m.openings.check, m.conflicts.check,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkNumbers checks that what has a number of this member got it from the series.
func (m *Machine) checkNumbers() error {
	for _, s := range []series{m.numbers.accepts, m.numbers.sequence} {
		if s.next > s.mark {
			return fmt.Errorf("number %d is not reserved: the block ends at %d", s.next, s.mark)
		}
	}
	for id, o := range m.book.offerers {
		if o.floor > m.numbers.accepts.next {
			return fmt.Errorf("floor %d of %v is above the next number %d", o.floor, id, m.numbers.accepts.next)
		}
		for n := range o.records {
			if n >= m.numbers.accepts.next {
				return fmt.Errorf("number %d of %v was never given out", n, id)
			}
		}
	}
	return nil
}

// check: counters and lists of the book agree with its records.
func (b *Book) check() error {
	var held, live, waiting int
	lives := make(map[ident.Member]int)
	for k, rec := range b.records {
		if rec.key != k {
			return fmt.Errorf("hop %d of %v is in the place of hop %d of %v", rec.key.hop, rec.key.token, k.hop, k.token)
		}
		if err := rec.check(); err != nil {
			return fmt.Errorf("hop %d of %v in %v: %w", k.hop, k.token, rec.state, err)
		}
		switch rec.state {
		case Hold:
			held++
		case Live:
			live++
			lives[rec.from]++
		}
		if rec.slot != absent {
			waiting++
		}
	}
	switch {
	case held != b.held:
		return fmt.Errorf("%d records in HOLD, %d counted", held, b.held)
	case live != b.live:
		return fmt.Errorf("%d records in LIVE, %d counted", live, b.live)
	case waiting != len(b.heap):
		return fmt.Errorf("%d records wait, %d are in the heap", waiting, len(b.heap))
	}
	for id, o := range b.offerers {
		if lives[id] != o.live {
			return fmt.Errorf("%d records of %v in LIVE, %d counted", lives[id], id, o.live)
		}
		if err := b.checkOfferer(id, o); err != nil {
			return err
		}
		delete(lives, id)
	}
	if len(lives) > 0 {
		return fmt.Errorf("records of %d members that are no offerers", len(lives))
	}
	return b.checkHeap()
}

func (b *Book) checkOfferer(id ident.Member, o *offerer) error {
	for n, rec := range o.records {
		switch {
		case b.records[rec.key] != rec:
			return fmt.Errorf("number %d of %v stands for a record that is not in the book", n, id)
		case rec.from != id || rec.accept != n:
			return fmt.Errorf("number %d of %v stands for number %d of %v", n, id, rec.accept, rec.from)
		case n < o.floor && forgettable(rec.state):
			return fmt.Errorf("number %d of %v in %v is below the floor %d", n, id, rec.state, o.floor)
		}
	}
	return nil
}

func (b *Book) checkHeap() error {
	for i, rec := range b.heap {
		switch {
		case b.records[rec.key] != rec:
			return fmt.Errorf("a record waits that is not in the book: hop %d of %v", rec.key.hop, rec.key.token)
		case rec.slot != i || i > 0 && b.heap.Less(i, (i-1)/2):
			return fmt.Errorf("the heap is out of order at %d", i)
		}
	}
	return nil
}

// check: a record has what its state needs, and nothing of another one.
func (r *record) check() error {
	switch {
	case r.state == None || r.state >= states:
		return fmt.Errorf("not a state of a record")
	case r.state < Hold && r.from.IsZero():
		return fmt.Errorf("a reservation for nobody")
	case r.state >= Closed && r.from.IsZero():
		return fmt.Errorf("no transfer can ask for it")
	case (r.state == Live || r.state == Lapsed) && !r.taken.IsZero():
		return fmt.Errorf("a reservation with a transfer")
	case r.busy && r.state != Hold:
		return fmt.Errorf("an operation runs without custody")
	case r.search != nil && r.state != Hold:
		return fmt.Errorf("offered without custody")
	case (r.wake == clock.Never) != (r.slot == absent):
		return fmt.Errorf("waits until %v at place %d", r.wake, r.slot)
	case !r.hasTitle() && !r.title.Genesis.IsZero():
		return fmt.Errorf("a title without custody")
	case r.hasTitle() && (r.title.Token() != r.key.token || r.title.Hop() != r.key.hop):
		return fmt.Errorf("the title of hop %d of %v", r.title.Hop(), r.title.Token())
	case (r.state == Sent) == r.sent.IsZero():
		return fmt.Errorf("with a transfer: %v", !r.sent.IsZero())
	case r.state == Sent && (r.tries == 0 || r.slot == absent):
		return fmt.Errorf("sent %d times, and not again", r.tries)
	}
	if b := r.sent.Body(); r.state == Sent && (b.Token != r.key.token || b.Hop != r.key.hop+1) {
		return fmt.Errorf("the transfer is hop %d of %v", b.Hop, b.Token)
	}
	return nil
}

// check: the searches are those of the records in the book.
func (o *offering) check() error {
	for k, rec := range o.searches {
		if o.book.records[k] != rec || rec.search == nil {
			return fmt.Errorf("hop %d of %v is listed and not offered", k.hop, k.token)
		}
		if s := rec.search; len(s.accepts) > maxAccepts || len(s.tried) > maxTried {
			return fmt.Errorf("%d acceptances and %d peers tried", len(s.accepts), len(s.tried))
		}
	}
	offered := 0
	for _, rec := range o.book.records {
		if rec.search != nil {
			offered++
		}
	}
	if offered != len(o.searches) {
		return fmt.Errorf("%d tokens are offered, %d listed", offered, len(o.searches))
	}
	return nil
}

// check: no promise covers a transfer whose answer is awaited, and each of these is in
// the book.
func (rs recipients) check(b *Book) error {
	type transfer struct {
		to          ident.Member
		incarnation ident.Incarnation
		number      uint64
	}
	sent := make(map[transfer]bool)
	for _, rec := range b.records {
		if rec.state == Sent {
			body := rec.sent.Body()
			sent[transfer{body.To, body.Incarnation, body.Accept}] = true
		}
	}
	for id, r := range rs {
		known := r.current == nil
		for _, mem := range r.memories {
			known = known || mem == r.current
			if mem.promised > mem.next {
				return fmt.Errorf("%v was promised %d, and has numbers below %d", id, mem.promised, mem.next)
			}
			for n, awaited := range mem.open {
				if awaited && n < mem.promised {
					return fmt.Errorf("%v was promised %d, and number %d is open", id, mem.promised, n)
				}
				if awaited && !sent[transfer{id, mem.incarnation, n}] {
					return fmt.Errorf("number %d of %v is open, and no transfer has it", n, id)
				}
			}
		}
		if !known {
			return fmt.Errorf("the current incarnation of %v is not remembered", id)
		}
	}
	return nil
}

// check: the last opening goes on to the last record.
func (o *openings) check() error {
	n := len(o.list)
	if n > maxOpenings {
		return fmt.Errorf("%d openings are kept", n)
	}
	if n > 0 && o.list[n-1].end != o.serial {
		return fmt.Errorf("the last opening ends at %d, the journal at %d", o.list[n-1].end, o.serial)
	}
	return nil
}

// check: evidence is bounded.
func (c *conflicts) check() error {
	if len(c.accused) > MaxAccused {
		return fmt.Errorf("evidence against %d members", len(c.accused))
	}
	for id, n := range c.accused {
		if n > MaxEvidencePerMember {
			return fmt.Errorf("%d times evidence against %v", n, id)
		}
	}
	return nil
}
