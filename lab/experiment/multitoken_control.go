package experiment

import (
	"math"
	"time"
)

const multitokenControlNotes = `A second implementation of §2.1, in steps of 10 ms and without the policy's code, for what the text mentions and the policy does
not offer. 191 members all know each other, and each has a token at the beginning, as joiners generate one. The run takes 30 minutes, of
which the last 20 are measured. Readings:

- the raw interval is compared (default), or its *EWMA*, with a weight of 1/8 or of 1/2 for the latest interval;
- early tokens wait in three places (default), in one, or are *removed*.

*Converged* is the first second from which the mean interval of ten seconds is within a tenth of that of the last 20 minutes.`

// stable are the seconds that are measured.
func (c *controlled) stable(series []int) []int { return series[int(c.warm/time.Second):] }

// interval is the mean time between two uses of a member, in seconds.
func (c *controlled) interval() float64 {
	return gridMembers / meanCount(c.stable(c.uses))
}

// count is the mean number of tokens.
func (c *controlled) count() float64 { return meanCount(c.stable(c.tokens)) }

// variation is the standard deviation of the number of tokens over its mean.
func (c *controlled) variation() float64 {
	mean, squares := c.count(), 0.0
	series := c.stable(c.tokens)
	for _, n := range series {
		squares += (float64(n) - mean) * (float64(n) - mean)
	}
	return math.Sqrt(squares/float64(len(series))) / mean
}

// converged is when, in seconds.
func (c *controlled) converged(window int) float64 {
	for at := range len(c.uses) - window {
		if interval := gridMembers / meanCount(c.uses[at:at+window]); math.Abs(interval-c.interval()) < c.interval()/10 {
			return float64(at)
		}
	}
	return math.Inf(1)
}

func meanCount(series []int) float64 {
	sum := 0
	for _, n := range series {
		sum += n
	}
	return float64(sum) / float64(len(series))
}

func (c control) runs(l *Lab) ([]*controlled, error) {
	warm, length := l.span(controlWarm), l.span(controlLength)
	c.step, c.shown = l.span(controlStep), l.number(shownWeight)
	return Gather(l, func(seed uint64) (*controlled, error) {
		return c.run(seed, gridMembers, warm, length), nil
	})
}

func multitokenControl(l *Lab) error {
	queue, err := control{places: gridPlaces, tokens: gridMembers}.runs(l)
	if err != nil {
		return err
	}
	multitokenComparedRows(l, "/model", "a second implementation", queue)
	multitokenAverageRows(l, queue)
	for _, r := range []struct {
		id, text string
		weight   float64
	}{{"/ewma-eighth", "EWMA, 1/8", 1.0 / 8}, {"/ewma-half", "EWMA, 1/2", 1.0 / 2}} {
		runs, err := control{places: gridPlaces, weight: r.weight, tokens: gridMembers}.runs(l)
		if err != nil {
			return err
		}
		multitokenComparedRows(l, r.id, r.text, runs)
	}
	one, err := control{places: 1, tokens: gridMembers}.runs(l)
	if err != nil {
		return err
	}
	l.Row(Claim{
		ID: "multitoken-target", Source: "many-token paper §2.1, §3", Says: "with c and k_max chosen well the interval is the target of 2.63 s",
		Quantity: "mean time between uses of tokens at a member", Reading: "one place", Unit: Seconds, Holds: About(gridTarget.Seconds(), 0.05),
		Why: "the number of places is a coarse adjustment.",
	}, column(one, (*controlled).interval))
	return multitokenRemovalRows(l, queue)
}

// multitokenComparedRows hold what is compared against the paper's results.
func multitokenComparedRows(l *Lab, id, reading string, runs []*controlled) {
	const why = "the average hides the intervals on which the control acts: tokens hardly wait, few are removed and none is made for long."
	l.Row(Claim{
		ID: "multitoken-mean" + id, Source: "many-token paper §2.1, §3", Says: "the mean interval is 1.71 s",
		Quantity: "mean time between uses of tokens at a member", Reading: reading, Unit: Seconds, Holds: About(1.71, 0.03), Why: why,
	}, column(runs, (*controlled).interval))
	l.Row(Claim{
		ID: "multitoken-tokens" + id, Source: "many-token paper §2.1, §3, figure 2", Says: "the number of tokens stabilises at about 50",
		Quantity: "mean number of tokens", Reading: reading, Unit: Number, Holds: About(50, 0.1), Why: why,
	}, column(runs, (*controlled).count))
}

// multitokenAverageRows are about the average that nobody compares.
func multitokenAverageRows(l *Lab, runs []*controlled) {
	const source = "many-token paper §2.1"
	l.Row(Claim{
		ID: "multitoken-ewma", Source: source, Says: "the EWMA tells the average interval reliably",
		Quantity: "mean of the members' averages over the mean interval, weight 1/8", Unit: Number, Holds: About(1, 0.05),
		Why: "the average lags behind.",
	}, column(runs, func(c *controlled) float64 { mean, _ := c.spread(); return mean / c.interval() }))
	l.Row(Claim{
		ID: "multitoken-ewma-spread", Source: source, Says: "the EWMA tells the average interval reliably",
		Quantity: "standard deviation of the members' averages over their mean, weight 1/8", Unit: Share, Holds: Reported(),
	}, column(runs, func(c *controlled) float64 { _, deviation := c.spread(); return deviation }))
}

// multitokenRemovalRows compare a queue with the removal of early tokens.
func multitokenRemovalRows(l *Lab, queue []*controlled) error {
	removal, err := control{tokens: gridMembers}.runs(l)
	if err != nil {
		return err
	}
	const source, reading = "many-token paper §2.1", "early tokens removed"
	window := int(l.span(controlWindow) / time.Second)
	converged := func(c *controlled) float64 { return c.converged(window) }
	l.Row(Claim{
		ID: "multitoken-smooth", Source: source, Says: "with a queue the number of tokens varies less",
		Quantity: "standard deviation of the number of tokens over its mean, without the queue over with it", Unit: Number, Holds: AtLeast(1).trend(),
		Why: "the queue holds nothing back.",
	}, ratio(column(removal, (*controlled).variation), column(queue, (*controlled).variation)))
	l.Row(Claim{
		ID: "multitoken-convergence", Source: source, Says: "without the queue it takes longer to converge",
		Quantity: "time to converge, without the queue over with it", Unit: Number, Holds: AtLeast(1).trend(),
		Why: "without a queue a surplus is removed at the first arrivals, and one token on average lives for a few hops only: nothing is slow. " +
			"What is worse is the variation of the number of tokens and the distance from the target.",
	}, ratio(column(removal, converged), column(queue, converged)))
	l.Row(Claim{
		ID: "multitoken-converged", Source: source, Says: "the interval converges to the target",
		Quantity: "time to converge", Unit: Seconds, Holds: Reported(),
	}, column(queue, converged))
	l.Row(Claim{
		ID: "multitoken-converged/removal", Source: source, Says: "the interval converges to the target",
		Quantity: "time to converge", Reading: reading, Unit: Seconds, Holds: Reported(),
	}, column(removal, converged))
	l.Row(Claim{
		ID: "multitoken-better/removal", Source: source, Says: "the interval converges to the target",
		Quantity: "mean time between uses of tokens at a member", Reading: reading, Unit: Seconds, Holds: Reported(),
	}, column(removal, (*controlled).interval))
	return nil
}
