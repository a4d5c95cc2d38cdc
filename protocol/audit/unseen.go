package audit

import (
	"cmp"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
)

// stretch is a time in which a token was, or can have been, with a member whose
// journal of that time is not at hand: operations may have run under it. Its two
// ends may be by different clocks.
type stretch struct {
	token        ident.Token
	from, to     uint64 // to Forever: to the last record of all journals
	fromBy, toBy ident.Member
}

// unseenOf are the times at which a token was somewhere that the journals do not
// cover. custodies are all that they record of it.
func (cc *concurrency) unseenOf(token ident.Token, custodies []*Custody) (list []stretch) {
	g := cc.tokens[token]
	if g == nil {
		return nil
	}
	born := stretch{token: token, from: fromMillis(g.born), fromBy: g.generator, to: Forever}
	if len(custodies) == 0 {
		return []stretch{born}
	}
	chain := slices.Clone(custodies)
	slices.SortStableFunc(chain, func(x, y *Custody) int { return cmp.Or(cmp.Compare(x.Hop, y.Hop), cmp.Compare(x.Begin, y.Begin)) })
	if first := chain[0]; first.Hop > 0 || first.carried {
		born.to, born.toBy = first.Begin, first.Member
		list = append(list, born)
	}
	for i, c := range chain {
		list = append(list, cc.holesIn(c)...)
		s := stretch{token: token, from: cc.seenUntil(c), fromBy: c.Member, to: Forever}
		if i+1 < len(chain) {
			if next := chain[i+1]; !handedOn(c, next) {
				s.to, s.toBy = next.Begin, next.Member
				list = append(list, s)
			}
			continue
		}
		if cc.afterwards(&s, c) {
			list = append(list, s)
		}
	}
	return list
}

// handedOn reports whether nobody can have had the token between two custodies.
func handedOn(c, next *Custody) bool {
	if c.Hop == next.Hop { // two custodies of one hop, which is a finding
		return true
	}
	reclaimed := c.gave != nil && c.gave.closure == voided && next.Member == c.Member && next.Hop == c.Hop+1
	return c.gave != nil && c.gave == next.by || reclaimed
}

// seenUntil is up to when a custody is recorded, by its member's clock.
func (cc *concurrency) seenUntil(c *Custody) uint64 {
	switch c.Ending {
	case Open:
		return max(c.Begin, cc.readers[c.RecordRef.Journal].last)
	case Forgotten:
		return max(c.Begin, c.covered)
	}
	return c.End
}

// holesIn are the times of a custody at which a part of its journal is missing.
func (cc *concurrency) holesIn(c *Custody) (list []stretch) {
	last := uint64(0)
	for _, s := range cc.readers[c.RecordRef.Journal].spans {
		if s.to == 0 {
			continue
		}
		if from, to := max(last, c.Begin), min(s.from, c.End); last > 0 && from < to {
			list = append(list, stretch{token: c.Token, from: from, fromBy: c.Member, to: to, toBy: c.Member})
		}
		last = s.to
	}
	return list
}

// afterwards completes the stretch behind the last custody that is recorded, and
// reports whether there is one.
func (cc *concurrency) afterwards(s *stretch, c *Custody) bool {
	switch c.Ending {
	case Removed:
		return false
	case Forgotten: // records that a volatile member has lost
		s.to, s.toBy = c.End+cc.longestGrant(c.Token), c.Member
		return true
	case Given:
		return cc.sentAway(s, c.gave)
	}
	return true
}

// sentAway is afterwards for a token that was last sent to somebody.
func (cc *concurrency) sentAway(s *stretch, t *transfer) bool {
	fate, _ := cc.underWay(t)
	switch fate {
	case LostReceiver, LostFloor:
		return false
	case LostHolder: // the receiver's record of its custody was lost
		s.to, s.toBy = cc.memories[t.inc].ended+cc.longestGrant(t.token), t.to
		return true
	}
	if t.closure == voided {
		return false
	}
	for _, r := range cc.journals[t.to] { // it had not taken it by then
		if len(t.taken) == 0 && !t.takenBefore && cc.covers(t.to, t.sentAt, t.sentAt) && t.closure != receipted {
			s.from, s.fromBy = r.last, t.to
		}
	}
	return true
}

// longestGrant is how long a program may run on that was granted a token.
func (cc *concurrency) longestGrant(t ident.Token) uint64 {
	longest, _ := cc.trust.maxHold(cc.tokens[t].resource)
	return uint64((longest + killMargin).Microseconds())
}

// projectUnseen translates stretches to a member's clock.
func (cc *concurrency) projectUnseen(by ident.Member, unseen []stretch, lane []int) (list []interval) {
	end := int64(0) // of all journals
	for _, r := range cc.readers {
		end = max(end, int64(r.last)+cc.leads.of(r.member, by, r.last).most)
	}
	for i, s := range unseen {
		to := end
		if s.to != Forever {
			to = int64(min(s.to, lastTime)) + cc.leads.of(s.toBy, by, s.to).most
		}
		from := int64(min(s.from, lastTime)) + cc.leads.of(s.fromBy, by, s.from).least
		list = append(list, cc.clipped(from, to, lane[i]))
	}
	return list
}
