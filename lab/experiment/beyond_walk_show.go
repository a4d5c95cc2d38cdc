package experiment

import (
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/lab/figure"
)

// walkTable is the table of all groups, a line each: medians over the runs.
type walkTable [][]string

var walkHeader = []string{
	"preset", "members", "members_max", "under", "idle", "idle though somebody is due", "two", "more",
	"p50 over ideal", "p99 over ideal", "p99.9 over ideal", "small messages per hop", "small messages per operation",
	"hops per operation", "bytes on the token", "longest token field", "message bytes per operation",
	"loss felt median s", "loss felt longest s", "until a token median s", "tokens made", "tokens lost",
}

// add adds a group under some stress.
func (t *walkTable) add(g walkGroup, under string, runs []*walkRun) {
	line := []string{g.preset, fmt.Sprint(g.members), fmt.Sprint(g.membersMax), under}
	for _, value := range []func(*walkRun) float64{
		walkIdle.value, func(r *walkRun) float64 { return r.waiting }, walkTwo.value, walkMore.value,
		func(r *walkRun) float64 { return r.stretched(0.5) }, walkP99.value, walkP999.value,
		walkHop.value, walkMessages.value, (*walkRun).hopsPerOperation, (*walkRun).fieldBytes,
		func(r *walkRun) float64 { return float64(r.traffic.LongestField) },
		func(r *walkRun) float64 { return float64(r.traffic.Messages) / float64(r.stats.Operations) },
		walkGap.value, walkLongestGap.value, func(r *walkRun) float64 { return middle(r.tokenless(plainLosses)) },
		func(r *walkRun) float64 { return float64(r.stats.Generated) },
		func(r *walkRun) float64 { return float64(r.stats.Lost) },
	} {
		line = append(line, cellOf(middle(column(runs, value))))
	}
	*t = append(*t, line)
}

// tokenless is for how many seconds there was no token after each loss of these kinds.
func (r *walkRun) tokenless(kinds []lossKind) []float64 {
	return r.lossTimes(kinds, func(l tokenLoss) time.Duration { return l.token })
}

// walkFigures collects what the figures of all presets show.
type walkFigures struct {
	full            []curve       // the runs at full load
	recovery, sizes []figure.Line // of each preset
}

// add adds the runs of a group.
func (f *walkFigures) add(g walkGroup, runs []*walkRun) {
	p99 := middle(column(runs, walkP99.value))
	if len(f.sizes) == 0 || f.sizes[len(f.sizes)-1].Name != g.preset {
		f.sizes = append(f.sizes, figure.Line{Name: g.preset, Dashed: isPapers(g.preset)})
	}
	line := &f.sizes[len(f.sizes)-1]
	line.Points = append(line.Points, [2]float64{float64(g.members), p99})
	if g.members != fullLoad {
		return
	}
	f.full = append(f.full, curve{g.preset, column(runs, func(r *walkRun) *outcome { return &r.outcome }), isPapers(g.preset)})
	f.recovery = append(f.recovery, figure.Line{Name: g.preset, Dashed: isPapers(g.preset), Points: feltUpTo(runs, plainLosses)})
}

// feltUpTo is which share of the losses of all runs is felt no longer than the
// abscissa, in seconds.
func feltUpTo(runs []*walkRun, kinds []lossKind) (points [][2]float64) {
	var all []float64
	for _, r := range runs {
		all = append(all, r.felt(kinds)...)
	}
	slices.Sort(all)
	for i, x := range all {
		points = append(points, [2]float64{max(x, shortestShown), float64(i+1) / float64(len(all))})
	}
	return points
}

// shortestShown is where the logarithmic axis of the recoveries begins.
const shortestShown = 1.0

// plot hands the figures in.
func (f *walkFigures) plot(l *Lab) {
	l.Plot("beyond-walk-concurrency", concurrencyPlot("Operations at once, presets of wandering, 300 members", concurrencyTable(f.full), paperPresets))
	l.Plot("beyond-walk-intervals", spansPlot("Presets of wandering, 300 members", "time between operations", operations, f.full))
	l.Plot("beyond-walk-recovery", recoveryPlot("How long the loss of a token is felt, 300 members", f.recovery))
	l.Plot("beyond-walk-sizes", figure.Plot{
		Title: "99th percentile of the time between operations", Legend: figure.TopLeft,
		X: figure.Axis{Label: "members", Log: true}, Y: figure.Axis{Label: "over that of a perfect round robin", Log: true, Min: 1, Max: 20}, Lines: f.sizes,
	})
}

func recoveryPlot(title string, lines []figure.Line) figure.Plot {
	return figure.Plot{
		Title: title, Legend: figure.BottomRight, Lines: lines,
		X: figure.Axis{Label: "until an operation begins (s)", Log: true, Min: shortestShown, Max: lossEvery.Seconds()},
		Y: figure.Axis{Label: "share of losses", Min: 0, Max: 1},
	}
}
