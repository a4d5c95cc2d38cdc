package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/lab/experiment"
)

func newListCommand(env *cli.Environment) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the experiments, one for each figure or group of numbers of a paper",
		Example: "  wander-lab list",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := cli.CheckOutput(output); err != nil {
				return err
			}
			return listExperiments(env.Out, output)
		},
	}
	cli.AddOutputFlag(cmd, &output)
	return cmd
}

func listExperiments(w io.Writer, output string) error {
	all := append(experiment.All(), experiment.Beyond()...)
	if output == "json" {
		list := listing{V: 1, Experiments: []listedExperiment{}}
		for _, e := range all {
			list.Experiments = append(list.Experiments, listedExperiment{Name: e.Name, Title: e.Title, Source: e.Source})
		}
		return cli.WriteJSON(w, list)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\n", e.Name, e.Source, e.Title)
	}
	return t.Flush()
}

// listing is the answer of list and run.
type listing struct {
	V           int                `json:"v"`
	Seeds       int                `json:"seeds,omitempty"`
	First       uint64             `json:"first,omitempty"` // of the seeds
	Experiments []listedExperiment `json:"experiments"`
}

type listedExperiment struct {
	Name   string      `json:"name"`
	Title  string      `json:"title"`
	Source string      `json:"source"`
	Rows   []listedRow `json:"rows,omitempty"`
}

// listedRow is one claim with its measurement. Shares are between 0 and 1.
type listedRow struct {
	ID       string             `json:"id"`
	Source   string             `json:"source"`
	Says     string             `json:"paper_says"`
	Quantity string             `json:"quantity"`
	Reading  string             `json:"reading,omitempty"`
	Kind     experiment.Kind    `json:"kind"`
	Unit     string             `json:"unit"` // share, s or number
	HoldsIf  string             `json:"holds_if"`
	Median   number             `json:"median"`
	Low      number             `json:"low"` // with High, the confidence interval of the median; null: without bound
	High     number             `json:"high"`
	P5       number             `json:"p5"`
	P95      number             `json:"p95"`
	Samples  []number           `json:"samples"`
	Verdict  experiment.Verdict `json:"verdict"`
	HoldsIn  int                `json:"holds_in"`
	Of       int                `json:"of"`
	Beside   string             `json:"beside,omitempty"`
	Why      string             `json:"why,omitempty"`
	// Tolerance has the verdicts with half and twice the tolerance, where they
	// are others.
	Tolerance []experiment.Change `json:"tolerance,omitempty"`
}

// number is written as null where it is none, which JSON has no number for.
// Others are rounded: arithmetic may differ in the last bits between
// processors, and what runs tell apart ends long before.
type number float64

// numberDigits is how many significant digits a number has.
const numberDigits = 9

// MarshalJSON writes the number.
func (n number) MarshalJSON() ([]byte, error) {
	if v := float64(n); math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(n), 'g', numberDigits, 64), nil
}
