package cluster

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
)

// driving is how a driver steps its member and performs the effects. All of
// them keep the order that package effect asks for.
type driving uint8

const (
	// The zero value: one input at a time, one effect after the other.
	_ driving = iota
	// grouped: all waiting inputs, then all records with one sync, then all
	// the rest, as the daemon does it.
	grouped
	// pipelined: every input at once, also while a sync is in progress; the
	// effects queue up.
	pipelined
)

// noFuse says that no crash has been ordered.
const noFuse = -1

// node is one member with its driver, its disk and its machine.
type node struct {
	c *cluster
	identity
	memberSetting
	machine
	port
	disk  disk
	guard *guard
	past  past   // see rollback.go
	told  told   // see told.go
	place string // where the journal lives: machine and directory

	member    *member.Member // nil while it is down
	life      uint64         // of the process
	lies      *liar          // of a member whose driver lies; nil: it does not
	bad       *impostor      // of a bad member; nil: it is none
	startedAt time.Duration  // when the process started
	seed      [32]byte

	backlog  []member.Input
	queue    []op
	working  bool
	syncing  bool
	across   bool          // its programs are restarts of its machine
	fuse     int           // how many more operations until it crashes
	blackout bool          // its machine does
	trap     func(op) bool // crashes after the operation for which it is true

	alarm   uint64 // the alarm that counts
	alarmAt clock.Instant

	requests   uint64
	stopping   bool // was told to shut down
	bornAt     time.Duration
	fate       change       // of a doomed one
	revocation []byte       // of a revoked one
	doomed     bool         // never returns after its end
	gone       bool         // has ended permanently
	group      *group.Group // the group file that it was given
}

// op is one thing that a driver does.
type op struct {
	kind   opKind
	record effect.Persist // append
	effect effect.Effect  // everything else
}

type opKind uint8

const (
	opAppend opKind = iota
	opSync
	opOther
)

// start starts the member from its journal.
func (n *node) start(fresh bool) {
	past, err := n.disk.read()
	if err != nil {
		n.c.problem(Machinery, n, "journal unreadable: %v", err)
		return
	}
	if n.c.bug == SameIncarnation && !n.durable {
		past = nil // or what it remembers would give it away
	}
	n.drawSeed()
	m, effects, err := member.Restore(member.Config{
		Group: n.group, Certificate: n.certificate, Key: n.key, Seed: n.seed, Durable: n.durable,
		NewIncarnation: fresh, Found: n.found, Machine: n.place, Boot: fmt.Sprintf("%s#%d", n.name, n.boots),
		NoPreOffer: n.c.noPreOffer, NoRecall: n.c.manual && !n.c.recall, Tuning: n.c.tuning, Observer: n.observe(),
	}, past, n.reading(n.skew))
	if err != nil {
		n.c.problem(Machinery, n, "restart failed: %v", err)
		return
	}
	n.member, n.life, n.alarmAt, n.stopping, n.startedAt = m, n.life+1, clock.Never, false, n.c.now
	n.conns, n.waiting = make(map[ident.Member]*conn), make(map[ident.Member][][]byte)
	n.c.count.restarts++
	n.c.walk.here(n)
	n.c.log(n, "starts with %d records", len(past))
	n.c.gates.greets(n)
	n.enqueue(effects)
	n.work()
	if !n.knowsOnce || n.life == 1 {
		n.put(n.knowledge())
	}
	n.put(member.Announce{Addresses: n.addresses()})
}

// drawSeed gives the member's next life its random numbers.
func (n *node) drawSeed() {
	if n.c.bug == SameIncarnation && n.life > 0 {
		return
	}
	for i := range n.seed {
		n.seed[i] = byte(n.c.rng.Uint32())
	}
}

// knowledge is the group file: all members, this one too, or none.
func (n *node) knowledge() member.Learn {
	var in member.Learn
	if n.stranger || n.c.manual {
		return in
	}
	for _, o := range n.c.nodes {
		in.Certificates = append(in.Certificates, o.certificate.Raw())
		in.Endpoints = append(in.Endpoints, o.endpoint)
	}
	return in
}

// put brings an input.
func (n *node) put(in member.Input) {
	if n.member == nil {
		return
	}
	if n.asleep {
		life := n.life
		n.deferred = append(n.deferred, func() {
			if n.life == life {
				n.put(in)
			}
		})
		return
	}
	if m, ok := in.(member.Received); ok && n.lies != nil {
		n.lies.hears(m.From, m.Body)
	}
	if n.isBad() && n.bad.keeps(in) {
		return
	}
	n.isGreeted(in)
	if n.driving == pipelined {
		n.enqueue(n.step(in))
	} else {
		n.backlog = append(n.backlog, in)
	}
	n.work()
}

func (n *node) step(in member.Input) []effect.Effect {
	if n.c.tracer != nil {
		if text := n.c.tracer.input(in); text != "" {
			n.c.log(n, "%s", text)
		}
	}
	effects := n.member.Step(n.reading(n.skew), in)
	n.checkState()
	n.isConfigured(effects)
	n.c.gates.decided(n, effects)
	return effects
}

// checkState judges the member's invariants after a step, but not in long runs.
func (n *node) checkState() {
	if n.c.lean {
		return
	}
	if err := n.member.Check(); err != nil {
		n.c.problem(Machinery, n, "%v", err)
	}
}

// work goes on until there is nothing to do, or a sync is in progress.
func (n *node) work() {
	if n.working {
		return
	}
	n.working = true
	for n.member != nil && !n.syncing {
		if len(n.queue) == 0 {
			if len(n.backlog) == 0 {
				n.checkpoint()
				break
			}
			n.takeInputs()
			continue
		}
		o := n.queue[0]
		n.queue = n.queue[1:]
		n.do(o)
		n.burn(o)
	}
	n.working = false
	n.setAlarm()
}

// takeInputs steps the member through what waits.
func (n *node) takeInputs() {
	take := 1
	if n.driving == grouped {
		take = len(n.backlog)
	}
	var effects []effect.Effect
	for _, in := range n.backlog[:take] {
		effects = append(effects, n.step(in)...)
	}
	n.backlog = append(n.backlog[:0:0], n.backlog[take:]...)
	n.enqueue(effects)
}

// enqueue turns effects into operations.
func (n *node) enqueue(effects []effect.Effect) {
	var first, rest []op
	sync := false
	for _, e := range effects {
		p, isRecord := e.(effect.Persist)
		switch {
		case !isRecord && n.c.bug == SendFirst:
			first = append(first, op{kind: opOther, effect: e})
		case !isRecord:
			rest = append(rest, op{kind: opOther, effect: e})
		case n.driving == grouped:
			first = append(first, op{kind: opAppend, record: p})
			sync = sync || p.Sync
		default:
			rest = append(rest, op{kind: opAppend, record: p})
			if p.Sync {
				rest = append(rest, op{kind: opSync})
			}
		}
	}
	n.queue = append(n.queue, first...)
	if sync {
		n.queue = append(n.queue, op{kind: opSync})
	}
	n.queue = append(n.queue, rest...)
}

// burn is where a crash can come: between any two operations.
func (n *node) burn(o op) {
	if n.trap != nil && n.member != nil && n.trap(o) {
		n.trap = nil
		n.crash(false)
		return
	}
	if n.fuse == noFuse || n.member == nil {
		return
	}
	if n.fuse--; n.fuse < 0 {
		n.fuse = noFuse
		n.crash(n.blackout)
	}
}

// setAlarm plans the next tick, when nothing waits that ticks, too. Timers come
// late, never early.
func (n *node) setAlarm() {
	if n.member == nil || len(n.backlog) > 0 {
		return
	}
	at := n.member.NextDeadline()
	if at == n.alarmAt {
		return
	}
	n.alarm++
	n.alarmAt = at
	if at == clock.Never {
		return
	}
	alarm, life := n.alarm, n.life
	late := time.Duration(0)
	if !n.c.manual {
		late = n.c.random(2 * time.Millisecond)
	}
	n.after(n.virtual(at)-n.c.now+late, func() {
		if n.life == life && n.alarm == alarm && n.member != nil {
			n.alarmAt = clock.Never
			n.put(member.Tick{})
		}
	})
}
