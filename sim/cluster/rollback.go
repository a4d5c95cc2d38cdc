package cluster

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// The preset Rollback: disks go back. What is judged is whether an honest member whose
// journal went back signs something again that it has signed already: a second transfer
// of one hop, or a second genesis of one number. It may, if it has met nobody who
// remembers: that is counted. It must not, if the first that it met had in its journal
// what this one has forgotten.

// goBackEvery is the mean time between two disks that go back, or are copied.
const goBackEvery = 5 * time.Second

// rollbackFor is how long a run of the preset takes, and seldom by how much rarer than in
// the preset Chaos members are away.
const (
	rollbackFor = 3 * time.Minute
	seldom      = 5
)

// drawRollback is the preset Rollback: durable members, and what the preset Chaos has, less of it.
func drawRollback(seed uint64) (setting, chaos) {
	s, f := draw(seed, Durable)
	f.every[faultGoBack], f.every[faultClock], f.wrongClocks = goBackEvery, 0, false
	for _, kind := range []fault{faultCrash, faultPower, faultStop, faultCut, faultOneWay, faultSyncFails, faultDiskFull, faultSuspend} { // or nobody is there who remembers
		f.every[kind] *= seldom
	}
	s.net.loss, s.net.late = min(s.net.loss, 0.02), 0
	f.least, f.most = rollbackFor, rollbackFor
	s.unguarded = true // the guard knows of no disk that goes back
	return s, f
}

// copied is a journal as it was once.
type copied struct {
	live    [][]byte
	carried int
	at      int // how much had been signed and taken
}

// signed is what a member has signed that it must not sign a second time.
type signed struct {
	token    ident.Token // of a transfer
	previous ident.Hash  // on which it stands: two chains have the same hops
	number   uint64      // its hop, or the sequence number of a genesis
	memory   ident.Incarnation
}

// past is what a member has signed, and what its journal has forgotten of that.
type past struct {
	old       copied
	signed    map[signed]ident.Hash
	when      map[ident.Hash]int  // of transfers signed or taken, and geneses: their order
	forgotten map[ident.Hash]bool // transfers from it and to it
	back      bool                // its journal went back, and it has begun no new memory
	acted     bool                // since then
	told      uint64              // the life in which it was told
}

// goBack puts an older journal in the place of the one that there is.
func (n *node) goBack(old copied) {
	d, g := &n.disk, n.c.group.ID()
	n.c.log(n, "its journal of %d records goes back to one of %d", len(d.live), len(old.live))
	gone := d.live[min(len(d.live), len(old.live)):] // if its end was cut off
	d.live, d.carried, d.torn = slices.Clone(old.live), old.carried, nil
	records, err := d.read()
	if err != nil {
		n.c.problem(Machinery, n, "journal unreadable: %v", err)
		return
	}
	n.guard = newGuard(g)
	for _, r := range records {
		_ = n.guard.apply(r.Record)
	}
	n.past.goBack(g, old.at, gone)
}

// goBack forgets what was signed and taken from a moment on, or what records that are gone
// are about.
func (p *past) goBack(g ident.Group, at int, gone [][]byte) {
	p.forgotten, p.back, p.acted = make(map[ident.Hash]bool), true, false
	for h, when := range p.when {
		p.forgotten[h] = at >= 0 && when >= at
	}
	for _, body := range gone {
		if _, r, err := journal.Decode(body); at < 0 && err == nil {
			for _, h := range transfersOf(g, r) {
				p.forgotten[h] = true
			}
		}
	}
}

// transfersOf are those that a member's record is about.
func transfersOf(g ident.Group, r journal.Record) (list []ident.Hash) {
	add := func(raw []byte) {
		if _, h, err := token.PeekTransfer(g, raw); err == nil {
			list = append(list, h)
		}
	}
	switch r := r.(type) {
	case *journal.Held:
		add(r.Transfer)
	case *journal.Sent:
		add(r.Transfer)
	}
	return list
}

// note looks at what has become durable for what was signed twice, and returns that.
func (p *past) note(g ident.Group, entries []audit.Entry) (twice []signed) {
	if p.signed == nil {
		p.signed, p.when = make(map[signed]ident.Hash), make(map[ident.Hash]int)
	}
	for _, e := range entries {
		switch r := e.Record.(type) {
		case *journal.Incarnation:
			p.back, p.forgotten = false, nil
		case *journal.Held:
			if _, h, err := token.PeekTransfer(g, r.Transfer); err == nil {
				p.when[h], p.acted = len(p.when), true
			}
		case *journal.Sent:
			if b, h, err := token.PeekTransfer(g, r.Transfer); err == nil {
				what := signed{token: b.Token, previous: b.Previous, number: b.Hop}
				if p.sign(what, h) {
					twice = append(twice, what)
				}
			}
		case *journal.Generated:
			if b, h, err := token.PeekGenesis(g, r.Genesis); err == nil {
				what := signed{number: b.Sequence, memory: b.Incarnation}
				if p.sign(what, h) {
					twice = append(twice, what)
				}
			}
		}
	}
	return twice
}

// sign notes what was signed, and reports whether something else was before.
func (p *past) sign(what signed, h ident.Hash) (twice bool) {
	p.acted = true
	before, again := p.signed[what]
	p.signed[what], p.when[h] = h, len(p.when)
	return again && before != h
}

// forks judges what a member has signed twice: it may, if nobody has told it.
func (n *node) forks(twice []signed) {
	for _, what := range twice {
		if n.past.told == n.life {
			n.c.problem(Custody, n, "signs a fork though the first that it met remembered: token %s number %d", what.token.Short(), what.number)
			continue
		}
		n.c.count.escapes++
		n.c.log(n, "FORK of token %s number %d: nobody has told it", what.token.Short(), what.number)
	}
}

// isGreeted looks at an input before the member does: at a HELLO from somebody who remembers
// what this member has forgotten.
func (n *node) isGreeted(in member.Input) {
	m, ok := in.(member.Received)
	p := &n.past
	if !ok || !p.back || p.acted || p.told == n.life {
		return
	}
	if t, err := wire.PeekType(m.Body); err != nil || t != wire.TypeHello {
		return
	}
	for _, o := range n.c.byID[m.From] {
		if o.disk.remembers(n.c.group.ID(), p.forgotten) {
			p.told = n.life
			n.c.log(n, "is greeted by %s, who remembers", o.name)
		}
	}
}

// remembers reports whether a journal has an object about one of these transfers
// that their other side has signed.
func (d *disk) remembers(g ident.Group, forgotten map[ident.Hash]bool) bool {
	records, err := (&disk{live: d.live, carried: d.carried}).read()
	if err != nil {
		return false
	}
	for _, r := range records {
		switch r := r.Record.(type) {
		case *journal.Held:
			if _, h, err := token.PeekTransfer(g, r.Transfer); err == nil && forgotten[h] {
				return true
			}
		case *journal.Closed:
			if b, err := peekReceipt(g, r.Receipt); len(r.Receipt) > 0 && err == nil && forgotten[b.Transfer] {
				return true
			}
		}
	}
	return false
}
