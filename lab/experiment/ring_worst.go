package experiment

import (
	"fmt"
	"math"

	"github.com/wandertoken/wander/lab/ringcheck"
	"github.com/wandertoken/wander/protocol/policy/ring"
)

const ringWorstNotes = `Runs made by hand in a ring of 64, which is too large to explore. Each attains what all schedules of small rings give as the largest
number, so the formulas hold from below for every n. That nothing is worse is known for n up to 9 only.

In *the far request* the processor before the resting token requests again and again (the proof of theorem 2.2). In *the near request* it is the one
after the token. *Vain searches* are pairs of requests of which one sends the token of D on a search that finds no request.`

// ringMore is what further rounds of a run cost for each request: the beginning,
// which is cheaper, does not count.
func ringMore(rounds int, run func(rounds int) (*ringcheck.Run, error)) (float64, error) {
	a, err := run(rounds)
	if err != nil {
		return 0, err
	}
	b, err := run(2 * rounds)
	if err != nil {
		return 0, err
	}
	return float64(b.Sent-a.Sent) / float64(b.Requests-a.Requests), nil
}

// ringDearestOf is the most messages a request that are known for n processors, at
// least 3.
func ringDearestOf(alg ring.Algorithm, n, rounds int) (float64, error) {
	return ringMore(rounds, func(rounds int) (*ringcheck.Run, error) {
		switch alg {
		case ring.D:
			return ringcheck.VainSearches(n, rounds)
		case ring.E:
			return ringcheck.NearRequests(alg, n, rounds)
		}
		return ringcheck.FarRequests(alg, n, rounds)
	})
}

// ringLongestOf is the largest service traffic that is known for n processors, at
// least 3; sent in D and E, delivered in Q.
func ringLongestOf(alg ring.Algorithm, n int) (float64, error) {
	var run *ringcheck.Run
	var err error
	switch alg {
	case ring.Q:
		if run, err = ringcheck.OldRequests(n); err == nil {
			return float64(run.WorstDelivered), nil
		}
	case ring.D:
		run, err = ringcheck.AskingBehind(n)
	default:
		run, err = ringcheck.BothWays(alg, n)
	}
	if err != nil {
		return 0, err
	}
	return float64(run.WorstSent), nil
}

func ringWorst(l *Lab) error {
	ringNotMeasured(l)
	for _, step := range []func(*Lab) error{ringLowerBound, ringDearest, ringLongest} {
		if err := step(l); err != nil {
			return err
		}
	}
	return nil
}

// ringNotMeasured are numbers that only proofs use.
func ringNotMeasured(l *Lab) {
	const step = "a step of the proof; the rows of the theorem show what becomes of its result"
	for _, n := range []struct{ where, says, why string }{
		{"ring theorem 3.1", "a request raises the potential by n; passing the token lowers it by the counter, at least 1; passing a request costs nothing on balance", step},
		{"ring theorem 3.1", "at most n − 1 requests count n each, and n − 2 count their distance", step},
		{"ring theorem 4.1", "a request message travels at most n edges, and a check tour takes n more messages", step + " (ring-d-messages)"},
		{"ring theorem 4.1", "at most n − 1 messages of each of three kinds come before the token", step + " (ring-d-traffic)"},
	} {
		l.NotMeasured(n.where, n.says, n.why)
	}
}

// ringLowerBound is theorem 2.2, and 2.1 for S.
func ringLowerBound(l *Lab) error {
	requests, tours, large := l.count(farRequests), l.count(idleTours), l.count(ringLarge)
	for _, alg := range []ring.Algorithm{ring.S, ring.Q, ring.D, ring.E} {
		run, err := ringcheck.FarRequests(alg, large, requests)
		if err != nil {
			return err
		}
		c := Claim{
			ID: fmt.Sprintf("ring-lower-messages/%v", alg), Source: "ring §2, theorem 2.2", Reading: "algorithm " + ringLetters[alg],
			Says: "any algorithm needs at least n − 1 messages a request", Quantity: fmt.Sprintf("messages a request, the far request in a ring of %d", large),
			Unit: Number, Holds: AtLeast(float64(large - 1)), Kind: ringKind(alg), Why: "the far request does not cost what the proof says.",
		}
		l.Row(c, []float64{run.PerRequest()})
		c.ID, c.Says = fmt.Sprintf("ring-lower-traffic/%v", alg), "any algorithm has a service traffic of at least n − 1"
		c.Quantity = fmt.Sprintf("messages delivered before the token comes, the far request in a ring of %d", large)
		l.Row(c, []float64{float64(run.WorstDelivered)})
	}
	run, err := ringcheck.IdleTours(large, tours)
	if err != nil {
		return err
	}
	l.Row(Claim{
		ID: "ring-s-idle", Source: "ring §2, theorem 2.1", Says: "S may need any number of messages, whatever the requests",
		Quantity: fmt.Sprintf("messages for one request after %d idle tours of a ring of %d", tours, large), Unit: Number, Holds: AtLeast(float64(tours * large)),
		Kind: Exhaustive,
		Why:  "the token does not move while nobody asks.",
	}, []float64{float64(run.Sent)})
	return nil
}

// ringDearest is messages a request.
func ringDearest(l *Lab) error {
	large := l.count(ringLarge)
	n := float64(large)
	for _, c := range []struct {
		id, source, says, run, why string
		alg                        ring.Algorithm
		holds                      Check
	}{
		{"ring-q-dearest", "ring §3, theorem 3.1", "Q needs at most n messages a request", "the far request", "", ring.Q, AtMost(n)},
		{
			"ring-d-dearest", "ring §4, theorem 4.1", "D needs at most 2n messages a request", "vain searches",
			"they are (5n − 4)/2, see ring-d-messages.", ring.D, AtMost(2 * n),
		},
		{"ring-e-dearest", fromNoPaper, "E needs at most 2n − 2 messages a request", "the near request", "", ring.E, AtMost(2*n - 2)},
	} {
		value, err := ringDearestOf(c.alg, large, l.count(ringRounds))
		if err != nil {
			return err
		}
		l.Row(Claim{
			ID: c.id, Source: c.source, Says: c.says, Quantity: fmt.Sprintf("messages a request in the long run, %s in a ring of %d", c.run, large),
			Unit: Number, Holds: c.holds, Kind: ringKind(c.alg), Why: c.why,
		}, []float64{value})
		l.Row(ringOptimum(c.alg, large, c.id, "messages a request, "+c.run), []float64{value / (n - 1)})
	}
	return nil
}

// ringOptimum is the claim that an algorithm is as good as any, but for a
// factor.
func ringOptimum(alg ring.Algorithm, large int, id, what string) Claim {
	c := Claim{
		ID: id + "-optimum", Source: "ring §1", Unit: Number, Holds: Reported(), Kind: ringKind(alg),
		Quantity: fmt.Sprintf("%s in a ring of %d, over the lower bound n − 1", what, large),
	}
	switch alg {
	case ring.Q:
		c.Says = "Q is nearly optimal in messages a request"
	case ring.D:
		c.Says = "D is optimal in messages and in service traffic, but for a constant factor"
	default:
		c.Source, c.Says = fromNoPaper, fmt.Sprintf("%s is optimal, but for a constant factor", ringLetters[alg])
	}
	return c
}

// ringLongest is service traffic.
func ringLongest(l *Lab) error {
	large := l.count(ringLarge)
	chase, err := ringcheck.Chasing(large)
	if err != nil {
		return err
	}
	n := float64(large)
	tight := ringBoundQ(n)
	fits := 0.0
	for n := 2.0; n <= float64(large); n++ {
		fits = max(fits, math.Abs(n*(n-1)+(n-2)*(n-1)/2-ringBoundQ(n)))
	}
	l.Row(Claim{
		ID: "ring-q-sum", Source: "ring §3, theorem 3.1", Says: "n(n − 1) + (n − 2)(n − 1)/2 is (3/2)n² − (5/2)n + 1",
		Quantity: fmt.Sprintf("largest difference, n from 2 to %d", large), Unit: Number, Holds: Exactly(0), Kind: Arithmetic, Why: "the sum is another one.",
	}, []float64{fits})
	l.Row(Claim{
		ID: "ring-q-longest", Source: "ring §3, theorem 3.1", Says: "Q's service traffic (3/2)n² − (5/2)n + 1 is tight",
		Quantity: fmt.Sprintf("messages delivered before the token comes, from a quiet ring of %d", large), Unit: Number, Holds: Exactly(tight), Kind: Corrected,
		Why: "the run does not attain it.",
	}, []float64{float64(chase.WorstDelivered)})
	for _, c := range []struct {
		id, source, says, reading, why string
		alg                            ring.Algorithm
		holds                          Check
	}{
		{"ring-q-longest/old", "ring §3, theorem 3.1", "Q's service traffic is at most (3/2)n²", "older requests under way", "it is 2n² − 3n + 1, see ring-q-traffic.", ring.Q, AtMost(1.5 * n * n)},
		{"ring-d-longest", "ring §4, theorem 4.1", "D's service traffic is at most 3n − 3", "older requests under way", "it is 3n − 2, see ring-d-traffic.", ring.D, AtMost(3*n - 3)},
		{"ring-e-longest", fromNoPaper, "E's service traffic is at most 3n − 3", "", "", ring.E, AtMost(3*n - 3)},
	} {
		value, err := ringLongestOf(c.alg, large)
		if err != nil {
			return err
		}
		l.Row(Claim{
			ID: c.id, Source: c.source, Says: c.says, Reading: c.reading, Why: c.why, Unit: Number, Holds: c.holds, Kind: ringKind(c.alg),
			Quantity: fmt.Sprintf("messages before the token comes in a ring of %d (Q: delivered; D, E: sent)", large),
		}, []float64{value})
		if c.alg != ring.Q { // whose service traffic the paper does not call optimal
			l.Row(ringOptimum(c.alg, large, c.id, "messages before the token comes"), []float64{value / (n - 1)})
		}
	}
	return nil
}
