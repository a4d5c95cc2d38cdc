package plan

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/sim/circulation"
)

// effort is what a plan may cost, in events of the simulator, for all runs
// together. A million of them take about 0.1 s of one core in groups that fit
// the processor's cache.
type effort struct{ main, recovery uint64 }

// seconds is an effort of some seconds.
var seconds = effort{60_000_000, 8_000_000}

// large is from how many members on an event takes several times as long,
// because what it touches is not in the cache.
const large = 250_000

// share is what one of the runs may cost.
func (r *Request) share(events uint64) uint64 {
	return events / uint64(r.Seeds) / uint64(1+r.Members/large)
}

// When a run has seen enough to end before its cost does.
const (
	warmRounds  = 3       // of the warm-up
	enoughWaits = 200_000 // in all runs, and
	eachWaits   = 100     // of each member in each run, and
	enoughBad   = 200     // losses and crashes in all runs
)

// bins is how finely times are told apart, limit up to how many rounds of all
// members, to which intervals have what members want to pause.
const (
	bins  = 400_000
	limit = 20
)

// horizon ends runs in which hardly anything happens.
const horizon = clock.Instant(10 * policy.MaxInterval)

// sample is what one run measured.
type sample struct {
	*circulation.Meter
	waiting  waiting
	stats    circulation.Stats // while it was measured
	warm     time.Duration     // before
	measured time.Duration
}

// waiting measures how long somebody waited while nobody ran.
type waiting struct {
	circulation.Ignore
	waits *circulation.Histogram
	wants []clock.Instant // since when, or never
	want  int             // so many do
	runs  int
	since clock.Instant
	idle  time.Duration
}

func (w *waiting) advance(now clock.Instant) {
	if w.runs == 0 && w.want > 0 {
		w.idle += now.Sub(w.since)
	}
	w.since = now
}

// wanted returns where it is noted since when a member wants to run.
func (w *waiting) wanted(member int) *clock.Instant {
	for len(w.wants) <= member {
		w.wants = append(w.wants, never)
	}
	return &w.wants[member]
}

const never = clock.Instant(-1)

// end is the end of a member's wait, if it waits, and since when it did.
func (w *waiting) end(now clock.Instant, member int) (since clock.Instant) {
	w.advance(now)
	wanted := w.wanted(member)
	if since = *wanted; since != never {
		*wanted = never
		w.want--
	}
	return since
}

// Demanded implements circulation.Observer.
func (w *waiting) Demanded(now clock.Instant, member int) {
	w.end(now, member)
	*w.wanted(member) = now
	w.want++
}

// OperationBegan implements circulation.Observer.
func (w *waiting) OperationBegan(now clock.Instant, member int) {
	if since := w.end(now, member); since != never {
		w.waits.Add(now.Sub(since))
	}
	w.runs++
}

// OperationEnded implements circulation.Observer.
func (w *waiting) OperationEnded(now clock.Instant, _ int) { w.advance(now); w.runs-- }

// MemberDown implements circulation.Observer.
func (w *waiting) MemberDown(now clock.Instant, member int) { w.end(now, member) }

// Advanced implements circulation.Observer.
func (w *waiting) Advanced(now clock.Instant) { w.advance(now) }

// histogram is for times of up to some rounds.
func histogram(round time.Duration) *circulation.Histogram {
	return circulation.NewHistogram(limit*round/bins, limit*round)
}

// pacer lets a World run in steps that are small against what they may cost.
type pacer struct {
	world *circulation.World
	step  time.Duration
}

// run goes on until done, or until the World has had so many events more, but
// not beyond end.
func (p *pacer) run(end clock.Instant, events uint64, done func() bool) error {
	began := p.world.Stats().Events
	for {
		before := p.world.Stats().Events
		p.world.Run(min(end, p.world.Now().Add(p.step)))
		if err := p.world.Err(); err != nil {
			return err
		}
		after := p.world.Stats().Events
		if done() || after-began >= events || p.world.Now() >= end {
			return nil
		}
		switch used := after - before; {
		case used <= events/200:
			p.step = min(2*p.step, policy.MaxInterval)
		case used > events/50:
			p.step = max(1, p.step/2)
		}
	}
}

// measure is one run with its faults.
func (r *Request) measure(seed, budget uint64) (*sample, error) {
	w, err := circulation.New(r.faulty(seed))
	if err != nil {
		return nil, err
	}
	round := r.round()
	s := &sample{waiting: waiting{waits: histogram(round)}}
	wide := histogram(round + r.Every/2)
	s.Meter = circulation.NewMeter(circulation.MeterConfig{Bin: wide.Width(), Limit: wide.Limit()})
	w.Observe(s.Meter)
	w.Observe(&s.waiting)
	p := pacer{w, round / 100}
	warm := clock.Instant(warmRounds*round + 3*r.Params.TargetInterval)
	if err := p.run(warm, budget/4, func() bool { return false }); err != nil {
		return nil, err
	}
	begin, before := w.Now(), w.Stats()
	s.Restart(begin)
	s.waiting.waits, s.waiting.idle = histogram(round), 0
	err = p.run(horizon, budget, func() bool { return r.enough(s.waiting.waits.Count(), difference(w.Stats(), before)) })
	s.warm, s.measured = time.Duration(begin), w.Now().Sub(begin)
	s.stats = difference(w.Stats(), before)
	return s, err
}

// enough reports whether a run has seen what there is to see.
func (r *Request) enough(waits uint64, seen circulation.Stats) bool {
	bad := uint64(enoughBad / r.Seeds)
	return waits >= max(uint64(eachWaits*r.Members), uint64(enoughWaits/r.Seeds)) &&
		(r.Loss == 0 || seen.Lost >= bad) && (r.Crash == 0 || seen.Crashed >= bad)
}

func difference(now, before circulation.Stats) circulation.Stats {
	now.Hops -= before.Hops
	now.Operations -= before.Operations
	now.Lost -= before.Lost
	now.Crashed -= before.Crashed
	now.Messages -= before.Messages
	return now
}

// loser loses the only token again and again, when it has been about for a
// while.
type loser struct {
	circulation.Ignore
	after   time.Duration
	born    clock.Instant
	pending bool
}

// TokenBorn implements circulation.Observer.
func (l *loser) TokenBorn(now clock.Instant, _ int, _ ident.Token) { l.born = now }

// TokenGone implements circulation.Observer.
func (l *loser) TokenGone(_ clock.Instant, _ ident.Token, how circulation.End) {
	l.pending = l.pending && how != circulation.LostInTransit
}

// look loses the token if it is time, and looks again later.
func (l *loser) look(w *circulation.World) {
	if !l.pending && w.Tokens() == 1 && w.Now().Sub(l.born) >= l.after {
		l.pending = true
		w.LosePass(1)
	}
	w.At(w.Now().Add(l.after/8), l.look)
}

// recover is one run in which nothing goes wrong but that tokens are lost, so
// seldom that one loss does not meet another. It returns the times without.
func (r *Request) recover(seed, budget uint64) ([]time.Duration, error) {
	w, err := circulation.New(r.config(seed))
	if err != nil {
		return nil, err
	}
	round := r.round()
	m := circulation.NewMeter(circulation.MeterConfig{Bin: round, Limit: round})
	w.Observe(m)
	l := &loser{after: 2 * round}
	w.Observe(l)
	l.look(w)
	p := pacer{w, round / 100}
	trials := (enoughBad + r.Seeds - 1) / r.Seeds
	if err := p.run(horizon, budget, func() bool { return len(m.Gaps()) >= trials }); err != nil {
		return nil, err
	}
	var gaps []time.Duration
	for _, g := range m.Gaps() {
		gaps = append(gaps, g.Length())
	}
	return gaps, nil
}
