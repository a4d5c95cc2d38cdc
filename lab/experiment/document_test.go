package experiment

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/golden"
	"github.com/wandertoken/wander/lab/figure"
)

// toys is a paper whose claims have every verdict.
var toys = paper{
	title: "Toy paper", cites: `a paper, "Of Toys"`,
	finding: "Toys are toys.",
	experiments: func() []Experiment {
		return []Experiment{{
			Name: "toy-1", Title: "What toys do", Source: "toys §1, figure 1", Notes: "Read *literally*.",
			Run: func(l *Lab) error {
				c := Claim{Source: "toys §1", Says: "a | b", Quantity: "share of time", Unit: Share, Why: "toys differ"}
				for _, x := range []struct {
					id    string
					holds Check
				}{{"toy-yes", About(0.25, 0.25)}, {"toy-no", AtMost(0.1)}, {"toy-open", AtMost(0.25).trend()}, {"toy-maybe", Reported()}} {
					c.ID, c.Holds = x.id, x.holds
					l.Row(c, []float64{0.2, 0.3, 0.2, 0.3, 0.2, 0.3})
				}
				c.ID, c.Reading, c.Holds = "toy-yes/otherwise", "each for itself", Exactly(0.4)
				l.Row(c, []float64{0.4})
				c.ID, c.Holds = "toy-no/otherwise", Exactly(0.1)
				l.Row(c, []float64{0.4})
				l.Plot("toy-1", figure.Plot{Title: "Toys"})
				l.NotMeasured("toys §2", "toys | games cost nothing", "no prices here")
				return nil
			},
		}}
	},
}

// The page, the register and the registers of data of a paper whose claims have every verdict.
func TestPages_EveryVerdict_Golden(t *testing.T) {
	defer func(before []paper) { papers = before }(papers)
	papers = []paper{toys}
	results, err := Run(t.Context(), All(), Options{Seeds: Seeds(1, 6)})
	require.NoError(t, err)
	var saved []Saved
	for _, r := range results {
		saved = append(saved, NewSaved("make toys", r))
	}
	sweep := Sweep{
		{Constant: "toy number", Value: "7 s", Experiment: "toy-1", Row: "toy-no", Verdict: Reproduced, Seeds: 6},
		{Constant: "toy number", Value: "3 s", Experiment: "toy-1", Row: "toy-no", Verdict: Open},
		{Constant: "toy number", Value: "3 s", Experiment: "toy-1", Row: "toy-maybe", Verdict: Measured},
	}
	golden.File(t, "testdata/document.md", Reproduction(saved, sweep))
	golden.File(t, "testdata/register.md", registerPage(saved))
	golden.File(t, "testdata/claims.csv", Claims(saved, sweep))
	golden.File(t, "testdata/constants.csv", constantsRegister(saved, sweep))
	golden.File(t, "testdata/README.md", dataReadme(saved))
}
