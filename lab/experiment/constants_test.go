package experiment

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each constant is complete: it says why it has its value, which experiments read
// it, and which other values it was given or why none.
func TestConstants_Each_Complete(t *testing.T) {
	names := map[string]bool{toleranceName: true}
	for _, c := range constants {
		assert.False(t, names[c.name], "%s is there twice", c.name)
		names[c.name] = true
		assert.NotEmpty(t, c.why, c.name)
		assert.NotZero(t, c.unit, c.name)
		assert.NotZero(t, c.value, c.name)
		assert.NotEmpty(t, c.used, c.name)
		for _, e := range c.used {
			_, known := Find(e)
			assert.True(t, known, "%s is used in %s", c.name, e)
		}
		assert.Equal(t, len(c.others) == 0, c.whyFixed != "", "%s is swept, or says why not", c.name)
		assert.NotContains(t, c.others, c.value, c.name)
	}
}

// otherNumbers are the numbers in constant declarations of this package that are
// no choice of an experiment, and why.
var otherNumbers = map[string]string{
	// Of the papers.
	"fullLoad": "journal table 1", "period": "journal §3", "runLength": "journal §3", "lossEvery": "journal §3", "deltaMin": "journal table 1",
	"journalStream": "journal §1", "journalChannel": "journal §1", "journalSlot": "journal §3", "stream": "journal §3, slides", "channel": "slides",
	"reportMembers": "report §5", "reportOverload": "report §5", "reportMin": "report table 1", "reportMax": "report table 1", "reportLength": "report §5",
	"reportStream": "report §6", "reportChannel": "report §6", "reportOp": "report table 1", "reportDmin": "report table 1", "reportDmax": "report table 1",
	"losses": "report figure 4", "gridMembers": "many-token paper §3", "gridRamp": "many-token paper §3", "gridEnd": "many-token paper §3",
	"gridTarget": "many-token paper §3", "gridLatency": "many-token paper §3", "least": "many-token paper §2.1, k_max", "joinEvery": "many-token paper §3",
	"walkOperation": "journal table 1", "walkSkip": "journal table 1",
	// Readings and goals that have rows of their own.
	"gridPlaces": "a reading; the other one has rows", "closeSpacing": "a reading; lossSpacing is swept to it", "paperLargest": "which rows there are",
	"mostWithin": "a limit, which tolerances change",
	// Of figures and tables.
	"spanStep": "figure", "spanEnd": "figure", "mostShown": "figure", "seriesStep": "figure", "seriesStride": "figure", "figureBin": "figure",
	"shortestShown": "figure", "mostTolerances": "figure", "shares": "percent", "digits": "printing", "cellDigits": "printing",
	// Resolution: what is larger or finer is counted all the same.
	"gridLimit": "histogram", "width": "histogram", "limit": "histogram", "operationsTold": "histogram", "walkBins": "histogram", "walkSpan": "histogram",
	"paretoSteps": "resolution of a distribution",
	// Of the machinery.
	"streamPrepare": "stream of randomness", "walkSeeds": "other seeds", "largeGroup": "cost", "largeGroupShare": "cost", "neededTransients": "index",
	"coldSpan": "names the row", "scale": "rows without a limit", "bits": "unit", "handoffMessages": "protocol", "nearOne": "sweep", "confidence": "rule of the page",
	"MaxSeeds": "bound", "MaxFirst": "bound", "savedVersion": "format", "DefaultSweepSeeds": "rule of the page", "MinSeeds": "arithmetic",
	"MaxBelow": "scenario", "maxKept": "bound", "maxBins": "scenario", "maxAcquainted": "scenario", "memory": "scenario", "memberMemory": "scenario",
	"acquaintance": "scenario", "defaultLimit": "scenario", "Share": "enumeration", "atMost": "enumeration",
}

// Every number in a constant declaration of this package is of a paper, listed
// among the constants, or no choice that could change a verdict.
func TestConstants_Declarations_Listed(t *testing.T) {
	files, err := os.ReadDir(".")
	require.NoError(t, err)
	found := map[string]bool{}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		source, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		require.NoError(t, err)
		ast.Inspect(source, func(n ast.Node) bool {
			if d, ok := n.(*ast.GenDecl); ok && d.Tok == token.CONST {
				for _, name := range numbersOf(d) {
					found[name] = true
					assert.Contains(t, otherNumbers, name, "%s: declare it in constants.go, or say here what it is", f.Name())
				}
			}
			return true
		})
	}
	for name := range otherNumbers {
		assert.True(t, found[name], "%s is no constant any more", name)
	}
}

// numbersOf are the constants of a declaration whose values have a number.
func numbersOf(d *ast.GenDecl) (names []string) {
	for _, s := range d.Specs {
		v := s.(*ast.ValueSpec)
		numeric := slices.ContainsFunc(v.Values, func(value ast.Expr) (has bool) {
			ast.Inspect(value, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind != token.STRING {
					has = true
				}
				return true
			})
			return has
		})
		if numeric {
			for _, name := range v.Names {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// An experiment reads the value that a sweep gives a constant, and no constant
// that does not name it.
func TestLab_Number_OwnOrSwept(t *testing.T) {
	l := newLab(t.Context(), Experiment{Name: "report-fig4"}, Options{Seeds: Seeds(1, 1), instead: map[*constant]float64{lossStep: 7}})
	assert.Equal(t, 7.0, l.number(lossStep))
	assert.Equal(t, lossSpacing.value, l.number(lossSpacing))
	assert.True(t, l.sweeping())
	assert.True(t, l.sweeps(lossStep))
	assert.False(t, l.sweeps(lossSpacing))
	assert.Panics(t, func() { l.number(ringLarge) })
	assert.Equal(t, ringLarge.value, (*Lab)(nil).number(ringLarge))
}

// A sweep runs each experiment with each other value of its constants, and a row
// changes where the few seeds decide otherwise than the row was decided.
func TestSweep_RingWorst_EachValue(t *testing.T) {
	e, _ := Find("ring-worst")
	var told []string
	sweep, err := RunSweep(t.Context(), []Experiment{e}, Options{Seeds: Seeds(3, 6), Progress: func(p Progress) { told = append(told, p.Experiment) }})
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, w := range sweep {
		seen[w.Constant+" "+w.Value] = true
		assert.Equal(t, "ring-worst", w.Experiment)
		assert.Equal(t, [2]uint64{6, 3}, [2]uint64{uint64(w.Seeds), w.First})
	}
	for _, c := range constants {
		for _, v := range c.others {
			assert.Equal(t, slices.Contains(c.used, "ring-worst"), seen[c.name+" "+c.text(v)], c.name)
		}
	}
	dir := t.TempDir()
	require.NoError(t, SaveSweep(dir, append(Sweep{{Constant: "x", Experiment: "journal-fig2", Verdict: Open}}, sweep...)))
	require.NoError(t, SaveSweep(dir, sweep), "which takes the place of the first")
	again, err := ReadSweep(dir)
	require.NoError(t, err)
	assert.Len(t, again, len(sweep)+1)
	assert.Equal(t, "x", again[0].Constant, "in the order of the experiments")
	assert.Equal(t, sweep[0].Row, again[1].Row)
}

func TestSweep_Changes_OnlyDecided(t *testing.T) {
	row := SavedRow{ID: "a", Verdict: Reproduced, Tolerance: []Change{{toleranceName, "halved", Open}}}
	sweep := Sweep{
		{Constant: "c", Value: "1", Row: "a", Verdict: NotReproduced}, {Constant: "c", Value: "2", Row: "a", Verdict: Open},
		{Constant: "c", Value: "3", Row: "a", Verdict: Reproduced}, {Constant: "c", Value: "4", Row: "b", Verdict: NotReproduced},
	}
	assert.Equal(t, []Change{{toleranceName, "halved", Open}, {"c", "1", NotReproduced}}, sweep.changes(row))
	row.Verdict = Open
	assert.Len(t, sweep.changes(row), 1, "what is open does not change")
}
