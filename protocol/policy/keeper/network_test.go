package keeper

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/policytest"
)

// The network of these tests: every member reaches every other one that lives, in the
// order in which it speaks. Who dies is told of to who watches it, and leaves the
// directory some time later. A program outlives its member.
const (
	delayLeast  = 5 * time.Millisecond
	delayMost   = 15 * time.Millisecond
	passTime    = 30 * time.Millisecond
	stateAfter  = 15 * time.Second // a death is in all directories, unless a test says otherwise
	longestHold = 6 * time.Second
)

var testParams = policy.Params{OperationTime: time.Second, MaxHold: longestHold, MembersMax: 8, SkipDelay: 100 * time.Millisecond}

// network is a group of members with keepers around puppets.
type network struct {
	now        clock.Instant
	params     policy.Params
	length     time.Duration // of each program; 0: any
	stays      bool          // a token stays where it was used while nobody is known to want it
	events     events
	rng        *rand.Rand
	sites      []*site
	detect     time.Duration // until a watch tells of a death
	loss       float64       // of messages
	longest    time.Duration // program that is run, at most
	thaws      clock.Instant // when all that stood still goes on
	doubts     []doubt
	stated     time.Duration // until a death is in all directories
	dial       time.Duration // between two questions of one member to all; 0: they go at once
	tokens     int
	made       int // by keepers
	told       int // messages
	refused    int // offers of newborn tokens
	cuts       [][2]*site
	slow       time.Duration // a receipt takes up to this longer
	liar       *site
	caught     int // reports about the liar
	opened     int // inquests
	programs   []program
	overlap    time.Duration // in which two programs ran
	stall      time.Duration // longest in which somebody waited, nobody ran and no program could
	waitsSince clock.Instant
	log        func(string, ...any)
}

// site is one member.
type site struct {
	n         *network
	id        ident.Member
	keeper    *Keeper
	inner     *puppet
	up        bool
	durable   bool
	died      clock.Instant
	life      int
	due       clock.Instant
	watched   []ident.Member
	demand    bool
	greedy    bool           // wants again as soon as it was served
	queued    int            // questions that wait
	holds     []policy.Token // in custody, also while away if durable
	arrives   map[int]clock.Instant
	memory    uint64                         // incarnation: another one after a loss of memory
	custodies uint64                         // that it has had
	shuns     map[ident.Member]clock.Instant // whom it passes nothing to unless it is named
	lies      func(policy.Event) bool        // what a liar does instead of its keeper, if it is true
}

type program struct {
	site  *site
	ends  clock.Instant
	token ident.Token
}

// puppet passes a token on until it has been everywhere since somebody wanted it.
type puppet struct {
	policytest.Untimed
	n       *network
	at      int
	demand  bool
	token   policy.Token
	have    bool
	running bool
	ran     bool         // since the token came, or somebody was to take it
	seen    policy.Token // the latest one that was here
	spare   policy.Token // came while another one was in use; zero: none
}

func (p *puppet) Step(_ clock.Instant, e policy.Event, actions []policy.Action) []policy.Action {
	switch e.Kind {
	case policy.Arrival, policy.Generated, policy.Resumed:
		if e.Token.ID != p.seen.ID && e.Token.Born < p.seen.Born { // of two the later one stays
			return append(actions, policy.Action{Kind: policy.Drop, Token: e.Token.ID})
		}
		p.seen = e.Token
		if p.have && p.token.ID != e.Token.ID {
			if p.running {
				p.spare = e.Token
				return actions
			}
			actions = append(actions, policy.Action{Kind: policy.Drop, Token: p.token.ID})
		}
		p.have, p.token, p.ran = true, e.Token, false
		hops := byte(0)
		if len(e.Token.Field) == 1 {
			hops = e.Token.Field[0]
		}
		return p.goOn(hops, actions)
	case policy.PassEnded:
		switch e.Outcome {
		case policy.Returned:
			p.have, p.token, p.ran = true, e.Token, false
			return p.goOn(1, actions)
		case policy.Abandoned:
			if p.token.ID == e.Token.ID {
				p.have, p.running = false, false
				return p.takeSpare(actions)
			}
		}
	case policy.OperationEnded:
		p.running, p.ran = false, true
		if p.spare.ID != (ident.Token{}) {
			actions = append(actions, policy.Action{Kind: policy.Drop, Token: p.token.ID})
			return p.takeSpare(actions)
		}
		if p.n.stays && !p.demand {
			return p.goOn(0, actions)
		}
		return p.goOn(byte(len(p.n.sites)), actions)
	case policy.DemandChanged:
		p.demand = e.Demand
		if p.have && p.demand && !p.running {
			return p.goOn(0, actions)
		}
	case policy.Wanted:
		if p.have && !p.running {
			return p.goOn(byte(len(p.n.sites)), actions)
		}
	}
	return actions
}

func (p *puppet) takeSpare(actions []policy.Action) []policy.Action {
	if p.spare.ID == (ident.Token{}) {
		return actions
	}
	p.have, p.token, p.ran, p.spare = true, p.spare, false, policy.Token{}
	return p.goOn(byte(len(p.n.sites)), actions)
}

// goOn runs, passes the token on, or lets it rest.
func (p *puppet) goOn(hops byte, actions []policy.Action) []policy.Action {
	to := p.n.next(p.at)
	switch {
	case !p.have || p.running:
		return actions
	case p.demand && (!p.ran || hops == 0 || to < 0): // one program, and then others have theirs
		p.running = true
		return append(actions, policy.Action{Kind: policy.Run, Token: p.token.ID})
	case hops == 0:
		return actions
	}
	if to < 0 {
		return actions
	}
	p.have = false
	return append(actions, policy.Action{Kind: policy.Pass, Token: p.token.ID, To: p.n.sites[to].id, Field: []byte{hops - 1}})
}

func newNetwork(members int, seed uint64) *network {
	return newNetworkAs(members, seed, policy.WaitForProgram)
}

func newNetworkAs(members int, seed uint64, set policy.SilentHolder) *network {
	n := &network{params: testParams, rng: rand.New(rand.NewPCG(seed, 1)), detect: time.Second, stated: stateAfter, longest: longestHold, waitsSince: clock.Never, log: func(string, ...any) {}}
	n.params.OnSilentHolder = set
	for i := range members {
		s := &site{n: n, id: ident.Member{byte(i + 1)}, due: clock.Never, durable: true, arrives: make(map[int]clock.Instant), shuns: make(map[ident.Member]clock.Instant)}
		n.sites = append(n.sites, s)
	}
	for _, s := range n.sites {
		s.start()
	}
	n.mint(0)
	return n
}

// start begins a life of a member.
func (s *site) start() {
	s.up, s.watched, s.due, s.queued = true, nil, clock.Never, 0
	s.life++
	s.inner = &puppet{n: s.n, at: s.index()}
	s.keeper = Around(s.inner, s.n.params, policy.Surroundings{Self: s.id, Roster: directory{s}, Slot: ident.Member{255}, Forgetful: !s.durable, Young: true, Patience: s.n.patience, Receipt: s.readReceipt, Serial: func() uint64 { return s.custodies + 1 }}, true)
	clear(s.shuns)
	if !s.durable {
		s.holds = nil
		s.memory++
	}
	runs := func(t policy.Token) bool {
		return slices.ContainsFunc(s.n.programs, func(p program) bool { return p.site == s && p.token == t.ID })
	}
	held := slices.Clone(s.holds)
	for _, t := range held { // before the others
		if runs(t) {
			s.step(policy.Event{Kind: policy.Running, Token: t})
		}
	}
	for _, t := range held {
		if !runs(t) {
			s.step(policy.Event{Kind: policy.Resumed, Token: t})
		}
	}
	s.step(policy.Event{Kind: policy.Timer})
	if s.demand {
		s.step(policy.Event{Kind: policy.DemandChanged, Demand: true})
	}
	for _, other := range s.n.sites {
		s.n.greet(s, other)
	}
	s.n.after(passTime, s.n.settle)
}

// greet lets two members connect.
func (n *network) greet(s, t *site) {
	if s == t || !s.up || !t.up || n.isCut(s, t) {
		return
	}
	s.step(policy.Event{Kind: policy.Greeted, From: t.id})
	t.step(policy.Event{Kind: policy.Greeted, From: s.id})
}

// cut lets two members not reach each other until heal.
func (n *network) cut(s, t *site) {
	if s == t || n.isCut(s, t) {
		return
	}
	n.log("%v: members %d and %d are cut off", n.now.Sub(0), s.index(), t.index())
	n.cuts = append(n.cuts, [2]*site{s, t})
	for _, pair := range [][2]*site{{s, t}, {t, s}} {
		if pair[0].up && slices.Contains(pair[0].watched, pair[1].id) {
			pair[0].watchDead(pair[1])
		}
	}
}

func (n *network) isCut(s, t *site) bool {
	return slices.Contains(n.cuts, [2]*site{s, t}) || slices.Contains(n.cuts, [2]*site{t, s})
}

// heal ends all cuts.
func (n *network) heal() {
	cuts := n.cuts
	n.cuts = nil
	for _, c := range cuts {
		n.log("%v: members %d and %d meet again", n.now.Sub(0), c[0].index(), c[1].index())
		n.greet(c[0], c[1])
	}
	n.after(passTime, n.settle)
}

// receipt is a member's word that it has taken a token.
func (s *site) receipt(t ident.Token, hop uint64) []byte {
	b := append(append([]byte{}, t[:]...), s.id[:]...)
	b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, hop), s.memory)
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, uint64(s.life)), s.custodies)
}

// readReceipt trusts what is written: in these tests nobody forges one.
func (s *site) readReceipt(b []byte) (r policy.Receipt, ok bool) {
	if len(b) != 80 {
		return r, false
	}
	r = policy.Receipt{Token: ident.Token(b[:32]), Signer: ident.Member(b[32:48]), Hop: binary.BigEndian.Uint64(b[48:])}
	signer := s.n.sites[int(r.Signer[0])-1]
	r.Current = signer.up && !s.n.isCut(s, signer) && signer.memory == binary.BigEndian.Uint64(b[56:])
	r.SameProcess = r.Current && uint64(signer.life) == binary.BigEndian.Uint64(b[64:])
	r.Serial = binary.BigEndian.Uint64(b[72:])
	return r, true
}

// barred is how long some member gets no token of another one still.
func (n *network) barred() (d time.Duration) {
	for _, s := range n.sites {
		for _, b := range s.keeper.barred.list {
			d = max(d, b.until.Sub(n.now))
		}
	}
	return d
}

func (s *site) index() int { return int(s.id[0]) - 1 }

// mint makes a token at a member.
func (n *network) mint(at int) {
	n.tokens++
	s := n.sites[at]
	t := policy.Token{ID: ident.Token{byte(n.tokens)}, Born: uint64(n.tokens), Generator: s.id}
	s.holds = append(s.holds, t)
	s.step(policy.Event{Kind: policy.Generated, Token: t})
}

// next is the next living member that can be reached.
func (n *network) next(at int) int {
	for i := 1; i < len(n.sites); i++ {
		k := (at + i) % len(n.sites)
		if n.sites[k].up && !n.isCut(n.sites[at], n.sites[k]) {
			return k
		}
	}
	return -1
}

// freeze has nobody do anything for a time. What was due is done then, and what was on its
// way comes later.
func (n *network) freeze(d time.Duration) {
	n.log("%v: all stand still for %v", n.now.Sub(0), d)
	n.thaws = n.now.Add(d)
	n.now = n.thaws
}

// patience is that of members that have stood still.
func (n *network) patience() int {
	if n.thaws > 0 && n.now < n.thaws.Add(15*time.Second) {
		return 8
	}
	return 1
}

// die ends a member's life. Its programs go on.
func (n *network) die(i int) {
	s := n.sites[i]
	s.up, s.died = false, n.now
	n.log("%v: member %d dies with %d tokens", n.now.Sub(0), i, len(s.holds))
	for _, w := range n.sites {
		if slices.Contains(w.watched, s.id) {
			w.watchDead(s)
		}
	}
}

func (s *site) watchDead(dead *site) {
	life, theirs := s.life, dead.life
	s.n.after(s.n.detect, func() {
		i := slices.Index(s.watched, dead.id)
		if s.life == life && s.up && (!dead.up || s.n.isCut(s, dead)) && dead.life == theirs && i >= 0 {
			s.watched = slices.Delete(s.watched, i, i+1)
			s.step(policy.Event{Kind: policy.Silent, From: dead.id})
		}
	})
}

// want lets a member want to run once.
func (n *network) want(i int) {
	s := n.sites[i]
	if s.demand {
		return
	}
	s.demand = true
	if s.up {
		s.step(policy.Event{Kind: policy.DemandChanged, Demand: true})
	}
}

func (s *site) step(e policy.Event) {
	if !s.up {
		return
	}
	if s.lies != nil && s.lies(e) {
		return
	}
	before := len(s.keeper.inquests.open)
	for _, a := range s.keeper.Step(s.n.now, e, nil) {
		a.Field = slices.Clone(a.Field)
		s.do(a)
	}
	if due := s.keeper.Deadline(); due != s.due || e.Kind == policy.Timer {
		if s.due = due; due != clock.Never {
			life := s.life
			s.n.at(max(due, s.n.now), func() {
				if s.life == life && s.due == due {
					s.step(policy.Event{Kind: policy.Timer})
				}
			})
		}
	}
	s.n.opened += max(0, len(s.keeper.inquests.open)-before)
	s.strikesNoHonest()
}

// strikesNoHonest: whatever happens, no honest member strikes another one.
func (s *site) strikesNoHonest() {
	for _, b := range s.keeper.struck.list {
		if other := s.n.sites[int(b.member[0])-1]; s != s.n.liar && other != s.n.liar {
			panic(fmt.Sprintf("%v: member %d strikes member %d", s.n.now.Sub(0), s.index(), other.index()))
		}
	}
	i, h := &s.keeper.inquests, &s.keeper.holder
	if len(i.open) > maxInquests || len(i.doubts) > maxDoubts || len(i.blamed) > maxInquests || len(h.passed) > maxPassed || len(h.had) > maxHad || len(i.excused) > maxExcused*(maxExcuses+maxMinted+maxForgotten+3) {
		panic(fmt.Sprintf("member %d remembers too much", s.index()))
	}
}

func (s *site) hold(t ident.Token) int {
	return slices.IndexFunc(s.holds, func(h policy.Token) bool { return h.ID == t })
}

func (s *site) do(a policy.Action) {
	n := s.n
	switch a.Kind {
	case policy.Tell:
		if a.Question && n.dial > 0 {
			s.queue(a)
			return
		}
		s.tell(n.sites[int(a.To[0])-1], a.Field)
	case policy.Watch:
		if !slices.Contains(s.watched, a.To) {
			s.watched = append(s.watched, a.To)
			if to := n.sites[int(a.To[0])-1]; !to.up || n.isCut(s, to) {
				s.watchDead(to)
			}
		}
	case policy.Unwatch:
		s.watched = slices.DeleteFunc(s.watched, func(m ident.Member) bool { return m == a.To })
	case policy.Shun:
		s.shuns[a.To] = a.At
		if to := n.sites[int(a.To[0])-1]; a.Struck && s != n.liar && to != n.liar {
			panic(fmt.Sprintf("%v: member %d reports member %d", n.now.Sub(0), s.index(), to.index()))
		} else if a.Struck && to == n.liar {
			n.caught++
		}
	case policy.Complain:
		if to := n.sites[int(a.To[0])-1]; a.Measure == policy.Struck && s != n.liar && to != n.liar {
			panic(fmt.Sprintf("%v: member %d complains about member %d: %v", n.now.Sub(0), s.index(), to.index(), a.Cause))
		}
	case policy.Generate:
		if len(s.holds) == 0 {
			n.made++
			n.log("%v: member %d makes a token", n.now.Sub(0), s.index())
			n.mint(s.index())
		}
	case policy.Drop:
		if i := s.hold(a.Token); i >= 0 {
			s.holds = slices.Delete(s.holds, i, i+1)
		}
	case policy.Run:
		if i := s.hold(a.Token); i >= 0 {
			s.run(s.holds[i])
		}
	case policy.Pass:
		if i := s.hold(a.Token); i >= 0 {
			t := s.holds[i]
			t.Field = a.Field
			s.holds = slices.Delete(s.holds, i, i+1)
			s.pass(t, a.To)
		}
	}
}

// queue sends a question when all that were asked before have been dialled.
func (s *site) queue(a policy.Action) {
	life := s.life
	if s.queued++; s.queued == 1 {
		s.n.after(0, func() { s.step(policy.Event{Kind: policy.Queued, Members: 1}) })
	}
	s.n.after(time.Duration(s.queued)*s.n.dial, func() {
		if s.life != life {
			return
		}
		s.tell(s.n.sites[int(a.To[0])-1], a.Field)
		if s.queued--; s.queued == 0 {
			s.step(policy.Event{Kind: policy.Queued})
		}
	})
}

// run runs a program: not longer than it may.
func (s *site) run(t policy.Token) {
	n := s.n
	if !s.demand {
		n.after(0, func() { s.step(policy.Event{Kind: policy.OperationEnded, Token: t}) })
		return
	}
	s.demand = false
	length := time.Duration(n.rng.Int64N(int64(n.longest-100*time.Millisecond))) + 50*time.Millisecond
	if n.length > 0 {
		length = n.length
	}
	n.count()
	life := s.life
	p := program{s, n.now.Add(length), t.ID}
	n.programs = append(n.programs, p)
	n.log("%v: member %d runs %v", n.now.Sub(0), s.index(), length)
	s.step(policy.Event{Kind: policy.DemandChanged})
	n.at(p.ends, func() {
		n.count()
		n.programs = slices.DeleteFunc(n.programs, func(q program) bool { return q == p })
		if s.greedy {
			n.after(time.Millisecond, func() { n.want(s.index()) })
		}
		if s.up && s.hold(t.ID) >= 0 {
			s.step(policy.Event{Kind: policy.OperationEnded, Operated: true, Token: t})
			if s.life != life { // this one did not begin it
				s.step(policy.Event{Kind: policy.Resumed, Token: t})
			}
		}
	})
}

// count adds up since the last change for how long two programs ran, and for how long
// somebody waited in vain.
func (n *network) count() {
	if len(n.programs) > 0 {
		n.waitsSince = clock.Never
		return
	}
	if n.waiting() && n.waitsSince == clock.Never {
		n.waitsSince = n.now
	}
}

func (n *network) waiting() bool {
	return slices.ContainsFunc(n.sites, func(s *site) bool { return s.up && s.demand })
}

// pass hands a token over: to who lives, or nobody knows to whom.
func (s *site) pass(t policy.Token, to ident.Member) {
	n, life := s.n, s.life
	if to.IsZero() {
		to = s.anyOther()
	}
	r := n.sites[int(to[0])-1]
	refuses := r.up && t.Hop == 0 && !r.keeper.Admits(n.now, t)
	if refuses {
		n.refused++
	}
	if r.up && t.Hop == 0 && !refuses && !n.isCut(s, r) {
		r.step(policy.Event{Kind: policy.Accepted, From: s.id, Token: t})
	}
	rlife := r.life
	reached := r.up && !n.isCut(s, r)
	if refuses || r == s || !reached && n.rng.IntN(2) == 0 { // it was not even offered, or in vain
		n.after(passTime, func() {
			if s.life == life && s.up {
				s.holds = append(s.holds, t)
				s.step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: t})
			}
		})
		return
	}
	n.after(0, func() {
		if s.life == life {
			s.step(policy.Event{Kind: policy.Parted, From: r.id, Token: t})
		}
	})
	n.after(passTime, func() {
		if !r.up || n.isCut(s, r) {
			d := doubt{from: s, to: r, token: t, lives: [2]int{life, rlife}}
			n.doubts = append(n.doubts, d) // it is repeated until that one is back
			return
		}
		t.Hop++
		r.holds = append(r.holds, t)
		r.custodies++
		receipt := r.receipt(t.ID, t.Hop)
		r.step(policy.Event{Kind: policy.Arrival, From: s.id, Token: t})
		wait := passTime / 2
		if n.slow > 0 {
			wait += time.Duration(n.rng.Int64N(int64(n.slow)))
		}
		n.after(wait, func() {
			if s.life == life && s.up && s.hold(t.ID) < 0 { // it may have come back meanwhile
				t := t
				t.Hop--
				s.step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Delivered, From: r.id, Body: receipt, Token: t})
			}
		})
	})
}

// anyOther is the next living member that this one does not shun, or that it does if there is no other.
func (s *site) anyOther() ident.Member {
	at := max(0, s.n.next(s.index()))
	for i := range len(s.n.sites) {
		o := s.n.sites[(at+i)%len(s.n.sites)]
		if o != s && o.up && !s.n.isCut(s, o) && s.shuns[o.id] <= s.n.now {
			return o.id
		}
	}
	return s.n.sites[at].id
}

// doubt is a token that was handed to a member that was dead by then. Nobody knows whether it
// has it, until both are up again.
type doubt struct {
	from, to *site
	token    policy.Token
	lives    [2]int // of both, when it was handed over
}

// lasts reports whether both still know of it.
func (d doubt) lasts() bool {
	return (d.from.durable || d.from.up && d.from.life == d.lives[0]) && (d.to.durable || d.to.up && d.to.life == d.lives[1])
}

// settle ends the doubts between members that are up: the token is taken, or given back.
func (n *network) settle() {
	for i := 0; i < len(n.doubts); i++ {
		d := n.doubts[i]
		if !d.lasts() {
			if gone := !d.from.up || !d.from.durable && d.from.life != d.lives[0]; !gone && !d.to.up {
				continue // it asks on
			} else if n.doubts = slices.Delete(n.doubts, i, i+1); !gone { // the receiver has forgotten: UNKNOWN
				d.from.step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Abandoned, From: d.to.id, Token: d.token})
			}
			i--
			continue
		}
		if !d.from.up || !d.to.up || n.isCut(d.from, d.to) {
			continue
		}
		n.doubts = slices.Delete(n.doubts, i, i+1)
		i--
		t, settled := d.token, policy.Event{Kind: policy.PassEnded, Outcome: policy.Delivered, From: d.to.id, Token: d.token}
		if n.rng.IntN(3) == 0 {
			settled.Outcome = policy.Returned
			n.log("%v: member %d has its token back from %d", n.now.Sub(0), d.from.index(), d.to.index())
			d.from.holds = append(d.from.holds, t)
		} else {
			t.Hop++
			n.log("%v: member %d gets the token that %d sent", n.now.Sub(0), d.to.index(), d.from.index())
			d.to.holds = append(d.to.holds, t)
			d.to.custodies++
			settled.Body = d.to.receipt(t.ID, t.Hop)
			d.to.step(policy.Event{Kind: policy.Arrival, From: d.from.id, Belated: true, Token: t})
		}
		d.from.step(settled)
	}
}

// inDoubt reports whether a member may get a token when it is up again.
func (n *network) inDoubt(s *site) bool {
	return slices.ContainsFunc(n.doubts, func(d doubt) bool { return d.lasts() && (d.from == s || d.to == s) })
}

// tell delivers a message, in order.
func (s *site) tell(to *site, b []byte) {
	n := s.n
	n.told++
	if n.rng.Float64() < n.loss || n.isCut(s, to) {
		return
	}
	at := max(n.now.Add(delayLeast+time.Duration(n.rng.Int64N(int64(delayMost-delayLeast)))), s.arrives[to.index()]+1)
	s.arrives[to.index()] = at
	n.deliver(s, to, at, to.life, b)
}

func (n *network) deliver(s, to *site, at clock.Instant, life int, b []byte) {
	n.at(at, func() {
		if at < n.thaws {
			n.deliver(s, to, n.thaws.Add(delayMost), life, b)
			return
		}
		if to.life == life && to.up {
			var m message
			_ = parse(b, &m)
			n.log("%v: %d to %d: %v %d/%d", n.now.Sub(0), s.index(), to.index(), names[m.kind], m.token[0], m.hop)
			to.step(policy.Event{Kind: policy.Message, From: s.id, Body: b})
		}
	})
}

var names = map[kind]string{
	want: "want", noted: "noted", have: "have", rest: "rest", release: "release", returned: "returned", lasts: "lasts", lasting: "lasting", released: "released",
	other: "other", ask: "ask", went: "went", none: "none",
	account: "account", still: "still", sent: "sent", proof: "proof", instead: "instead", never: "never", blame: "blame",
}

// directory is what a member knows of who takes part.
type directory struct{ *site }

func (d directory) takesPart(s *site) bool { return s.up || d.n.now < s.died.Add(d.n.stated) }

func (d directory) Draw(k int, to []ident.Member) []ident.Member {
	return d.draw(k, to, func(s *site) bool { return d.takesPart(s) && d.shuns[s.id] <= d.n.now })
}

func (d directory) draw(k int, to []ident.Member, may func(*site) bool) []ident.Member {
	for _, i := range d.n.rng.Perm(len(d.n.sites)) {
		if s := d.n.sites[i]; k > 0 && s != d.site && may(s) {
			to = append(to, s.id)
			k--
		}
	}
	return to
}

func (d directory) Others(k int, to []ident.Member) []ident.Member { return d.draw(k, to, d.takesPart) }

func (d directory) Size() (n int) {
	for _, s := range d.n.sites {
		if s != d.site && d.takesPart(s) {
			n++
		}
	}
	return n
}

func (d directory) Witnesses(_ ident.Member, k int, to []ident.Member) []ident.Member {
	for _, s := range d.n.sites {
		if k > 0 && d.takesPart(s) {
			to = append(to, s.id)
			k--
		}
	}
	return to
}

// happens is something at an instant, in the order in which it was planned.
type happens struct {
	at   clock.Instant
	rank int
	do   func()
}

type events struct {
	list []happens
	next int
}

func (e *events) Len() int { return len(e.list) }
func (e *events) Less(i, j int) bool {
	x, y := &e.list[i], &e.list[j]
	return x.at < y.at || x.at == y.at && x.rank < y.rank
}
func (e *events) Swap(i, j int) { e.list[i], e.list[j] = e.list[j], e.list[i] }
func (e *events) Push(x any)    { e.list = append(e.list, x.(happens)) }
func (e *events) Pop() any {
	x := e.list[len(e.list)-1]
	e.list = e.list[:len(e.list)-1]
	return x
}

func (n *network) at(at clock.Instant, do func()) {
	n.events.next++
	heap.Push(&n.events, happens{at, n.events.next, do})
}

func (n *network) after(d time.Duration, do func()) { n.at(n.now.Add(d), do) }

// run lets time pass.
func (n *network) run(d time.Duration) {
	end := n.now.Add(d)
	for n.events.Len() > 0 && n.events.list[0].at <= end {
		e := heap.Pop(&n.events).(happens)
		if len(n.programs) > 1 {
			n.overlap += max(0, e.at.Sub(n.now))
		}
		n.now = max(n.now, e.at)
		e.do()
		n.count()
		if n.waitsSince != clock.Never {
			n.stall = max(n.stall, n.now.Sub(n.waitsSince))
			if !n.waiting() {
				n.waitsSince = clock.Never
			}
		}
	}
	n.now = max(n.now, end)
	n.count()
	if n.waitsSince != clock.Never {
		n.stall = max(n.stall, n.now.Sub(n.waitsSince))
	}
}
