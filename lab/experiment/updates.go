package experiment

import (
	"fmt"
	"math"

	"github.com/wandertoken/wander/lab/figure"
	"github.com/wandertoken/wander/protocol/policy/multitoken"
)

func updateExperiments() []Experiment {
	return []Experiment{{
		Name: "updates", Title: "Time until the others know of a joining, and what it costs", Source: fromThisProject,
		Notes: updatesNotes, Run: measureUpdates,
	}}
}

const updatesNotes = `Preset *jittered* of multitoken with a target of 2.63 s and handoffs of 30 ms, as in the paper; tokens then arrive every 1.7 s.
After half a minute members begin to join, one every 9.4 s as in the paper: 32, or 10 in the group of ten thousand. A joiner connects with three
members and takes in their snapshots. From then on protocol/update spreads its joining: at most ten updates travel beside a token and ten beside its
receipt, and each member tells an update a limited number of times. Every 30 s each member compares its directory with that of a random member. The
lists are the protocol's own, and the updates are real certificates and endpoint records (430 bytes together, with one name and two addresses). Checks
of signatures are not simulated.

The times are until half, 99 % and all of the members of that time know of a joining. *Median*, *90th percentile* and *slowest* are over the joinings
of a run. Bytes are those of the updates in a message, on average over all from the fifth joining on. Readings:

- *paper*: the preset of that name;
- *alone*: directories are not compared;
- *tokens only*: alone, and receipts carry nothing;
- *paper's list*: the lists of the paper's prototype, in the same group, with snapshots. The ten news heard last travel with every token, and a
  joiner generates a token that tells of it. Each of the news counts as many bytes as one of this project's updates.

*Growing* are the paper's 190 joinings from one member to 191. *Churn* is one joining a second, a hundred in all. The published mean of 25 minutes
(multitoken-broadcast) is another quantity: the time until all 191 members know of a joining, including those that join up to half an hour later and
receive no snapshot.`

// mostWithin is the goal: until when 99 % know, in seconds.
const mostWithin = 20

// tidings is one reading of one group.
type tidings struct {
	id, group string // of the rows, and in words
	suffix    string // of another reading than the default
	reading   string
	rows      rowSet
	curve     string // what its line in the figure is called; "": it has none
	growing
}

// rowSet is what is handed in as rows; the table has everything.
type rowSet uint8

const (
	everything rowSet = iota
	timesAndBytes
	timesOnly
)

// allTidings are all readings of all groups.
func allTidings(l *Lab) (all []tidings) {
	for _, size := range []struct {
		members, joins int
		text           string
	}{
		{191, l.count(updateJoins), "191 members"}, {1000, l.count(updateJoins), "1000 members"}, {10_000, l.count(largeJoins), "10 000 members"},
	} {
		id, g := fmt.Sprint(size.members), grow(l, multitoken.Jittered, size.members, size.joins)
		paper := grow(l, multitoken.Paper, size.members, size.joins)
		all = append(all,
			tidings{id: id, group: size.text, curve: size.text, growing: g},
			tidings{id: id, group: size.text, suffix: "/paper", reading: "paper", rows: timesAndBytes, growing: paper},
			tidings{id: id, group: size.text, suffix: "/alone", reading: "alone", rows: timesOnly, growing: g.alone()},
			tidings{id: id, group: size.text, suffix: "/paper-alone", reading: "paper, alone", rows: timesOnly, growing: paper.alone()},
			tidings{id: id, group: size.text, suffix: "/tokens-only", reading: "tokens only", rows: timesAndBytes, growing: g.tokensOnly()},
		)
		if size.members <= 1000 { // a registry for each of more takes too much memory
			list := tidings{id: id, group: size.text, suffix: "/list", reading: "paper's list", rows: timesAndBytes, growing: g.papersList()}
			if size.members == 1000 {
				list.curve = size.text + ", paper's list"
			}
			all = append(all, list)
		}
	}
	churn := grow(l, multitoken.Jittered, 1000, l.count(churnJoins))
	churn.every = l.span(churnEvery)
	return append(all,
		tidings{id: "growing", group: "1 to 191 members", rows: timesAndBytes, growing: grow(l, multitoken.Jittered, 1, gridMembers-1)},
		tidings{id: "churn", group: "1000 members, a joining a second", rows: timesAndBytes, growing: churn},
		tidings{id: "churn", group: "1000 members, a joining a second", suffix: "/list", reading: "paper's list", rows: timesAndBytes, growing: churn.papersList()},
	)
}

func (g growing) alone() growing {
	g.compare = 0
	return g
}

func (g growing) tokensOnly() growing {
	g.compare, g.receipts = 0, false
	return g
}

func (g growing) papersList() growing {
	g.compare, g.receipts, g.paper = 0, false, true
	return g
}

func measureUpdates(l *Lab) error {
	p := figure.Plot{
		Title: "Members that do not know of a joining yet, one every 9.4 s",
		X:     figure.Axis{Label: "time since the joining (s)", Min: 0, Max: 20},
		Y:     figure.Axis{Label: "share of the members", Log: true, Min: 0.01, Max: 1},
	}
	var table [][]string
	for _, r := range allTidings(l) {
		if l.sweeping() && (r.suffix != "" || r.members > 1000 && !l.sweeps(largeJoins)) {
			continue
		}
		runs, err := Gather(l, func(seed uint64) (*spread, error) { return r.run(l, seed) })
		if err != nil {
			return err
		}
		r.hand(l, runs)
		table = append(table, r.lines(runs)...)
		if r.curve != "" {
			p.Lines = append(p.Lines, r.line(runs))
		}
	}
	l.Table("updates", updatesHeader, table)
	l.Plot("updates", p)
	return nil
}

// known are the shares of the members whose times are handed in, in percent.
var known = []struct {
	percent  int
	id, says string
	text     string
}{
	{50, "half", "a joining gets known within seconds", "half of the members know"},
	{99, "most", "99 % of the members know of a joining within 20 s", "99 % of the members know"},
	{100, "all", "all members get to know of a joining", "all members know"},
}

// ranks are which of the joinings of a run.
var ranks = []struct {
	id, text string
	at       float64
}{{"", "median joining", 0.5}, {"-90", "90th percentile of the joinings", 0.9}, {"-slowest", "slowest joining", 1}}

// hand hands in the rows of a reading.
func (r tidings) hand(l *Lab, runs []*spread) {
	for _, k := range known {
		for _, rank := range ranks {
			if r.rows != everything && (k.id == "half" || rank.id == "-90" || k.id == "all" && rank.id == "") {
				continue
			}
			holds := Reported()
			if k.id == "most" && !r.paper {
				holds = AtMost(mostWithin).ours()
			}
			l.Row(Claim{
				ID: "updates-" + r.id + "-" + k.id + rank.id + r.suffix, Source: fromThisProject, Says: k.says, Reading: r.reading,
				Quantity: fmt.Sprintf("%s: until %s, %s", r.group, k.text, rank.text), Unit: Seconds, Holds: holds,
				Why: "who joins through members that wait long for their next token starts late.",
			}, column(runs, func(s *spread) float64 { return quantile(s.column(k.percent), rank.at) }))
		}
	}
	if r.rows == timesOnly {
		return
	}
	for _, m := range messageBytes {
		if m.id == "receipt" && !r.receipts {
			continue
		}
		l.Row(Claim{
			ID: "updates-" + r.id + "-bytes-" + m.id + r.suffix, Source: fromThisProject, Says: "updates cost little", Reading: r.reading,
			Quantity: fmt.Sprintf("%s: bytes of updates beside a %s", r.group, m.id), Unit: Number, Holds: Reported(),
		}, column(runs, m.of))
	}
}

// messageBytes are the bytes of updates in a message, on average.
var messageBytes = []struct {
	id string
	of func(*spread) float64
}{
	{"token", func(s *spread) float64 { return float64(s.traffic.Tokens.Bytes) / float64(s.traffic.Hops) }},
	{"receipt", func(s *spread) float64 { return float64(s.traffic.Receipts.Bytes) / float64(s.traffic.Hops) }},
}

var updatesHeader = []string{
	"group", "reading", "known to", "median_s", "p90_s", "slowest_s", "token_bytes", "receipt_bytes", "repaired", "interval_s",
}

// lines are a reading in the table: medians over the runs.
func (r tidings) lines(runs []*spread) (lines [][]string) {
	for _, k := range known {
		line := []string{r.group, r.reading, fmt.Sprintf("%d %%", k.percent)}
		for _, rank := range ranks {
			line = append(line, cellOf(middle(column(runs, func(s *spread) float64 { return quantile(s.column(k.percent), rank.at) }))))
		}
		for _, m := range messageBytes {
			line = append(line, cellOf(middle(column(runs, m.of))))
		}
		lines = append(lines, append(line,
			cellOf(middle(column(runs, func(s *spread) float64 { return float64(s.traffic.Repaired) }))),
			cellOf(middle(column(runs, func(s *spread) float64 { return s.interval })))))
	}
	return lines
}

// line is how the share of those that do not know falls, in the median of all
// joinings of all runs.
func (r tidings) line(runs []*spread) figure.Line {
	line := figure.Line{Name: r.curve}
	for percent := range shares - 1 {
		var all []float64
		for _, s := range runs {
			all = append(all, s.column(percent)...)
		}
		if at := middle(all); !math.IsInf(at, 1) {
			line.Points = append(line.Points, [2]float64{at, 1 - float64(percent)/(shares-1)})
		}
	}
	return line
}
