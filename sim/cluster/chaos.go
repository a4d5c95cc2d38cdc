package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
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
	crashEvery, downMean time.Duration
	stopEvery            time.Duration
	breakEvery           time.Duration
	cutEvery, cutMean    time.Duration
	clockEvery           time.Duration // zero: clocks are about right
	demandEvery          time.Duration
	reconfigureEvery     time.Duration
	crashes, handoffs    int // how many there must be before the faults end
	most                 time.Duration
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
	f := chaos{
		crashEvery: pick(time.Second, 4*time.Second), downMean: pick(200*time.Millisecond, 6*time.Second),
		stopEvery: pick(2*time.Second, 30*time.Second), breakEvery: pick(500*time.Millisecond, 20*time.Second),
		cutEvery: pick(5*time.Second, 60*time.Second), cutMean: pick(100*time.Millisecond, 30*time.Second),
		demandEvery:      pick(200*time.Millisecond, 5*time.Second),
		reconfigureEvery: pick(10*time.Second, 2*time.Minute),
		crashes:          10 + rng.IntN(6), handoffs: 100, most: 30 * time.Minute,
	}
	if rng.IntN(2) == 0 {
		f.clockEvery = pick(5*time.Second, 60*time.Second)
	}
	return s, f
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
				OperationTime: ms(50*time.Millisecond, longest), MembersMax: 8,
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
	for _, n := range c.nodes {
		n.start(false)
		n.meetSomebody()
	}
	c.every(f.crashEvery, func() { c.orderCrash() })
	c.every(f.stopEvery, func() { c.somebody().shutdown(shutdownPatience) })
	c.every(f.breakEvery, func() { c.breakSomething() })
	c.every(f.cutEvery, func() { c.cutSomewhere(f.cutMean) })
	if f.clockEvery > 0 {
		for range c.nodes {
			c.setSomeClock()
		}
		c.every(f.clockEvery, c.setSomeClock)
	}
	c.every(f.reconfigureEvery, func() { c.reconfigure() })
	for _, n := range c.nodes {
		c.demands(n, f.demandEvery)
	}
	c.downMean = f.downMean
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

func (c *cluster) somebody() *node { return c.nodes[c.rng.IntN(len(c.nodes))] }

// orderCrash lights a fuse: the member crashes a few operations from now.
func (c *cluster) orderCrash() {
	n := c.somebody()
	if n.member == nil || n.fuse != noFuse {
		return
	}
	n.fuse = c.rng.IntN(maxFuse)
	if c.chance(0.2) { // also when nothing happens, or while a sync is under way
		n.fuse = noFuse
		n.crash(c.chance(0.5))
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
	n, o := c.somebody(), c.somebody()
	if k := n.conns[o.id]; k != nil && n != o {
		c.breakOff(k, c.chance(0.5))
	}
}

// reconfigure gives the group other policies. One member is told; it tells the
// others.
func (c *cluster) reconfigure() {
	n := c.somebody()
	if n.member == nil {
		return
	}
	c.version++
	config, err := theAuthority().configure(c.version, drawPolicies(c.rng, c.walks), c.constants)
	must(err)
	c.count.configurations++
	c.log(n, "gets configuration %d", c.version)
	n.put(member.Learn{Configuration: config.Raw()})
}

// demands lets programs of a member ask, to the end of the run.
func (c *cluster) demands(n *node, mean time.Duration) {
	c.after(c.exponential(mean), func() {
		r := c.resources[c.rng.IntN(len(c.resources))]
		n.demand(r.Name, time.Millisecond+c.random(r.MaxHold))
		c.demands(n, mean)
	})
}
