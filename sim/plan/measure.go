package plan

import (
	"context"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/sim/circulation"
)

// effort is what a plan may cost, in events of the simulator, for all runs
// together. A million of them take 0.1 s to 0.2 s of one core in groups that fit
// the processor's cache, times Request.price.
type effort struct{ main, recovery uint64 }

// seconds is an effort of some seconds.
var seconds = effort{60_000_000, 16_000_000}

// effort is what this plan may cost.
func (r *Request) effort() effort {
	if r.Events == 0 {
		return seconds
	}
	return effort{r.Events, r.Events / 4}
}

// large is from how many members on an event takes several times as long,
// because what it touches is not in the cache.
const large = 100_000

// pricey is how many times as much processor time as under the other presets an
// event takes under fair, where members weigh each message against what they
// know: 4 to 7, measured with 50 to 100,000 members.
const pricey = 6

func (r *Request) price() uint64 {
	if r.isFair() {
		return pricey
	}
	return 1
}

// share is what may be spent of it in a group of this size under its preset.
func (r *Request) share(events uint64) uint64 {
	return events / r.price() / uint64(1+r.Members/large)
}

// When a run has seen enough to end before its cost does.
const (
	warmRounds  = 3       // of the warm-up
	enoughWaits = 200_000 // in all runs, and
	eachWaits   = 100     // of each member in each run, and
	enoughBad   = 200     // losses and crashes in all runs
)

// minIntervals is how many times the time between two operations of a member
// no run may be shorter than, while there are several: what takes longer than
// the run is not seen in it, and no number of short runs brings that back.
const minIntervals = 10

// bins is how finely times are told apart, limit up to how many times what is
// expected of them.
const (
	bins  = 400_000
	limit = 20
)

// horizon ends runs in which hardly anything happens. It is longer than the
// longest warm-up with the longest run.
const horizon = clock.Instant(28 * policy.MaxInterval)

// sample is what one run measured.
type sample struct {
	*circulation.Meter
	watch    watch
	stats    circulation.Stats   // while it was measured
	traffic  circulation.Traffic // as well
	warm     time.Duration       // before
	measured time.Duration
	warming  uint64 // events before
	partial  bool   // it has a part of a cycle of the windows
}

// histogram is for times that are expected to be of this length, and may have one more span in them in which the windows are
// closed.
func histogram(expected, closed time.Duration) *circulation.Histogram {
	return circulation.NewHistogram(max(1, expected/bins)*limit+closed/bins, expected*limit+closed)
}

// pacer lets a Simulation run in steps that are small against some number of
// events.
type pacer struct {
	world   *circulation.Simulation
	step    time.Duration
	longest time.Duration // of the steps
	events  uint64
	cycle   time.Duration // a step ends at each multiple of it since begin; 0: anywhere
	begin   clock.Instant
}

// newPacer begins with steps in which hardly anything can happen.
func (r *Request) newPacer(w *circulation.Simulation, events uint64) *pacer {
	step := max(1, min(r.round(), r.expected())/100)
	if r.Crash > 0 {
		step = min(step, r.Crash)
	}
	p := &pacer{world: w, step: step, longest: policy.MaxInterval, events: events, cycle: r.calendar().cycle}
	if p.cycle > 0 {
		p.longest = p.cycle / cycleSteps
		p.step = min(p.step, p.longest)
	}
	return p
}

// next is when the next step ends, no later than end.
func (p *pacer) next(end clock.Instant) clock.Instant {
	now := p.world.Now()
	end = min(end, now.Add(p.step))
	if p.cycle > 0 {
		end = min(end, now.Add(p.cycle-now.Sub(p.begin)%p.cycle))
	}
	return end
}

// run goes on until done, which is told how many events there were since the
// call, but not beyond end.
func (p *pacer) run(end clock.Instant, done func(events uint64) bool) error {
	began := p.world.Stats().Events
	for {
		before := p.world.Stats().Events
		p.world.Run(p.next(end))
		if err := p.world.Err(); err != nil {
			return err
		}
		after := p.world.Stats().Events
		if done(after-began) || p.world.Now() >= end {
			return nil
		}
		switch used := after - before; {
		case used <= p.events/200:
			p.step = min(2*p.step, p.longest)
		case used > p.events/50:
			p.step = max(1, p.step/2)
		}
	}
}

// measure is one run with its faults. It is as long as Request.length, if that
// costs no more than most, and longer while it costs less than least and has
// not seen enough. It ends with a cycle of the windows, if most suffices for one.
func (r *Request) measure(ctx context.Context, seed, least, most uint64) (*sample, error) {
	w, err := circulation.NewContext(ctx, r.faulty(seed))
	if err != nil {
		return nil, err
	}
	s := &sample{watch: newWatch(r), Meter: circulation.NewMeter(circulation.MeterConfig{Bin: 1, Limit: 1})}
	w.Observe(s.Meter)
	w.Observe(&s.watch)
	p := r.newPacer(w, least)
	if err := p.run(clock.Instant(r.warmUp()), func(events uint64) bool { return events >= most/4 }); err != nil {
		return nil, err
	}
	begin, before, traffic := w.Now(), w.Stats(), w.Traffic()
	s.Restart(begin)
	s.watch.restart(begin)
	p.begin = begin
	hours, length := r.calendar(), r.length()
	err = p.run(horizon, func(events uint64) bool {
		measured := w.Now().Sub(begin)
		if events >= most || hours.isLast(measured, events, most) {
			return true
		}
		return measured >= length && hours.isWhole(measured) && (events >= least || r.enough(s.watch.served, difference(w.Stats(), before)))
	})
	s.watch.close(w.Now())
	s.partial = !hours.isWhole(w.Now().Sub(begin))
	s.warm, s.measured, s.warming = time.Duration(begin), w.Now().Sub(begin), before.Events
	s.stats, s.traffic = difference(w.Stats(), before), w.Traffic().Since(traffic)
	return s, err
}

// fitting is how many runs like the first one there may be for so many events,
// at most as many as were asked for.
func (r *Request) fitting(first *sample, events uint64) int {
	if first.measured < r.length() {
		return 1
	}
	needed := float64(first.warming) + float64(first.stats.Events)*r.length().Seconds()/first.measured.Seconds()
	return max(1, min(r.Seeds, int(float64(events)/max(1, needed))))
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
	now.Events -= before.Events
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
func (l *loser) look(w *circulation.Simulation) {
	if !l.pending && w.Tokens() == 1 && w.Now().Sub(l.born) >= l.after {
		l.pending = true
		w.LosePass(1)
	}
	w.At(w.Now().Add(l.after/8), l.look)
}

// recover is one run in which nothing goes wrong but that tokens are lost, so
// seldom that one loss does not meet another. It returns the times without. It
// is one run, as the recovery that its end cuts off is missing.
func (r *Request) recover(ctx context.Context, budget uint64) ([]time.Duration, error) {
	w, err := circulation.NewContext(ctx, r.config(r.First))
	if err != nil {
		return nil, err
	}
	round := r.round()
	m := circulation.NewMeter(circulation.MeterConfig{Bin: round, Limit: round})
	w.Observe(m)
	l := &loser{after: 2 * round}
	w.Observe(l)
	l.look(w)
	err = r.newPacer(w, budget).run(horizon, func(events uint64) bool {
		return events >= budget || len(m.Gaps()) >= enoughBad
	})
	if err != nil {
		return nil, err
	}
	var gaps []time.Duration
	for _, g := range m.Gaps() {
		gaps = append(gaps, g.Length())
	}
	return gaps, nil
}
