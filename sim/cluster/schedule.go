package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/member"
)

// schedule lets everything go wrong that does in a run: it draws when each kind of fault is due
// and whom it strikes, and lets programs ask.
type schedule struct {
	c *cluster
	f chaos
}

// begin starts every member and every fault.
func (s *schedule) begin() {
	s.c.downMean = s.f.downMean
	s.c.gates.start()
	for _, n := range s.c.nodes {
		n.start(false)
		n.meetSomebody()
	}
	for kind, do := range s.faults() {
		if do != nil && s.f.every[kind] > 0 {
			s.recurs(fault(kind), s.f.every[kind], do)
		}
	}
	if s.f.wrongClocks {
		for range s.c.nodes {
			s.setSomeClock()
		}
	}
	for _, n := range s.c.nodes {
		s.demands(n, s.f.demandEvery)
	}
}

// faults are what happens when a fault of a kind is due. Each asks hazards.happens, when it
// has drawn all its random numbers.
func (s *schedule) faults() [faults]func() {
	return [faults]func(){
		faultCrash: s.orderCrash, faultPower: s.cutPower, faultStop: s.stopSomebody, faultBreak: s.breakSomething,
		faultCut: func() { s.cutSomewhere(faultCut, s.f.cutMean) }, faultOneWay: func() { s.cutSomewhere(faultOneWay, s.f.cutMean) },
		faultClock: s.setSomeClock, faultSuspend: func() { s.suspendSomebody(s.f.sleepMean) },
		faultSlowDisk:  s.slowSomeDisk,
		faultSyncFails: func() { s.failSomeDisk(faultSyncFails) }, faultDiskFull: func() { s.failSomeDisk(faultDiskFull) },
		faultReconfigure: s.reconfigure, faultGoBack: s.goBackSomewhere,
	}
}

// recurs lets something happen again and again until the faults are over, at times
// drawn from the random numbers of its kind.
func (s *schedule) recurs(kind fault, mean time.Duration, do func()) {
	s.c.after(exponential(s.c.hazards.rng(kind), mean), func() {
		if s.c.calm {
			return
		}
		do()
		s.recurs(kind, mean, do)
	})
}

// orderCrash lights a fuse: the process crashes a few operations from now.
func (s *schedule) orderCrash() { s.lightFuse(faultCrash) }

// cutPower does the same to a machine.
func (s *schedule) cutPower() { s.lightFuse(faultPower) }

func (s *schedule) lightFuse(kind fault) {
	r := s.c.hazards.rng(kind)
	n := s.c.nodes.one(r)
	operations, atOnce := fuse(r)
	switch {
	case n.member == nil || n.fuse != noFuse || n.asleep && kind == faultCrash:
	case !s.c.hazards.happens(kind):
	case atOnce || n.asleep:
		n.crash(kind == faultPower)
	default:
		n.fuse, n.blackout = operations, kind == faultPower
	}
}

func (s *schedule) stopSomebody() {
	n := s.c.nodes.one(s.c.hazards.rng(faultStop))
	if n.member != nil && !n.asleep && s.c.hazards.happens(faultStop) {
		n.shutdown(shutdownPatience)
	}
}

func (s *schedule) suspendSomebody(mean time.Duration) {
	r := s.c.hazards.rng(faultSuspend)
	n, lasts := s.c.nodes.one(r), exponential(r, mean)
	if n.member != nil && !n.asleep && s.c.hazards.happens(faultSuspend) {
		s.c.suspend(n, lasts)
	}
}

// slowSomeDisk makes every sync of somebody take long for a while.
func (s *schedule) slowSomeDisk() {
	r := s.c.hazards.rng(faultSlowDisk)
	n, lasts := s.c.nodes.one(r), exponential(r, s.f.slowMean)
	if n.disk.slow > 0 || !s.c.hazards.happens(faultSlowDisk) {
		return
	}
	n.disk.slow = s.f.slowest
	s.c.log(n, "has a slow disk")
	s.c.after(lasts, func() { n.disk.slow = 0 })
}

// failSomeDisk makes the next sync or write of somebody fail.
func (s *schedule) failSomeDisk(kind fault) {
	n := s.c.nodes.one(s.c.hazards.rng(kind))
	if n.member != nil && n.disk.failure == healthy && s.c.hazards.happens(kind) {
		n.disk.failure = kind
	}
}

func (s *schedule) breakSomething() {
	r := s.c.hazards.rng(faultBreak)
	n, o, how := s.c.nodes.one(r), s.c.nodes.one(r), silent
	if r.IntN(2) == 0 {
		how = orderly
	}
	if k := n.conns[o.id]; k != nil && n != o && s.c.hazards.happens(faultBreak) {
		s.c.breakOff(k, how)
	}
}

// reconfigure gives the group other policies and slots. One member is told; it tells the
// others.
func (s *schedule) reconfigure() {
	r := s.c.hazards.rng(faultReconfigure)
	n := s.c.nodes.one(r)
	resources := drawSlots(r, drawPolicies(r, s.c.walks))
	if n.member == nil || !s.c.hazards.happens(faultReconfigure) {
		return
	}
	config, err := s.c.ca.configure(resources, s.c.constants)
	must(err)
	s.c.count.configurations++
	s.c.log(n, "gets configuration %d: %s", s.c.ca.version, policiesOf(resources))
	n.put(member.Learn{Configuration: config.Raw()})
}

// demands lets programs of a member ask, to the end of the run.
func (s *schedule) demands(n *node, mean time.Duration) {
	s.c.after(s.c.exponential(mean), func() {
		r := s.c.resources[s.c.rng.IntN(len(s.c.resources))]
		n.demand(r.Name, time.Millisecond+s.c.random(r.MaxHold))
		s.demands(n, mean)
	})
}

// setSomeClock sets somebody's wall clock, forwards or back. The clock that
// counts from the start of the machine goes on.
func (s *schedule) setSomeClock() {
	r := s.c.hazards.rng(faultClock)
	n, by := s.c.nodes.one(r), wrongClock(r)
	if !s.c.hazards.happens(faultClock) {
		return
	}
	n.skew = by
	s.c.log(n, "has its clock set to be wrong by %v", n.skew)
}

// cutSomewhere separates one member, or a random half, for a while. The network
// says so at once, or lets the ends wait in vain.
func (s *schedule) cutSomewhere(kind fault, mean time.Duration) {
	r := s.c.hazards.rng(kind)
	inside := []*node{s.c.nodes.one(r)}
	if r.Float64() < 0.4 {
		inside = s.c.nodes.half(r)
	}
	x := &cut{inside: make(map[*node]bool)}
	if kind == faultOneWay {
		x.way = inward + way(r.IntN(2))
	}
	noticed := time.Duration(0)
	if r.Float64() < 0.5 {
		noticed = silence
	}
	lasts := exponential(r, mean)
	if !s.c.hazards.happens(kind) {
		return
	}
	s.c.part(x, inside, noticed)
	s.c.after(lasts, func() { s.c.heal(x) })
}

// goBackSomewhere copies the journals of all, or puts somebody's copy back, or cuts the end
// of somebody's journal.
func (s *schedule) goBackSomewhere() {
	r := s.c.hazards.rng(faultGoBack)
	n, what, cut := s.c.nodes.one(r), r.IntN(3), r.IntN(8)
	switch {
	case what == 0:
		for _, o := range s.c.nodes {
			o.past.old = copied{slices.Clone(o.disk.live[:len(o.disk.live)-o.disk.pending]), min(o.disk.carried, len(o.disk.live)-o.disk.pending), len(o.past.when)}
		}
	case n.member == nil || n.asleep || !n.durable || !s.c.hazards.happens(faultGoBack):
	case what == 1 && len(n.past.old.live) > 0:
		n.crash(r.IntN(2) == 0)
		n.goBack(n.past.old)
	default:
		n.crash(r.IntN(2) == 0)
		d := &n.disk
		n.goBack(copied{slices.Clone(d.live[:max(d.carried, len(d.live)-1-cut)]), d.carried, -1})
	}
}

// fuse is how many operations go by until a crash: often several, so that it hits
// every place in a handoff; or it comes at once, also when nothing happens, or while
// a sync is in progress.
func fuse(r *rand.Rand) (operations int, atOnce bool) { return r.IntN(maxFuse), r.Float64() < 0.2 }

// drawSlots takes resources and slots away, or adds some: half of the time it leaves the
// resources as they are.
func drawSlots(r *rand.Rand, resources []group.Resource) []group.Resource {
	if r.IntN(2) == 0 {
		return resources
	}
	gone := r.IntN(len(resources) + 1) // the last: none
	list := make([]group.Resource, 0, len(resources))
	for i, o := range resources {
		o.Slots = 1 + r.IntN(o.Slots+1)
		if i != gone || len(resources) == 1 {
			list = append(list, o)
		}
	}
	return list
}

// policiesOf names the policy and the preset of each resource, for a trace.
func policiesOf(resources []group.Resource) string {
	var names []string
	for _, r := range resources {
		names = append(names, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Name, r.Policy, r.Preset)))
	}
	return strings.Join(names, ", ")
}
