package experiment

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/wandertoken/wander/lab/figure"
)

// rowFigure is a figure of saved rows with their confidence intervals. It needs no run.
type rowFigure struct {
	SavedFigure
	x, y  figure.Axis
	lines []rowLine
}

// rowLine is a line of a rowFigure. Points whose rows are not there are left out.
type rowLine struct {
	name   string
	points []rowPoint
}

// rowPoint is a row at an abscissa, which is a number or the median of another row.
type rowPoint struct {
	y  string // the ID
	x  float64
	at string // the ID of the abscissa, or none
}

// rowFigures are the figures of saved rows, by the experiment whose section shows them.
var rowFigures = map[string][]rowFigure{
	"multitoken-sizes": {{
		SavedFigure: SavedFigure{"multitoken-sizes", "Interval and tokens by size, over those of 191 members"},
		x:           figure.Axis{Label: "members", Log: true}, y: figure.Axis{Label: "over the value of 191 members", Min: 0.8, Max: 1.3},
		lines: []rowLine{
			rowsAt("interval", "multitoken-decoupled-%d", 20, 50, 1000), rowsAt("tokens for each member", "multitoken-linear-%d", 20, 50, 1000),
		},
	}},
	"beyond-walk-trade": {tradeFigure()},
	"beyond-down-walk": {
		downFigure("idle", "Time with no operation, 300 members", figure.Axis{Label: "share of time with no operation (%)", Log: true}),
		downFigure("p99", "Longest waits, 300 members", figure.Axis{Label: "99th percentile over the ideal", Log: true}),
	},
}

// rowsAt is a line of rows whose IDs have their abscissa in the place of %d.
func rowsAt(name, ids string, at ...int) rowLine {
	line := rowLine{name: name}
	for _, x := range at {
		line.points = append(line.points, rowPoint{y: fmt.Sprintf(ids, x), x: float64(x)})
	}
	return line
}

// tradeFigure shows what messages buy: fair with fewer and more timekeepers, and the presets.
func tradeFigure() rowFigure {
	f := rowFigure{
		SavedFigure: SavedFigure{"beyond-walk-trade", "Small messages against the longest waits, 300 members"},
		x:           figure.Axis{Label: "small messages per operation"},
		y:           figure.Axis{Label: "p99 between operations, over the ideal", Log: true, Min: 1, Max: 8},
	}
	line := func(name string, tags ...string) {
		l := rowLine{name: name}
		for _, tag := range tags {
			l.points = append(l.points, rowPoint{y: "beyond-p99-" + tag, at: "beyond-messages-" + tag})
		}
		f.lines = append(f.lines, l)
	}
	for _, under := range []struct{ name, tag string }{{"fair, by timekeepers", ""}, {"the same, all at once", "-all"}} {
		var tags []string
		for _, n := range timekeepersAlong {
			tags = append(tags, fmt.Sprintf("fair-timekeepers-%d%s", n, under.tag))
		}
		line(under.name, tags...)
	}
	for _, preset := range append(slices.Clone(paperPresets), walkLight, walkFair) {
		line(preset, fmt.Sprintf("%s-%d", preset, fullLoad))
	}
	return f
}

// downFigure shows a quantity by the share of members that are down.
func downFigure(quantity, title string, y figure.Axis) rowFigure {
	f := rowFigure{
		SavedFigure: SavedFigure{"beyond-down-" + quantity, title}, y: y, x: figure.Axis{Label: "members down (%)", Min: -1, Max: 45},
	}
	for _, preset := range []string{walkLight, walkFair} {
		for _, c := range []struct{ name, id string }{{"", ""}, {", not stated", "unstated-"}, {", all stresses", "all-"}} {
			f.lines = append(f.lines, rowsAt(preset+c.name, "beyond-down-"+quantity+"-"+preset+"-"+c.id+"300-%d", 0, 5, 10, 20, 30))
		}
	}
	return f
}

// rowIndex has the saved rows by their IDs.
type rowIndex map[string]SavedRow

func indexOf(results []Saved) rowIndex {
	rows := rowIndex{}
	for _, r := range results {
		for _, row := range r.Rows {
			rows[row.ID] = row
		}
	}
	return rows
}

// shown are all figures of a result: those of its runs, and those of rows.
func (rows rowIndex) shown(r Saved) []SavedFigure {
	all := slices.Clone(r.Figures)
	for _, f := range rowFigures[r.Name] {
		if p := f.plot(rows); len(p.Lines) > 0 {
			all = append(all, f.SavedFigure)
		}
	}
	return all
}

// plot draws a line for those of several points, and a mark for a single one.
func (f *rowFigure) plot(rows rowIndex) figure.Plot {
	p := figure.Plot{Title: f.Title, X: f.x, Y: f.y}
	for _, l := range f.lines {
		line := figure.Line{Name: l.name, Dashed: len(p.Lines)%2 == 1}
		if len(l.points) == 1 {
			line.Style = figure.Points
		}
		for _, at := range l.points {
			row, x := rows[at.y], at.x
			if across, known := rows[at.at]; known {
				v, _ := across.numbers()
				x = v[0]
			} else if at.at != "" {
				continue
			}
			if v, ok := row.numbers(); ok {
				line.Points = append(line.Points, [2]float64{x, v[0]})
				line.Spread = append(line.Spread, [2]float64{v[1], v[2]})
			}
		}
		if len(line.Points) > 0 {
			p.Lines = append(p.Lines, line)
		}
	}
	return p
}

var (
	printedValue = regexp.MustCompile(`^(\S+)(?: %| s)? \((\S+) to ([^)\s]+)\)`)
	printedLimit = regexp.MustCompile(`^(\S+) to (\S+)`)
)

// numbers are the median and the ends of its confidence interval, as they are printed:
// shares in percent. A row without an interval has none.
func (r *SavedRow) numbers() (v [3]float64, ok bool) {
	m := printedValue.FindStringSubmatch(r.Measured)
	if m == nil {
		return v, false
	}
	for i := range v {
		v[i] = coordinate(m[i+1])
	}
	return v, true
}

// publishedFigure is the figure at the head of the page about the papers.
var publishedFigure = SavedFigure{"reproduction", "Published numbers: what is measured, in tolerances from the middle of the limits"}

// mostTolerances is how far from its published number a median is shown; farther ones
// are at the edge.
const mostTolerances = 5.0

// publishedPlot shows the two-sided claims in the order of the page: how far each median
// and its confidence interval are from the middle of the limits, in units of the distance
// of the limits from it.
func publishedPlot(results []Saved) figure.Plot {
	p := figure.Plot{
		Title: publishedFigure.Title, X: figure.Axis{Label: "two-sided claims, in the order of the page"},
		Y: figure.Axis{Label: "distance in tolerances", Min: -mostTolerances - 0.5, Max: mostTolerances + 2.5},
	}
	claims := 0.0
	clamp := func(v float64) float64 { return max(-mostTolerances, min(mostTolerances, v)) }
	for _, chapter := range papers {
		line := figure.Line{Name: chapter.title, Style: figure.Points}
		for _, r := range chapter.of(results) {
			for _, row := range r.Rows {
				limit, v, ok := row.published()
				if !ok {
					continue
				}
				claims++
				middle, half := (limit[0]+limit[1])/2, (limit[1]-limit[0])/2
				line.Points = append(line.Points, [2]float64{claims, clamp((v[0] - middle) / half)})
				line.Spread = append(line.Spread, [2]float64{clamp((v[1] - middle) / half), clamp((v[2] - middle) / half)})
			}
		}
		if len(line.Points) > 0 {
			p.Lines = append(p.Lines, line)
		}
	}
	if claims > 0 {
		p.Lines = append(p.Lines, figure.Line{
			Name: "limits", Dashed: true, Points: [][2]float64{{0, 0}, {claims + 1, 0}}, Spread: [][2]float64{{-1, 1}, {-1, 1}},
		})
	}
	return p
}

// published are the limits and the measurement of a plain two-sided claim.
func (r *SavedRow) published() (limit [2]float64, v [3]float64, ok bool) {
	m := printedLimit.FindStringSubmatch(r.Limit)
	if r.Kind != TwoSided || !r.Plain() || m == nil {
		return limit, v, false
	}
	limit = [2]float64{coordinate(m[1]), coordinate(m[2])}
	v, ok = r.numbers()
	return limit, v, ok
}

// drawSaved draws the figures in dir/figures that need no run, of saved rows and tables.
func drawSaved(dir string, aboutPapers, all []Saved) error {
	figures := filepath.Join(dir, figuresDir)
	if err := os.MkdirAll(figures, 0o755); err != nil {
		return err
	}
	if p := publishedPlot(aboutPapers); len(p.Lines) > 0 {
		if err := p.Write(figures, publishedFigure.Name); err != nil {
			return err
		}
	}
	rows := indexOf(all)
	for _, r := range all {
		for _, f := range rowFigures[r.Name] {
			if p := f.plot(rows); len(p.Lines) > 0 {
				if err := p.Write(figures, f.Name); err != nil {
					return err
				}
			}
		}
		if err := drawShares(dir, r.Name); err != nil {
			return err
		}
	}
	return nil
}

// drawShares draws the figure of operations at once of an experiment again, if there is
// its table.
func drawShares(dir, name string) error {
	f, has := sharesFigures[name]
	if !has {
		return nil
	}
	file := filepath.Join(dir, dataDir, name+".csv")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(lines) < 2 || !slices.Equal(lines[0], f.header()) {
		return fmt.Errorf("%w: %s", ErrSaved, file)
	}
	return concurrencyPlot(f.title, lines[1:], f.dashed).Write(filepath.Join(dir, figuresDir), name)
}
