package keeper

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

const (
	// maxBackoff caps a back-off, and is after what time without a cause the next one is a
	// first one again.
	maxBackoff = policy.LongestMeasure

	// maxBackoffs bounds the members that one member backs off from. Beyond it, the one
	// whose back-off ends first is forgotten.
	maxBackoffs = 64
)

// backoffs are the members that this one does not deal with for a while. Each cause makes that
// while twice as long as the last one. The zero value is empty.
type backoffs struct{ list []backoff }

type backoff struct {
	member ident.Member
	until  clock.Instant
	span   time.Duration
	met    ident.Token // this member's own token that one of that member meets, in spite of the back-off
	let    ident.Token // the one that was accepted for that, and has not come yet; zero: none
	pardon pardon
}

// pardon is whether one newborn token is taken in spite of a back-off. A new back-off begins without one.
type pardon uint8

const (
	unpardoned pardon = iota
	pardoned          // the next one is taken
	spent             // it has come
)

// note begins a back-off from a member. It lasts for first at least, and twice as long as the last one. A cause during a back-off
// changes nothing, as it may be the same cause, unless it makes a longer one. note reports whether the back-off is new.
func (b *backoffs) note(m ident.Member, now clock.Instant, first time.Duration) bool {
	first = min(first, maxBackoff)
	i := slices.IndexFunc(b.list, func(e backoff) bool { return e.member == m })
	if i < 0 {
		b.add(backoff{member: m, until: longAgo, span: first / 2})
		i = len(b.list) - 1
	}
	e := &b.list[i]
	if now < e.until {
		if first <= e.span {
			return false
		}
		e.span, e.until, e.pardon = first, now.Add(first), unpardoned
		return true
	}
	if now >= e.until.Add(maxBackoff) { // long without a cause
		e.span = first / 2
	}
	e.span = min(max(2*e.span, first), maxBackoff) // the last one may have had a lesser cause
	e.until, e.pardon = now.Add(e.span), unpardoned
	return true
}

// add adds one from a member that has none.
func (b *backoffs) add(e backoff) {
	if len(b.list) == maxBackoffs {
		ends := func(x, y backoff) int { return int(min(max(x.until.Sub(y.until), -1), 1)) }
		soonest := slices.MinFunc(b.list, ends)
		b.list = slices.DeleteFunc(b.list, func(e backoff) bool { return e == soonest })
	}
	b.list = append(b.list, e)
}

// takeUp goes on with a back-off that began before this policy did, until an instant. It lasts no longer from now on
// than it was to last in all. The one that ends last counts.
func (b *backoffs) takeUp(m ident.Member, now, until clock.Instant, span time.Duration) {
	span = min(max(0, span), maxBackoff)
	until = min(until, now.Add(span))
	if i := slices.IndexFunc(b.list, func(e backoff) bool { return e.member == m }); i >= 0 {
		if b.list[i].until >= until {
			return
		}
		b.list = slices.Delete(b.list, i, i+1)
	}
	b.add(backoff{member: m, until: until, span: span})
}

// forget has the next back-off from a member be a first one.
func (b *backoffs) forget(m ident.Member) {
	b.list = slices.DeleteFunc(b.list, func(e backoff) bool { return e.member == m })
}

// last is how long the last back-off from a member was that still counts for the next one, or 0.
func (b *backoffs) last(m ident.Member, now clock.Instant) time.Duration {
	for _, e := range b.list {
		if e.member == m && now < e.until.Add(maxBackoff) {
			return e.span
		}
	}
	return 0
}

// from reports whether this member backs off from another one now.
func (b *backoffs) from(m ident.Member, now clock.Instant) bool {
	return b.left(m, now) > 0
}

// left is how long this member still backs off from another one.
func (b *backoffs) left(m ident.Member, now clock.Instant) time.Duration {
	for _, e := range b.list {
		if e.member == m {
			return max(0, e.until.Sub(now))
		}
	}
	return 0
}

// hasMet reports whether a newborn token of a member was accepted to meet this member's own one.
func (b *backoffs) hasMet(m ident.Member, own ident.Token) bool {
	return slices.ContainsFunc(b.list, func(e backoff) bool { return e.member == m && e.met == own })
}

// meets notes that a newborn token of a member was accepted to meet this member's own one.
func (b *backoffs) meets(m ident.Member, own, other ident.Token) {
	for i := range b.list {
		if e := &b.list[i]; e.member == m {
			e.met, e.let = own, other
		}
	}
}

// lets reports whether a newborn token of a member was accepted so, and has not come yet.
func (b *backoffs) lets(m ident.Member, t ident.Token) bool {
	return slices.ContainsFunc(b.list, func(e backoff) bool { return e.member == m && e.let == t && t != ident.Token{} })
}

// takes reports the same of a token that has come.
func (b *backoffs) takes(m ident.Member, t ident.Token) bool {
	lets := b.lets(m, t)
	if lets {
		i := slices.IndexFunc(b.list, func(e backoff) bool { return e.member == m })
		b.list[i].let = ident.Token{}
	}
	return lets
}

// mayPardon reports whether this member backs off from another one, and a token that this one has made may be taken in
// spite of that.
func (b *backoffs) mayPardon(m ident.Member, now clock.Instant) bool {
	return slices.ContainsFunc(b.list, func(e backoff) bool { return e.member == m && now < e.until && e.pardon == unpardoned })
}

// isPardoned reports whether the next newborn token of a member is taken.
func (b *backoffs) isPardoned(m ident.Member) bool {
	return slices.ContainsFunc(b.list, func(e backoff) bool { return e.member == m && e.pardon == pardoned })
}

// pardons has one newborn token of a member taken in spite of a back-off, and reports whether that may be.
func (b *backoffs) pardons(m ident.Member, now clock.Instant) bool {
	return b.moves(m, now, unpardoned, pardoned)
}

// spends notes that a newborn token has come by a pardon, and reports whether there is one.
func (b *backoffs) spends(m ident.Member, now clock.Instant) bool {
	return b.moves(m, now, pardoned, spent)
}

// renews has a member pardoned again: the token that came by a pardon was the only one.
func (b *backoffs) renews(m ident.Member, now clock.Instant) { b.moves(m, now, spent, unpardoned) }

// withdraws has a member not pardoned again: the token that came by a pardon was not the only one.
func (b *backoffs) withdraws(m ident.Member, now clock.Instant) { b.moves(m, now, unpardoned, spent) }

// moves has a pardon change in a back-off that goes on, and reports whether it did.
func (b *backoffs) moves(m ident.Member, now clock.Instant, from, to pardon) bool {
	i := slices.IndexFunc(b.list, func(e backoff) bool { return e.member == m && now < e.until && e.pardon == from })
	if i >= 0 {
		b.list[i].pardon = to
	}
	return i >= 0
}
