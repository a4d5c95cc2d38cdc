package updates

import (
	"math/rand/v2"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/sim/circulation"
)

// Config is a group whose members tell each other who joined.
type Config struct {
	// Founders are the members of the start. They all know each other.
	Founders int
	// Capacity is how many updates a message carries (update_capacity).
	Capacity int
	// Joins are the encoded updates of those that will join, in their order,
	// all different.
	Joins [][]byte
	// Contacts is with how many members a joiner connects at once, and whose
	// snapshots it takes in; at least 1.
	Contacts int
	// Receipts lets also the answer to a token carry updates.
	Receipts bool
	// Rand draws the contacts beyond the first.
	Rand *rand.Rand
	// Learned, if not nil, hears of each joiner that gets known to a member,
	// but for what joiners learn at their own joining.
	Learned func(member, subject int)
}

// Directory is what the members know of each other. It implements
// circulation.Directory and is not safe for concurrent use.
type Directory struct {
	cfg     Config
	members []registry
	subject map[*byte]int // of an update, by where it is
	traffic Traffic
}

var _ circulation.Directory = (*Directory)(nil)

// registry is what one member knows.
type registry struct {
	known   []uint64 // a bit for each joiner it has heard of, itself too
	joiners []int32  // the same without itself, as member numbers
	list    *update.List
}

// New makes the directory of the founders. Lists are empty.
func New(cfg Config) *Directory {
	d := &Directory{cfg: cfg, members: make([]registry, cfg.Founders), subject: make(map[*byte]int)}
	for i, raw := range cfg.Joins {
		d.subject[&raw[0]] = cfg.Founders + i
	}
	return d
}

// Traffic is what has travelled so far.
func (d *Directory) Traffic() Traffic { return d.traffic }

// Choose implements circulation.Directory: uniformly among those known.
func (d *Directory) Choose(from int, rng *rand.Rand) (to int, ok bool) {
	r := &d.members[from]
	n := d.cfg.Founders + len(r.joiners)
	if n == 1 && from == 0 {
		return 0, false
	}
	for {
		to := rng.IntN(n)
		if to >= d.cfg.Founders {
			to = int(r.joiners[to-d.cfg.Founders])
		}
		if to != from {
			return to, true
		}
	}
}

// Joined implements circulation.Directory: the joiner connects with the contact
// and some more, which hear of it so, and is given all that they know. Its own
// joining is on its list, and on those of its contacts.
func (d *Directory) Joined(member, contact int) {
	d.members = append(d.members, registry{})
	d.learn(member, member)
	contacts := []int{contact}
	for len(contacts) < min(d.cfg.Contacts, member) {
		if other := d.cfg.Rand.IntN(member); !slices.Contains(contacts, other) {
			contacts = append(contacts, other)
		}
	}
	for _, c := range contacts {
		for _, subject := range d.members[c].joiners {
			d.know(member, int(subject))
		}
		if c >= d.cfg.Founders {
			d.know(member, c)
		}
		d.learn(c, member)
	}
}

// Left implements circulation.Directory. Nobody leaves in these runs.
func (d *Directory) Left(int) { panic("updates: members only join here") }

// Passed implements circulation.Directory: the token brings the sender's
// updates, and the receipt the receiver's.
func (d *Directory) Passed(_ ident.Token, from, to int) {
	d.traffic.Hops++
	told := d.tell(from, to, &d.traffic.Tokens)
	if d.cfg.Receipts {
		d.tell(to, from, &d.traffic.Receipts, told...)
	}
}

// tell lets one member tell another what is on its list, but for what it has
// just heard from it.
func (d *Directory) tell(from, to int, load *Load, heard ...[]byte) [][]byte {
	r := &d.members[from]
	if r.list == nil || r.list.Len() == 0 {
		return nil
	}
	told := r.list.Take(d.cfg.Capacity, d.cfg.Founders+len(r.joiners), heard...)
	for _, raw := range told {
		load.Add(1, len(raw))
		d.learn(to, d.subject[&raw[0]])
	}
	return told
}

// Compare lets two members compare their directories, and repair what differs.
// What is learned so is told on like any other news.
func (d *Directory) Compare(a, b int) {
	d.traffic.Compared++
	d.repair(a, b)
	d.repair(b, a)
}

func (d *Directory) repair(from, to int) {
	for _, subject := range d.members[from].joiners {
		if d.learn(to, int(subject)) {
			d.traffic.Repaired++
		}
	}
	if from >= d.cfg.Founders && d.learn(to, from) {
		d.traffic.Repaired++
	}
}

// learn is news for a member: it enters them, and puts them on its list.
func (d *Directory) learn(member, subject int) (news bool) {
	if !d.know(member, subject) {
		return false
	}
	r := &d.members[member]
	if r.list == nil {
		r.list = update.NewList()
	}
	key := update.Key{Kind: update.KindJoin, Subject: circulation.MemberID(subject)}
	r.list.Add(key, d.cfg.Joins[subject-d.cfg.Founders])
	if d.cfg.Learned != nil {
		d.cfg.Learned(member, subject)
	}
	return true
}

// know enters a joiner into a registry, and reports whether it was unknown.
func (d *Directory) know(member, subject int) (news bool) {
	r := &d.members[member]
	i := subject - d.cfg.Founders
	for len(r.known) <= i/64 {
		r.known = append(r.known, 0)
	}
	if r.known[i/64]>>(i%64)&1 != 0 {
		return false
	}
	r.known[i/64] |= 1 << (i % 64)
	if subject != member {
		r.joiners = append(r.joiners, int32(subject))
	}
	return true
}

// Knows reports whether a member has heard of the subject. Everybody knows the
// founders and itself.
func (d *Directory) Knows(member, subject int) bool {
	i := subject - d.cfg.Founders
	if i < 0 {
		return true
	}
	known := d.members[member].known
	return i/64 < len(known) && known[i/64]>>(i%64)&1 != 0
}
