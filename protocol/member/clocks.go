package member

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// maxPeerClocks bounds the peers whose clocks a member keeps in mind: those that greeted
// it last. Of so many the middle one is right unless half of the group is wrong.
const maxPeerClocks = 15

// peerClock is what a peer's HELLO said of its wall clock: the time, in ms since 1970, at
// the zero of this member's boot clock. So a clock of this member that is set later
// changes nothing.
type peerClock struct {
	peer ident.Member
	zero int64
}

// peerClocks are those of the peers that have greeted last, the latest at the end.
type peerClocks []peerClock

// zeroOf is what a clock would show at the zero of the boot clock.
func zeroOf(now clock.Instant, millis uint64) int64 {
	return clock.FromMillis(millis).UnixMilli() - int64(now)/1e6
}

// note keeps what a peer's clock shows now.
func (c *peerClocks) note(now clock.Instant, peer ident.Member, millis uint64) {
	list := slices.DeleteFunc(*c, func(p peerClock) bool { return p.peer == peer })
	if len(list) == maxPeerClocks {
		list = slices.Delete(list, 0, 1)
	}
	*c = append(list, peerClock{peer, zeroOf(now, millis)})
}

// reckon is what time it is, in ms since 1970: the median of this member's clock and
// those of the peers, the lower one of two. One that is too low costs nothing where the
// slot's last token is known (birthTime); one that is too high would be a fence that all
// later tokens have to wait for.
func (c peerClocks) reckon(now clock.Reading) uint64 {
	zeros := []int64{zeroOf(now.Boot, now.Millis())}
	for _, p := range c {
		zeros = append(zeros, p.zero)
	}
	slices.Sort(zeros)
	return uint64(max(0, zeros[(len(zeros)-1)/2]+int64(now.Boot)/1e6))
}

// ahead is by how much this member's clock is ahead of the median of its peers' clocks.
func (c peerClocks) ahead(now clock.Reading) time.Duration {
	if len(c) == 0 {
		return 0
	}
	var zeros []int64
	for _, p := range c {
		zeros = append(zeros, p.zero)
	}
	slices.Sort(zeros)
	d := zeroOf(now.Boot, now.Millis()) - zeros[(len(zeros)-1)/2]
	if d < 0 {
		return -clock.Millis(uint64(-d))
	}
	return clock.Millis(uint64(d))
}

// distance is how far a time, in ms since 1970, is from what time it is.
func (c peerClocks) distance(now clock.Reading, millis uint64) time.Duration {
	return clock.FromMillis(c.reckon(now)).Sub(clock.FromMillis(millis)).Abs()
}

// PeerClock is by how much a member's clock is ahead of a peer's, as the peer has greeted it last. Its
// greeting took time to come, so the peer's clock may be that much further ahead.
func PeerClock(m *Member, peer ident.Member) (ahead time.Duration, known bool) {
	for _, p := range m.circ.admission.clocks {
		if p.peer == peer {
			return time.Duration(zeroOf(m.now.Boot, m.now.Millis())-p.zero) * time.Millisecond, true
		}
	}
	return 0, false
}
