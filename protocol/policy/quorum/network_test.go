package quorum

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/policytest"
)

// The network of these tests. A message may take long, be lost or be overtaken. A cut
// loses what crosses it. A frozen daemon hears everything when it thaws; its program goes
// on, and is killed at its deadline by its guard. A member that restarts has forgotten its
// votes, and knows what runs. Each member's clock is fast or slow by up to 0.1 %.
const (
	maxDelay = 50 * time.Millisecond
	longest  = 6 * time.Second
	silence  = 2 * time.Second
)

// network is a group of members with puppets.
type network struct {
	now       time.Duration
	events    events
	rng       *rand.Rand
	kind      policy.OnIsolated
	sites     []*site
	cut       map[[2]int]bool // both ways
	lossy     float64
	tokens    []*coin
	programs  []*execution
	executing []*execution
	overlap   bool
	ran       int
	sent      int
	log       func(string, ...any)
}

// lost is where a token is that nobody has.
const lost = -1

// coin is a token and where it is.
type coin struct {
	policy.Token
	at int
}

// execution is a program that runs.
type execution struct {
	site  *site
	token ident.Token
	hop   uint64
	over  bool
}

// site is one member.
type site struct {
	n       *network
	at      int
	quorum  *Quorum
	demand  bool
	busy    map[ident.Token]bool // Run was asked for, by the policy
	told    map[ident.Token]bool // the policy knows that it is here
	frozen  []func()             // what it hears when it thaws; nil: it is not frozen
	life    int
	due     clock.Instant
	rate    float64 // of its clock
	offset  time.Duration
	durable bool
	revoked bool
	refused int // programs that did not begin
	knows   int // it knows so many, the first ones; 0: all
}

func (n *network) id(i int) ident.Member { return ident.Member{byte(i + 1)} }

func newNetwork(members int, kind policy.OnIsolated, seed uint64) *network {
	n := &network{rng: rand.New(rand.NewPCG(seed, 1)), kind: kind, cut: make(map[[2]int]bool), log: func(string, ...any) {}}
	for i := range members {
		s := &site{n: n, at: i, durable: true, rate: 1 + (n.rng.Float64()-0.5)/500, offset: time.Duration(n.rng.Int64N(int64(time.Hour)))}
		n.sites = append(n.sites, s)
		s.start()
	}
	n.mint(n.rng.IntN(members))
	return n
}

func (s *site) params() policy.Params {
	return policy.Params{OperationTime: time.Second, MaxHold: longest, Silence: silence, MembersMax: 8, SkipDelay: time.Second, OnIsolated: s.n.kind}
}

// clock is the member's own.
func (s *site) clock() clock.Instant {
	return clock.Instant(float64(s.n.now)*s.rate) + clock.Instant(s.offset)
}

// real is an instant of the member's clock in the network's time.
func (s *site) real(at clock.Instant) time.Duration {
	return time.Duration(float64(at-clock.Instant(s.offset))/s.rate) + 1
}

// Voters implements policy.Electorate: in the order of their numbers.
func (s *site) Voters(n int, to []ident.Member) ([]ident.Member, int) {
	all := 0
	for i, o := range s.n.sites {
		if !o.revoked && (s.knows == 0 || i < s.knows) {
			if all++; all <= n {
				to = append(to, s.n.id(i))
			}
		}
	}
	return to, all
}

// start begins a life of a member.
func (s *site) start() {
	s.life++
	s.due, s.busy, s.frozen = clock.Never, make(map[ident.Token]bool), nil
	s.told = make(map[ident.Token]bool)
	s.quorum = Around(puppet{s: s}, s.params(), policy.Surroundings{Self: s.n.id(s.at), Electorate: s})
	for _, c := range s.n.tokens {
		if c.at != s.at {
			continue
		}
		kind := policy.Resumed
		if s.executes(c.ID) != nil {
			kind = policy.Running
		}
		s.step(policy.Event{Kind: kind, Token: c.Token})
	}
	s.step(policy.Event{Kind: policy.Timer})
}

func (s *site) executes(t ident.Token) *execution {
	for _, e := range s.n.programs {
		if e.site == s && e.token == t && !e.over {
			return e
		}
	}
	return nil
}

// puppet runs as often as it can while somebody wants it to.
type puppet struct {
	policytest.Untimed
	s *site
}

func (p puppet) Step(_ clock.Instant, e policy.Event, actions []policy.Action) []policy.Action {
	switch e.Kind {
	case policy.Arrival, policy.Generated, policy.Resumed:
		p.s.told[e.Token.ID] = true
	case policy.PassEnded:
		delete(p.s.told, e.Token.ID)
	}
	switch e.Kind {
	case policy.OperationEnded:
		delete(p.s.busy, e.Token.ID)
		if !e.Operated {
			p.s.refused++
		}
		return actions // the next Timer goes on
	case policy.Running:
		p.s.busy[e.Token.ID] = true
	case policy.Timer, policy.Arrival, policy.Generated, policy.Resumed:
		for _, c := range p.s.n.tokens {
			if c.at == p.s.at && p.s.told[c.ID] && p.s.demand && !p.s.busy[c.ID] && p.s.executes(c.ID) == nil {
				p.s.busy[c.ID] = true
				actions = append(actions, policy.Action{Kind: policy.Run, Token: c.ID})
			}
		}
	}
	return actions
}

// mint makes a token at a member.
func (n *network) mint(at int) {
	c := &coin{policy.Token{ID: ident.Token{byte(len(n.tokens) + 1)}, Born: uint64(len(n.tokens) + 1)}, at}
	n.tokens = append(n.tokens, c)
	n.sites[at].hears(func() { n.sites[at].step(policy.Event{Kind: policy.Generated, Token: c.Token}) })
}

// hears is something that a member does when it is not frozen.
func (s *site) hears(f func()) {
	if s.frozen != nil {
		s.frozen = append(s.frozen, f)
		return
	}
	f()
}

func (s *site) step(e policy.Event) {
	e.Body = slices.Clone(e.Body)
	for _, a := range s.quorum.Step(s.clock(), e, nil) {
		s.act(a)
	}
	if due := s.quorum.Deadline(); due != s.due {
		s.due = due
		if due != clock.Never {
			life := s.life
			s.n.at(max(s.n.now, s.real(due)), func() { s.hears(func() { s.timer(life) }) })
		}
	}
}

func (s *site) act(a policy.Action) {
	switch a.Kind {
	case policy.Tell:
		s.n.send(s.at, int(a.To[0])-1, slices.Clone(a.Field))
	case policy.Run:
		s.begins(a)
	}
}

func (s *site) timer(life int) {
	if s.life == life && s.clock() >= s.due {
		s.due = clock.Never
		s.step(policy.Event{Kind: policy.Timer})
	}
}

func (n *network) send(from, to int, body []byte) {
	n.sent++
	if n.cut[[2]int{from, to}] || n.rng.Float64() < n.lossy {
		return
	}
	n.after(time.Duration(n.rng.Int64N(int64(maxDelay))), func() {
		if n.cut[[2]int{from, to}] {
			return
		}
		s := n.sites[to]
		s.hears(func() { s.step(policy.Event{Kind: policy.Message, From: n.id(from), Body: body}) })
	})
}

// begins starts a program, some time later. The child looks at its deadline before it
// executes.
func (s *site) begins(a policy.Action) {
	n, life := s.n, s.life
	var c *coin
	for _, o := range n.tokens {
		if o.ID == a.Token && o.at == s.at {
			c = o
		}
	}
	if c == nil {
		return
	}
	deadline := s.real(min(a.At, s.clock().Add(longest)))
	hop := c.Hop
	e := &execution{site: s, token: c.ID, hop: hop, over: true}
	n.programs = append(n.programs, e)
	e.over = false // the grant is in the journal
	executed := false
	length := time.Duration(n.rng.Int64N(int64(2 * longest)))
	ends := func() {
		if e.over {
			return
		}
		e.over = true
		n.log("%v: program of %d under %d@%d ends", n.now, s.at, c.ID[0], hop)
		s.hears(func() {
			if s.life == life || c.at == s.at {
				s.step(policy.Event{Kind: policy.OperationEnded, Operated: executed, Token: policy.Token{ID: c.ID, Born: c.Born, Hop: hop}})
				if s.life != life {
					s.step(policy.Event{Kind: policy.Resumed, Token: c.Token})
				}
				s.step(policy.Event{Kind: policy.Timer})
			}
		})
	}
	n.after(time.Duration(n.rng.Int64N(int64(300*time.Millisecond))), func() {
		if n.now >= deadline {
			ends()
			return
		}
		executed = true
		n.executes(e)
		n.at(min(n.now+length, deadline+time.Duration(n.rng.Int64N(int64(killTime)))), func() { n.leaves(e); ends() })
	})
}

var _ heap.Interface = (*events)(nil)

type event struct {
	at time.Duration
	no int
	f  func()
}

type events struct {
	list []event
	last int
}

func (e *events) Len() int { return len(e.list) }
func (e *events) Less(i, k int) bool {
	if e.list[i].at != e.list[k].at {
		return e.list[i].at < e.list[k].at
	}
	return e.list[i].no < e.list[k].no
}
func (e *events) Swap(i, k int) { e.list[i], e.list[k] = e.list[k], e.list[i] }
func (e *events) Push(x any)    { e.list = append(e.list, x.(event)) }
func (e *events) Pop() any {
	last := e.list[len(e.list)-1]
	e.list = e.list[:len(e.list)-1]
	return last
}

func (n *network) at(at time.Duration, f func()) {
	n.events.last++
	heap.Push(&n.events, event{at, n.events.last, f})
}

func (n *network) after(d time.Duration, f func()) { n.at(n.now+d, f) }

// run lets time pass.
func (n *network) run(d time.Duration) {
	end := n.now + d
	for n.events.Len() > 0 && n.events.list[0].at <= end {
		e := heap.Pop(&n.events).(event)
		n.now = max(n.now, e.at)
		e.f()
	}
	n.now = end
}
