package plan

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/wandertoken/wander/sim/circulation"
)

// messagesPerHandoff are OFFER, ACCEPT, TRANSFER and RECEIPT (protocol/handoff).
const messagesPerHandoff = 4

// Report is what to expect. Times are in seconds, shares between 0 and 1.
type Report struct {
	V       int    `json:"v"` // of this schema: 1
	Policy  string `json:"policy"`
	Preset  string `json:"preset"`
	Members int    `json:"members"`

	// Wait is from when a member wants to run until it does; Interval from
	// one operation of a member to its next one. Nil where nobody ran.
	Wait     *Spread `json:"wait_s"`
	Interval *Spread `json:"interval_s"`
	// The shares of time in which nobody runs, nobody though somebody waits,
	// exactly two run, and more than two.
	Idle        float64 `json:"idle_share"`
	IdleWaiting float64 `json:"idle_while_waiting_share"`
	Two         float64 `json:"two_share"`
	More        float64 `json:"more_than_two_share"`
	// NoToken is the share of time without any token, with these faults; nil
	// where that is nothing unusual.
	NoToken *float64 `json:"no_token_share"`
	// Recovery is how long it takes after a loss until there is a token again.
	// Nil where others go on, or where no loss was seen.
	Recovery *Recovery `json:"recovery_s"`

	// Of the whole group, and what one member sends.
	OperationsPerHour float64 `json:"operations_per_hour"`
	HandoffsPerHour   float64 `json:"handoffs_per_hour"`
	MessagesPerHour   float64 `json:"messages_per_hour_and_member"`

	// What was simulated: so many runs, of this length on average after a
	// warm-up.
	Seeds     int      `json:"seeds"`
	Simulated float64  `json:"simulated_s"`
	WarmUp    float64  `json:"warm_up_s"`
	Losses    uint64   `json:"losses"`
	Crashes   uint64   `json:"crashes"`
	Hints     []string `json:"hints"`
}

// Spread is a distribution of times.
type Spread struct {
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	Count uint64  `json:"count"`
}

// Recovery is how long losses were felt.
type Recovery struct {
	Median  float64 `json:"median"`
	Largest float64 `json:"largest"`
	Losses  int     `json:"losses"`
}

// Make simulates and reports. Progress is called now and then, with the share
// of the runs that are done, never by two goroutines at once. Errors: those of
// Request.Validate, of circulation.New, and circulation.ErrStandstill.
func Make(r Request, progress func(done float64)) (*Report, error) {
	return r.make(seconds, progress)
}

func (r *Request) make(e effort, progress func(done float64)) (*Report, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	samples := make([]*sample, r.Seeds)
	recoveries := make([][]time.Duration, r.Seeds)
	err := r.each(progress, func(i int) (err error) {
		if samples[i], err = r.measure(uint64(i)+1, r.share(e.main)); err != nil || !r.recovers(e) {
			return err
		}
		recoveries[i], err = r.recover(uint64(i)+1, r.share(e.recovery))
		return err
	})
	if err != nil {
		return nil, err
	}
	return r.report(samples, slices.Concat(recoveries...))
}

// each does a job for each seed, several at once, and returns the first
// error in the order of the seeds.
func (r *Request) each(progress func(float64), job func(i int) error) error {
	errs := make([]error, r.Seeds)
	next := make(chan int)
	var group sync.WaitGroup
	var mu sync.Mutex
	done := 0
	workers := min(r.Seeds, runtime.GOMAXPROCS(0))
	if r.Members >= crowd {
		workers = 1
	}
	for range workers {
		group.Go(func() {
			for i := range next {
				errs[i] = job(i)
				mu.Lock()
				done++
				progress(float64(done) / float64(r.Seeds))
				mu.Unlock()
			}
		})
	}
	for i := range r.Seeds {
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

// report puts the runs together.
func (r *Request) report(samples []*sample, recovered []time.Duration) (*Report, error) {
	first := samples[0]
	all := total{waits: first.waiting.waits, intervals: first.Operations}
	for i, s := range samples {
		if i > 0 {
			if err := all.merge(s); err != nil {
				return nil, err
			}
		}
		all.add(s)
	}
	p := &Report{
		V: 1, Policy: r.Policy, Preset: r.preset(), Members: r.Members, Seeds: r.Seeds,
		Wait: spread(all.waits), Interval: spread(all.intervals),
		Simulated: all.time.Seconds() / float64(r.Seeds), WarmUp: all.warm.Seconds() / float64(r.Seeds),
		Losses: all.stats.Lost, Crashes: all.stats.Crashed, Hints: []string{},
	}
	p.fill(&all, r)
	if len(recovered) > 0 {
		slices.Sort(recovered)
		p.Recovery = &Recovery{
			Median:  recovered[len(recovered)/2].Seconds(),
			Largest: recovered[len(recovered)-1].Seconds(), Losses: len(recovered),
		}
	}
	p.Hints = append(p.Hints, r.hints(p, &all)...)
	return p, nil
}

// total is the runs put together. Shares are weighted with their time.
type total struct {
	waits, intervals              *circulation.Histogram
	time, warm                    time.Duration
	idle, waiting, one, two, none float64 // in seconds
	stats                         circulation.Stats
}

func (a *total) merge(s *sample) error {
	if err := a.waits.Merge(s.waiting.waits); err != nil {
		return err
	}
	return a.intervals.Merge(s.Operations)
}

func (a *total) add(s *sample) {
	seconds := s.measured.Seconds()
	a.time += s.measured
	a.warm += s.warm
	a.idle += seconds * s.Concurrency(0)
	a.one += seconds * s.Concurrency(1)
	a.two += seconds * s.Concurrency(2)
	a.none += seconds * s.TokensAlive(0)
	a.waiting += s.waiting.idle.Seconds()
	a.stats.Hops += s.stats.Hops
	a.stats.Operations += s.stats.Operations
	a.stats.Lost += s.stats.Lost
	a.stats.Crashed += s.stats.Crashed
	a.stats.Messages += s.stats.Messages
}

// fill sets the shares and rates.
func (p *Report) fill(a *total, r *Request) {
	seconds := a.time.Seconds()
	if seconds == 0 {
		return
	}
	p.Idle, p.IdleWaiting, p.Two = a.idle/seconds, a.waiting/seconds, a.two/seconds
	p.More = max(0, 1-(a.idle+a.one+a.two)/seconds)
	if p.More < 1e-9 {
		p.More = 0 // rounding
	}
	if r.singleToken() {
		none := a.none / seconds
		p.NoToken = &none
	}
	hours := seconds / 3600
	p.OperationsPerHour = float64(a.stats.Operations) / hours
	p.HandoffsPerHour = float64(a.stats.Hops) / hours
	sent := messagesPerHandoff*(a.stats.Hops+a.stats.Lost) + a.stats.Messages
	p.MessagesPerHour = float64(sent) / hours / float64(r.Members)
}

func spread(h *circulation.Histogram) *Spread {
	if h.Count() == 0 {
		return nil
	}
	return &Spread{
		Mean: h.Mean().Seconds(), P50: h.Quantile(0.5).Seconds(), P95: h.Quantile(0.95).Seconds(),
		P99: h.Quantile(0.99).Seconds(), Count: h.Count(),
	}
}
