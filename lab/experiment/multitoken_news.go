package experiment

import (
	"fmt"
	"math"
	"time"

	"github.com/wandertoken/wander/lab/figure"
	"github.com/wandertoken/wander/lab/gossip"
)

const multitokenFig3Notes = `The runs of multitoken-fig1. The broadcast time of a joining is the time until all 191 members have it in their registries,
including those that join later; other rows count the *members of that time* only. The text does not say how a joiner learns of members that
joined long before it. An update list has ten news, so these members are on no list any more. Readings:

- a member enters an unknown *sender* into its registry, as its certificate comes with the token (default);
- it puts the sender *on its list* as well, as if the sender had just joined;
- *senders ignored*: only lists tell of members;
- *snapshot*: a joiner receives its contact's registry, as in this project;
- *known entries enter the list*: the token's list becomes that of the receiver, whether it has news or not.

A mean is without bound if some joining was not known to all of them after 150 minutes; other rows count these.`

// newsReadings are those of figure 3.
func newsReadings(l *Lab) []rampReading {
	read := func(id, text string, registry gossip.Config) rampReading {
		r := paperRamp(l)
		r.registry = registry
		return rampReading{id, text, r}
	}
	if l.sweeping() {
		return []rampReading{read("", "", gossip.Config{})}
	}
	return []rampReading{
		read("", "", gossip.Config{}),
		read("/on-its-list", "senders on the list", gossip.Config{Senders: gossip.Reported}),
		read("/senders-ignored", "senders ignored", gossip.Config{Senders: gossip.Ignored}),
		read("/snapshot", "snapshot", gossip.Config{Snapshot: true}),
		read("/known-entries", "known entries enter the list", gossip.Config{Echo: true}),
		read("/known-entries-snapshot", "known entries enter the list, snapshot", gossip.Config{Echo: true, Snapshot: true}),
	}
}

func multitokenFig3(l *Lab) error {
	p := figure.Plot{
		Title: "Time until all 191 members know of a joining",
		X:     figure.Axis{Label: "broadcast time (min)", Min: 0, Max: 90},
		Y:     figure.Axis{Label: "joinings in a run"},
	}
	var rows [][]string
	for _, r := range newsReadings(l) {
		runs, err := r.runs(l)
		if err != nil {
			return err
		}
		multitokenNewsRows(l, r, runs)
		name := "senders registered"
		if r.id != "" {
			name = r.text
		}
		line := figure.Line{Name: name, Style: figure.Steps}
		for minute, n := range broadcastMinutes(runs) {
			line.Points = append(line.Points, [2]float64{float64(minute), n})
			rows = append(rows, []string{name, fmt.Sprint(minute), fmt.Sprintf("%.3f", n)})
		}
		if !r.registry.Echo && r.registry.Senders != gossip.Ignored {
			p.Lines = append(p.Lines, line)
		}
	}
	if err := multitokenChurn(l); err != nil {
		return err
	}
	l.Plot("multitoken-fig3", p)
	l.Table("multitoken-fig3", []string{"reading", "from_min", "joinings"}, rows)
	return nil
}

// multitokenChurn is a group that grows within a minute instead of thirty:
// three members join in a second, and the ten news of a list are old after
// three seconds.
func multitokenChurn(l *Lab) error {
	burst := paperRamp(l)
	burst.growth = l.span(burstGrowth)
	runs, err := burst.runs(l)
	if err != nil {
		return err
	}
	const source, says = "many-token paper §2", "piggybacking on tokens limits the response to churn"
	l.Row(Claim{
		ID: "multitoken-churn", Source: source, Says: says,
		Quantity: "share of joinings that nine tenths of the members of that time got to know of, all within one minute", Unit: Share, Holds: AtMost(0.99).ours(),
		Why: "the lists hold all there is.",
	}, column(runs, func(o *ramped) float64 { _, share := meanKnown(o.joins.most); return share }))
	l.Row(Claim{
		ID: "multitoken-churn-all", Source: source, Says: says,
		Quantity: "share of joinings that all members know of two and a half hours later, all within one minute", Unit: Share, Holds: Reported(),
	}, column(runs, func(o *ramped) float64 { _, share := meanKnown(o.joins.everybody); return share }))
	return nil
}

// broadcastMinutes counts the joinings of a mean run by the minutes of their
// broadcast times, of which it leaves out what figure 3 has no place for.
func broadcastMinutes(runs []*ramped) []float64 {
	counts := make([]float64, 90)
	for _, r := range runs {
		for _, s := range r.joins.everybody {
			if minute := s / 60; minute < float64(len(counts)) {
				counts[int(minute)] += 1 / float64(len(runs))
			}
		}
	}
	return counts
}

// meanKnown is the mean time, without bound if there is a joining that was
// never known, and the share of those that were.
func meanKnown(seconds []float64) (mean, share float64) {
	sum, n := 0.0, 0
	for _, s := range seconds {
		if !math.IsNaN(s) {
			sum += s
			n++
		}
	}
	if n < len(seconds) {
		return math.Inf(1), float64(n) / float64(len(seconds))
	}
	return sum / float64(n), 1
}

const broadcast25 = "the time depends on what a member makes of a sender that it does not know: 33 minutes if it enters it into its registry only, " +
	"20 if it puts it on its list as well; the published 25 minutes lie between. With a snapshot only the wait for the last joiner is left, " +
	"and where members ignore senders, or known entries push out news, most joinings never reach everybody."

func multitokenNewsRows(l *Lab, r rampReading, runs []*ramped) {
	const source = "many-token paper §3, figure 3"
	mean := func(of func(*joins) []float64) func(*ramped) float64 {
		return func(o *ramped) float64 { m, _ := meanKnown(of(o.joins)); return m }
	}
	everybody := func(j *joins) []float64 { return j.everybody }
	l.Row(r.claim(Claim{
		ID: "multitoken-broadcast", Source: source, Says: "it takes 25 minutes on average, rather long, until everybody knows of a joining",
		Quantity: "mean time until all 191 members know of a joining", Unit: Seconds, Holds: About((25 * time.Minute).Seconds(), 0.1), Why: broadcast25,
	}), column(runs, mean(everybody)))
	l.Row(r.claim(Claim{
		ID: "multitoken-all-reached", Source: "many-token paper §4", Says: "sooner or later everybody learns of each change",
		Quantity: "share of joinings that all 191 members know of after 150 minutes", Unit: Share, Holds: Exactly(1),
		Why: "nothing brings a joining that has left all lists to members that have not heard of it.",
	}), column(runs, func(o *ramped) float64 { _, share := meanKnown(o.joins.everybody); return share }))
	l.Row(r.claim(Claim{
		ID: "multitoken-present", Source: source, Says: "a question is how long each node takes to be informed",
		Quantity: "mean time until all members of that time know of a joining", Unit: Seconds, Holds: Reported(),
	}), column(runs, mean(func(j *joins) []float64 { return j.present })))
	l.Row(r.claim(Claim{
		ID: "multitoken-most", Source: source, Says: "most of the nodes, which is all that is needed, receive a join update",
		Quantity: "share of joinings that nine tenths of the members of that time got to know of", Unit: Share, Holds: Exactly(1),
		Why: "news are pushed out of the lists before they have spread.",
	}), column(runs, func(o *ramped) float64 { _, share := meanKnown(o.joins.most); return share }))
	l.Row(r.claim(Claim{
		ID: "multitoken-most-time", Source: source, Says: "most of the nodes receive a join update",
		Quantity: "mean time until nine tenths of the members of that time know of a joining", Unit: Seconds, Holds: Reported(),
	}), column(runs, mean(func(j *joins) []float64 { return j.most })))
	l.Row(r.claim(Claim{
		ID: "multitoken-newcomer", Source: "many-token paper §2.2", Says: "a node gets to know a good part of the others",
		Quantity: "time until the last joiner knows all 191 members", Unit: Seconds, Holds: Reported(),
	}), column(runs, func(o *ramped) float64 { return o.joins.complete[gridMembers-1] }))
	l.Row(r.claim(Claim{
		ID: "multitoken-acquainted", Source: "many-token paper §2", Says: "a node gets to know a good part of the others",
		Quantity: "share of all members that a member knows after 30 minutes, on average", Unit: Share, Holds: Reported(),
	}), column(runs, func(o *ramped) float64 { return o.acquainted }))
	l.Row(r.claim(Claim{
		ID: "multitoken-news-mean", Source: source, Says: "the random walk is similar to that of a full mesh",
		Quantity: "mean time between uses of tokens at a member, stable", Unit: Seconds, Holds: About(1.71, 0.03),
		Why: "tokens walk among the few that everybody knows.",
	}), column(runs, func(o *ramped) float64 { return usesOf(o).Mean().Seconds() }))
}
