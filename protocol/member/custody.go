package member

import (
	"maps"
	"slices"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

// hold is a token in custody here.
type hold struct {
	token ident.Token
	hop   uint64
	slot  *slot
	field []byte
	grant *grant // runs under it
	lost  bool   // the memory of it was given up
}

// custody is the tokens that are here. The handoff decides about custody, by token and
// hop; the holds only say to which slot a token here belongs and what runs under it, and
// are rebuilt from the handoff after a restart.
type custody struct {
	*core
	handoff *handoff.Machine
	slots   *slotTable
	events  *events
	holds   map[ident.Token]*hold
	dropped uint64 // tokens
}

func (c *custody) hold(s *slot, title token.Title, hop uint64) *hold {
	h := &hold{token: title.Token(), hop: hop, slot: s, field: title.Transfer.Body().Field}
	c.holds[h.token] = h
	return h
}

// of are the tokens of a slot that are held here, in their order.
func (c *custody) of(s *slot) (list []*hold) {
	for _, h := range c.holds {
		if h.slot == s {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, compareHolds)
	return list
}

func (c *custody) inOrder() []*hold {
	return slices.SortedFunc(maps.Values(c.holds), compareHolds)
}

func compareHolds(a, b *hold) int { return a.token.Compare(b.token) }

// describe is what a policy is told of a token in custody.
func (c *custody) describe(h *hold) policy.Token {
	title, _ := c.handoff.Title(h.token, h.hop)
	g := title.Genesis.Body()
	return policy.Token{ID: h.token, Born: g.Time, Generator: g.Generator, Hop: h.hop, Field: h.field}
}

// knowsToken reports whether a token of the slot is here, or was since the slot began.
func (c *custody) knowsToken(s *slot) bool { return s.lastSeen != 0 || len(c.of(s)) > 0 }

// drop removes a token for a reason that is this member's, not a policy's.
func (c *custody) drop(k slotKey, t ident.Token, hop uint64, reason policy.DropReason) bool {
	if !c.handoff.Drop(t, hop, uint64(reason)) {
		return false
	}
	c.dropped++
	if o := c.cfg.Observer; o != nil {
		o.Dropped(k.resource, k.number, t, reason)
	}
	return true
}

// endsFork drops a custody if there are two of one token here, the one that is here
// and one that has just begun at hop, and reports whether that was the new one. Only a
// fork brings a token here twice: somebody has signed two transfers of one hop, or this
// member has been given an old journal. Policies know tokens by their ids, one custody
// each; and what two chains lead to is one token again from here on. The lower hop
// goes, which after a rollback is the one that this member has given away already,
// unless a program runs under it.
func (c *custody) endsFork(s *slot, t ident.Token, hop uint64) bool {
	h := c.holds[t]
	if h == nil {
		return false
	}
	if h.grant == nil && h.hop < hop {
		gone := c.describe(h)
		if c.drop(s.key, t, h.hop, policy.Forked) {
			delete(c.holds, t)
			c.events.notify(s, policy.Event{Kind: policy.PassEnded, Outcome: policy.Abandoned, Token: gone})
			return false
		}
	}
	c.drop(s.key, t, hop, policy.Forked)
	return true
}

// clearFields removes what a former policy has written on the tokens held: another
// one, or another preset, gives it another meaning.
func (c *custody) clearFields(s *slot) {
	for _, h := range c.holds {
		if h.slot == s {
			h.field = nil
		}
	}
}

// releaseAll releases all tokens under which nothing runs.
func (c *custody) releaseAll() {
	for _, h := range c.inOrder() {
		if h.grant == nil {
			c.handoff.Release(h.token, h.hop, ident.Member{}, h.field)
		}
	}
}

// dropLeaving drops a token of a slot that is leaving, unless a program runs under it.
func (c *custody) dropLeaving(h *hold) {
	if h.grant == nil && c.drop(h.slot.key, h.token, h.hop, policy.Unconfigured) {
		delete(c.holds, h.token)
	}
}

// forgetSlot ends a slot that is leaving when no token of it is here any more. The
// caller sorts the slots.
func (c *custody) forgetSlot(s *slot) {
	if !s.leaving || len(c.of(s)) > 0 {
		return
	}
	delete(c.slots.byKey, s.key)
}

// finishLeaving ends a slot that is leaving with the program that ran in it.
func (c *custody) finishLeaving(h *hold) {
	c.dropLeaving(h)
	c.forgetSlot(h.slot)
	c.slots.sort()
	c.emit(effect.Report{Kind: "slot gone", About: c.self, Detail: "its program has ended: " + h.slot.key.String()})
}

// resume goes on with the tokens in custody. A crash may have come before the end
// of a fork (see endsFork): of two custodies of one token that stays under which a
// program may still run, else the higher hop.
func (c *custody) resume(started map[ident.Grant]*journal.Started) {
	running := make(map[ident.Token]uint64) // by the hop, and 1
	for _, r := range started {
		running[r.Token] = r.Hop + 1
	}
	holdings := c.handoff.Holdings()
	slices.Reverse(holdings) // from the highest hop of each token on
	for _, h := range holdings {
		t, g := h.Title.Token(), h.Title.Genesis.Body()
		k := slotKey{g.Resource, g.Slot}
		s, runs := c.slots.byKey[k], running[t] == h.Hop+1
		if s == nil && runs {
			s = c.slots.addLeaving(k)
		}
		before := c.holds[t]
		switch {
		case s == nil, s.leaving && !runs:
			c.drop(k, t, h.Hop, policy.Unconfigured)
		case before == nil:
			c.hold(s, h.Title, h.Hop)
		case runs:
			c.drop(k, t, before.hop, policy.Forked)
			c.hold(s, h.Title, h.Hop)
		default:
			c.drop(k, t, h.Hop, policy.Forked)
		}
	}
}

// opened is the opening of the journal that this member has begun.
func (c *custody) opened() token.Position { return c.handoff.Opened() }

// creditors are members that may wait for an answer about a token.
func (c *custody) creditors() []ident.Member { return c.handoff.Creditors() }

// lose gives up all tokens here: the memory of them is given up.
func (c *custody) lose() {
	for t, h := range c.holds {
		h.lost = true
		delete(c.holds, t)
	}
}
