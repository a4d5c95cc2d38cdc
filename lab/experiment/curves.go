package experiment

import (
	"math"
	"slices"
	"time"

	"github.com/wandertoken/wander/lab/figure"
)

// sharesFigure is a figure of operations at once. It is drawn from its table, and so
// again without a run.
type sharesFigure struct {
	title, column string   // the column of the table that names the curves
	dashed        []string // curves
}

var sharesFigures = map[string]sharesFigure{
	"journal-fig2":       {"Operations at once, 300 members", "system", []string{"uncoordinated", "300 members, preset light", "300 members, preset fair"}},
	"journal-fig3":       {"Wandering token, 210 to 360 members", "members", []string{"330 members", "360 members"}},
	"report-fig2":        {"Operations at once", "system", []string{"benchmark, 150 members", "benchmark, 300 members"}},
	"slides-concurrency": {"Operations at once", "members", []string{"360 members"}},
}

func (f sharesFigure) header() []string {
	return []string{"operations", f.column, "share median", "share p5", "share p95"}
}

// shares hands in the figure of that name, and its table.
func (l *Lab) shares(name string, curves []curve) {
	f, rows := sharesFigures[name], concurrencyTable(curves)
	l.Table(name, f.header(), rows)
	l.Plot(name, concurrencyPlot(f.title, rows, f.dashed))
}

// concurrencyPlot shows the share of time by the number of operations at once: the
// median over the runs, in a band from the 5th to the 95th percentile. The rows are
// those of concurrencyTable.
func concurrencyPlot(title string, rows [][]string, dashed []string) figure.Plot {
	p := figure.Plot{
		Title: title,
		X:     figure.Axis{Label: "operations at once", Min: 0, Max: mostShown},
		Y:     figure.Axis{Label: "share of time"},
	}
	for _, row := range rows {
		i := slices.IndexFunc(p.Lines, func(l figure.Line) bool { return l.Name == row[1] })
		if i < 0 {
			i = len(p.Lines)
			p.Lines = append(p.Lines, figure.Line{Name: row[1], Dashed: slices.Contains(dashed, row[1])})
		}
		p.Lines[i].Points = append(p.Lines[i].Points, [2]float64{coordinate(row[0]), coordinate(row[2])})
		p.Lines[i].Spread = append(p.Lines[i].Spread, [2]float64{coordinate(row[3]), coordinate(row[4])})
	}
	return p
}

// coordinate is a number of a table; NaN, which has no place in a figure, of any other text.
func coordinate(cell string) float64 {
	v, err := number(cell)
	if err != nil {
		return math.NaN()
	}
	return v
}

// The abscissae of figures of time spans.
const (
	spanStep = 100 * time.Second
	spanEnd  = 6000 * time.Second
)

// spansPlot shows which share of the spans is shorter than the abscissa: the
// median over the runs, in a band from the 5th to the 95th percentile.
func spansPlot(title, label string, s spans, curves []curve) figure.Plot {
	p := figure.Plot{
		Title:  title,
		X:      figure.Axis{Label: label + " (s)", Min: 0, Max: spanEnd.Seconds()},
		Y:      figure.Axis{Label: "share of times that are shorter", Min: 0, Max: 1},
		Legend: figure.BottomRight,
	}
	for _, c := range curves {
		line := figure.Line{Name: c.name, Dashed: c.dashed}
		for at := time.Duration(0); at <= spanEnd; at += spanStep {
			p5, median, p95 := quantiles(c.runs, s.below(at))
			line.Points = append(line.Points, [2]float64{at.Seconds(), median})
			line.Spread = append(line.Spread, [2]float64{p5, p95})
		}
		p.Lines = append(p.Lines, line)
	}
	return p
}

// spansTable has the same numbers.
func spansTable(s spans, curves []curve) (header []string, rows [][]string) {
	header = []string{"seconds"}
	for _, c := range curves {
		header = append(header, c.name)
	}
	for at := time.Duration(0); at <= spanEnd; at += spanStep {
		row := []string{cellOf(at.Seconds())}
		for _, c := range curves {
			_, median, _ := quantiles(c.runs, s.below(at))
			row = append(row, cellOf(median))
		}
		rows = append(rows, row)
	}
	return header, rows
}

// tokensPlot shows the number of tokens through one run.
func tokensPlot(title string, series []int, every time.Duration) figure.Plot {
	line := figure.Line{Style: figure.Steps}
	most := 0
	for i, n := range series {
		line.Points = append(line.Points, [2]float64{float64(i) * every.Seconds(), float64(n)})
		most = max(most, n)
	}
	return figure.Plot{
		Title: title, Lines: []figure.Line{line},
		X: figure.Axis{Label: "time (s)", Min: 0, Max: float64(len(series)) * every.Seconds()},
		Y: figure.Axis{Label: "tokens", Min: 0, Max: float64(most) + 1},
	}
}
