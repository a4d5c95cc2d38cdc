package experiment

import "time"

const reportFig2Notes = `150 members (nominal) and 300 (overload), 10⁶ time units, Δskip = 1, Δop = 4, Δmin = 600, Δmax = 1800. Handoffs take no time, no
token is lost, and there is one token at the beginning. Spurious tokens appear all the same: a member that is not visited for Δgen
generates one. These readings answer what the text leaves open:

- a generator runs the operation under its token (default), or *passes its token on*; the pseudo-code does the latter, but does not work;
- these runs have adaptive timeouts (default), or *Δgen = Δmax*; the text introduces adaptation after the algorithm and before the results;
- a run begins with one token (default), or with *no token at first*: all members then generate one at Δmax, measured from the start or after 10⁵ units;
- Δmin is table 1's number (default), or what its formula gives;
- of two tokens the older one survives within Δmin of the last operation, as the prose says (default), or figure 1 is taken *literally*.

Of shares that the paper gives as plain numbers, everything within a fifth counts, but no more than 5 points off (40 % is 35 % to
45 %, as in the journal paper's rows). The 8 time units with more than 5 operations are a rare event in one run; everything from a third
to three times as many counts.`

// reportOverlap is what readings give for a claim about concurrency, and why.
const reportOverlapWhy = "the overlap at overload is due to members that are not visited for Δgen and make a token although one exists: " +
	"how many do, and whether they run under it, is what the readings differ in."

// reportRandomWhy is why random access overlaps more often than the paper says.
const reportRandomWhy = "what the paper says of random access determines the result: members that run for 4 units every 600 to 900 overlap by the binomial law, " +
	"47.6 % of the time. With a mean of 870 units in place of 750 both published numbers would come out, 40 % here and 15 % with 150 members."

func reportFig2(l *Lab) error {
	var curves []curve
	for _, n := range []int{reportMembers, reportOverload} {
		free, err := reportBenchmark(n).runs(l)
		if err != nil {
			return err
		}
		token, err := reportReadings[0].run(l, n)
		if err != nil {
			return err
		}
		reportBenchmarkRows(l, n, free, token)
		curves = append(curves, curve{"wandering token, " + membersText(n), token, false}, curve{"benchmark, " + membersText(n), free, true})
	}
	l.shares("report-fig2", curves)
	for _, r := range reportReadings {
		nominal, err := r.run(l, reportMembers)
		if err != nil {
			return err
		}
		over, err := r.run(l, reportOverload)
		if err != nil {
			return err
		}
		reportOverlapRows(l, r, nominal, over)
	}
	return nil
}

func membersText(n int) string {
	if n == reportMembers {
		return "150 members"
	}
	return "300 members"
}

// reportBenchmarkRows are the claims about random access, and about how the
// token compares with it.
func reportBenchmarkRows(l *Lab, n int, free, token []*outcome) {
	name, overlap := "nominal", Claim{
		Says: "random access, 150 members: more than one at once in more than 15 % of the time", Holds: AtLeast(0.15),
	}
	if n == reportOverload {
		name, overlap = "overload", Claim{
			Says: "random access, 300 members: two or more at once in 40 % of the time", Holds: Between(0.35, 0.45),
		}
	}
	overlap.ID, overlap.Source, overlap.Unit = "report-random-"+name, "report §5, figure 2", Share
	overlap.Quantity, overlap.Why = "share of time with 2 operations or more", reportRandomWhy
	l.Row(overlap, column(free, moreThan(1)))
	falling := Claim{
		Unit: Number, Holds: AtMost(1).trend(), Quantity: "fall from 2 to 3 over fall from 1 to 2, " + membersText(n),
		Why: "spurious tokens come in bunches.",
	}
	falling.ID, falling.Source = "report-random-falls-"+name, "report §2, figure 2"
	falling.Says = "random access: time with more than one falls exponentially with their number"
	l.Row(falling, column(free, falls))
	falling.ID, falling.Source = "report-falls-"+name, "report §1, requirement 1"
	falling.Says = "the probability that more than one is enabled falls exponentially in their number"
	l.Row(falling, column(token, falls))
	l.Row(Claim{
		ID: "report-improvement-" + name, Source: "report §5, figure 2", Says: "the improvement over random access is evident",
		Quantity: "share of time with 2 or more, token over random access, " + membersText(n), Unit: Share, Holds: AtMost(1).trend(), Why: reportOverlapWhy,
	}, ratio(column(token, moreThan(1)), column(free, moreThan(1))))
}

// reportOverlapRows are the claims about concurrency of one reading.
func reportOverlapRows(l *Lab, r reportReading, nominal, over []*outcome) {
	const source, two = "report §5, figure 2", "share of time with 2 operations or more, "
	row := func(c Claim, samples []float64) {
		if c.Unit = Share; c.Why == "" {
			c.Why = reportOverlapWhy
		}
		l.Row(r.claim(c), samples)
	}
	row(Claim{
		ID: "report-overlap-nominal", Source: source, Says: "150 members: more than one at once in less than 0.5 % of the time",
		Quantity: two + "150 members", Holds: AtMost(0.005),
	}, column(nominal, moreThan(1)))
	row(Claim{
		ID: "report-overlap-percent", Source: "report §6", Says: "150 members: two or more are rarer than 1 % of the time",
		Quantity: two + "150 members", Holds: AtMost(0.01),
	}, column(nominal, moreThan(1)))
	row(Claim{
		ID: "report-overlap-overload", Source: source, Says: "300 members: two or more in 10 % of the time",
		Quantity: two + "300 members", Holds: About(0.1, 0.2),
	}, column(over, moreThan(1)))
	row(Claim{
		ID: "report-more-than-3", Source: "report §6", Says: "300 members: more than 3 at once are rare",
		Quantity: "share of time with more than 3 operations, 300 members", Holds: Reported(),
	}, column(over, moreThan(3)))
	row(Claim{
		ID: "report-more-than-5", Source: source, Says: "300 members: more than 5 at once in 8 of 10⁶ time units, 0.0008 %",
		Quantity: "share of time with more than 5 operations, 300 members", Holds: Between(8e-6/3, 8e-6*3),
		Why: "they belong to the beginning: members that start together reach their first timeout together. Later there are none.",
	}, column(over, moreThan(5)))
	row(Claim{
		ID: "report-idle-nominal", Source: source, Says: "no number: how often nobody operates",
		Quantity: "share of time with no operation, 150 members", Holds: Reported(),
	}, column(nominal, exactly(0)))
	row(Claim{
		ID: "report-idle-overload", Source: source, Says: "no number: how often nobody operates",
		Quantity: "share of time with no operation, 300 members", Holds: Reported(),
	}, column(over, exactly(0)))
	row(Claim{
		ID: "report-one-token", Source: "report §1, §5", Says: "there is nearly always just one token",
		Quantity: "share of time with 1 token, 150 members", Holds: Reported(),
	}, column(nominal, func(o *outcome) float64 { return o.TokensAlive(1) }))
}

const reportFig3Notes = `The runs of figure 2. The time between two operations of one member is from begin to begin; §6 calls it access to the
backbone. The text has 9 intervals longer than 3000 "over 10⁹". A run of 10⁶ time units has about 2·10⁵ intervals, so this is read as 9
in a run; everything from a third to three times as many counts.`

func reportFig3(l *Lab) error {
	var curves []curve
	for _, r := range reportReadings {
		if r.literal || r.warm > 0 {
			continue // figure 2 shows what they are like
		}
		nominal, err := r.run(l, reportMembers)
		if err != nil {
			return err
		}
		over, err := r.run(l, reportOverload)
		if err != nil {
			return err
		}
		reportIntervalRows(l, r, nominal, over)
		if r.id == "" {
			curves = []curve{{"150 members", nominal, false}, {"300 members", over, false}}
		}
	}
	if err := reportSaturation(l, curves); err != nil {
		return err
	}
	free, err := reportBenchmark(reportMembers).runs(l)
	if err != nil {
		return err
	}
	const source = "report §3"
	l.Row(Claim{
		ID: "report-comparable", Source: source, Says: "the intervals are distributed comparably with those of random access",
		Quantity: "median interval, token over random access, 150 members; comparable is within a factor of 2", Unit: Number, Holds: Between(0.5, 2),
		Why: "the token is late for members that the walk leaves out for long.",
	}, ratio(column(curves[0].runs, spans(operations).quantile(0.5)), column(free, spans(operations).quantile(0.5))))
	curves = append(curves, curve{"benchmark, any", free, true})
	l.Plot("report-fig3", spansPlot("Time between operations", "time between operations", operations, curves))
	header, rows := spansTable(operations, curves)
	l.Table("report-fig3", header, rows)
	return nil
}

func reportIntervalRows(l *Lab, r reportReading, nominal, over []*outcome) {
	s := spans(operations)
	l.Row(r.claim(Claim{
		ID: "report-within-1200", Source: "report §6", Says: "150 members: access within 2·Δmin 80 % of the times",
		Quantity: "share of times between operations below 1200 s, 150 members", Unit: Share, Holds: AtLeast(0.8),
		Why: "Δmin is longer.",
	}), column(nominal, s.below(2*reportMin)))
	l.Row(r.claim(Claim{
		ID: "report-within-1800", Source: "report §6", Says: "300 members: the period is below 3·Δmin 90 % of the times",
		Quantity: "share of times between operations below 1800 s, 300 members", Unit: Share, Holds: AtLeast(0.9),
		Why: "300 operations of 4 s need 1200 s at least, so the mean interval is at least that; beyond Δmin it is an exponential " +
			"time, and a mean of 1200 s leaves exp(−1200/600) = 14 % above 1800 s. Only more tokens at once shorten it.",
	}), column(over, s.below(3*reportMin)))
	l.Row(r.claim(Claim{
		ID: "report-longer-3000", Source: "report §5", Says: "300 members: 9 intervals are longer than 3000",
		Quantity: "number of times between operations above 3000 s in a run, 300 members", Unit: Number, Holds: Between(3, 27),
		Why: "a member that waits for Δgen makes a token. If Δgen does not grow and the generator runs under it, no interval is " +
			"longer than about 2400 s; if either is otherwise, thousands are.",
	}), column(over, func(o *outcome) float64 {
		return o.Operations.ShareAbove(5*reportMin) * float64(o.Operations.Count())
	}))
}

// reportSaturation are the claims about how intervals grow with the group.
func reportSaturation(l *Lab, curves []curve) error {
	unstable, err := reportReadings[0].run(l, int(reportMax/(4*time.Second)))
	if err != nil {
		return err
	}
	mean := func(o *outcome) float64 { return spans(operations).mean(o) }
	nominal, over, most := column(curves[0].runs, mean), column(curves[1].runs, mean), column(unstable, mean)
	c := Claim{Source: "report §4.1, §5, figure 3", Says: "intervals grow with the group", Unit: Seconds, Holds: Reported()}
	c.ID, c.Quantity = "report-mean-150", "mean time between operations, 150 members"
	l.Row(c, nominal)
	c.ID, c.Quantity = "report-mean-300", "mean time between operations, 300 members"
	l.Row(c, over)
	c.ID, c.Quantity = "report-mean-450", "mean time between operations, 450 = Δmax/Δop members"
	l.Row(c, most)
	c.ID, c.Quantity, c.Unit, c.Holds = "report-mean-grows", "mean at 450 over mean at 300 members", Number, AtLeast(1).trend()
	c.Why = "members make more tokens of their own."
	l.Row(c, ratio(most, over))
	return nil
}
