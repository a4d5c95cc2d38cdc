package cluster

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/wandertoken/wander/sim/plan"
)

// improbable is how improbable a run must be that keeps all rules and is still
// said to break Fairness or Exclusion: less than one in a hundred million runs.
const improbable = 1e-8

// walk watches how tokens walk among the members, and how their operations overlap.
type walk struct {
	hops    int           // of all tokens
	waits   int           // that have ended
	since   map[*node]int // hops, when it last had a token or was last out of reach
	longest map[*node]int // wait, in hops

	together int // operations that began while another one ran under another token
}

// here begins the wait of a member anew: it has a token, or was out of reach.
func (w *walk) here(n *node) { w.since[n] = w.hops }

// took notes that a member takes a token.
func (w *walk) took(n *node) {
	w.hops++
	w.waited(n)
	w.here(n)
}

func (w *walk) waited(n *node) {
	w.waits++
	w.longest[n] = max(w.longest[n], w.hops-w.since[n])
}

// waits holds the longest waits against those of a random walk. Each hop goes to
// everybody else with the same probability, so a wait is longer than h hops with
// (1-1/(N-1))^h. It counts hops of all tokens, while the member is there: a member
// that has just been out of reach may be shunned for a while, which is far less.
func (j judges) waits() {
	for _, n := range j.c.nodes {
		j.c.walk.waited(n)
	}
	others := float64(len(j.c.nodes) - 1)
	most := math.Log(improbable/float64(j.c.walk.waits)) / math.Log(1-1/others)
	for _, n := range j.c.nodes {
		if h := j.c.walk.longest[n]; float64(h) > most+shunned*float64(len(j.c.nodes)) {
			j.c.violate(Fairness, "wait", fmt.Sprintf("member %s waited for %d hops, chance explains %.0f", n.name, h, most))
		}
	}
}

// shunned is how many rounds of hops a member may be out of favour after it was out of
// reach, until all have heard that it lives.
const shunned = 2

// overlaps holds the operations that began while another one ran against what
// the planner says of such a group. Their number is that of rare independent events;
// it exceeds its mean by so much with less than the probability improbable
// (Bernstein's inequality).
func (j judges) overlaps(f chaos) {
	share, err := planned(j.c.setting, f)
	if err != nil {
		j.c.problem(Machinery, nil, "no plan: %v", err)
		return
	}
	mean := share * j.c.now.Seconds() / (j.c.resources[0].OperationTime.Seconds() / 2)
	x := -math.Log(improbable)
	if most := mean + math.Sqrt(2*mean*x) + x; float64(j.c.walk.together) > most {
		j.c.violate(Exclusion, "together", fmt.Sprintf("%d operations began while another one ran, the planner expects %.1f, chance explains %.0f",
			j.c.walk.together, mean, most))
	}
}

// planTime bounds how long the planner may take: it takes a second or two.
const planTime = time.Minute

var (
	plans   = make(map[int]float64) // by members
	plansMu sync.Mutex
)

// planned is what the planner says of the preset Long: the share of time in which
// two or more run at once. The same group is planned once in a process.
func planned(s setting, f chaos) (float64, error) {
	plansMu.Lock()
	defer plansMu.Unlock()
	if share, known := plans[len(s.members)]; known {
		return share, nil
	}
	ctx, stop := context.WithTimeout(context.Background(), planTime)
	defer stop()
	r := s.resources[0]
	report, err := plan.Make(ctx, plan.Request{
		Policy: r.Policy, Params: r.Params, Members: len(s.members), Every: f.demandEvery, Latency: s.net.delay + s.syncTime,
		Crash: f.every[faultCrash] / 2, DownFor: f.downMean, First: 1, Seeds: 1,
	}, func(float64) {})
	if err != nil {
		return 0, err
	}
	plans[len(s.members)] = report.Two + report.More
	return plans[len(s.members)], nil
}
