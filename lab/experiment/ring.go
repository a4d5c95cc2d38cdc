package experiment

import (
	"errors"
	"fmt"

	"github.com/wandertoken/wander/lab/ringcheck"
	"github.com/wandertoken/wander/protocol/policy/ring"
)

// ErrRing says that in a random run two processors were inside at once, or one was
// never served.
var ErrRing = errors.New("experiment: the ring is not exclusive, or not live")

func ringExperiments() []Experiment {
	return []Experiment{
		{
			Name: "ring-exhaustive", Title: "All schedules of small rings", Source: "ring paper, theorems 2.1, 2.2, 3.1 and 4.1",
			Notes: ringExhaustiveNotes, Cheap: true, Run: ringExhaustive,
		},
		{
			Name: "ring-worst", Title: "The worst schedules of large rings", Source: "ring paper, theorems 2.1, 2.2, 3.1 and 4.1",
			Notes: ringWorstNotes, Cheap: true, Run: ringWorst,
		},
		{
			Name: "ring-random", Title: "Messages by size of the ring: bounds, worst runs, random runs", Source: "ring paper §1, §3, §4",
			Notes: ringRandomNotes, Run: ringRandom,
		},
	}
}

const ringExhaustiveNotes = `Every schedule of rings of 2 to 6 processors was tried, of any length; processors request again and again. So the numbers are
exact and no samples. ` + "`wander-lab ring`" + ` does the same for larger rings; up to 9 it continues every row.

A schedule begins with a quiet ring whose token rests at processor 0. ` + "`r2`" + ` is a request at processor 2. ` + "`d2`" + ` is the arrival of the first message
on the link from 2 to the next processor. ` + "`x2`" + ` is the end of 2's critical section.

*To the letter* Q and D fail. By default they are corrected as little as possible. A processor notes a request that arrives during its critical
section, and acts on it at the exit. A section that was entered because the token was there takes nothing from Q's counter, and at its exit, too,
the token moves on if it has to. D's search for a request ends after n − 1 hops. **E** is not in the paper: it is D without its two states, and
its token makes a tour of n − 1 hops from the last request on.

"Messages exchanged" between a request and its token may mean those sent or those delivered in that time, its own among them. The theorems hold
with the counting that the first row of each uses. The bounds are for each n; 100 % says that the largest quotient of number and bound is 1.`

// ringFacts is what exploring showed, by algorithm and size.
type ringFacts map[ring.Algorithm]map[int]*ringcheck.Report

// explore adds an algorithm.
func (f ringFacts) explore(l *Lab, alg ring.Algorithm) error {
	f[alg] = map[int]*ringcheck.Report{}
	for n := 2; n <= l.count(ringExplored); n++ {
		if err := l.Context().Err(); err != nil {
			return err
		}
		r, err := ringcheck.Check(ringcheck.Options{Algorithm: alg, Processors: n})
		if err != nil {
			return err
		}
		f[alg][n] = r
	}
	return nil
}

// share is the largest quotient of a number and its bound, over all sizes.
func (f ringFacts) share(alg ring.Algorithm, number func(*ringcheck.Report) float64, bound func(n float64) float64) float64 {
	most := 0.0
	for n, r := range f[alg] {
		most = max(most, number(r)/bound(float64(n)))
	}
	return most
}

// wrong is in how many sizes somebody is let in beside another, or never.
func (f ringFacts) wrong(alg ring.Algorithm) (count int) {
	for _, r := range f[alg] {
		if !r.Live() {
			count++
		}
	}
	return count
}

// restless is in how many sizes messages may travel for ever without a
// request.
func (f ringFacts) restless(alg ring.Algorithm) (count int) {
	for _, r := range f[alg] {
		if r.Circulation != nil {
			count++
		}
	}
	return count
}

func ringPerRequest(r *ringcheck.Report) float64 { return r.PerRequest.Value() }
func ringSent(r *ringcheck.Report) float64       { return float64(r.Traffic.Sent.Messages) }
func ringDelivered(r *ringcheck.Report) float64  { return float64(r.Traffic.Delivered.Messages) }
func ringQuietSent(r *ringcheck.Report) float64  { return float64(r.Traffic.QuietSent.Messages) }
func ringQuietDelivered(r *ringcheck.Report) float64 {
	return float64(r.Traffic.QuietDelivered.Messages)
}

// The bounds of the theorems.
func ringBoundN(n float64) float64    { return n }
func ringBoundQ(n float64) float64    { return 1.5*n*n - 2.5*n + 1 }
func ringBoundLax(n float64) float64  { return 1.5 * n * n }
func ringBoundTwoN(n float64) float64 { return 2 * n }
func ringBoundD(n float64) float64    { return 3*n - 3 }
func ringBoundE(n float64) float64    { return 2*n - 2 }

func ringExhaustive(l *Lab) error {
	f := ringFacts{}
	for _, alg := range []ring.Algorithm{ring.S, ring.Q, ring.D, ring.E, ring.QPublished, ring.DPublished} {
		if err := f.explore(l, alg); err != nil {
			return err
		}
	}
	f.served(l)
	f.messages(l)
	f.traffic(l)
	f.table(l)
	return ringOvertaking(l)
}

const ringSizes = "in rings of 2 to 6, all schedules"

// ringKind is what a statement about an algorithm is about: Q and D are run as
// corrected here.
func ringKind(alg ring.Algorithm) Kind {
	switch alg {
	case ring.Q, ring.D:
		return Corrected
	case ring.E:
		return Own
	}
	return Exhaustive
}

// served holds the statements about who is served against the schedules.
func (f ringFacts) served(l *Lab) {
	for _, c := range []struct {
		id, source, says, reading, why string
		alg                            ring.Algorithm
	}{
		{"ring-s-serves", "ring §1, §2", "a solution has to be fair, granting each request; S is one", "", "", ring.S},
		{"ring-q-serves", "ring §3, theorem 3.1", "Q serves all requests", "", "", ring.Q},
		{
			"ring-q-serves/letter", "ring §3, theorem 3.1", "Q serves all requests", "to the letter",
			"rule 2 passes the token on during a critical section: `r0 r1 d1 d0` puts both of two processors inside. " +
				"Even without that, rule 1 does not say that the token leaves after a section: `r0 r1 d1 x0` is a deadlock.", ring.QPublished,
		},
		{"ring-d-serves", "ring §4, theorem 4.1", "D serves all requests", "", "", ring.D},
		{
			"ring-d-serves/letter", "ring §4, theorem 4.1", "D serves all requests", "to the letter",
			"as with Q: `r0 r1 d1 d0` and `r0 r1 d1 x0`.", ring.DPublished,
		},
		{"ring-e-serves", fromNoPaper, "E serves all requests", "", "", ring.E},
	} {
		l.Row(Claim{
			ID: c.id, Source: c.source, Says: c.says, Reading: c.reading, Unit: Number, Holds: Exactly(0), Kind: ringKind(c.alg), Why: c.why,
			Quantity: "sizes with two inside at once, or somebody who waits for ever, " + ringSizes,
		}, []float64{float64(f.wrong(c.alg))})
	}
}

// messages holds the numbers of messages a request against the schedules.
func (f ringFacts) messages(l *Lab) {
	unbounded := "sizes in which messages can travel for ever without a request, " + ringSizes
	for _, c := range []struct {
		id, source, says, reading, why string
		holds                          Check
		alg                            ring.Algorithm
	}{
		{"ring-s-messages", "ring §2, theorem 2.1", "S may need any number of messages, whatever the requests", "", "", Exactly(float64(l.count(ringExplored) - 1)), ring.S},
		{"ring-q-bounded", "ring §1", "Q needs a bounded number of messages a request", "", "", Exactly(0), ring.Q},
		{"ring-d-bounded", "ring §1", "D needs a bounded number of messages a request", "", "", Exactly(0), ring.D},
		{
			"ring-d-bounded/letter", "ring §1", "D needs a bounded number of messages a request", "to the letter",
			"nothing ends a search: a token that was woken by a request that is already served goes round for ever, `r1 d1 r0 d0 x1 d0 d1 x0 d1 d0`.",
			Exactly(0), ring.DPublished,
		},
	} {
		l.Row(Claim{
			ID: c.id, Source: c.source, Says: c.says, Reading: c.reading, Quantity: unbounded, Unit: Number, Holds: c.holds, Kind: ringKind(c.alg), Why: c.why,
		}, []float64{float64(f.restless(c.alg))})
	}
	f.shares(l, []ringShare{
		{"ring-q-messages", "ring §3, theorem 3.1", "Q needs at most n messages a request", "messages a request / n", "", "", ring.Q, ringPerRequest, ringBoundN},
		{
			"ring-d-messages", "ring §4, theorem 4.1", "D needs at most 2n messages a request", "messages a request / 2n", "",
			"they are (5n − 4)/2, more than 2n from n = 5 on. The proof overlooks that a request served while its message is still in transit sends the token on a search for a member that no longer waits, " +
				"and that a message may travel nearly two rounds while the token moves ahead of it.", ring.D, ringPerRequest, ringBoundTwoN,
		},
		{"ring-e-messages", fromNoPaper, "E needs at most D's 2n messages a request", "messages a request / 2n", "", "", ring.E, ringPerRequest, ringBoundTwoN},
		{"ring-e-messages/tight", fromNoPaper, "E needs at most 2n − 2 messages a request", "messages a request / (2n − 2)", "tighter", "", ring.E, ringPerRequest, ringBoundE},
	})
}

// traffic holds the service traffic against the schedules.
func (f ringFacts) traffic(l *Lab) {
	const (
		q   = "ring §3, theorem 3.1"
		d   = "ring §4, theorem 4.1"
		own = fromNoPaper
	)
	old := "they are 2n² − 3n + 1. The proof counts only messages of requests that come after the one that waits; requests made before, and served while their messages are still under way, add to them."
	f.shares(l, []ringShare{
		{"ring-q-traffic", q, "Q's service traffic is at most (3/2)n² − (5/2)n + 1", "delivered from a quiet ring / that", "", "", ring.Q, ringQuietDelivered, ringBoundQ},
		{"ring-q-traffic/sent", q, "Q's service traffic is at most (3/2)n² − (5/2)n + 1", "sent from a quiet ring / that", "messages sent",
			"they are (3/2)n² − (3/2)n: those that are still under way when the token comes count as well.", ring.Q, ringQuietSent, ringBoundQ},
		{"ring-q-traffic/old", q, "Q's service traffic is at most (3/2)n² − (5/2)n + 1", "delivered / that", "older requests under way", old, ring.Q, ringDelivered, ringBoundQ},
		{"ring-q-lax", q, "Q's service traffic is at most (3/2)n²", "delivered from a quiet ring / that", "", "", ring.Q, ringQuietDelivered, ringBoundLax},
		{"ring-q-lax/old", q, "Q's service traffic is at most (3/2)n²", "delivered / that", "older requests under way", old + " From n = 6 on that is more than (3/2)n².", ring.Q, ringDelivered, ringBoundLax},
		{"ring-d-traffic", d, "D's service traffic is at most 3n − 3", "sent from a quiet ring / that", "", "", ring.D, ringQuietSent, ringBoundD},
		{"ring-d-traffic/old", d, "D's service traffic is at most 3n − 3", "sent / that", "older requests under way",
			"it is 3n − 2: a processor that asks just after the token left it on a check tour sees the tour end one short, and one message more wakes the token.", ring.D, ringSent, ringBoundD},
		{"ring-e-traffic", own, "E's service traffic is at most D's 3n − 3", "sent / that", "", "", ring.E, ringSent, ringBoundD},
		{"ring-e-traffic/delivered", own, "E's service traffic is at most D's 3n − 3", "delivered / that", "messages delivered",
			"it is 3n − 2: messages sent before the request may still arrive after it.", ring.E, ringDelivered, ringBoundD},
	})
}

// ringShare is a claim about a quotient of number and bound.
type ringShare struct {
	id, source, says, quantity, reading, why string
	alg                                      ring.Algorithm
	number                                   func(*ringcheck.Report) float64
	bound                                    func(n float64) float64
}

func (f ringFacts) shares(l *Lab, claims []ringShare) {
	for _, c := range claims {
		l.Row(Claim{
			ID: c.id, Source: c.source, Says: c.says, Reading: c.reading, Why: c.why,
			Quantity: fmt.Sprintf("largest quotient %s, %s", c.quantity, ringSizes), Unit: Share, Holds: AtMost(1), Kind: ringKind(c.alg),
		}, []float64{f.share(c.alg, c.number, c.bound)})
	}
}

// table is all numbers.
func (f ringFacts) table(l *Lab) {
	header := []string{
		"algorithm", "processors", "states", "steps", "live", "messages_per_request",
		"traffic_sent", "traffic_delivered", "traffic_sent_quiet", "traffic_delivered_quiet",
	}
	var rows [][]string
	for _, alg := range []ring.Algorithm{ring.S, ring.Q, ring.D, ring.E, ring.QPublished, ring.DPublished} {
		for n := 2; n <= l.count(ringExplored); n++ {
			r := f[alg][n]
			row := []string{alg.String(), fmt.Sprint(n), fmt.Sprint(r.States), fmt.Sprint(r.Steps), fmt.Sprint(r.Live())}
			if !r.Live() {
				rows = append(rows, append(row, "", "", "", "", ""))
				continue
			}
			row = append(row, r.PerRequest.String())
			for _, m := range r.Traffic.Each() {
				row = append(row, fmt.Sprint(m.Messages))
			}
			rows = append(rows, row)
		}
	}
	l.Table("ring-exhaustive", header, rows)
}

// ringOvertaking is what the links have to be.
func ringOvertaking(l *Lab) error {
	n := l.count(overtakenRing)
	for _, c := range []struct {
		id, reading, why string
		overtaking       ringcheck.Overtaking
	}{
		{"ring-links", "", "", ringcheck.FIFO},
		{
			"ring-links/request-first", "a request may overtake the token",
			"Q's token then goes round for ever; D's and E's rests while somebody waits. Token and requests have to keep their order on each link, which the paper does not say.",
			ringcheck.RequestFirst,
		},
		{"ring-links/token-first", "the token may overtake a request", "", ringcheck.TokenFirst},
	} {
		failing := 0.0
		for _, alg := range []ring.Algorithm{ring.Q, ring.D, ring.E} {
			r, err := ringcheck.Check(ringcheck.Options{Algorithm: alg, Processors: n, Overtaking: c.overtaking, Backlog: l.count(overtakenBacklog)})
			if err != nil {
				return err
			}
			if !r.Live() || r.Circulation != nil {
				failing++
			}
		}
		l.Row(Claim{
			ID: c.id, Source: "ring §2", Says: "processors share no clock and run at any speed; of links nothing is said", Reading: c.reading, Why: c.why, Unit: Number, Holds: Exactly(0), Kind: Corrected,
			Quantity: "of Q, D and E, those that fail in a ring of 3, all schedules with at most 2 requests beside the token on a link",
		}, []float64{failing})
	}
	return nil
}
