package audit

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/ident"
)

// checkOverlap looks for custodies of one token, in order of their begin, of
// which one begins before another has ended.
func (j *judge) checkOverlap(one []*Custody) {
	last := one[0]
	for _, c := range one[1:] {
		end := j.endOf(last)
		if !j.follows(last, c) && !j.follows(c, last) && j.surely(last.Member, end, c) && j.surely(c.Member, j.endOf(c), last) {
			j.add(Finding{
				Kind: Overlap, Token: c.Token, Hop: c.Hop, Members: []ident.Member{last.Member, c.Member}, At: c.Begin,
				Records: refs(last.RecordRef, c.RecordRef), Detail: j.describeOverlap(last, end, c),
			})
		}
		if j.endOf(c) > j.endOf(last) {
			last = c
		}
	}
}

// surely reports whether a custody began before another member's ended, for any
// difference that their clocks can have had.
func (j *judge) surely(m ident.Member, end uint64, c *Custody) bool {
	return end > c.Begin && int64(min(end, lastTime))-int64(c.Begin)+j.leads.of(m, c.Member, end).least > 0
}

func (j *judge) describeOverlap(last *Custody, end uint64, c *Custody) string {
	if j.partial() {
		return fmt.Sprintf("hop %d of member %s for %v more", last.Hop, last.Member.Short(), micros(end-c.Begin))
	}
	return fmt.Sprintf("hop %d of member %s from %d to %s, hop %d of member %s from %d",
		last.Hop, last.Member.Short(), last.Begin, until(last.End), c.Hop, c.Member.Short(), c.Begin)
}

func until(at uint64) string {
	if at == Forever {
		return "now"
	}
	return fmt.Sprint(at)
}

// follows reports whether a custody was given by the one who had the other, so
// that no two clocks have to be compared to know their order.
func (j *judge) follows(before, after *Custody) bool {
	return j.partial() && after.by != nil && before.gave == after.by
}

// fate follows a token from its last custody.
func (j *judge) fate(one []*Custody) Token {
	c := one[0]
	for _, d := range one[1:] {
		if d.Hop >= c.Hop {
			c = d
		}
	}
	t := Token{ID: c.Token, Hop: c.Hop, Last: c.Member, At: j.endOf(c)}
	if g := j.tokens[c.Token]; g != nil {
		t.Resource, t.Slot, t.Generator = g.resource, g.slot, g.generator
	}
	switch c.Ending {
	case Open:
		t.Fate = Held
		if j.departed(c.Member) {
			t.Fate = LostDeparted
		}
	case Removed:
		t.Fate = Dropped
	case Forgotten:
		t.Fate, t.Rule = LostHolder, "V1"
	case Unseen:
		t.Fate = OutOfSight
	case Given:
		t.To, t.Receipted = c.gave.to, c.gave.closure == receipted
		t.Fate, t.Rule = j.underWay(c.gave)
		if t.Fate == LostUnknown {
			j.add(Finding{
				Kind: Vanished, Token: c.Token, Hop: c.Hop, Members: []ident.Member{c.Member, c.gave.to}, At: c.End,
				Records: refs(c.RecordRef, c.gave.closedIn),
			})
		}
	}
	return t
}

// underWay is the fate of a token whose last record is a transfer that nobody
// is known to have taken, and the rule by which it was lost.
func (b *books) underWay(t *transfer) (Fate, string) {
	receiver := b.memories[t.inc]
	gone := receiver != nil && receiver.dead
	switch {
	case t.closure == receipted && gone && !receiver.durable:
		return LostHolder, "V1" // the record of its custody was lost with the receiver's memory
	case b.departed(t.to) && b.stays(t):
		return LostDeparted, ""
	case t.closure == receipted && b.partial() && !b.covers(t.to, t.sentAt, t.closedAt), t.closure == unseen, t.takenBefore:
		return OutOfSight, ""
	case t.closure == receipted && b.journals[t.to] == nil:
		return UnderWay, "" // to somebody whose journal is not at hand
	case t.closure == receipted || t.closure == voided:
		return LostUnknown, ""
	case t.declined && t.closure != unanswered:
		return LostOrphan, "V3"
	case gone:
		return LostReceiver, "V2"
	case receiver != nil && receiver.floors[t.from] > t.accept:
		return LostFloor, "V4"
	case t.closure == orphaned || t.closure == abandoned:
		return LostOrphan, ""
	}
	return UnderWay, ""
}

// stays reports whether a transfer to a departed member leads nowhere: it was not
// declined, and if it was taken, nobody who could have it since lacks a journal.
func (b *books) stays(t *transfer) bool {
	if t.takenBefore || t.declined || t.closure == voided {
		return false
	}
	if t.closure != receipted {
		return true
	}
	for m := range b.trust.members {
		if !b.departed(m) && !b.covers(m, t.closedAt, t.closedAt) {
			return false
		}
	}
	return true
}
