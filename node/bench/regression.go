package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// regression compares the processor time of a handoff with the straw man's, and
// fails when it is above a limit. Both run in turns of a fraction of a second, each
// stopped while the other runs: what else happens on the machine meets both alike,
// and its changes in speed are slower than a turn.
type regression struct {
	progress io.Writer
	subject  string
	tokens   int
	rounds   int
	window   time.Duration
	limit    float64
	dir      string
}

const (
	// minRounds is how many rounds there are at least, and regressionRounds at most:
	// as soon as the median's confidence interval is on one side of the limit, no
	// more are needed.
	minRounds        = 60
	regressionRounds = 140
	// regressionWindow is how long a turn is measured: some four hundred handoffs.
	regressionWindow = 100 * time.Millisecond
	// regressionSettle is the beginning of a turn, which is not measured: all tokens
	// have rested for long enough, and move at once.
	regressionSettle = 20 * time.Millisecond
	// regressionLimit is what a member may need of the straw man's processor time.
	regressionLimit = 1.25
	// maxIdleTurns bounds the turns in which nothing moved, because the machine had
	// no time for it. They are repeated.
	maxIdleTurns = 20
)

// errRegression says that a handoff costs too much.
var errRegression = errors.New("a handoff costs more than it may")

func (g *regression) run(out io.Writer) error {
	if g.rounds < 1 || g.window <= 0 {
		return errors.New("nothing to measure")
	}
	dir, err := os.MkdirTemp(g.dir, "wander-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	straw, err := g.start(yardstick, dir)
	if err != nil {
		return err
	}
	defer straw.stop()
	subject, err := g.start(g.subject, dir)
	if err != nil {
		return err
	}
	defer subject.stop()
	ratios, err := g.compare(straw, subject)
	if err != nil {
		return err
	}
	return g.judge(out, ratios)
}

// start starts a subject, lets it warm up and stops it.
func (g *regression) start(subject, dir string) (pair, error) {
	dir = filepath.Join(dir, subject)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return pair{}, err
	}
	if err := makeGroup(dir, fastest(g.tokens), names[:]); err != nil {
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

// compare returns the ratio of each round.
func (g *regression) compare(straw, subject pair) (ratios []float64, err error) {
	for idle := 0; len(ratios) < g.rounds && !g.decided(ratios); {
		ratio, err := g.round(straw, subject, len(ratios)%2 == 1)
		if errors.Is(err, errNoHandoff) && idle < maxIdleTurns {
			idle++
			continue
		}
		if err != nil {
			return nil, err
		}
		ratios = append(ratios, ratio)
	}
	return ratios, nil
}

// decided reports whether more rounds would hardly change the verdict.
func (g *regression) decided(ratios []float64) bool {
	if len(ratios) < minRounds {
		return false
	}
	low, high := medianInterval(ratios)
	return high < g.limit || low > g.limit
}

// round lets both have a turn, the straw man first unless they are swapped.
func (g *regression) round(straw, subject pair, swapped bool) (ratio float64, err error) {
	turns := []pair{straw, subject}
	if swapped {
		slices.Reverse(turns)
	}
	cost := make(map[pair]time.Duration)
	for _, p := range turns {
		r, err := g.turn(p)
		if err != nil {
			return 0, err
		}
		cost[p] = r.cpu
	}
	ratio = float64(cost[subject]) / float64(cost[straw])
	fmt.Fprintf(g.progress, "%s %d µs  %s %d µs  %.3f\n",
		yardstick, cost[straw].Microseconds(), g.subject, cost[subject].Microseconds(), ratio)
	return ratio, nil
}

// turn lets a pair run for a while and reads what it did.
func (g *regression) turn(p pair) (r reading, err error) {
	if err := p.thaw(); err != nil {
		return r, err
	}
	time.Sleep(regressionSettle)
	before, err := p.sample()
	if err != nil {
		return r, err
	}
	time.Sleep(g.window)
	after, err := p.sample()
	if err == nil {
		err = p.freeze()
	}
	if err != nil {
		return r, err
	}
	return difference(before, after)
}

// judge writes the median with its confidence interval, and returns errRegression
// when the median is above the limit.
func (g *regression) judge(out io.Writer, ratios []float64) error {
	m := median(ratios)
	low, high := medianInterval(ratios)
	_, err := fmt.Fprintf(out, "%s with %d tokens: %.3f of the straw man's processor time (99 %% interval %.3f to %.3f, %d rounds), limit %.2f\n",
		g.subject, g.tokens, m, low, high, len(ratios), g.limit)
	if err == nil && m > g.limit {
		return fmt.Errorf("%w: %.3f, permitted is %.2f", errRegression, m, g.limit)
	}
	return err
}
