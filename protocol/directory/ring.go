package directory

import (
	"iter"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// ringRole is what a member is on the ring (rule P-17), whatever the time.
type ringRole uint8

const (
	// outside: dead, or nobody knows how to reach it.
	outside ringRole = iota
	// host: others can dial it. Hosts follow each other in the order of ids.
	host
	// guest: it only dials out, and stands right before a host.
	guest
	ringRoles
)

// Ring is the cycle of the members that have neither departed nor failed and
// that others can reach.
//
// The order of the ring depends on what all members know, and not on who is
// connected with whom, so that all see one cycle. A member that can be dialled
// is a host, one that only dials out a guest. No two guests are adjacent, since
// neither could dial the other. Hosts and guests are paired like brackets in
// the order of ids: a guest opens and a host closes. So a guest whose successor
// in that order is a host stays where its id is, and a member that joins,
// leaves or fails moves few others.
type Ring struct {
	known *Register
	roles [ringRoles]int // how many members of each role there are
}

// After returns the member that follows this one on the ring and that this one
// can hand a token to. It passes over members that exclude names, and members
// that are neither connected nor can be dialled. The cost grows with the number
// of members that it passes over. Where members only dial out, the cost also
// grows with the size of the group: one step for each 128 members at worst.
// exclude may be nil.
func (r *Ring) After(now time.Time, exclude func(ident.Member) bool) (m ident.Member, ok bool) {
	return r.follow(r.next, now, exclude)
}

// Before returns the member that this one follows on the ring, by the same
// conditions as After.
func (r *Ring) Before(now time.Time, exclude func(ident.Member) bool) (m ident.Member, ok bool) {
	return r.follow(r.previous, now, exclude)
}

// maxSkipped bounds how far Skipped looks: what a peer passes over must not cost a step for each
// member of a large group. Its members fail one by one, so nobody honest passes over so many.
const maxSkipped = 1024

// Skipped returns the first member between from and this one on the ring that
// is connected with this one and not excluded. It returns the zero id if from
// is not among the maxSkipped members before this one, or if giver is nearer to
// this member than from: then from got the token from giver and sent it back.
// exclude may be nil.
func (r *Ring) Skipped(from, giver ident.Member, now time.Time, exclude func(ident.Member) bool) (m ident.Member) {
	at, role := r.known.self, r.ringSelf(now)
	for range min(r.RingLen(), maxSkipped) {
		f := r.previous(at, role, now)
		switch {
		case f == nil || f.id == r.known.self || f.id == giver:
			return ident.Member{}
		case f.id == from:
			return m
		case f.connected && (exclude == nil || !exclude(f.id)):
			m = f.id
		}
		at, role = f.id, f.ring
	}
	return ident.Member{}
}

// OnRing reports whether this member has a place on the ring. Where more than
// half of the members only dial out, such a member may have no place. It
// follows nobody then, but After still names a member to which it can pass a
// token. Where no member can be dialled there is no ring, and each member is
// alone on its own.
func (r *Ring) OnRing(now time.Time) bool {
	return r.ringSelf(now) != guest || r.roles[host] == 0 || r.pair(r.known.self, guest, now) != nil
}

// RingLen returns how many members, this one included, have neither departed
// nor failed and can be reached by others. The certificates of some may have
// expired. The ring is as long, or shorter where more than half of the members
// only dial out.
func (r *Ring) RingLen() int {
	n := r.roles[host] + r.roles[guest]
	if f := r.known.members[r.known.self]; f == nil || f.ring == outside {
		n++
	}
	return n
}

// ringSelf is the role of this member. One that has not said how it can be reached is a
// host.
func (r *Ring) ringSelf(now time.Time) ringRole {
	if f := r.known.members[r.known.self]; f != nil && f.ringRole(now) == guest {
		return guest
	}
	return host
}

// follow goes along the ring from this member until there is one that can be handed a token.
func (r *Ring) follow(step func(ident.Member, ringRole, time.Time) *facts, now time.Time, exclude func(ident.Member) bool) (m ident.Member, ok bool) {
	at, role := r.known.self, r.ringSelf(now)
	for range r.RingLen() {
		f := step(at, role, now)
		if f == nil || f.id == r.known.self {
			break
		}
		at, role = f.id, f.ring
		if (f.connected || f.reachable()) && (exclude == nil || !exclude(at)) {
			return at, true
		}
	}
	return ident.Member{}, false
}

// next is who follows a member on the ring; nil if there is no host.
func (r *Ring) next(m ident.Member, role ringRole, now time.Time) *facts {
	if role == guest {
		if f := r.pair(m, guest, now); f != nil {
			return f
		}
	}
	f := firstHost(r.known.order.above(m), now)
	if f == nil || role == guest {
		return f
	}
	if g := r.pair(f.id, host, now); g != nil {
		return g
	}
	return f
}

// previous is whom a member follows on the ring; nil for one without a place there.
func (r *Ring) previous(m ident.Member, role ringRole, now time.Time) *facts {
	f := r.pair(m, role, now)
	switch {
	case role == host && f != nil:
		return f
	case role == guest && f == nil:
		return nil
	case role == guest:
		m = f.id
	}
	return firstHost(r.known.order.below(m), now)
}

func firstHost(list iter.Seq[*facts], now time.Time) *facts {
	for f := range list {
		if f.ringRole(now) == host {
			return f
		}
	}
	return nil
}

// enroll counts a member by its role, which may have changed.
func (r *Ring) enroll(f *facts) {
	old := f.ring
	if f.ring = ringRoleOf(f); f.ring == old {
		return
	}
	r.roles[old]--
	r.roles[f.ring]++
	if f.listed {
		r.known.order.unpair(f)
	}
}

// ringRoleOf is the role of a member whatever the time.
func ringRoleOf(f *facts) ringRole {
	switch {
	case !f.alive():
		return outside
	case f.dialsOut():
		return guest
	case f.reachable() || f.connected:
		return host
	}
	return outside
}

// ringRole is the role of a member at the time now.
func (f *facts) ringRole(now time.Time) ringRole {
	if f.ring != outside && f.valid(now) {
		return f.ring
	}
	return outside
}

// brackets is what remains of some members when those of them are paired that can be:
// hosts without a guest, and behind them guests without a host.
type brackets struct {
	hosts, guests int
	since, until  int64 // the seconds in which it is so: certificates begin and end
}

// of is how many remain of a role, and of the other one.
func (b *brackets) of(role ringRole) (same, other int) {
	if role == guest {
		return b.guests, b.hosts
	}
	return b.hosts, b.guests
}

// pair is the host of a guest, or the guest of a host; nil if it has none. A guest looks
// for its host upwards, a host for its guest downwards.
func (r *Ring) pair(m ident.Member, role ringRole, now time.Time) *facts {
	o := &r.known.order
	if r.roles[guest] == 0 || r.roles[host] == 0 && role == guest {
		return nil
	}
	n := o.at(m)
	list := o.blocks[n].list
	at, found := o.blocks[n].find(m)
	lower, upper := list[:at], list[at:]
	if found {
		upper = upper[1:]
	}
	s := pairing{role: role, now: now}
	if role == guest {
		f := s.among(slices.Values(upper))
		for i := n + 1; f == nil && i < n+len(o.blocks); i++ {
			f = s.block(&o.blocks[i%len(o.blocks)])
		}
		if f == nil {
			f = s.among(slices.Values(lower))
		}
		return f
	}
	f := s.among(backward(lower))
	for i := n + len(o.blocks) - 1; f == nil && i > n; i-- {
		f = s.block(&o.blocks[i%len(o.blocks)])
	}
	if f == nil {
		f = s.among(backward(upper))
	}
	return f
}

func backward(list []*facts) iter.Seq[*facts] {
	return func(yield func(*facts) bool) {
		for _, f := range slices.Backward(list) {
			if !yield(f) {
				return
			}
		}
	}
}

// pairing looks for who is paired with a member of one role.
type pairing struct {
	role ringRole
	now  time.Time
	open int // of the same role between them, which must be paired first
}

// among is the member that is looked for, if it is one of these.
func (s *pairing) among(list iter.Seq[*facts]) *facts {
	for f := range list {
		switch f.ringRole(s.now) {
		case outside:
		case s.role:
			s.open++
		default:
			if s.open == 0 {
				return f
			}
			s.open--
		}
	}
	return nil
}

// block is among for all members of a block, at the cost of one step if it is not there.
func (s *pairing) block(b *block) *facts {
	same, other := b.paired(s.now).of(s.role)
	if other <= s.open {
		s.open += same - other
		return nil
	}
	if s.role == guest {
		return s.among(slices.Values(b.list))
	}
	return s.among(backward(b.list))
}

// paired is what remains of a block.
func (b *block) paired(now time.Time) *brackets {
	s := now.Unix()
	if p := &b.brackets; p.since <= s && s < p.until {
		return p
	}
	p := brackets{until: 1<<63 - 1, since: -1 << 63}
	for _, f := range b.list {
		if f.ring == outside {
			continue
		}
		for _, t := range [2]int64{f.notBefore, f.notAfter} {
			if t <= s {
				p.since = max(p.since, t)
			} else {
				p.until = min(p.until, t)
			}
		}
		switch {
		case f.ringRole(now) == guest:
			p.guests++
		case f.ringRole(now) == outside:
		case p.guests > 0:
			p.guests--
		default:
			p.hosts++
		}
	}
	b.brackets = p
	return &b.brackets
}

// unpair forgets what remains of the block of a member, whose role or certificate has
// changed.
func (o *order) unpair(f *facts) { o.blocks[o.at(f.id)].brackets = brackets{} }
