package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
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
		faultCrash: pick(2*time.Second, 8*time.Second), faultPower: pick(2*time.Second, 8*time.Second), faultStop: pick(2*time.Second, 30*time.Second),
		faultBreak: pick(500*time.Millisecond, 20*time.Second), faultCut: pick(10*time.Second, 2*time.Minute), faultOneWay: pick(10*time.Second, 2*time.Minute),
		faultSuspend: pick(10*time.Second, 2*time.Minute), faultSlowDisk: pick(10*time.Second, 2*time.Minute),
		faultSyncFails: pick(10*time.Second, time.Minute), faultDiskFull: pick(10*time.Second, time.Minute),
		faultReconfigure: pick(10*time.Second, 2*time.Minute),
	}
	if f.wrongClocks {
		f.every[faultClock] = pick(5*time.Second, 60*time.Second)
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
