package directory

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// Attachments is to how many members a member that only dials out is to be
// attached: it keeps a connection to each, over which tokens reach it. Each
// hands it a third of its tokens. When one fails without a word, it gets two
// thirds of its share until it has found another one; when two fail, a third.
// With one attachment it would get none in that time. More attachments would
// cost everybody more connections, to gain little.
const Attachments = 3

// whole is the chance of 1 in the units in which chances of being chosen are
// counted: a part of it for each number of attachments up to MaxAttached is a
// whole number, so that sums are exact and do not depend on the order in which
// they came about.
const whole = 840

// links is who is attached to whom: what the members that only dial out say in
// their endpoint records. A member that is attached to a others is to be chosen
// by each of them with a chance of 1/a. The sum of these chances is a member's
// load; one whose load is above 1 chooses nobody but those that are attached to
// it, each with a part of its chance. All this takes about 200 bytes for each
// member that only dials out.
type links struct {
	attached map[ident.Member][]ident.Member
	loads    map[ident.Member]uint32 // in parts of whole; nobody has 0

	// flow is the sum over the peers of their loads, each cut off at 1: the
	// visits at members that only dial out for each visit at a peer, times
	// the number of peers.
	flow uint64
}

func newLinks() links {
	return links{attached: make(map[ident.Member][]ident.Member), loads: make(map[ident.Member]uint32)}
}

// set puts the given attachments of m in the place of those it had; nil says
// that it is not one that dials out, or has departed. peer reports
// whether a member counts for the flow. set keeps the list.
func (l *links) set(m ident.Member, to []ident.Member, peer func(ident.Member) bool) {
	old := l.attached[m]
	if slices.Equal(old, to) {
		return
	}
	for _, r := range old {
		l.move(r, -l.part(m), peer)
	}
	delete(l.attached, m)
	if len(to) == 0 {
		return
	}
	l.attached[m] = to
	for _, r := range to {
		l.move(r, l.part(m), peer)
	}
}

// part is the chance with which each that m is attached to should choose it,
// in parts of whole; 0 for a member that is attached to nobody.
func (l *links) part(m ident.Member) int32 {
	if a := len(l.attached[m]); a > 0 {
		return int32(whole / a)
	}
	return 0
}

func (l *links) move(r ident.Member, by int32, peer func(ident.Member) bool) {
	counts := peer(r)
	if counts {
		l.leave(r)
	}
	if load := l.loads[r] + uint32(by); load > 0 {
		l.loads[r] = load
	} else {
		delete(l.loads, r)
	}
	if counts {
		l.enter(r)
	}
}

// enter counts the peer r for the flow, leave no longer.
func (l *links) enter(r ident.Member) { l.flow += uint64(l.busy(r)) }
func (l *links) leave(r ident.Member) { l.flow -= uint64(l.busy(r)) }

// busy is the chance with which r chooses one that is attached to it.
func (l *links) busy(r ident.Member) uint32 { return min(l.loads[r], whole) }

// attachedTo reports whether m says that it is attached to r.
func (l *links) attachedTo(m, r ident.Member) bool { return slices.Contains(l.attached[m], r) }

// attachmentChoices is how many members PickAttachment compares. Two keep the
// loads much more even than one; three help where half of the members only dial
// out: the least share of one is 0.93 of an equal one with three, 0.80 with two.
// More would gain nothing, and have those who look at the same time take to the
// same member.
const attachmentChoices = 3

// PickAttachment draws a member for this one, which only dials out, to keep a
// connection to. It draws a few members that are eligible at the time now, have
// an address and are not excluded, and returns the one with the lowest load. ok
// is false when there is none. exclude may be nil; it should name those that
// this member is attached to already.
//
// A member that only dials out calls it whenever it keeps fewer connections
// than Attachments: at its start, and when one of those was lost or its peer is
// no longer eligible. When the connection is up the member signs an endpoint
// record with the next sequence number, which lists all its attachments. It
// takes the record in itself (LearnEndpoint) and disseminates it like other
// news.
func (s *Selector) PickAttachment(rng rand.Source, now time.Time, exclude func(ident.Member) bool) (m ident.Member, ok bool) {
	random := rand.New(rng)
	eligible := func(f *facts) bool {
		return f.status(now) == nil && f.reachable() && (exclude == nil || !exclude(f.id))
	}
	seen, peers := 0, s.pools[peer]
	for range min(maxDraws, len(peers)) {
		f := peers[random.IntN(len(peers))]
		if !eligible(f) {
			continue
		}
		if seen++; seen == 1 || s.links.loads[f.id] < s.links.loads[m] {
			m = f.id
		}
		if seen == attachmentChoices {
			return m, true
		}
	}
	if seen == 0 {
		m, seen = peers.pick(random, eligible, func(*facts) uint64 { return 1 })
	}
	return m, seen > 0
}
