package experiment_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/lab/experiment"
	"github.com/wandertoken/wander/lab/figure"
)

// claim is complete; tests change what they are about.
func claim(id string, holds experiment.Check) experiment.Claim {
	return experiment.Claim{
		ID: id, Source: "§3", Says: "less | more", Quantity: "share", Unit: experiment.Share, Holds: holds, Why: "because",
	}
}

// run runs one experiment.
func run(t *testing.T, seeds int, do func(*experiment.Lab) error) (experiment.Result, error) {
	t.Helper()
	e := experiment.Experiment{Name: "x", Title: "An experiment", Source: "§1", Run: do}
	results, err := experiment.Run(t.Context(), []experiment.Experiment{e}, experiment.Options{Seeds: experiment.Seeds(1, seeds), Parallel: 2})
	if err != nil {
		return experiment.Result{}, err
	}
	return results[0], nil
}

// The whole confidence interval of the median decides: with six seeds it goes from
// the smallest to the largest, with nine from the second to the eighth.
func TestRow_Samples_VerdictOfTheInterval(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		holds    experiment.Check
		samples  []float64
		measured string
		verdict  string
	}{
		"holds in all":        {experiment.AtMost(0.1), []float64{0.05, 0.06, 0.07, 0.08, 0.09, 0.1}, "7.5 % (5 to 10) [5.25..9.75]", "reproduced (6 of 6)"},
		"one of six fails":    {experiment.AtMost(0.1), []float64{0.05, 0.06, 0.07, 0.08, 0.09, 0.2}, "7.5 % (5 to 20) [5.25..17.2]", "open (5 of 6)"},
		"one of nine fails":   {experiment.AtMost(0.1), []float64{0.05, 0.06, 0.07, 0.08, 0.09, 0.1, 0.05, 0.06, 0.2}, "7 % (5 to 10) [5..16]", "reproduced (8 of 9)"},
		"fails in all":        {experiment.AtLeast(0.3), []float64{0.05, 0.06, 0.07, 0.08, 0.09, 0.2}, "7.5 % (5 to 20) [5.25..17.2]", "not reproduced (0 of 6)"},
		"on both sides":       {experiment.Between(0.07, 0.08), []float64{0.05, 0.06, 0.07, 0.08, 0.09, 0.1}, "7.5 % (5 to 10) [5.25..9.75]", "open (2 of 6)"},
		"at the very bound":   {experiment.AtMost(0.1), []float64{0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, "10 % (10 to 10) [10..10]", "reproduced (6 of 6)"},
		"a number to compare": {experiment.Reported(), []float64{0.05, 0.06, 0.07, 0.08, 0.09, 0.21}, "7.5 % (5 to 21) [5.25..18]", "measured"},
		"one sample alone":    {experiment.Exactly(0.25), []float64{0.25}, "25 %", "reproduced"},
		"and another":         {experiment.Exactly(0.25), []float64{0.26}, "26 %", "not reproduced"},
		"five tell nothing":   {experiment.AtMost(0.1), []float64{0.05, 0.05, 0.05, 0.05, 0.05}, "5 % [5..5]", "open (5 of 5)"},
		"runs with nothing":   {experiment.AtMost(0.1), []float64{nan, 0.3, nan, 0.3, 0.3, 0.3, 0.3, 0.3}, "30 % (30 to 30) [30..30] in 6 of 8 runs", "not reproduced (0 of 6)"},
		"too many of these":   {experiment.AtMost(0.1), []float64{nan, 0.3, nan, 0.3, 0.3, 0.3, 0.3}, "30 % (−∞ to ∞) [30..30] in 5 of 7 runs", "open (0 of 5)"},
		"nothing at all":      {experiment.AtMost(0.1), []float64{nan, nan, nan, nan}, "– [–..–] in 0 of 4 runs", "not reproduced (0 of 0)"},
		"beyond all bounds":   {experiment.AtMost(0.1), []float64{inf, inf, inf, inf, inf, inf}, "∞ (∞ to ∞) [∞..∞]", "not reproduced (0 of 6)"},
		"some beyond all":     {experiment.AtMost(0.1), []float64{0, inf, inf, inf, inf, inf}, "∞ (0 to ∞) [∞..∞]", "open (1 of 6)"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := run(t, len(c.samples), func(l *experiment.Lab) error {
				l.Row(claim("x-1", c.holds), c.samples)
				return nil
			})
			require.NoError(t, err)
			assert.Equal(t, c.measured, r.Rows[0].MeasuredText())
			assert.Equal(t, c.verdict, r.Rows[0].VerdictText())
		})
	}
}

// With few seeds a claim may fail that is given no reason for it.
func TestUnexplained(t *testing.T) {
	r, err := run(t, 1, func(l *experiment.Lab) error {
		c := claim("x-1", experiment.AtMost(0.1))
		c.Why = ""
		l.Row(c, []float64{1})
		c.ID = "x-2"
		l.Row(c, []float64{0})
		return nil
	})
	require.NoError(t, err)
	assert.Equal(t, experiment.Unexplained, r.Rows[0].Why)
	assert.Empty(t, r.Rows[1].Why)
}

func TestChecks(t *testing.T) {
	for text, c := range map[string]struct {
		check     experiment.Check
		yes, no   []float64
		otherwise experiment.Unit
	}{
		"at most 10 %":            {check: experiment.AtMost(0.1), yes: []float64{-1, 0.1}, no: []float64{0.11, math.NaN()}},
		"at least 10 %":           {check: experiment.AtLeast(0.1), yes: []float64{0.1, 7}, no: []float64{0.09, math.NaN()}},
		"35 to 45 %":              {check: experiment.Between(0.35, 0.45), yes: []float64{0.35, 0.45}, no: []float64{0.34, 0.46, math.NaN()}},
		"4 to 6 % (± 20 %)":       {check: experiment.About(0.05, 0.2), yes: []float64{0.041, 0.059}, no: []float64{0.039, 0.061, math.NaN()}},
		"1080 to 1320 s (± 10 %)": {check: experiment.About(1200, 0.1), yes: []float64{1081, 1319}, no: []float64{1079, 1321}, otherwise: experiment.Seconds},
		"exactly 2":               {check: experiment.Exactly(2), yes: []float64{2}, no: []float64{1.99, 2.01}, otherwise: experiment.Number},
		"–":                       {check: experiment.Reported(), yes: []float64{0, 1, -5}},
	} {
		unit := c.otherwise
		if unit == 0 {
			unit = experiment.Share
		}
		assert.Equal(t, text, c.check.Text(unit))
		for _, v := range c.yes {
			assert.True(t, c.check.Holds(v), "%s: %v", text, v)
		}
		for _, v := range c.no {
			assert.False(t, c.check.Holds(v), "%s: %v", text, v)
		}
	}
}

func TestUnits(t *testing.T) {
	for want, got := range map[string]string{
		"9.08 %":  experiment.Share.Text(0.090807),
		"0.251 %": experiment.Share.Text(0.0025149),
		"100 %":   experiment.Share.Text(1),
		"0 %":     experiment.Share.Text(0),
		"1713 s":  experiment.Seconds.Text(1712.6),
		"0.1 s":   experiment.Seconds.Text(0.1),
		"-2.5":    experiment.Number.Text(-2.5),
		"180000":  experiment.Number.Text(180000),
		"–":       experiment.Seconds.Text(math.NaN()),
	} {
		assert.Equal(t, want, got)
	}
}

// The percentiles lie within the samples, in their order, and do not depend on
// the order of the seeds.
func TestPercentiles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		samples := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 50).Draw(rt, "samples")
		measure := func(samples []float64) experiment.Row {
			r, err := run(t, len(samples), func(l *experiment.Lab) error {
				l.Row(claim("x-1", experiment.Reported()), samples)
				return nil
			})
			require.NoError(rt, err)
			return r.Rows[0]
		}
		row := measure(samples)
		below := 0
		for _, s := range samples {
			if s <= row.Median {
				below++
			}
		}
		if row.P5 > row.Median || row.Median > row.P95 || 2*below < len(samples) {
			rt.Fatalf("%v %v %v of %v", row.P5, row.Median, row.P95, samples)
		}
		shuffled := append([]float64(nil), samples...)
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		again := measure(shuffled)
		require.Equal(rt, [3]float64{row.P5, row.Median, row.P95}, [3]float64{again.P5, again.Median, again.P95})
	})
}

func TestExperiments_Mistakes_Found(t *testing.T) {
	boom := errors.New("boom")
	good := claim("x-1", experiment.AtMost(0.1))
	noUnit := good
	noUnit.Unit = 0
	plot := figure.Plot{Lines: []figure.Line{{Points: [][2]float64{{1, 1}}}}}
	for name, c := range map[string]struct {
		do   func(*experiment.Lab)
		want error
	}{
		"two rows of one name":    {func(l *experiment.Lab) { l.Row(good, []float64{0}); l.Row(good, []float64{0}) }, experiment.ErrDuplicate},
		"two tables of one name":  {func(l *experiment.Lab) { l.Table("t", nil, nil); l.Table("t", nil, nil) }, experiment.ErrDuplicate},
		"two figures of one name": {func(l *experiment.Lab) { l.Plot("p", plot); l.Plot("p", plot) }, experiment.ErrDuplicate},
		"samples missing":         {func(l *experiment.Lab) { l.Row(good, []float64{0, 0}) }, experiment.ErrSamples},
		"no samples":              {func(l *experiment.Lab) { l.Row(good, nil) }, experiment.ErrSamples},
		"no unit":                 {func(l *experiment.Lab) { l.Row(noUnit, []float64{0}) }, experiment.ErrIncomplete},
		"a job fails": {func(l *experiment.Lab) {
			_, err := experiment.Gather(l, func(seed uint64) (int, error) { return 0, boom })
			l.Table(fmt.Sprint(err), nil, nil)
			panic(err)
		}, boom},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(t, 3, func(l *experiment.Lab) (err error) {
				defer func() {
					if p := recover(); p != nil {
						err = p.(error)
					}
				}()
				c.do(l)
				return nil
			})
			assert.ErrorIs(t, err, c.want)
		})
	}
	_, err := experiment.Run(t.Context(), nil, experiment.Options{})
	assert.ErrorIs(t, err, experiment.ErrNoSeeds)
}

func TestGather_Seeds_InOrder(t *testing.T) {
	var last int
	e := experiment.Experiment{Name: "x", Run: func(l *experiment.Lab) error {
		got, err := experiment.Gather(l, func(seed uint64) (uint64, error) { return seed * 10, nil })
		require.NoError(t, err)
		for i, v := range got {
			assert.Equal(t, l.Seeds()[i]*10, v)
		}
		return nil
	}}
	_, err := experiment.Run(t.Context(), []experiment.Experiment{e}, experiment.Options{
		Seeds: experiment.Seeds(1, 100), Parallel: 7,
		Progress: func(p experiment.Progress) {
			assert.Equal(t, last+1, p.Done)
			last = p.Done
			assert.Equal(t, experiment.Progress{Experiment: "x", Index: 1, Of: 1, Done: p.Done, Total: 100}, p)
		},
	})
	require.NoError(t, err)
	assert.Equal(t, 100, last)
}

// A failing run names its seed, and no further ones begin.
func TestGather_Error_Stops(t *testing.T) {
	boom := errors.New("boom")
	ran := 0
	e := experiment.Experiment{Name: "x", Run: func(l *experiment.Lab) error {
		_, err := experiment.Gather(l, func(seed uint64) (int, error) {
			ran++
			if seed == 3 {
				return 0, boom
			}
			return 0, nil
		})
		return err
	}}
	_, err := experiment.Run(t.Context(), []experiment.Experiment{e}, experiment.Options{Seeds: experiment.Seeds(1, 1000), Parallel: 1})
	assert.ErrorIs(t, err, boom)
	assert.EqualError(t, err, "x: seed 3: boom")
	assert.Less(t, ran, 10)
}

func TestInterruption(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ran := 0
	e := experiment.Experiment{Name: "x", Run: func(l *experiment.Lab) error {
		_, err := experiment.Gather(l, func(uint64) (int, error) { ran++; cancel(); return 0, nil })
		return err
	}}
	_, err := experiment.Run(ctx, []experiment.Experiment{e, e}, experiment.Options{Seeds: experiment.Seeds(1, 1000), Parallel: 1})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Less(t, ran, 10)
}

// TestRun_FewSeeds_ExperimentsGoAtOnce: each waits for the other, so one after the other they would never end.
func TestRun_FewSeeds_ExperimentsGoAtOnce(t *testing.T) {
	here := make(chan string)
	meets := func(name string, meet func()) experiment.Experiment {
		return experiment.Experiment{Name: name, Run: func(l *experiment.Lab) error {
			_, err := experiment.Gather(l, func(uint64) (int, error) { meet(); return 0, nil })
			l.Row(claim(name+"-row", experiment.AtMost(0)), []float64{0})
			return err
		}}
	}
	results, err := experiment.Run(t.Context(), []experiment.Experiment{
		meets("a", func() { assert.Equal(t, "b", <-here) }), meets("b", func() { here <- "b" }),
	}, experiment.Options{Seeds: experiment.Seeds(1, 1), Parallel: 2})
	require.NoError(t, err)
	require.Len(t, results, 2)
	assert.Equal(t, "a", results[0].Name)
	assert.Equal(t, "b-row", results[1].Rows[0].ID)
}

// A failing experiment ends those beside it, and no further one begins.
func TestRun_Error_EndsTheOthers(t *testing.T) {
	boom := errors.New("boom")
	began := make(chan bool)
	_, err := experiment.Run(t.Context(), []experiment.Experiment{
		{Name: "long", Run: func(l *experiment.Lab) error {
			close(began)
			<-l.Context().Done()
			return context.Cause(l.Context())
		}},
		{Name: "fails", Run: func(*experiment.Lab) error { <-began; return boom }},
		{Name: "next", Run: func(*experiment.Lab) error { t.Error("began"); return nil }},
	}, experiment.Options{Seeds: experiment.Seeds(1, 1), Parallel: 2})
	assert.ErrorIs(t, err, boom)
	assert.EqualError(t, err, "fails: boom")
}

// AtOnce lets two go at once, runs as many as are permitted, and begins none after an error.
func TestAtOnce_Error_FirstReturned(t *testing.T) {
	boom := errors.New("boom")
	var going, most, began atomic.Int64
	e := experiment.Experiment{Name: "x", Run: func(l *experiment.Lab) error {
		return experiment.AtOnce(l, 1000, func(l *experiment.Lab, i int) error {
			began.Add(1)
			_, err := experiment.Gather(l, func(uint64) (int, error) {
				if n := going.Add(1); n > most.Load() {
					most.Store(n)
				}
				defer going.Add(-1)
				if i == 3 {
					return 0, boom
				}
				return i, nil
			})
			return err
		})
	}}
	_, err := experiment.Run(t.Context(), []experiment.Experiment{e}, experiment.Options{Seeds: experiment.Seeds(1, 1), Parallel: 2})
	assert.EqualError(t, err, "x: seed 1: boom")
	assert.LessOrEqual(t, most.Load(), int64(2))
	assert.Less(t, began.Load(), int64(1000))
}

// toy is an experiment with everything.
var toy = experiment.Experiment{
	Name: "toy", Title: "A toy", Source: "no paper §1", Notes: "Read like *this*.",
	Run: func(l *experiment.Lab) error {
		drawn, err := experiment.Gather(l, func(seed uint64) (float64, error) {
			return rand.New(rand.NewPCG(seed, 0)).Float64(), nil
		})
		l.Row(claim("toy-half", experiment.About(0.5, 0.5)), drawn)
		l.Row(claim("toy-none", experiment.AtMost(0)), drawn)
		l.Table("toy-table", []string{"a", "b"}, [][]string{{"1", "x, y"}, {"2", `"`}})
		l.Plot("toy-figure", figure.Plot{Title: "Toy", Lines: []figure.Line{{Points: [][2]float64{{1, drawn[0]}, {2, drawn[1]}}}}})
		l.NotMeasured("§9", "it costs a lot", "nobody knows what a lot is")
		return err
	},
}

func files(t *testing.T, parallel int) map[string]string {
	dir := t.TempDir()
	results, err := experiment.Run(t.Context(), []experiment.Experiment{toy}, experiment.Options{Seeds: experiment.Seeds(1, 6), Parallel: parallel})
	require.NoError(t, err)
	require.NoError(t, experiment.Write(dir, results))
	page := experiment.Reproduction([]experiment.Saved{experiment.NewSaved("make it", results[0])}, nil)
	require.NoError(t, os.WriteFile(filepath.Join(dir, experiment.DocumentName), page, 0o600))
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(text)
		return err
	}))
	return all
}

func TestFiles_WrittenAgain_Same(t *testing.T) {
	once := files(t, 1)
	assert.Equal(t, once, files(t, 5))
	assert.Len(t, once, 5)
	assert.Equal(t, "a,b\n1,\"x, y\"\n2,\"\"\"\"\n", once["data/toy-table.csv"])
	claims := strings.Split(once["data/toy-claims.csv"], "\n")
	assert.True(t, strings.HasSuffix(claims[0], ",verdict,seed 1,seed 2,seed 3,seed 4,seed 5,seed 6"), claims[0])
	assert.True(t, strings.HasPrefix(claims[1], "toy-half,§3,two-sided,less | more,share,,share,25 to 75 % (± 50 %),"), claims[1])
	assert.Contains(t, once["figures/toy-figure.svg"], "<svg")
	assert.Contains(t, once["figures/toy-figure.png"], "PNG")
}
