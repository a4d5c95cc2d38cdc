package experiment

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/lab/figure"
	"github.com/wandertoken/wander/sim/circulation"
)

// losses is how many transients figure 4 shows.
const losses = 100

// closeSpacing is how long after a recovery the next loss comes in the reading of
// close losses.
const closeSpacing = 2 * reportMax

// transient is a system whose recoveries are measured.
type transient struct {
	id, text string
	members  int
	until    stabilised
	change   func(*setting)
	spacing  time.Duration // from a recovery to the next loss; 0: lossSpacing
}

func (t transient) runs(l *Lab) ([]*recoveries, error) {
	s := reportStudy(t.members)
	if t.change != nil {
		t.change(&s)
	}
	if t.spacing == 0 {
		t.spacing = l.span(lossSpacing)
	}
	return Gather(l, func(seed uint64) (*recoveries, error) { return t.recover(l, s, seed) })
}

// recover runs a group through the losses of figure 4: each time all tokens
// are lost.
func (t transient) recover(l *Lab, s setting, seed uint64) (*recoveries, error) {
	s.Seed = seed
	w, err := circulation.New(s.Config)
	if err != nil {
		return nil, err
	}
	patience, look := l.span(lossPatience), l.span(lossLook)
	r := newRecoveries(t.until, patience)
	w.Observe(r)
	for range losses {
		w.Run(w.Now().Add(t.spacing))
		for r.armed = true; r.armed && w.Err() == nil; {
			loseTokens(w, l.span(lossStep))
		}
		for r.recovering() && w.Now().Sub(r.lost) < patience && w.Err() == nil {
			w.Run(w.Now().Add(look))
		}
		r.giveUp()
	}
	return r, w.Err()
}

// loseTokens loses what is passed next, a pass for each token, and waits for so
// long at most. Those that are removed instead are no reason to lose others later.
func loseTokens(w *circulation.Simulation, wait time.Duration) {
	tokens, before := w.Tokens(), w.Stats().Lost
	w.LosePass(tokens)
	w.Run(w.Now().Add(wait))
	w.LosePass(-(tokens - int(w.Stats().Lost-before)))
}

const reportFig4Notes = `In the settled groups of figure 2 all tokens are lost, 100 times, each time 50,000 units after the last recovery. The text does
not say how far apart its losses are. Δgen loses 5 % of its excess at each visit, and each of 300 members is visited every 720 units. 3 %
of the excess is then left, so that losses are nearly independent of each other. With *losses 3600 units apart* nearly four fifths are
left, and the timeouts that one loss leaves behind decide the next recovery. With 10,000, which is what 100 losses in a run of 10⁶ units come
to, half is left (*loss spacing* in [constants.csv](data/constants.csv)).

The text does not define when a system has stabilised. Here it has if *exactly one token exists, and it has lived for Δmin*; members that
were visited before the loss then have no reason to remove it. Two readings are stricter: the token *has lived for Δmax*, or it *has been
alone for Δmin*. A group of 300 is seldom in the latter state even without losses, because a spurious token appears about every 70 s. The
length of a transient is the time from the loss. A recovery that takes longer than 200 000 units is given up and counts as infinite. An interval
between operations belongs to the stabilisation if it ends in it; another reading takes all intervals of which a part is in it. Of shares
that are plain numbers, everything within a fifth counts. "Approx 20000" is reproduced by what rounds to it. 0.015 % is a rare event;
everything from a third to three times as much counts.`

// whyAdaptation is why the rows about adaptive timeouts do not hold.
const whyAdaptation = "after an independent loss all members wait for Δmax. Tokens that are made soon are removed by members that the lost one has " +
	"visited within Δmin, adaptive or not; but a member that made one in vain waits half as long again for the next, so that each further attempt takes longer. " +
	"Only where losses follow each other closely are timeouts still long, and spread, from the last one: then few make a token at a time, and half of the " +
	"transients are much shorter, the longest ones longer."

// The definitions of being stabilised.
var (
	survivor  = stabilised{age: reportMin}
	veteran   = stabilised{age: reportMax}
	undivided = stabilised{alone: reportMin}
)

var reportTransients = []transient{
	{members: reportMembers, until: survivor},
	{members: reportOverload, until: survivor},
	{id: "/not-adaptive", text: "Δgen = Δmax", members: reportMembers, until: survivor, change: keepTimeout},
	{id: "/not-adaptive", text: "Δgen = Δmax", members: reportOverload, until: survivor, change: keepTimeout},
	{id: "/close", text: "losses 3600 units apart", members: reportMembers, until: survivor, spacing: closeSpacing},
	{id: "/close", text: "losses 3600 units apart", members: reportOverload, until: survivor, spacing: closeSpacing},
	{id: "/lived-max", text: "the token has lived for Δmax", members: reportMembers, until: veteran},
	{id: "/lived-max", text: "the token has lived for Δmax", members: reportOverload, until: veteran},
	{id: "/alone", text: "the token has been alone for Δmin", members: reportMembers, until: undivided},
	{id: "/generator-rests", text: "a generator passes its token on", members: reportMembers, until: survivor, change: rest},
	{id: "/generator-rests", text: "a generator passes its token on", members: reportOverload, until: survivor, change: rest},
}

// neededTransients are those of the plain rows.
const neededTransients = 4

func reportFig4(l *Lab) error {
	shown := map[string][]*recoveries{}
	all := reportTransients
	if l.sweeping() {
		all = all[:neededTransients]
	}
	for _, t := range all {
		runs, err := t.runs(l)
		if err != nil {
			return err
		}
		shown[fmt.Sprint(t.members, t.id)] = runs
		reportRecoveryRows(l, t, runs)
		if t.members == reportMembers {
			reportNominalRows(l, t, runs)
		} else {
			reportOverloadRows(l, t, runs)
		}
	}
	if err := reportAdaptation(l, shown); err != nil {
		return err
	}
	if !l.sweeping() {
		reportFig4Files(l, shown)
	}
	if err := reportStableComparison(l, shown); err != nil {
		return err
	}
	return reportDomino(l)
}

// reportRecoveryRows are the lengths of the transients.
func reportRecoveryRows(l *Lab, t transient, runs []*recoveries) {
	size := fmt.Sprintf(", %d members", t.members)
	row := func(c Claim, q float64) {
		c.ID, c.Unit, c.Reading = fmt.Sprintf("%s-%d%s", c.ID, t.members, t.id), Seconds, t.text
		if c.Holds.kind == 0 {
			c.Holds = Reported()
		}
		l.Row(c, column(runs, func(r *recoveries) float64 { return r.quantile(q) }))
	}
	row(Claim{ID: "report-recovery", Source: "report §5, figure 4", Says: "the length of the transient is relevant", Quantity: "median transient" + size}, 0.5)
	row(Claim{ID: "report-recovery-p90", Source: "report §5, figure 4", Says: "its distribution is dispersed", Quantity: "90th percentile" + size}, 0.9)
	row(Claim{
		ID: "report-recovery-hours", Source: "report §6", Says: "the transient may take several hours",
		Quantity: "longest of 100 transients" + size + "; several are two or more", Holds: AtLeast(7200).ours(),
		Why: "the first token made after a loss often stays.",
	}, 1)
}

func reportNominalRows(l *Lab, t transient, runs []*recoveries) {
	c := Claim{
		ID: "report-recovery-overlap-nominal" + t.id, Source: "report §5", Says: "stabilising, 150 members: more than one at once 3 % of the time",
		Quantity: "share of time of stabilisation with 2 operations or more, 150 members", Reading: t.text, Unit: Share, Holds: About(0.03, 0.2),
		Why: "after an independent loss more members make a token at the same time than after a close one, which leaves their timeouts spread; without adaptation " +
			"they make tokens again and again as long as none stays.",
	}
	l.Row(c, column(runs, func(r *recoveries) float64 { return r.share(1) }))
	reportLongRows(l, t, runs, "nominal")
}

func reportOverloadRows(l *Lab, t transient, runs []*recoveries) {
	l.Row(Claim{
		ID: "report-recovery-overlap-overload" + t.id, Source: "report §5", Says: "stabilising, 300 members: more than one at once 9 % of the time",
		Quantity: "share of time of stabilisation with 2 operations or more, 300 members", Reading: t.text, Unit: Share, Holds: About(0.09, 0.2),
		Why: "most of a long transient passes without any token, while grown timeouts run: that dilutes the overlap. Without adaptation there is " +
			"no such time, and twice the overlap; the paper's figure is between the two.",
	}, column(runs, func(r *recoveries) float64 { return r.share(1) }))
	l.Row(Claim{
		ID: "report-recovery-more-than-5" + t.id, Source: "report §5", Says: "stabilising, 300 members: more than 5 at once 0.015 % of the time",
		Quantity: "share of time of stabilisation with more than 5 operations, 300 members", Reading: t.text, Unit: Share, Holds: Between(0.00015/3, 0.00015*3),
		Why: "with adaptation few members make a token at the same time, without it nearly all do; the paper's figure is between the two.",
	}, column(runs, func(r *recoveries) float64 { return r.share(5) }))
	reportLongRows(l, t, runs, "overload")
}

// reportLongRows are the claims about the times between operations while the
// group stabilises.
func reportLongRows(l *Lab, t transient, runs []*recoveries, name string) {
	long := Claim{
		ID: "report-recovery-long-" + name + t.id, Source: "report §5", Says: "stabilising, overload: almost 15 % of the intervals are longer than 3000",
		Quantity: "share of times between operations above 3000 s, " + membersText(t.members), Reading: t.text, Unit: Share, Holds: Between(0.12, 0.15),
		Why: "the share is that of the time in which grown timeouts run without any token. Without adaptation there is none; with it, the share grows " +
			"with the number of members that make tokens and so lengthen their timeouts. With adaptation, 150 members come closest.",
	}
	if t.members == reportMembers {
		long.ID = "report-recovery-long-overload" + t.id + "/150"
		long.Reading = joinReadings(t.text, "150 members, where the text has overload")
	}
	l.Row(long, column(runs, func(r *recoveries) float64 { return r.intervals.ShareAbove(5 * reportMin) }))
	if t.id == "" {
		long.ID, long.Reading = long.ID+"/touching", joinReadings(long.Reading, "intervals of which a part is in the transient")
		l.Row(long, column(runs, func(r *recoveries) float64 { return r.touching.ShareAbove(5 * reportMin) }))
	}
	l.Row(Claim{
		ID: "report-recovery-concentrated-" + name + t.id, Source: "report §5", Says: "stabilising: most intervals are concentrated about Δmin",
		Quantity: "share of times between operations below 2·Δmin, " + membersText(t.members), Reading: t.text, Unit: Share, Holds: AtLeast(0.5),
		Why: "an interval that a loss interrupts is as long as the loss lasts.",
	}, column(runs, func(r *recoveries) float64 { return r.intervals.ShareBelow(2 * reportMin) }))
}

// reportAdaptation are the claims of §4.1: what the adaptive timeout is for.
func reportAdaptation(l *Lab, shown map[string][]*recoveries) error {
	median := func(r *recoveries) float64 { return r.quantile(0.5) }
	c := Claim{
		Source: "report §4.1, figure 4", Says: "near N = Δmax/Δop, without adaptation, recovery takes approx 20000", Unit: Seconds,
		Holds: Between(15_000, 25_000), Why: "each time most members make a token at the same moment, and each removes the others': the more members, the longer.",
	}
	c.ID, c.Quantity = "report-unstable", "median transient with Δgen = Δmax, 300 members"
	l.Row(c, column(shown["300/not-adaptive"], median))
	near, err := transient{members: 450, until: survivor, change: keepTimeout}.runs(l)
	if err != nil {
		return err
	}
	c.ID, c.Quantity, c.Reading = "report-unstable/450", "median transient with Δgen = Δmax, 450 members", "450 = Δmax/Δop members"
	l.Row(c, column(near, median))
	for _, n := range []int{reportMembers, reportOverload} {
		without := shown[fmt.Sprint(n, "/not-adaptive")]
		reportAdaptationRows(l, n, transient{}, shown[fmt.Sprint(n)], without)
		if close := shown[fmt.Sprint(n, "/close")]; close != nil {
			reportAdaptationRows(l, n, transient{id: "/close", text: "losses 3600 units apart"}, close, without)
		}
	}
	return nil
}

// reportAdaptationRows compare adaptive timeouts with constant ones.
func reportAdaptationRows(l *Lab, n int, reading transient, with, without []*recoveries) {
	for _, q := range []struct {
		name, text string
		q          float64
	}{{"", "median", 0.5}, {"-p90", "90th percentile", 0.9}} {
		l.Row(Claim{
			ID: fmt.Sprintf("report-adaptation%s-%d%s", q.name, n, reading.id), Source: "report §4.1", Says: "adaptation helps greatly under overload",
			Quantity: fmt.Sprintf("%s of the transients, adaptive over not, %d members", q.text, n), Reading: reading.text,
			Unit: Number, Holds: AtMost(1).trend(), Why: whyAdaptation,
		}, ratio(quantilesOf(with, q.q), quantilesOf(without, q.q)))
	}
}

func quantilesOf(runs []*recoveries, q float64) []float64 {
	return column(runs, func(r *recoveries) float64 { return r.quantile(q) })
}

// reportStableComparison holds stabilisation against stable operation.
func reportStableComparison(l *Lab, shown map[string][]*recoveries) error {
	overlap := func(r *recoveries) float64 { return r.share(1) }
	for _, n := range []int{reportMembers, reportOverload} {
		stable, err := reportReadings[0].run(l, n)
		if err != nil {
			return err
		}
		runs := shown[fmt.Sprint(n)]
		c := Claim{Source: "report §5", Unit: Number}
		c.ID, c.Says = fmt.Sprintf("report-recovery-comparable-%d", n), "time with more than one at once is comparable with that in stable operation"
		c.Quantity, c.Holds = fmt.Sprintf("share with 2 or more, stabilising over stable, %d members; comparable is within a factor of 2", n), Between(0.5, 2)
		c.Why = "the paper's own figures are 3 % and less than 0.5 %."
		l.Row(c, ratio(column(runs, overlap), column(stable, moreThan(1))))
		if n == reportOverload {
			reportLikeOverload(l, ratio(column(shown[fmt.Sprint(reportMembers)], overlap), column(stable, moreThan(1))))
		}
		c.ID, c.Says = fmt.Sprintf("report-recovery-tail-%d", n), "its distribution has a longer tail than in stable operation"
		c.Quantity, c.Holds = fmt.Sprintf("share with more than 2, stabilising over stable, %d members", n), AtLeast(1).trend()
		c.Why = "tokens that several members make at once are removed within a few hops."
		l.Row(c, ratio(column(runs, func(r *recoveries) float64 { return r.share(2) }), column(stable, moreThan(2))))
		c.ID, c.Says = fmt.Sprintf("report-recovery-dispersion-%d", n), "the dispersion of the intervals is higher than in stable operation"
		c.Quantity, c.Holds = fmt.Sprintf("90th less 10th percentile of the intervals, stabilising over stable, %d members", n), AtLeast(1).trend()
		c.Why = "losses are repaired at once."
		l.Row(c, ratio(
			column(runs, func(r *recoveries) float64 { return dispersion(r.intervals) }),
			column(stable, func(o *outcome) float64 { return dispersion(o.Operations) })))
	}
	return nil
}

// reportLikeOverload compares a nominal group that stabilises with a stable
// overloaded one.
func reportLikeOverload(l *Lab, samples []float64) {
	l.Row(Claim{
		ID: "report-recovery-like-overload", Source: "report §6", Says: "while it stabilises, a nominal group is like an overloaded one",
		Quantity: "share with 2 or more, 150 members stabilising over 300 stable; like is within a factor of 2", Unit: Number, Holds: Between(0.5, 2),
		Why: "the paper simplifies: its own figures are 3 % and 10 %.",
	}, samples)
}

func dispersion(h *circulation.Histogram) float64 {
	return (h.Quantile(0.9) - h.Quantile(0.1)).Seconds()
}

// reportDomino is about §4: how safe a regenerated token is.
func reportDomino(l *Lab) error {
	line := figure.Line{Style: figure.Points}
	for _, n := range []int{45, 90, 150, 225, 300, 450} {
		if l.sweeping() && n != 90 && n != reportMembers {
			continue // what has no limit
		}
		runs, err := transient{members: n, until: survivor}.runs(l)
		if err != nil {
			return err
		}
		ratio := 4 * float64(n) / reportMax.Seconds()
		vanishing := column(runs, (*recoveries).vanishing)
		line.Points = append(line.Points, [2]float64{ratio, middle(vanishing)})
		c := Claim{
			ID: fmt.Sprintf("report-domino-%d", n), Source: "report §4", Says: "where Δop·N/Δmax is around 0.2, the new token is seldom removed",
			Quantity: fmt.Sprintf("share of recoveries in which all tokens were removed again, Δop·N/Δmax = %.2g; small is less than 10 %%", ratio),
			Unit:     Share, Holds: Reported(), Why: "members that were visited shortly before the loss remove it.",
		}
		if n == 90 {
			c.Holds = AtMost(0.1).ours()
		}
		l.Row(c, vanishing)
		if n == 90 || n == reportMembers {
			l.Row(Claim{
				ID: fmt.Sprintf("report-late-generation-%d", n), Source: "report §4", Says: "a first token made later than Δmin after the loss persists",
				Quantity: fmt.Sprintf("share of them that remained, %d members", n), Unit: Share, Holds: Exactly(1),
				Why: "a member that ran under the lost token while it was being lost still remembers it.",
			}, column(runs, (*recoveries).surviving))
		}
	}
	l.Plot("report-domino", figure.Plot{
		Title: "Recoveries in which all tokens are removed again",
		X:     figure.Axis{Label: "Δop·N/Δmax"}, Y: figure.Axis{Label: "share of recoveries", Min: 0, Max: 1},
		Lines: []figure.Line{line},
	})
	return nil
}

// reportFig4Files draws the distribution of the lengths.
func reportFig4Files(l *Lab, shown map[string][]*recoveries) {
	p := figure.Plot{
		Title: "Length of the stabilisation after a loss", Legend: figure.BottomRight,
		X: figure.Axis{Label: "time units", Log: true, Min: 1000, Max: 200_000}, Y: figure.Axis{Label: "share of transients that are shorter", Min: 0, Max: 1},
	}
	header, rows := []string{"system", "quantile", "length median", "length p5", "length p95"}, [][]string(nil)
	for _, c := range []struct {
		key, name string
		dashed    bool
	}{
		{"150", "150 members", false}, {"300", "300 members", false},
		{"150/not-adaptive", "150 members, Δgen = Δmax", true}, {"300/not-adaptive", "300 members, Δgen = Δmax", true},
		{"300/close", "300 members, losses 3600 units apart", false},
	} {
		line := figure.Line{Name: c.name, Dashed: c.dashed}
		for q := 0; q <= losses; q += 2 {
			at := float64(q) / losses
			r := newRow(Claim{}, quantilesOf(shown[c.key], at))
			line.Points = append(line.Points, [2]float64{r.Median, at})
			rows = append(rows, []string{c.name, cellOf(at), cellOf(r.Median), cellOf(r.P5), cellOf(r.P95)})
		}
		p.Lines = append(p.Lines, line)
	}
	l.Plot("report-fig4", p)
	l.Table("report-fig4", header, rows)
}
