package member

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/wire"
)

// lookEvery is how often a member looks for its neighbour when nothing
// has happened: certificates run out.
const lookEvery = time.Minute

// ring finds the member that follows this one on the ring. Policies of rings pass tokens there.
type ring struct {
	*core
	live       *liveness
	candidates *candidates
	endpoints  *endpoints

	id      ident.Member // the one that follows; zero: none
	before  ident.Member // whom this member follows
	members int          // that take part, this one among them
	skipped ident.Member // that was to get a token which had passed it over
	outside bool         // this member has no place on the ring
	again   clock.Instant
}

// update reports whether the neighbour is another one than before.
func (r *ring) update() bool {
	r.changed = false
	r.again = r.now.Boot.Add(lookEvery)
	r.greetBefore()
	r.findLinks()
	r.findPlace()
	id, _ := r.dir.After(r.now.Wall, r.isGone)
	members := r.dir.RingLen()
	if id == r.id && members == r.members {
		return false
	}
	r.id, r.members = id, members
	return true
}

// findSkipped finds the member that from has passed over, if this one can pass a token to it (rule
// P-83). giver has passed the token to from.
func (r *ring) findSkipped(from, giver ident.Member) ident.Member {
	m := r.dir.Skipped(from, giver, r.now.Wall, r.isGone)
	if !m.IsZero() {
		r.skipped = m
	}
	return m
}

// greetBefore lets the member before this one know that this one is here: it may
// have passed over this one while it was away. The question is one that is worth
// asking anyway.
func (r *ring) greetBefore() {
	before, _ := r.dir.Before(r.now.Wall, r.isGone)
	if before == r.before {
		return
	}
	r.before = before
	if !before.IsZero() && !r.peers.has(before) && r.dir.Dialable(before) {
		r.send(before, &wire.Want{Topic: wire.WantRevocations, Version: r.dir.RevocationVersion()})
	}
}

// findLinks finds to whom a member that only dials out has to be connected: neither of
// those beside it on the ring can pass it a token, or be sure of its request, otherwise.
func (r *ring) findLinks() {
	var links [2]ident.Member
	if r.endpoints.dialsOut() && r.hasRing() {
		links[0], _ = r.dir.Before(r.now.Wall, nil)
		links[1], _ = r.dir.After(r.now.Wall, nil)
	}
	r.endpoints.link(links)
}

// findPlace notes whether this member has a place on the ring.
func (r *ring) findPlace() {
	outside := !r.dir.OnRing(r.now.Wall) && r.hasRing()
	if outside && !r.outside {
		r.emit(effect.Report{
			Kind: "no place on the ring", About: r.self,
			Detail: "more than half of the members only dial out, and this one gets no turns",
		})
	}
	r.outside = outside
}

// hasRing reports whether a resource is shared in a ring.
func (r *ring) hasRing() bool {
	return slices.ContainsFunc(r.settings.Resources, func(r group.Resource) bool { return r.Policy == catalog.Ring })
}

// isGone reports whether a member is passed over. If so the ring is looked at again when that
// ends.
func (r *ring) isGone(id ident.Member) bool {
	if r.candidates.isShunned(id) {
		r.again = min(r.again, r.candidates.shuns.until(id))
		return true
	}
	if !r.live.absences.isAbsent(id) {
		return false
	}
	r.again = min(r.again, r.live.absences.gone[id].until)
	return true
}
