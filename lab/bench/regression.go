package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// regression compares the processor time of a handoff with the straw man's, and
// fails when it is above a limit. Both run in turns of a fraction of a second, each
// stopped while the other runs: what else happens on the machine meets both alike,
// and its changes in speed are slower than a turn.
type regression struct {
	people   io.Writer // gets each round with -v
	progress io.Writer
	subject  string
	tokens   int
	rounds   int
	window   time.Duration
	limit    float64
	dir      string
}

const (
	// startRounds is how many rounds the same four processes have. Then they are
	// started anew, so that what is peculiar to a process counts once among several.
	startRounds = 30
	// minRounds is how many rounds there are at least, and regressionRounds at most:
	// while the ratio is above the limit, more follow.
	minRounds        = 4 * startRounds
	regressionRounds = 16 * startRounds
	// undisturbed is the share of a subject's turns of which the most expensive
	// counts. Other work on the machine makes a turn dearer, never cheaper, and a
	// member's more than the straw man's, because more has to come back to the
	// caches: the median ratio was 1.22 at a load of 8 and 1.29 at one of 50, this one
	// 1.22 and 1.23.
	undisturbed = 0.1
	// regressionWindow is how long a turn is measured: some four hundred handoffs.
	regressionWindow = 100 * time.Millisecond
	// regressionSettle is the beginning of a turn, which is not measured: all tokens
	// have rested for long enough, and move at once.
	regressionSettle = 20 * time.Millisecond
	// regressionLimit is what a member may need of the straw man's processor time.
	regressionLimit = 1.25
	// minHandoffs is how many a turn has at least: on a machine with no time for more
	// it lasts longer, at most maxWindows times as long.
	minHandoffs = 50
	maxWindows  = 200
)

// errRegression says that a handoff costs too much.
var errRegression = errors.New("a handoff costs more than it may")

// flags are the settings on the command line.
func (g *regression) flags(f *flag.FlagSet) {
	f.StringVar(&g.subject, "subject", "volatile", "what is compared with the straw man: "+strings.Join(subjectNames(), ", "))
	f.IntVar(&g.tokens, "tokens", 64, "how many tokens")
	f.IntVar(&g.rounds, "rounds", regressionRounds, "how many turns each has at most")
	f.DurationVar(&g.window, "window", regressionWindow, "how long one turn is measured")
	f.Float64Var(&g.limit, "limit", regressionLimit, "fail when the ratio of processor times is above it")
	f.BoolFunc("v", "show each round", func(string) error { g.progress = g.people; return nil })
}

func (g *regression) run(out io.Writer) error {
	if g.rounds < 1 || g.window <= 0 {
		return errors.New("nothing to measure")
	}
	dir, err := os.MkdirTemp(g.dir, "wander-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var all costs
	for start := 0; all.rounds() < g.rounds && !g.decided(all); start++ {
		c, err := g.compare(filepath.Join(dir, strconv.Itoa(start)), min(startRounds, g.rounds-all.rounds()))
		if err != nil {
			return err
		}
		all.straw, all.subject = append(all.straw, c.straw...), append(all.subject, c.subject...)
	}
	return g.judge(out, all)
}

// costs are the seconds of processor time of a handoff in each round.
type costs struct{ straw, subject []float64 }

func (c costs) rounds() int { return len(c.straw) }

// ratio compares the turns that were disturbed least.
func (c costs) ratio() float64 {
	return quantile(c.subject, undisturbed) / quantile(c.straw, undisturbed)
}

// start starts a subject, lets it warm up and stops it.
func (g *regression) start(subject, dir string) (pair, error) {
	dir = filepath.Join(dir, subject)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return pair{}, err
	}
	if err := makeGroup(dir, names[:], fastest(g.tokens)); err != nil {
		return pair{}, err
	}
	p := plan{}
	procs, err := startPair(p.role(subject, names[1], dir, g.tokens), p.role(subject, names[0], dir, g.tokens))
	if err != nil {
		return pair{}, err
	}
	time.Sleep(time.Second)
	if err := procs.freeze(); err != nil {
		procs.stop()
		return pair{}, err
	}
	return procs, nil
}

// compare starts both and lets them have so many rounds.
func (g *regression) compare(dir string, rounds int) (c costs, err error) {
	straw, err := g.start(yardstick, dir)
	if err != nil {
		return c, err
	}
	defer straw.stop()
	subject, err := g.start(g.subject, dir)
	if err != nil {
		return c, err
	}
	defer subject.stop()
	for c.rounds() < rounds {
		cost, err := g.round(straw, subject, c.rounds()%2 == 1)
		if err != nil {
			return c, err
		}
		c.straw, c.subject = append(c.straw, cost[straw].Seconds()), append(c.subject, cost[subject].Seconds())
	}
	return c, nil
}

// decided reports whether no more rounds are needed: the limit is kept. A failure
// takes all rounds.
func (g *regression) decided(c costs) bool {
	return c.rounds() >= minRounds && c.ratio() <= g.limit
}

// round lets both have a turn, the straw man first unless they are swapped, and
// returns what a handoff cost each.
func (g *regression) round(straw, subject pair, swapped bool) (map[pair]time.Duration, error) {
	turns := []pair{straw, subject}
	if swapped {
		slices.Reverse(turns)
	}
	cost := make(map[pair]time.Duration)
	for _, p := range turns {
		r, err := g.turn(p)
		if err != nil {
			return nil, err
		}
		cost[p] = r.cpu
	}
	fmt.Fprintf(g.progress, "%s %d µs  %s %d µs\n", yardstick, cost[straw].Microseconds(), g.subject, cost[subject].Microseconds())
	return cost, nil
}

// turn lets a pair run for a while and reads what it did.
func (g *regression) turn(p pair) (r reading, err error) {
	if err := p.thaw(); err != nil {
		return r, err
	}
	time.Sleep(regressionSettle)
	before, err := p.sample()
	after := before
	for windows := 0; err == nil && after.Handoffs < before.Handoffs+minHandoffs && windows < maxWindows; windows++ {
		time.Sleep(g.window)
		after, err = p.sample()
	}
	if err == nil {
		err = p.freeze()
	}
	if err != nil {
		return r, err
	}
	return difference(before, after)
}

// judge writes the ratio, and returns errRegression when it is above the limit.
func (g *regression) judge(out io.Writer, c costs) error {
	ratio := c.ratio()
	_, err := fmt.Fprintf(out, "%s with %d tokens: %.3f of the straw man's processor time (%.0f and %.0f µs for each handoff, %d rounds), limit %.2f\n",
		g.subject, g.tokens, ratio, quantile(c.subject, undisturbed)*1e6, quantile(c.straw, undisturbed)*1e6, c.rounds(), g.limit)
	if err == nil && ratio > g.limit {
		return fmt.Errorf("%w: %.3f, permitted is %.2f", errRegression, ratio, g.limit)
	}
	return err
}
