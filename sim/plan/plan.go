package plan

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/wandertoken/wander/sim/circulation"
)

// Report is what to expect. Times are in seconds, shares between 0 and 1.
type Report struct {
	V       int    `json:"v"` // of this schema: 1
	Policy  string `json:"policy"`
	Preset  string `json:"preset"`
	Members int    `json:"members"`

	// Wait is from when a member wants to run until it does; Interval from
	// one operation of a member to its next one. Nil where nobody ran. What
	// had not ended when the run did counts for as long as it was seen.
	Wait     *Spread `json:"wait_s"`
	Interval *Spread `json:"interval_s"`
	// The shares of time in which nobody runs, nobody though somebody waits,
	// exactly two run, and more than two. With windows they are shares of the time
	// in which one is open, as is NoToken.
	Idle        float64 `json:"idle_share"`
	IdleWaiting float64 `json:"idle_while_waiting_share"`
	Two         float64 `json:"two_share"`
	More        float64 `json:"more_than_two_share"`
	// NoToken is the share of time without any token, with these faults; nil
	// where that is nothing unusual.
	NoToken *float64 `json:"no_token_share"`
	// Recovery is how long it takes after a loss until there is a token again, in
	// a group without windows. Nil where others go on, or where no loss was seen.
	Recovery *Recovery `json:"recovery_s"`

	// Of the whole group, and what one member sends.
	OperationsPerHour float64 `json:"operations_per_hour"`
	HandoffsPerHour   float64 `json:"handoffs_per_hour"`
	MessagesPerHour   float64 `json:"messages_per_hour_and_member"`
	// MessagesPerOperation are those of all members for one operation: four for a
	// handoff, and those between policies, which SmallPerOperation counts alone. 0
	// where nobody ran.
	MessagesPerOperation float64 `json:"messages_per_operation"`
	SmallPerOperation    float64 `json:"policy_messages_per_operation"`
	// GossipPerOperation are those by which members compare their directories,
	// HelloPerOperation those with which new connections begin, and
	// AllPerOperation these and MessagesPerOperation. All three go on while nobody
	// operates, so that an operation has the more of them the rarer it is.
	GossipPerOperation float64 `json:"gossip_messages_per_operation"`
	HelloPerOperation  float64 `json:"hello_messages_per_operation"`
	AllPerOperation    float64 `json:"all_messages_per_operation"`

	// Shares are the parts of the classes in all operations, nil without weights.
	Shares []ClassShare `json:"shares,omitempty"`

	// Hours are what the windows come to, nil without any.
	Hours *Hours `json:"windows,omitempty"`

	// What was simulated: so many runs, as many as Request.Seeds or fewer, with the
	// seeds from First on, of this length on average after a warm-up.
	First     uint64   `json:"first_seed"`
	Seeds     int      `json:"seeds"`
	Simulated float64  `json:"simulated_s"`
	WarmUp    float64  `json:"warm_up_s"`
	Losses    uint64   `json:"losses"`
	Crashes   uint64   `json:"crashes"`
	Hints     []string `json:"hints"`
}

// Spread is a distribution of times. Count is how many of them ended.
type Spread struct {
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	Count uint64  `json:"count"`
	// LowerBounds names those of p50, p95 and p99 that are larger than their
	// number: so few times ended in the run that it does not tell.
	LowerBounds []string `json:"lower_bounds"`
}

// ClassShare is the part of one class of members in all operations, and the part that its weight asks for.
type ClassShare struct {
	Class   string  `json:"class"`
	Weight  int     `json:"weight"`
	Members int     `json:"members"`
	Share   float64 `json:"share"`
	Asked   float64 `json:"asked_share"`
}

// Recovery is how long losses were felt.
type Recovery struct {
	Median  float64 `json:"median"`
	Largest float64 `json:"largest"`
	Losses  int     `json:"losses"`
}

// Make simulates and reports. Progress is called now and then, with the share
// of the runs that are done, never by two goroutines at once. Errors: those of
// Request.Validate, of circulation.New, circulation.ErrStandstill, and the
// context's cause.
func Make(ctx context.Context, r Request, progress func(done float64)) (*Report, error) {
	return r.make(ctx, r.effort(), progress)
}

func (r *Request) make(ctx context.Context, e effort, progress func(done float64)) (*Report, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	known := r.calendar()
	r.known = &known
	events := r.share(e.main)
	var first *sample
	var recovered []time.Duration
	err := r.each(2, func(i int) (err error) {
		switch {
		case i == 0:
			first, err = r.measure(ctx, r.First, events/uint64(r.Seeds), events)
		case r.recovers(e):
			recovered, err = r.recover(ctx, r.share(e.recovery))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	all, err := r.others(ctx, first, events, progress)
	if err != nil {
		return nil, err
	}
	return r.report(all, recovered), nil
}

// others makes the runs after the first one, and puts all together in their
// order, whichever ends first.
func (r *Request) others(ctx context.Context, first *sample, events uint64, progress func(float64)) (*total, error) {
	runs := r.fitting(first, events)
	all := &total{
		waits: first.watch.waits.spread, intervals: first.watch.intervals.spread, openWaits: first.watch.openWaits.spread,
		runs: 1, shortest: first.measured,
	}
	all.add(first)
	progress(1 / float64(runs))
	each := events / uint64(runs)
	least := each - min(each, first.warming)
	ready := make([]*sample, runs-1)
	var mu sync.Mutex
	done := 1
	err := r.each(runs-1, func(i int) error {
		s, err := r.measure(ctx, r.First+uint64(i)+1, least, 2*each)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for ready[i] = s; all.runs < runs && ready[all.runs-1] != nil; {
			s, ready[all.runs-1] = ready[all.runs-1], nil
			if err := all.merge(s); err != nil {
				return err
			}
		}
		done++
		progress(float64(done) / float64(runs))
		return nil
	})
	return all, err
}

// each does a job so many times, several at once, and returns the first error
// in their order.
func (r *Request) each(times int, job func(i int) error) error {
	errs := make([]error, times)
	next := make(chan int)
	var group sync.WaitGroup
	workers := min(times, runtime.GOMAXPROCS(0))
	if r.Members >= crowd {
		workers = min(times, 1)
	}
	for range workers {
		group.Go(func() {
			for i := range next {
				errs[i] = job(i)
			}
		})
	}
	for i := range times {
		next <- i
	}
	close(next)
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// report tells what the runs have in common.
func (r *Request) report(all *total, recovered []time.Duration) *Report {
	operations := all.stats.Operations
	p := &Report{
		V: 1, Policy: r.Policy, Preset: r.preset(), Members: r.Members, First: r.First, Seeds: all.runs,
		Wait:      all.waits.report(all.waited/float64(all.served), all.served),
		Interval:  all.intervals.report(all.time.Seconds()*float64(r.Members)/float64(operations), operations),
		Simulated: all.time.Seconds() / float64(all.runs), WarmUp: all.warm.Seconds() / float64(all.runs),
		Losses: all.stats.Lost, Crashes: all.stats.Crashed, Hints: []string{},
	}
	p.fill(all, r)
	if len(recovered) > 0 {
		slices.Sort(recovered)
		p.Recovery = &Recovery{
			Median:  recovered[len(recovered)/2].Seconds(),
			Largest: recovered[len(recovered)-1].Seconds(), Losses: len(recovered),
		}
	}
	p.Shares, p.Hours = r.shares(all.ran), r.hours(all)
	p.Hints = append(p.Hints, r.hints(p, all)...)
	return p
}

// total is the runs put together. Shares are weighted with their time.
type total struct {
	runs                          int
	shortest                      time.Duration // of the runs
	waits, intervals, openWaits   spread
	time, warm, open              time.Duration // open: of time
	partial                       bool          // a run has a part of a cycle of the windows
	idle, waiting, one, two, none float64       // in seconds
	waited, openWaited            float64       // in seconds
	served                        uint64
	ran                           []uint64 // operations, by class
	stats                         circulation.Stats
	traffic                       circulation.Traffic
}

// merge adds one more run.
func (a *total) merge(s *sample) error {
	a.runs++
	a.shortest = min(a.shortest, s.measured)
	a.add(s)
	if err := a.waits.merge(&s.watch.waits.spread); err != nil {
		return err
	}
	if err := a.openWaits.merge(&s.watch.openWaits.spread); err != nil {
		return err
	}
	return a.intervals.merge(&s.watch.intervals.spread)
}

// add adds all of a run but its distributions.
func (a *total) add(s *sample) {
	seconds := s.measured.Seconds()
	a.time += s.measured
	a.warm += s.warm
	a.open += s.watch.open()
	a.partial = a.partial || s.partial
	a.idle += seconds*s.Concurrency(0) - (s.measured - s.watch.open()).Seconds()
	a.one += seconds * s.Concurrency(1)
	a.two += seconds * s.Concurrency(2)
	a.none += s.watch.tokenless.Seconds()
	a.waiting += s.watch.idle.Seconds()
	a.waited += s.watch.waited
	a.openWaited += s.watch.openWaited
	a.served += s.watch.served
	a.ran = sum(a.ran, s.watch.ran)
	a.stats.Hops += s.stats.Hops
	a.stats.Operations += s.stats.Operations
	a.stats.Lost += s.stats.Lost
	a.stats.Crashed += s.stats.Crashed
	a.stats.Messages += s.stats.Messages
	a.traffic.Connections += s.traffic.Connections
	a.traffic.Connected += s.traffic.Connected
}

// fill sets the shares and rates.
func (p *Report) fill(a *total, r *Request) {
	seconds := a.time.Seconds()
	if seconds == 0 {
		return
	}
	if open := a.open.Seconds(); open > 0 {
		p.Idle, p.IdleWaiting, p.Two = max(0, a.idle/open), a.waiting/open, a.two/open
		p.More = max(0, 1-(a.idle+a.one+a.two)/open)
		if p.More < 1e-9 {
			p.More = 0 // rounding
		}
		if r.singleToken() {
			none := a.none / open
			p.NoToken = &none
		}
	}
	hours := seconds / 3600
	p.OperationsPerHour = float64(a.stats.Operations) / hours
	p.HandoffsPerHour = float64(a.stats.Hops) / hours
	m := r.messages(a)
	p.MessagesPerHour = (m.handoffs + m.policies) / hours / float64(r.Members)
	if n := float64(a.stats.Operations); n > 0 {
		p.MessagesPerOperation, p.SmallPerOperation = (m.handoffs+m.policies)/n, m.policies/n
		p.GossipPerOperation, p.HelloPerOperation = m.gossip/n, m.hello/n
		p.AllPerOperation = (m.handoffs + m.policies + m.gossip + m.hello) / n
	}
}
