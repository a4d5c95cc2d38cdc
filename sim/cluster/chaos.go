package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// Mix is what kind of members a run has.
type Mix uint8

// The mixes.
const (
	Durable Mix = iota
	Volatile
	Mixed
	mixes
)

func (m Mix) String() string { return [...]string{"durable", "volatile", "mixed"}[m] }

// chaos is how often what goes wrong, in virtual time, over the whole group.
type chaos struct {
	every             [faults]time.Duration // mean; zero: never
	downMean          time.Duration
	cutMean           time.Duration
	sleepMean         time.Duration
	slowMean          time.Duration // how long a disk is slow
	slowest           time.Duration // sync of a slow disk
	demandEvery       time.Duration // of each member
	wrongClocks       bool          // from the beginning
	crashes, handoffs int           // how many there must be before the faults end
	least, most       time.Duration // that they last at least, and at most
}

const (
	shutdownPoll = 200 * time.Millisecond
	// shutdownPatience is how many polls a member has to pass on what it holds.
	shutdownPatience = 25
	// longestOperation is longer than several handoffs of other tokens take.
	longestOperation = 15 * time.Second
	// maxFuse bounds how many operations go by between the order to crash and
	// the crash, so that it hits every place in a handoff.
	maxFuse = 24
)

// draw makes the setting and the faults of a seed.
func draw(seed uint64, mix Mix) (setting, chaos) {
	rng := rand.New(rand.NewPCG(seed, 0x636c7573746572))
	pick := func(low, high time.Duration) time.Duration { return low + time.Duration(rng.Int64N(int64(high-low)+1)) }
	s := setting{seed: seed, noPreOffer: rng.IntN(4) == 0, tuning: handoff.DefaultTuning}
	if rng.IntN(2) == 0 {
		s.tuning.RetransmitMax, s.tuning.Lifetime, s.tuning.GiveUp = 5*time.Second, 3*time.Second, 10*time.Second
	}
	s.syncTime = []time.Duration{0, 2 * time.Millisecond, 30 * time.Millisecond, 200 * time.Millisecond}[rng.IntN(4)]
	s.checkpointAfter = []int{0, 20, 60, 200}[rng.IntN(4)]
	s.net = drawNetwork(rng, pick)
	s.walks = drawResources(rng, pick)
	s.resources = drawPolicies(rand.New(rand.NewPCG(seed, 0x706f6c696379)), s.walks)
	for i := range 2 + rng.IntN(6) {
		m := memberSetting{
			durable: mix == Durable || mix == Mixed && rng.IntN(2) == 0, found: i == 0,
			driving: driving(rng.IntN(3)), skew: pick(0, 4*time.Second) - 2*time.Second, stranger: rng.IntN(2) == 0,
		}
		s.members = append(s.members, m)
	}
	s.constants = group.Settings{GossipInterval: pick(time.Second, 30*time.Second).Truncate(time.Millisecond), ClockAllowance: clockAllowance}
	return s, drawChaos(rng, pick)
}

func drawChaos(rng *rand.Rand, pick func(low, high time.Duration) time.Duration) chaos {
	f := chaos{
		downMean: pick(200*time.Millisecond, 6*time.Second), cutMean: pick(100*time.Millisecond, 30*time.Second),
		sleepMean: pick(time.Second, 20*time.Second), slowMean: pick(time.Second, 20*time.Second), slowest: pick(100*time.Millisecond, 5*time.Second),
		demandEvery: pick(200*time.Millisecond, 5*time.Second), wrongClocks: rng.IntN(2) == 0,
		crashes: 10 + rng.IntN(6), handoffs: 100, most: 30 * time.Minute,
	}
	f.every = [faults]time.Duration{
		Crash: pick(2*time.Second, 8*time.Second), Power: pick(2*time.Second, 8*time.Second), Stop: pick(2*time.Second, 30*time.Second),
		Break: pick(500*time.Millisecond, 20*time.Second), Cut: pick(10*time.Second, 2*time.Minute), OneWay: pick(10*time.Second, 2*time.Minute),
		Suspend: pick(10*time.Second, 2*time.Minute), SlowDisk: pick(10*time.Second, 2*time.Minute),
		SyncFails: pick(10*time.Second, time.Minute), DiskFull: pick(10*time.Second, time.Minute),
		Reconfigure: pick(10*time.Second, 2*time.Minute),
	}
	if f.wrongClocks {
		f.every[Clock] = pick(5*time.Second, 60*time.Second)
	}
	return f
}

func drawNetwork(rng *rand.Rand, pick func(low, high time.Duration) time.Duration) networkSetting {
	n := networkSetting{
		delay: pick(100*time.Microsecond, 40*time.Millisecond), notice: pick(0, 3*time.Second), lateBy: pick(0, 30*time.Second),
		idle: idleTimeout,
	}
	n.jitter = []time.Duration{time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond}[rng.IntN(3)]
	n.loss = []float64{0, 0.02, 0.1, 0.3}[rng.IntN(4)]
	n.repeat = []float64{0, 0.05, 0.3}[rng.IntN(3)]
	n.late = []float64{0, 0.01, 0.1}[rng.IntN(3)]
	n.deaf = []float64{0, 0.5, 0.95}[rng.IntN(3)]
	return n
}

func drawResources(rng *rand.Rand, pick func(low, high time.Duration) time.Duration) []group.Resource {
	var list []group.Resource
	ms := func(low, high time.Duration) time.Duration { return pick(low, high).Truncate(time.Millisecond) }
	for i := range 1 + rng.IntN(3) {
		longest := []time.Duration{time.Second, time.Second, longestOperation}[rng.IntN(3)]
		list = append(list, group.Resource{
			Name: fmt.Sprintf("r%d", i), Slots: []int{1, 1, 2, 5}[rng.IntN(4)],
			Params: policy.Params{
				Preset: wandering.Paper, OperationTime: ms(50*time.Millisecond, longest), MembersMax: 8,
				SkipDelay: ms(20*time.Millisecond, 400*time.Millisecond), MinInterval: ms(20*time.Millisecond, time.Second),
				RegenerationMean: ms(20*time.Second, 2*time.Minute),
			},
		}.WithDefaults())
	}
	return list
}

// drawPolicies are the same resources, half of them with another policy than the
// wandering token, and with constants of the same size.
func drawPolicies(rng *rand.Rand, walks []group.Resource) []group.Resource {
	resources, names := slices.Clone(walks), catalog.Names()
	for i := range resources {
		r := &resources[i]
		if rng.IntN(2) == 0 {
			continue
		}
		r.Policy = names[rng.IntN(len(names))]
		presets := catalog.Presets(r.Policy)
		preset := presets[rng.IntN(len(presets))]
		uses := func(parameter string) bool { return slices.Contains(preset.Uses, parameter) }
		r.Preset = preset.Name
		if !uses("min_interval") {
			r.MinInterval = 0
		}
		if !uses("regeneration_mean") {
			r.RegenerationMean = 0
		}
		if uses("max_interval") {
			r.MaxInterval = 30 * time.Second
		}
		if uses("target_interval") {
			r.TargetInterval = (2 * r.OperationTime).Truncate(time.Millisecond)
		}
	}
	return resources
}

// begin starts every member and every fault.
func (c *cluster) begin(f chaos) {
	c.downMean = f.downMean
	for _, n := range c.nodes {
		n.start(false)
		n.meetSomebody()
	}
	for kind, do := range c.faults(f) {
		if do != nil && f.every[kind] > 0 {
			c.recurs(Fault(kind), f.every[kind], do)
		}
	}
	if f.wrongClocks {
		for range c.nodes {
			c.setSomeClock()
		}
	}
	for _, n := range c.nodes {
		c.demands(n, f.demandEvery)
	}
}

// faults are what happens when a fault of a kind is due. Each asks c.happens, when it
// has drawn all its random numbers.
func (c *cluster) faults(f chaos) [faults]func() {
	return [faults]func(){
		Crash: c.orderCrash, Power: c.cutPower, Stop: c.stopSomebody, Break: c.breakSomething,
		Cut: func() { c.cutSomewhere(Cut, f.cutMean) }, OneWay: func() { c.cutSomewhere(OneWay, f.cutMean) },
		Clock: c.setSomeClock, Suspend: func() { c.suspendSomebody(f.sleepMean) },
		SlowDisk:  func() { c.slowSomeDisk(f) },
		SyncFails: func() { c.failSomeDisk(SyncFails) }, DiskFull: func() { c.failSomeDisk(DiskFull) },
		Reconfigure: c.reconfigure, GoBack: c.goBackSomewhere,
	}
}

// recurs lets something happen again and again until the faults are over, at times
// drawn from the random numbers of its kind.
func (c *cluster) recurs(kind Fault, mean time.Duration, do func()) {
	c.after(exponential(c.hazards[kind].rng, mean), func() {
		if c.calm {
			return
		}
		do()
		c.recurs(kind, mean, do)
	})
}

// every lets something happen again and again until the faults are over.
func (c *cluster) every(mean time.Duration, do func()) {
	c.after(c.exponential(mean), func() {
		if c.calm {
			return
		}
		do()
		c.every(mean, do)
	})
}

func (c *cluster) somebody() *node { return c.one(c.rng) }

func (c *cluster) one(r *rand.Rand) *node { return c.nodes[r.IntN(len(c.nodes))] }

// fuse is how many operations go by until a crash: often several, so that it hits
// every place in a handoff; or it comes at once, also when nothing happens, or while
// a sync is under way.
func fuse(r *rand.Rand) (operations int, atOnce bool) { return r.IntN(maxFuse), r.Float64() < 0.2 }

// orderCrash lights a fuse: the process crashes a few operations from now.
func (c *cluster) orderCrash() { c.lightFuse(Crash) }

// cutPower does the same to a machine.
func (c *cluster) cutPower() { c.lightFuse(Power) }

func (c *cluster) lightFuse(kind Fault) {
	r := c.hazards[kind].rng
	n := c.one(r)
	operations, atOnce := fuse(r)
	switch {
	case n.member == nil || n.fuse != noFuse || n.asleep && kind == Crash:
	case !c.happens(kind):
	case atOnce || n.asleep:
		n.crash(kind == Power)
	default:
		n.fuse, n.blackout = operations, kind == Power
	}
}

func (c *cluster) stopSomebody() {
	n := c.one(c.hazards[Stop].rng)
	if n.member != nil && !n.asleep && c.happens(Stop) {
		n.shutdown(shutdownPatience)
	}
}

func (c *cluster) suspendSomebody(mean time.Duration) {
	r := c.hazards[Suspend].rng
	n, lasts := c.one(r), exponential(r, mean)
	if n.member != nil && !n.asleep && c.happens(Suspend) {
		c.suspend(n, lasts)
	}
}

// slowSomeDisk makes every sync of somebody take long for a while.
func (c *cluster) slowSomeDisk(f chaos) {
	r := c.hazards[SlowDisk].rng
	n, lasts := c.one(r), exponential(r, f.slowMean)
	if n.disk.slow > 0 || !c.happens(SlowDisk) {
		return
	}
	n.disk.slow = f.slowest
	c.log(n, "has a slow disk")
	c.after(lasts, func() { n.disk.slow = 0 })
}

// failSomeDisk makes the next sync or write of somebody fail.
func (c *cluster) failSomeDisk(kind Fault) {
	n := c.one(c.hazards[kind].rng)
	if n.member != nil && n.disk.failure == healthy && c.happens(kind) {
		n.disk.failure = kind
	}
}

// restartLater starts a member some time after its end.
func (c *cluster) restartLater(n *node) {
	if n.doomed {
		c.bury(n)
		return
	}
	life := n.life
	c.after(c.exponential(c.downMean), func() {
		if n.member == nil && n.life == life {
			n.start(false)
			n.meetSomebody()
			c.meter.follow(returned, n)
		}
	})
}

func (c *cluster) breakSomething() {
	r := c.hazards[Break].rng
	n, o, how := c.one(r), c.one(r), silent
	if r.IntN(2) == 0 {
		how = orderly
	}
	if k := n.conns[o.id]; k != nil && n != o && c.happens(Break) {
		c.breakOff(k, how)
	}
}

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

// reconfigure gives the group other policies and slots. One member is told; it tells the
// others.
func (c *cluster) reconfigure() {
	r := c.hazards[Reconfigure].rng
	n := c.one(r)
	resources := drawSlots(r, drawPolicies(r, c.walks))
	if n.member == nil || !c.happens(Reconfigure) {
		return
	}
	config, err := c.ca.configure(resources, c.constants)
	must(err)
	c.count.configurations++
	c.log(n, "gets configuration %d: %s", c.ca.version, policiesOf(resources))
	n.put(member.Learn{Configuration: config.Raw()})
}

// policiesOf names the policy and the preset of each resource, for a trace.
func policiesOf(resources []group.Resource) string {
	var names []string
	for _, r := range resources {
		names = append(names, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Name, r.Policy, r.Preset)))
	}
	return strings.Join(names, ", ")
}

// demands lets programs of a member ask, to the end of the run.
func (c *cluster) demands(n *node, mean time.Duration) {
	c.after(c.exponential(mean), func() {
		r := c.resources[c.rng.IntN(len(c.resources))]
		n.demand(r.Name, time.Millisecond+c.random(r.MaxHold))
		c.demands(n, mean)
	})
}
