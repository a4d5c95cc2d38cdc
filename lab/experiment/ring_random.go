package experiment

import (
	"fmt"

	"github.com/wandertoken/wander/lab/figure"
	"github.com/wandertoken/wander/lab/ringcheck"
	"github.com/wandertoken/wander/protocol/policy/ring"
)

const ringRandomNotes = `In random runs each step does one of two things, for 20 000 steps: a processor that may request does so with probability 5 %; otherwise
any message that can arrive arrives or any critical section ends, all equally likely. Then every processor is served. The figures compare the means
with the worst known runs and with the paper's bounds. Up to n = 9 the worst known runs are the bounds of all schedules. S has no bound on messages a
request: what it needs depends on how often processors request.`

// ringScale is the sizes in the figures.
var ringScale = []int{3, 4, 6, 8, 12, 16, 24, 32, 48, 64}

var ringAlgorithms = []ring.Algorithm{ring.S, ring.Q, ring.D, ring.E}

// ringSample is one random run.
type ringSample struct{ messages, traffic, worst float64 }

// ringRuns is one seed: all algorithms in all sizes.
type ringRuns map[ring.Algorithm][]ringSample

func ringRandom(l *Lab) error {
	steps, asking := l.count(ringSteps), l.number(ringAsking)
	runs, err := Gather(l, func(seed uint64) (ringRuns, error) {
		all := ringRuns{}
		for _, alg := range ringAlgorithms {
			for _, n := range ringScale {
				run, err := ringcheck.Random(alg, n, steps, asking, seed)
				if err != nil {
					return nil, err
				}
				if run.MostInside != 1 || run.Served != run.Requests {
					return nil, fmt.Errorf("%w: %v in a ring of %d", ErrRing, alg, n)
				}
				all[alg] = append(all[alg], ringSample{
					run.PerRequest(), float64(run.SumSent) / float64(run.Served), float64(run.WorstSent),
				})
			}
		}
		return all, nil
	})
	if err != nil {
		return err
	}
	ringRandomRows(l, runs)
	return ringFigures(l, runs)
}

// ringRandomRows holds the largest ring against the bounds.
func ringRandomRows(l *Lab, runs []ringRuns) {
	last := len(ringScale) - 1
	n := float64(ringScale[last])
	for _, c := range []struct {
		alg               ring.Algorithm
		source            string
		messages, traffic Check
		bound, limit      string
	}{
		{ring.Q, "ring §3, theorem 3.1", AtMost(n), AtMost(ringBoundLax(n)), "n", "(3/2)n²"},
		{ring.D, "ring §4, theorem 4.1", AtMost(2 * n), AtMost(3*n - 3), "2n", "3n − 3"},
		{ring.E, fromNoPaper, AtMost(2*n - 2), AtMost(3*n - 3), "2n − 2", "3n − 3"},
	} {
		var messages, traffic []float64
		for _, r := range runs {
			messages = append(messages, r[c.alg][last].messages)
			traffic = append(traffic, r[c.alg][last].worst)
		}
		claim := Claim{
			ID: fmt.Sprintf("ring-%v-random", c.alg), Source: c.source, Says: fmt.Sprintf("at most %s messages a request", c.bound),
			Quantity: "messages a request, random runs of a ring of 64", Unit: Number, Holds: c.messages, Kind: ringKind(c.alg), Why: "a random run is worse than the bound.",
		}
		l.Row(claim, messages)
		claim.ID, claim.Says = fmt.Sprintf("ring-%v-random-traffic", c.alg), fmt.Sprintf("the service traffic is at most %s", c.limit)
		claim.Quantity, claim.Holds = "largest service traffic sent, random runs of a ring of 64", c.traffic
		l.Row(claim, traffic)
	}
}

// ringMean is the mean over the seeds, for one algorithm and each size.
func ringMean(runs []ringRuns, alg ring.Algorithm, of func(ringSample) float64) [][2]float64 {
	var points [][2]float64
	for i, n := range ringScale {
		sum := 0.0
		for _, r := range runs {
			sum += of(r[alg][i])
		}
		points = append(points, [2]float64{float64(n), sum / float64(len(runs))})
	}
	return points
}

// ringKnown is a number for each size.
func ringKnown(of func(n int) (float64, error)) (points [][2]float64, err error) {
	for _, n := range ringScale {
		v, err := of(n)
		if err != nil {
			return nil, err
		}
		points = append(points, [2]float64{float64(n), v})
	}
	return points, nil
}

// ringFigure is one of the two figures.
type ringFigure struct {
	name, title, label string
	worst              func(ring.Algorithm, int) (float64, error)
	mean               func(ringSample) float64
	paper              string // what the dashed line is
	bound              func(n float64) float64
}

func ringFigures(l *Lab, runs []ringRuns) error {
	dearest := func(alg ring.Algorithm, n int) (float64, error) { return ringDearestOf(alg, n, l.count(ringRounds)) }
	for _, f := range []ringFigure{
		{
			"ring-messages", "Messages a request", "messages a request", dearest,
			func(s ringSample) float64 { return s.messages }, "D, theorem 4.1: 2n", ringBoundTwoN,
		},
		{
			"ring-traffic", "Service traffic", "messages from a request to its token", ringLongestOf,
			func(s ringSample) float64 { return s.traffic }, "Q, theorem 3.1: (3/2)n²", ringBoundLax,
		},
	} {
		if err := f.draw(l, runs); err != nil {
			return err
		}
	}
	return nil
}

// draw makes the figure and its table.
func (f *ringFigure) draw(l *Lab, runs []ringRuns) error {
	p := figure.Plot{
		Title: f.title, Legend: figure.TopLeft,
		X: figure.Axis{Label: "processors", Log: true}, Y: figure.Axis{Label: f.label, Log: true},
	}
	add := func(name string, style figure.Style, dashed bool, points [][2]float64) {
		p.Lines = append(p.Lines, figure.Line{Name: name, Style: style, Dashed: dashed, Points: points})
	}
	for _, alg := range []ring.Algorithm{ring.Q, ring.D, ring.E} {
		points, err := ringKnown(func(n int) (float64, error) { return f.worst(alg, n) })
		if err != nil {
			return err
		}
		add(fmt.Sprintf("%s, worst run", ringLetters[alg]), figure.Points, false, points)
	}
	for _, alg := range ringAlgorithms {
		add(fmt.Sprintf("%s, random runs", ringLetters[alg]), figure.Lines, false, ringMean(runs, alg, f.mean))
	}
	bound, _ := ringKnown(func(n int) (float64, error) { return f.bound(float64(n)), nil })
	add(f.paper, figure.Lines, true, bound)
	l.Plot(f.name, p)
	l.Table(f.name, ringHeader(p.Lines), ringRows(p.Lines))
	return nil
}

// letters are what the paper calls the algorithms.
var ringLetters = map[ring.Algorithm]string{ring.S: "S", ring.Q: "Q", ring.D: "D", ring.E: "E"}

func ringHeader(lines []figure.Line) []string {
	header := []string{"processors"}
	for _, line := range lines {
		header = append(header, line.Name)
	}
	return header
}

func ringRows(lines []figure.Line) (rows [][]string) {
	for i, n := range ringScale {
		row := []string{fmt.Sprint(n)}
		for _, line := range lines {
			row = append(row, significant(line.Points[i][1]))
		}
		rows = append(rows, row)
	}
	return rows
}
