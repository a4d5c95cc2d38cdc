package experiment

import (
	"time"

	"github.com/wandertoken/wander/lab/figure"
)

// concurrencyPlot shows the share of time by the number of operations at once:
// the median over the runs.
func concurrencyPlot(title string, curves []curve) figure.Plot {
	p := figure.Plot{
		Title: title,
		X:     figure.Axis{Label: "operations at once", Min: 0, Max: mostShown},
		Y:     figure.Axis{Label: "share of time"},
	}
	for _, c := range curves {
		line := figure.Line{Name: c.name, Dashed: c.dashed}
		for k := range mostShown + 1 {
			_, median, _ := quantiles(c.runs, exactly(k))
			line.Points = append(line.Points, [2]float64{float64(k), median})
		}
		p.Lines = append(p.Lines, line)
	}
	return p
}

// The abscissae of figures of time spans.
const (
	spanStep = 100 * time.Second
	spanEnd  = 6000 * time.Second
)

// spansPlot shows which share of the spans is shorter than the abscissa: the
// median over the runs.
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
			_, median, _ := quantiles(c.runs, s.below(at))
			line.Points = append(line.Points, [2]float64{at.Seconds(), median})
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
		row := []string{Cell(at.Seconds())}
		for _, c := range curves {
			_, median, _ := quantiles(c.runs, s.below(at))
			row = append(row, Cell(median))
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
