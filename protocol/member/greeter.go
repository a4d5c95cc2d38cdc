package member

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// snapshotsWanted is how many peers' directories a member that joins, or was
// cut off, compares its own with before it trusts its list of members:
// one may lie by leaving out, three are unlikely to leave out the same.
const snapshotsWanted = 3

// snapshots are the peers whose directories have been compared with this member's since
// it joined, or was cut off: not more than snapshotsWanted.
type snapshots struct {
	*core
	from map[ident.Member]bool
}

// caughtUp reports whether this member has got its snapshots. A member that is news to it is
// then probably news to others.
func (s *snapshots) caughtUp() bool {
	return len(s.from) >= min(snapshotsWanted, s.dir.Candidates())
}

// add notes that nothing is missing here that a peer has.
func (s *snapshots) add(id ident.Member) {
	if len(s.from) < snapshotsWanted {
		s.from[id] = true
	}
}

// greeter says to others what this member knows, and so asks them for a sign of life.
type greeter struct {
	*core
	snapshots *snapshots
}

// greet says to a member what this one knows; it dials if need be. That is also
// how it is seen whether somebody is there.
func (g *greeter) greet(id ident.Member) { g.send(id, g.notes(false)) }

// notes is what is compared. A member that is still filling its directory shows
// none: peers would only fetch what it has just fetched itself.
func (g *greeter) notes(answer bool) *wire.Gossip {
	members, fingerprint := g.dir.Fingerprint()
	if g.isFilling() {
		members, fingerprint = 0, wire.Fingerprint{}
	}
	return &wire.Gossip{
		Configuration: g.settings.Version, Revocations: g.dir.RevocationVersion(),
		Members: members, Fingerprint: fingerprint, Answer: answer,
	}
}

// isFilling reports whether this member has not got its snapshots and reads one
// now.
func (g *greeter) isFilling() bool {
	if g.snapshots.caughtUp() {
		return false
	}
	for _, p := range g.peers.byID {
		if p.repairing.waits(g.now.Boot) {
			return true
		}
	}
	return false
}
