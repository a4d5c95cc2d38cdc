package member

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// maxSpans bounds the ranges that are still to be asked of one peer: a whole
	// SUMMARY of them at each of four levels, which are enough for 16 million
	// members. What does not fit is found by the next exchange.
	maxSpans = 4 * wire.MaxParts

	// pageMembers is up to how many members of a peer's range are asked for
	// themselves, although most of them are known here: a member on a page is ten
	// times as long as a part of a summary. More are narrowed down first.
	pageMembers = 4

	// densePart is up to how many members of a range are asked for themselves when
	// nearly all of its neighbours differ, too: so many differences cost more
	// round trips to find than pages to read.
	densePart = wire.MaxPage

	// answerTimeout is how long a question about the directory stays open. A peer
	// that is slower is asked again by the next exchange.
	answerTimeout = 20 * time.Second
)

// span is a range of member ids, both ends included.
type span struct{ from, through ident.Member }

func (s span) has(id ident.Member) bool { return s.from.Compare(id) <= 0 && id.Compare(s.through) <= 0 }

var everybody = span{through: ident.LastMember()}

// repairing is the state of making this member's directory know what a peer's
// knows: one question at a time, so that no peer makes it work faster than it
// reads.
type repairing struct {
	open  bool       // a question is
	topic wire.Topic // of the question
	span  span       // of the question
	at    clock.Instant
	pages []span // to be asked for their members
	parts []span // to be asked for a summary
}

// waits reports whether a question is open that may still be answered.
func (r *repairing) waits(now clock.Instant) bool {
	return r.open && now.Sub(r.at) < answerTimeout
}

// repairs fill this member's directory from those of peers that know something else.
type repairs struct {
	*core
	faults    *faults
	learner   *learner
	snapshots *snapshots
}

// begin begins to learn what a peer knows and this member does not, unless a repair is in
// progress.
func (c *repairs) begin(from ident.Member, p *peer) {
	r := &p.repairing
	if r.waits(c.now.Boot) {
		return
	}
	if c.faults.ignored(from) {
		c.reject("ignored peer")
		return
	}
	if r.open {
		p.late++
	}
	*r = repairing{parts: []span{everybody}}
	c.ask(from, p)
}

// ask puts the next question, or notes that none is left.
func (c *repairs) ask(from ident.Member, p *peer) {
	r := &p.repairing
	if len(r.pages)+len(r.parts) > 0 && !c.allows(p, questionsAsked) {
		*r = repairing{} // what is left is found by the next exchange
		c.faults.stale(from, "directory without end")
		return
	}
	r.open, r.at = true, c.now.Boot
	switch {
	case len(r.pages) > 0:
		r.topic, r.span = wire.WantMembers, r.pages[0]
		r.pages = r.pages[1:]
	case len(r.parts) > 0:
		r.topic, r.span = wire.WantSummary, r.parts[0]
		r.parts = r.parts[1:]
	default:
		*r = repairing{}
		c.snapshots.add(from)
		return
	}
	c.send(from, &wire.Want{Topic: r.topic, From: r.span.from, Through: r.span.through})
}

// expects reports whether a message answers the open question.
func (r *repairing) expects(topic wire.Topic) bool { return r.open && r.topic == topic }

// onSummary looks at the parts of a peer's range and asks about those that differ.
func (c *repairs) onSummary(from ident.Member, p *peer, msg *wire.Summary) {
	r := &p.repairing
	if !r.expects(wire.WantSummary) || msg.From != r.span.from {
		c.reject("not asked for")
		return
	}
	next := r.span.from
	var list []differing
	for _, part := range msg.Parts {
		if !r.span.has(part.Through) {
			c.outOfRange(from, p)
			*r = repairing{}
			return
		}
		s := span{next, part.Through}
		next = part.Through.Next()
		members, fingerprint := c.dir.Range(s.from, s.through)
		if part.Members > 0 && (part.Members != members || part.Fingerprint != fingerprint) {
			list = append(list, differing{s, part.Members, members})
		}
	}
	r.narrow(list, len(msg.Parts))
	c.ask(from, p)
}

// differing is a part of a range of which a peer knows something else.
type differing struct {
	span
	theirs, ours uint64 // members
}

// narrow notes what is to be asked about the parts that differ, of so many. Those
// that follow each other and are asked for their members are one question; the
// others come before what was to be asked already, so that little waits.
func (r *repairing) narrow(list []differing, of int) {
	dense := len(list)*8 >= of*7
	var parts []span
	for _, d := range list {
		small := d.theirs <= pageMembers || dense && d.theirs <= densePart
		switch end := len(r.pages) - 1; {
		case !small && d.ours > d.theirs/2 && d.span != r.span: // else it does not get smaller
			parts = append(parts, d.span)
		case end >= 0 && r.pages[end].through.Next() == d.from:
			r.pages[end].through = d.through
		default:
			r.pages = append(r.pages, d.span)
		}
	}
	r.parts = append(parts, r.parts...)
	r.pages = r.pages[:min(len(r.pages), maxSpans)]
	r.parts = r.parts[:min(len(r.parts), maxSpans)]
}

// outOfRange meets a summary that goes beyond what was asked for. An honest peer
// sends one only when it answers an earlier question, too late.
func (c *repairs) outOfRange(from ident.Member, p *peer) {
	if p.late > 0 {
		p.late--
		c.reject("not asked for")
		return
	}
	c.faults.blame(from, "summary out of range")
}

// onMembers takes in one page of a peer's directory and asks on. Only pages
// that were asked for are read: checking what is in one costs milliseconds.
func (c *repairs) onMembers(from ident.Member, p *peer, msg *wire.Members) {
	r := &p.repairing
	if !r.expects(wire.WantMembers) {
		c.reject("not asked for")
		return
	}
	faults := c.faults.count(from)
	if c.learner.page(from, msg.Entries) {
		p.budgets[questionsAsked].left += questionReward
	}
	if c.faults.count(from) > faults {
		*r = repairing{}
		return // a peer that hands over forged objects is asked no more
	}
	on := msg.More && len(msg.Entries) > 0 && !c.dir.Sampled() // one page is enough for a sample
	if on && r.span.has(msg.Through) && msg.Through != r.span.through {
		r.pages = append([]span{{msg.Through.Next(), r.span.through}}, r.pages...)
	}
	c.ask(from, p)
}

// askSample asks a peer for a page from a random place of its directory.
func (c *repairs) askSample(from ident.Member, p *peer) {
	if p.repairing.waits(c.now.Boot) {
		return
	}
	var s span
	_, _ = c.sources.member.Read(s.from[:]) // never fails
	s.through = ident.LastMember()
	p.repairing = repairing{pages: []span{s}}
	c.ask(from, p)
	c.snapshots.add(from)
}
