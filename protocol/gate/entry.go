package gate

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// refuse answers a member's sign-in.
func (g *Gate) refuse(to request, member ident.Member, c Code, notBefore clock.Instant) {
	a := RefuseAnswer{Code: c}
	if c == Outdated {
		if ok, at := g.copies.take(member, g.now.Boot); ok {
			a.Configuration = g.settings.Raw
		} else {
			notBefore = at
		}
	}
	if wait := notBefore.Sub(g.now.Boot); notBefore > 0 && wait > 0 {
		a.NotBefore = g.wall(notBefore)
	}
	g.say(to, a)
}

// signIn judges a request. One that is good waits, and opens if it can.
func (g *Gate) signIn(in SignIn) {
	from, title := request{in.Connection, in.Number}, in.Permit.Title
	c, at := g.admits(in)
	if c != 0 {
		g.refuse(from, title.Holder, c, at)
		return
	}
	for i := range g.settings.of(in.Slot) {
		if s := &g.slots[i]; s.occupies(title.Holder) && s.session.permit.Title.Token != title.Token {
			g.refuse(from, title.Holder, Served, 0)
			return
		}
	}
	for i := range g.settings.of(in.Slot) {
		switch holder := g.slots[i].session.permit.Title; {
		case !g.slots[i].serves():
		case holder.Holder == title.Holder && holder.Token == title.Token:
			g.cut(i, ByReplacing)
		case in.Permit.follows(holder):
			g.cut(i, BySuccessor)
		}
	}
	if g.isStuck(in.Slot) {
		g.say(from, g.busy(in.Slot))
		return
	}
	q := &g.slots[in.Slot].waiters
	g.arrivals++
	length := uint64(min(in.Length, g.settings.MaxHold) / time.Millisecond)
	replaced, full := q.add(waiter{from, in.Permit, length, g.arrivals}, &g.memory)
	for _, w := range replaced {
		g.refuse(w.from, w.permit.Title.Holder, Replaced, 0)
	}
	for _, w := range full {
		g.refuse(w.from, w.permit.Title.Holder, Full, 0)
	}
	if g.choose(in.Slot) {
		return // all that still wait have heard of it
	}
	for _, w := range *q {
		if w.arrived == g.arrivals {
			g.say(w.from, g.busy(in.Slot))
		}
	}
}

// admits says why a request may not even wait, and when that changes; 0 if it may.
func (g *Gate) admits(in SignIn) (Code, clock.Instant) {
	switch {
	case in.Slot < 0 || in.Slot >= g.settings.Slots:
		return NoSlot, 0
	case in.Configuration < g.settings.Version:
		return Outdated, 0
	case in.Configuration > g.settings.Version:
		ok, at := g.fetches.take(in.Permit.Title.Holder, g.now.Boot)
		if ok {
			g.do(Fetch{Version: in.Configuration, From: in.Connection})
			at = 0
		}
		return Ahead, at
	case in.Length < time.Millisecond:
		return NoLength, 0
	}
	c, at := g.judge(in.Permit, in.Slot)
	if c == Implausible && in.Permit.Born > g.latest(g.now) && g.doubt.note(in.Permit.Title.Holder, g.now.Boot) {
		g.do(Alarm{Kind: AlarmClock})
	}
	return c, at
}

// judge says why a permit opens nothing now at a slot, and when that changes; 0 if it may.
func (g *Gate) judge(p Permit, slot int) (Code, clock.Instant) {
	known := g.memory.knows(p.Generator, p.Title.Token)
	switch {
	case g.revoked[p.Title.Holder]:
		return Revoked, 0
	case g.unsure(g.now.Boot):
		return Unsure, 0
	case g.hours.Closed:
		return Shut, g.hours.opens(g.now)
	}
	if c := g.signers(p, known); c != 0 {
		return c, 0
	}
	latest := g.latest(g.now)
	if p.Born > latest || p.Title.Hop > freeHops && p.Title.Hop-freeHops > latest-p.Born {
		return Implausible, 0
	}
	// Sessions of others at other places are nobody's turn at this one.
	if c := g.memory.judge(p.Title); c == Stale || c == Used && !g.slots.isLast(slot, g.settings.Slots, p.Title) {
		return c, 0
	}
	if at := g.ready(p.Title.Holder); at > g.now.Boot {
		return TooSoon, at
	}
	if at := g.memory.rationed(p, g.now.Boot); at > g.now.Boot && !known {
		return Rationed, at
	}
	return 0, 0
}

// signers says why a signature in a permit does not count any more: its member is revoked, or the certificate has expired, and the gate
// has no session by which it knew what the signature is about. What is signed by such a key later is new, so it opens nothing.
func (g *Gate) signers(p Permit, known bool) Code {
	switch {
	case known:
	case g.revoked[p.Generator]:
		return SignerRevoked
	case p.Expires > 0 && p.Born >= p.Expires:
		return SignerExpired
	}
	for i, m := range p.Moves {
		expired := m.Expires > 0 && m.Expires <= g.now.Millis()
		switch {
		case !g.revoked[m.By] && !expired, g.memory.shown(p.leadsTo(i)):
		case expired:
			return SignerExpired
		default:
			return SignerRevoked
		}
	}
	return 0
}

// ready is when the member's minimal interval is over.
func (g *Gate) ready(id ident.Member) clock.Instant {
	mem := g.memory.members[id]
	if mem == nil || mem.served == 0 {
		return 0
	}
	return mem.ended.Add(g.settings.MinInterval)
}

// isStuck reports whether as many places of a slot are stuck as the configuration has: nothing opens before an operator has looked.
func (g *Gate) isStuck(slot int) bool {
	_, stuck := g.occupied(slot)
	return stuck >= max(1, g.settings.Sessions)
}

// busy says what a slot waits for: of several places the one that is said to be free first.
func (g *Gate) busy(slot int) (first BusyAnswer) {
	all, _ := g.occupied(slot)
	full, stuck, found := all >= max(1, g.settings.Sessions), g.isStuck(slot), false
	for i := slot; i < len(g.slots); i += g.settings.Slots {
		switch idle := g.slots[i].state == Idle; {
		case full && idle, !full && i >= g.settings.places(), stuck && g.slots[i].state != Stuck:
			continue // not what it waits for
		}
		a := g.busyAt(i)
		if !found || first.Stuck || !a.Stuck && a.Until > 0 && (first.Until == 0 || a.Until < first.Until) {
			first, found = a, true
		}
	}
	return first
}

func (g *Gate) busyAt(i int) BusyAnswer {
	s := &g.slots[i]
	a := BusyAnswer{Stuck: s.state == Stuck}
	if s.state == Idle {
		a.Until = g.wall(s.wake)
	}
	if s.state != Idle && s.session.number > 0 {
		t := s.session.permit.Title
		a.Session, a.Token, a.Hop, a.Holder = s.session.number, t.Token, t.Hop, t.Holder
		if !a.Stuck {
			a.Until = s.session.until
		}
	}
	return a
}

// purge refuses those that wait at a slot and may not open any more.
func (g *Gate) purge(slot int) {
	g.slots[slot].waiters.remove(func(w waiter) bool {
		c, at := g.judge(w.permit, slot)
		if c != 0 {
			g.refuse(w.from, w.permit.Title.Holder, c, at)
		}
		return c != 0
	})
}
