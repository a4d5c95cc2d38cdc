package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/sim/circulation"
)

const reportRemovalNotes = `A settled group with one token. Now and then one member generates a second one, as after an anomalous delay, and the run continues
until one of the two is removed. No other token is generated (Δmax is ten years). Hops are passes of the spurious token. The last rows, about clocks, are of
the plain simulation with a loss every 10⁴ units, after which several new tokens compare their times. The offset of each member is uniform up to the
given value.`

// intruders are what became of the spurious tokens of a run.
type intruders struct {
	hops     []float64 // until one of the two tokens was removed
	survived int       // how often it was the older one that remained
}

// hopsOf counts the visits of one token, and notices its end.
type hopsOf struct {
	circulation.Ignore
	newest ident.Token
	visits int
	gone   ident.Token
}

// TokenBorn implements circulation.Observer.
func (h *hopsOf) TokenBorn(_ clock.Instant, _ int, token ident.Token) { h.newest, h.visits = token, 0 }

// Visit implements circulation.Observer.
func (h *hopsOf) Visit(_ clock.Instant, _ int, token ident.Token) {
	if token == h.newest {
		h.visits++
	}
}

// TokenGone implements circulation.Observer.
func (h *hopsOf) TokenGone(_ clock.Instant, token ident.Token, _ circulation.End) { h.gone = token }

// intrude makes spurious tokens in a settled group, one after the other.
func intrude(l *Lab, seed uint64, members int) (*intruders, error) {
	s := reportStudy(members)
	s.Seed, s.Params.MaxInterval = seed, 10*365*24*time.Hour
	w, err := circulation.New(s.Config)
	if err != nil {
		return nil, err
	}
	watch, result := &hopsOf{}, &intruders{}
	w.Observe(watch)
	rng := rand.New(rand.NewPCG(seed, streamPrepare))
	for range l.count(intrusions) {
		w.Run(w.Now().Add(l.span(intrusionSpacing)))
		if !w.Generate(rng.IntN(members)) {
			continue // whoever holds the token makes no other
		}
		for w.Tokens() > 1 && w.Err() == nil {
			w.Run(w.Now().Add(time.Second))
		}
		result.hops = append(result.hops, float64(watch.visits))
		if watch.gone == watch.newest {
			result.survived++
		}
	}
	slices.Sort(result.hops)
	return result, w.Err()
}

func reportRemoval(l *Lab) error {
	for _, n := range []int{reportMembers, reportOverload} {
		runs, err := Gather(l, func(seed uint64) (*intruders, error) { return intrude(l, seed, n) })
		if err != nil {
			return err
		}
		suffix := "-nominal"
		if n == reportOverload {
			suffix = "-overload"
		}
		reportIntruderRows(l, suffix, membersText(n), runs)
	}
	return reportClocks(l)
}

func reportIntruderRows(l *Lab, suffix, size string, runs []*intruders) {
	l.Row(Claim{
		ID: "report-removal-hops" + suffix, Source: "report §4", Says: "nearly every spurious token is gone within a few hops",
		Quantity: "90th percentile of its hops, " + size + "; a few are ten", Unit: Number, Holds: AtMost(10).ours(),
		Why: "the more members the fewer have operated within Δmin, which is what lets them remove it.",
	}, column(runs, func(r *intruders) float64 { return quantile(r.hops, 0.9) }))
	l.Row(Claim{
		ID: "report-removal-exponential" + suffix, Source: "report §4", Says: "the probability that it survives falls exponentially with time",
		Quantity: "share that lives for more than 2m hops over the square of the share for more than m, m the mean rounded, " + size, Unit: Number,
		Holds: Between(0.5, 1.5), Why: "a spurious token makes members its own, which then no longer remove it.",
	}, column(runs, memoryless))
	l.Row(Claim{
		ID: "report-removal-older" + suffix, Source: "report §4", Says: "the spurious token is removed with high probability, not the other one",
		Quantity: "share of pairs of which the older token remained, " + size, Unit: Share, Holds: AtLeast(0.95).ours(),
		Why: "the older token meets members that ran under neither.",
	}, column(runs, func(r *intruders) float64 { return float64(r.survived) / float64(len(r.hops)) }))
}

// memoryless compares survival over two equal spans: 1 where it does not depend
// on the past.
func memoryless(r *intruders) float64 {
	var sum float64
	for _, h := range r.hops {
		sum += h
	}
	mean := max(1, math.Round(sum/float64(len(r.hops))))
	more := func(than float64) float64 {
		n := 0
		for _, h := range r.hops {
			if h > than {
				n++
			}
		}
		return float64(n) / float64(len(r.hops))
	}
	return more(2*mean) / (more(mean) * more(mean))
}

// reportClocks is about §4.2: how well clocks have to agree.
func reportClocks(l *Lab) error {
	s := reportStudy(reportMembers)
	s.LossEvery = l.span(clockLosses)
	small := l.span(smallOffset)
	exact, err := s.runs(l)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		id, text string
		offset   time.Duration
		holds    Check
	}{
		{"small", fmt.Sprintf("%s, which is small against Δmax = 1800", smallOffset.text(small.Seconds())), small, AtMost(1.2).trend().ours()},
		{"equal", "1800 s, which is Δmax", reportMax, Reported()},
	} {
		s.ClockOffset = c.offset
		runs, err := s.runs(l)
		if err != nil {
			return err
		}
		l.Row(Claim{
			ID: "report-clocks-" + c.id, Source: "report §4.2", Says: "clock errors that are small compared with Δmax do no harm",
			Quantity: "share of time with 2 or more, clocks wrong by up to " + c.text + ", over exact ones; no harm is up to a fifth more",
			Unit:     Number, Holds: c.holds, Why: "a spurious token that seems older than the other one stays instead of it.",
		}, ratio(column(runs, moreThan(1)), column(exact, moreThan(1))))
	}
	return nil
}
