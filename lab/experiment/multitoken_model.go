package experiment

import (
	"cmp"
	"math"
	"math/rand/v2"
	"time"
)

// control is §2.1 of the many-token paper in the plainest way, with the
// variants that it mentions and that no policy offers. Everybody knows
// everybody and uses every token at once; a handoff takes the token latency.
type control struct {
	places int // tokens that may wait; with none, early tokens are removed
	// weight, if not 0, compares an exponentially weighted moving average in
	// place of the interval: it is the share of the latest one.
	weight float64
	// tokens is how many there are at the start, each at a random member. The
	// members begin somewhere in an interval.
	tokens int
	step   time.Duration // 0: that of the constant
	// shown is the weight of an average that is not compared.
	shown float64
}

// controlled is what a control does.
type controlled struct {
	uses     []int // in each second
	tokens   []int // at the end of each second
	averages []float64
	warm     time.Duration
}

// controlNode is one member of a control.
type controlNode struct {
	last    int     // step of its last use
	average float64 // of its intervals, in steps
	waiting int
}

// controlRun is a control at work.
type controlRun struct {
	control
	rng     *rand.Rand
	now     int // in steps
	nodes   []controlNode
	flights [][]int // where tokens arrive, by the step modulo a hop
	tokens  int
	uses    int // in this second
	warm    int // when the averages begin to be noted
	out     *controlled

	second, hop            int     // in steps
	target, early, silence float64 // in steps
}

// run plays a group of so many members. The averages are those after warm.
func (c control) run(seed uint64, members int, warm, length time.Duration) *controlled {
	c.step = cmp.Or(c.step, (*Lab)(nil).span(controlStep))
	c.shown = cmp.Or(c.shown, shownWeight.value)
	hop, target := int(gridLatency/c.step), float64(gridTarget)/float64(c.step)
	r := &controlRun{
		control: c, rng: rand.New(rand.NewPCG(seed, 0)), nodes: make([]controlNode, members),
		tokens: c.tokens, warm: int(warm / c.step), out: &controlled{warm: warm}, flights: make([][]int, hop),
		second: int(time.Second / c.step), hop: hop, target: target, early: target / 3, silence: target * 3,
	}
	for m := range r.nodes {
		r.nodes[m] = controlNode{last: -r.rng.IntN(int(r.silence)), average: r.target}
	}
	for range c.tokens {
		r.flights[0] = append(r.flights[0], r.rng.IntN(members))
	}
	for r.now = range int(length / c.step) {
		arrivals := r.flights[r.now%r.hop]
		r.flights[r.now%r.hop] = nil
		for m := range r.nodes {
			r.look(m)
		}
		for _, m := range arrivals {
			r.arrive(m)
		}
		if (r.now+1)%r.second == 0 {
			r.out.uses, r.out.tokens = append(r.out.uses, r.uses), append(r.out.tokens, r.tokens)
			r.uses = 0
		}
	}
	return r.out
}

// compared is what a member holds against the thresholds.
func (r *controlRun) compared(n *controlNode) float64 {
	x := float64(r.now - n.last)
	if r.weight == 0 {
		return x
	}
	return n.average + (x-n.average)*r.weight
}

// look uses a token that waits, or makes one, if it is time.
func (r *controlRun) look(m int) {
	n := &r.nodes[m]
	switch x := r.compared(n); {
	case n.waiting > 0 && x >= r.early:
		n.waiting--
		r.use(m)
	case n.waiting == 0 && x > r.silence:
		r.tokens++
		r.use(m)
	}
}

// arrive uses a token, lets it wait or removes it.
func (r *controlRun) arrive(m int) {
	n := &r.nodes[m]
	switch {
	case n.waiting == 0 && r.compared(n) >= r.early:
		r.use(m)
	case n.waiting < r.places:
		n.waiting++
	default:
		r.tokens--
	}
}

// use sends a token on.
func (r *controlRun) use(m int) {
	n := &r.nodes[m]
	weight := r.weight
	if weight == 0 {
		weight = r.shown
	}
	n.average += (float64(r.now-n.last) - n.average) * weight
	n.last = r.now
	r.uses++
	if r.now >= r.warm {
		r.out.averages = append(r.out.averages, n.average*r.step.Seconds())
	}
	to := r.rng.IntN(len(r.nodes) - 1)
	if to >= m {
		to++
	}
	r.flights[r.now%r.hop] = append(r.flights[r.now%r.hop], to)
}

// spread is the mean of the averages, and their standard deviation over it.
func (c *controlled) spread() (mean, deviation float64) {
	sum, squares := 0.0, 0.0
	for _, a := range c.averages {
		sum += a
		squares += a * a
	}
	n := float64(len(c.averages))
	mean = sum / n
	return mean, math.Sqrt(squares/n-mean*mean) / mean
}
