package cluster

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// churnOptions describe a group in which members come and go all the time.
type churnOptions struct {
	Seed    uint64
	Members int           // at one time, about
	For     time.Duration // virtual time
	// Every is how often a member crashes, and how often one joins. Of those
	// that crash, half never return. Who leaves or is revoked makes up for the
	// rest of those who join.
	Every time.Duration
	// Lifetime of certificates, which members renew at two thirds of it.
	Lifetime time.Duration
	// Halves is how often the network falls apart into two halves, for HalvesFor;
	// zero: never.
	Halves, HalvesFor time.Duration
	Trace             io.Writer
	Progress          io.Writer // a line for each hour
	// Enough is asked after each hour, and ends the run early when it is true; nil:
	// never.
	Enough func() bool
}

const (
	// churnDown is how long a member is away that returns, on average.
	churnDown = time.Minute
	// churnCut and churnCutFor are how often single members are cut off, and for
	// how long on average.
	churnCut, churnCutFor = time.Minute, 15 * time.Second
	// churnSkew is how wrong clocks are, which decides over certificates.
	churnSkew = time.Minute
	// contactsOf is how many members somebody who joins has been told of.
	contactsOf = 2
	// churnWarmUp is how long the group has, at the start, to get to know each
	// other.
	churnWarmUp = 2 * time.Minute
	// bootstrapRest is how long a daemon without connections waits before it
	// meets its contacts again.
	bootstrapRest = 30 * time.Second
	// revokeEvery is of how many that are to go one is revoked; the others leave.
	revokeEvery = 10
	// leavePatience is how many polls a member that leaves has to pass on what it
	// holds.
	leavePatience = 150
	// leaveLinger is how long the process goes on after its last words.
	leaveLinger = time.Second
	// settleMost bounds the time in which all must agree after the faults, and
	// settleStep is how often that is looked at.
	settleMost, settleStep = time.Hour, 10 * time.Second
)

// churnSetting is the group and its network.
func churnSetting(o churnOptions) setting {
	s := setting{
		seed: o.Seed, tuning: handoff.DefaultTuning, syncTime: 2 * time.Millisecond, checkpointAfter: 2000, lean: true,
		resources: churnResources(o.Members),
		constants: group.Settings{
			MembersMax: 64 * o.Members, CertificateLifetime: o.Lifetime, SettlementTime: group.MinSettlementTime,
		},
		net: networkSetting{
			delay: 20 * time.Millisecond, jitter: 10 * time.Millisecond, loss: 0.005, repeat: 0.005,
			notice: silence, idle: idleTimeout, rest: bootstrapRest,
		},
	}
	return s
}

// churnResources are a single token, and as many as it takes that everybody has
// one every few minutes.
func churnResources(members int) []group.Resource {
	params := policy.Params{OperationTime: time.Second, MembersMax: members, SkipDelay: time.Second}
	several := params
	params.Preset = wandering.Paper
	several.TargetInterval = 2 * time.Minute
	return []group.Resource{
		group.Resource{Name: "several", Policy: catalog.Multitoken, Params: several}.WithDefaults(),
		group.Resource{Name: "single", Params: params}.WithDefaults(),
	}
}

// runChurn runs a group in which members come and go all the time.
func runChurn(o churnOptions) *churnResult {
	c, err := newCluster(churnSetting(o), o.Trace)
	must(err)
	c.downMean = churnDown
	m, x := newMeter(c, o), &churner{c}
	for i := range o.Members {
		n := x.join()
		n.found = i == 0
	}
	for _, n := range slices.Clone(c.nodes) {
		n.contacts = x.choose(contactsOf, n)
		x.begins(n)
	}
	c.runFor(churnWarmUp)
	x.churn(o)
	for c.now < churnWarmUp+o.For && len(c.violations) == 0 {
		c.runFor(quietStep)
		m.look()
		if o.Enough != nil && (c.now-churnWarmUp)%time.Hour == 0 && o.Enough() {
			break
		}
	}
	var stuck []string
	if len(c.violations) == 0 {
		stuck = x.settleDown()
	}
	return m.result(stuck)
}

// churner lets members of a group come and go.
type churner struct{ c *cluster }

// churn begins everything that goes wrong.
func (x *churner) churn(o churnOptions) {
	x.each(o.Every, func() { x.crashSomebody(o.Members) })
	x.each(o.Every, func() {
		n := x.join()
		n.contacts = x.choose(contactsOf, n)
		x.begins(n)
	})
	x.each(o.Every, func() {
		if len(x.c.nodes) > o.Members {
			x.leaveOrRevoke()
		}
	})
	x.each(o.Lifetime, func() {
		x.c.count.configurations++
		x.tell(member.Learn{Configuration: x.c.ca.publish(x.c.now, x.c.resources, x.c.constants).Raw()})
	})
	x.every(churnCut, func() {
		line := x.c.separate([]*node{x.c.nodes.one(x.c.rng)}, silence)
		x.c.after(x.c.exponential(churnCutFor), func() { x.c.heal(line) })
	})
	if o.Halves > 0 {
		x.each(o.Halves, func() {
			line := x.c.separate(x.c.nodes.half(x.c.rng), silence)
			x.c.meter.halvesUntil = x.c.now + o.HalvesFor + churnRecovery
			x.c.after(o.HalvesFor, func() { x.c.heal(line) })
		})
	}
}

// every lets something happen again and again until the faults are over.
func (x *churner) every(mean time.Duration, do func()) {
	x.c.after(x.c.exponential(mean), func() {
		if x.c.calm {
			return
		}
		do()
		x.every(mean, do)
	})
}

// each lets something happen at regular times until the faults are over.
func (x *churner) each(interval time.Duration, do func()) {
	x.c.after(interval, func() {
		if x.c.calm {
			return
		}
		do()
		x.each(interval, do)
	})
}

// join makes a new member. It is not running yet.
func (x *churner) join() *node {
	skew := x.c.random(2*churnSkew) - churnSkew
	n := x.c.add(x.c.ca.enrol(x.c.now), memberSetting{durable: true, driving: grouped, skew: skew, stranger: true})
	x.renewWhenDue(n)
	x.syncs(n)
	x.c.count.joins++
	return n
}

// begins starts a member for the first time.
func (x *churner) begins(n *node) {
	n.start(false)
	n.meetSomebody()
	x.c.meter.follow(joined, n)
}

// choose draws members that are up, other than one.
func (x *churner) choose(count int, but *node) []*node {
	var up []*node
	for _, n := range x.c.nodes {
		if n != but && n.takesPart() {
			up = append(up, n)
		}
	}
	if len(up) == 0 { // at the start nobody is
		up = slices.DeleteFunc(slices.Clone(x.c.nodes), func(n *node) bool { return n == but })
	}
	x.c.rng.Shuffle(len(up), func(i, j int) { up[i], up[j] = up[j], up[i] })
	return up[:min(count, len(up))]
}

// takesPart reports whether a member is up and going to stay.
func (n *node) takesPart() bool { return n.member != nil && !n.stopping && !n.doomed }

// tell brings one member something that the CA has published.
func (x *churner) tell(in member.Learn) {
	for _, n := range x.choose(1, nil) {
		n.put(in)
	}
}

// crashSomebody ends a process between two operations, or a few operations later.
// Half of those who crash never return, as long as there are enough others.
func (x *churner) crashSomebody(least int) {
	for _, n := range x.choose(1, nil) {
		n.doomed = len(x.c.nodes) >= least && x.c.chance(0.5)
		if n.doomed {
			n.fate = killed
			x.c.count.kills++
		}
		if x.c.chance(0.5) {
			n.fuse, n.blackout = x.c.rng.IntN(maxFuse), x.c.chance(0.5)
		} else {
			n.crash(x.c.chance(0.5))
		}
	}
}

// leaveOrRevoke lets somebody leave in order, or now and then takes the right to
// be a member away.
func (x *churner) leaveOrRevoke() {
	for _, n := range x.choose(1, nil) {
		if (x.c.count.leaves+x.c.count.revocations)%revokeEvery == revokeEvery-1 {
			n.doomed, n.fate = true, revoked
			x.c.count.revocations++
			x.c.log(n, "is revoked")
			x.c.meter.follow(revoked, n)
			n.revocation = x.c.ca.revoke(n.certificate, x.c.now)
			x.tell(member.Learn{Revocations: [][]byte{n.revocation}})
			continue
		}
		x.c.count.leaves++
		x.c.log(n, "leaves")
		n.doomed, n.fate = true, left
		n.put(member.Shutdown{})
		n.leaving(leavePatience)
	}
}

// leaving lets a member say that it leaves when it has passed on what it holds, or
// is too slow, and ends it a little later.
func (n *node) leaving(patience int) {
	life := n.life
	n.c.after(shutdownPoll, func() {
		switch {
		case n.life != life || n.member == nil:
		case n.member.Idle() || patience == 0:
			n.put(member.Leave{})
			n.c.meter.follow(left, n)
			n.c.after(leaveLinger, func() { n.c.endForEver(n) })
		default:
			n.leaving(patience - 1)
		}
	})
}

// endForEver ends a member that has said that it is over.
func (c *cluster) endForEver(n *node) {
	if n.member != nil {
		n.stop()
		c.bury(n)
	}
}

// bury takes a member that never returns out of the group. Its journal stays, for
// the audit.
func (c *cluster) bury(n *node) {
	if n.gone {
		return
	}
	n.gone = true
	if n.fate == killed {
		c.meter.follow(killed, n)
	}
	c.log(n, "is gone for ever")
	c.nodes = slices.DeleteFunc(c.nodes, func(o *node) bool { return o == n })
	c.byID[n.id] = slices.DeleteFunc(c.byID[n.id], func(o *node) bool { return o == n })
	if len(c.byID[n.id]) == 0 {
		delete(c.byID, n.id)
	}
	c.graves = append(c.graves, audit.Journal{Member: n.id, Entries: n.disk.history})
	n.disk, n.guard, n.contacts = disk{}, nil, nil
}

// settleDown ends all that goes wrong, waits until everybody knows who takes part
// and who does not, every token that the living have has moved and every transfer
// to the living is answered, and returns what is still not so.
func (x *churner) settleDown() []string {
	x.c.log(nil, "the faults are over")
	x.c.calm, x.c.cuts = true, nil
	for _, n := range slices.Clone(x.c.nodes) {
		n.fuse = noFuse
		switch {
		case n.fate == killed && n.doomed:
			n.crash(false) // as it was going to
		case n.member == nil:
			n.start(false)
			n.meetSomebody()
		}
	}
	from, began := x.c.stand(), x.c.now
	for {
		x.c.runFor(settleStep)
		stuck := append(from.unfinished(x.c.stand(), x.c.tainted), x.disagreements()...)
		if len(stuck) == 0 || len(x.c.violations) > 0 || x.c.now-began > settleMost {
			x.c.meter.settled = x.c.now - began
			return stuck
		}
	}
}

// disagreements are wrong ideas of who takes part.
func (x *churner) disagreements() []string {
	var list []string
	for _, n := range x.c.nodes {
		if n.member == nil {
			list = append(list, fmt.Sprintf("member %s is down", n.name))
			continue
		}
		for _, o := range x.c.nodes {
			if err := n.member.Eligible(o.id); err != nil && !o.doomed {
				list = append(list, fmt.Sprintf("member %s thinks of %s: %v", n.name, o.name, err))
			}
		}
		for _, id := range n.member.IDs() {
			if x.c.byID[id] == nil && n.member.Eligible(id) == nil {
				list = append(list, fmt.Sprintf("member %s takes %s for living", n.name, x.c.name(id)))
			}
		}
	}
	return list
}
