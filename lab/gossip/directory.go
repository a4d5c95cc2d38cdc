package gossip

import (
	"math/rand/v2"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/sim/circulation"
)

// Capacity is how many news a token carries in the paper's experiment (§2.2).
const Capacity = 10

// Config are the readings of the paper. The zero value is the plainest one:
// lists of Capacity, only news enter them, and a joiner knows its contact.
type Config struct {
	// Capacity is how many news a list holds; 0 is the constant of that name.
	Capacity int
	// Snapshot gives a joiner all that its contact knows when it joins.
	Snapshot bool
	// Senders is what a member makes of a sender it does not know.
	Senders Senders
	// Echo lets entries of the token's list into the receiver's whether they
	// are news or not, where they push out what the receiver has heard itself.
	Echo bool
	// Learned, if not nil, hears of each entry into a registry: a joiner's
	// contact and snapshot, news, unknown senders; not of one's own.
	Learned func(member, subject int)
}

// Senders is what a member makes of a token's sender that it does not know.
type Senders uint8

// The readings of the paper, in which an unknown sender's certificate comes
// with the token after the first retry (§2.2).
const (
	// Registered: it enters the registry, and is no news to others.
	Registered Senders = iota
	// Ignored: it stays unknown.
	Ignored
	// Reported: it enters the registry, and the list as a joining.
	Reported
)

// Directory is what the members of a group know of each other. It implements
// circulation.Directory. It is not safe for concurrent use.
type Directory struct {
	cfg     Config
	members []registry
}

var _ circulation.Directory = (*Directory)(nil)

// registry is what one member knows.
type registry struct {
	known []uint64 // a bit for each member it has heard of, itself too
	gone  []uint64 // a bit for each of which it heard that it left
	peers []int32  // those known and not gone, without itself
	news  []news   // the latest first
}

// news is that a member joined or left.
type news struct {
	member int32
	left   bool
}

// New makes the directory of a group of so many members that all know each
// other. Lists are empty.
func New(members int, cfg Config) *Directory {
	if cfg.Capacity == 0 {
		cfg.Capacity = Capacity
	}
	d := &Directory{cfg: cfg, members: make([]registry, members)}
	for m := range d.members {
		for other := range members {
			d.members[m].learn(int32(other), int32(m))
		}
	}
	return d
}

// Choose implements circulation.Directory: it draws from those that the member
// knows, uniformly.
func (d *Directory) Choose(from int, rng *rand.Rand) (to int, ok bool) {
	peers := d.members[from].peers
	if len(peers) == 0 {
		return 0, false
	}
	return int(peers[rng.IntN(len(peers))]), true
}

// Joined implements circulation.Directory. Members are numbered in the order
// in which they join.
func (d *Directory) Joined(member, contact int) {
	d.members = append(d.members, registry{news: []news{{member: int32(member)}}})
	joiner := &d.members[member]
	joiner.learn(int32(member), int32(member))
	d.learn(member, int32(contact))
	if !d.cfg.Snapshot {
		return
	}
	for _, peer := range slices.Clone(d.members[contact].peers) {
		d.learn(member, peer)
	}
	joiner.gone = slices.Clone(d.members[contact].gone)
}

// Left implements circulation.Directory: the member tells so on the tokens
// that it passes on as it leaves (§2.2).
func (d *Directory) Left(member int) {
	d.members[member].push(news{int32(member), true}, d.cfg.Capacity)
}

// Passed implements circulation.Directory: the receiver reads the sender's
// list, the oldest news first. Only then it notes the sender: else a joiner's
// own news would be none for the first who hears of them.
func (d *Directory) Passed(_ ident.Token, from, to int) {
	receiver := &d.members[to]
	list := d.members[from].news
	for i := len(list) - 1; i >= 0; i-- {
		if fresh := d.hear(to, list[i]); fresh || d.cfg.Echo {
			receiver.push(list[i], d.cfg.Capacity)
		}
	}
	if d.cfg.Senders != Ignored && d.learn(to, int32(from)) && d.cfg.Senders == Reported {
		receiver.push(news{member: int32(from)}, d.cfg.Capacity)
	}
}

// hear enters news into a registry, and reports whether they were.
func (d *Directory) hear(member int, n news) bool {
	if !n.left {
		return d.learn(member, n.member)
	}
	r := &d.members[member]
	if has(r.gone, n.member) {
		return false
	}
	d.learn(member, n.member)
	set(&r.gone, n.member)
	r.peers = slices.DeleteFunc(r.peers, func(peer int32) bool { return peer == n.member })
	return true
}

// learn enters a member into a registry, and reports whether it was unknown.
func (d *Directory) learn(member int, subject int32) bool {
	if !d.members[member].learn(subject, int32(member)) {
		return false
	}
	if d.cfg.Learned != nil {
		d.cfg.Learned(member, int(subject))
	}
	return true
}

func (r *registry) learn(subject, self int32) bool {
	if has(r.known, subject) {
		return false
	}
	set(&r.known, subject)
	if subject != self {
		r.peers = append(r.peers, subject)
	}
	return true
}

// push puts news at the front of a list, and lets the oldest go when it is
// full.
func (r *registry) push(n news, capacity int) {
	i := slices.Index(r.news, n)
	if i < 0 {
		if len(r.news) < capacity {
			r.news = append(r.news, news{})
		}
		i = len(r.news) - 1
	}
	copy(r.news[1:i+1], r.news[:i])
	r.news[0] = n
}

// Knows reports whether a member has the subject in its registry, gone or not.
// Everybody knows itself.
func (d *Directory) Knows(member, subject int) bool {
	return has(d.members[member].known, int32(subject))
}

// Peers is to how many others a member may pass a token.
func (d *Directory) Peers(member int) int { return len(d.members[member].peers) }

// News is how many news are on a member's list.
func (d *Directory) News(member int) int { return len(d.members[member].news) }

func has(bits []uint64, n int32) bool {
	i := int(n) / 64
	return i < len(bits) && bits[i]>>(n%64)&1 != 0
}

func set(bits *[]uint64, n int32) {
	for len(*bits) <= int(n)/64 {
		*bits = append(*bits, 0)
	}
	(*bits)[n/64] |= 1 << (n % 64)
}
