package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/wandertoken/wander/lab/experiment"
)

func newSimCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Simulate groups in virtual time, and compare with the papers",
		Long: `Run the policies in virtual time, thousands of members on one machine. What runs
is what a daemon runs, without network and signatures. With sim cluster whole members
run, with signatures and journals, and everything goes wrong.`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(newSimListCommand(env), newSimRunCommand(env), newSimSweepCommand(env), newSimPageCommand(env), newSimScenarioCommand(env))
	cmd.AddCommand(newSimRingCommand(env), newSimClusterCommand(env))
	return cmd
}

func newSimListCommand(env *environment) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the experiments, one for each figure or group of numbers of a paper",
		Example: "  wander sim list",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := checkOutput(output); err != nil {
				return err
			}
			return listExperiments(env.Out, output)
		},
	}
	addOutputFlag(cmd, &output)
	return cmd
}

func addOutputFlag(cmd *cobra.Command, output *string) {
	cmd.Flags().StringVarP(output, "output", "o", "text", "text or json")
}

func checkOutput(output string) error {
	if output != "text" && output != "json" {
		return usageError("--output %q: text or json", output)
	}
	return nil
}

func listExperiments(w io.Writer, output string) error {
	all := append(experiment.All(), experiment.Beyond()...)
	if output == "json" {
		list := simListing{V: 1, Experiments: []simExperiment{}}
		for _, e := range all {
			list.Experiments = append(list.Experiments, simExperiment{Name: e.Name, Title: e.Title, Source: e.Source})
		}
		return writeJSON(w, list)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\n", e.Name, e.Source, e.Title)
	}
	return t.Flush()
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// simListing is the answer of sim list and sim run.
type simListing struct {
	V           int             `json:"v"`
	Seeds       int             `json:"seeds,omitempty"`
	First       uint64          `json:"first,omitempty"` // of the seeds
	Experiments []simExperiment `json:"experiments"`
}

type simExperiment struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	Source string   `json:"source"`
	Rows   []simRow `json:"rows,omitempty"`
}

// simRow is one claim with its measurement. Shares are between 0 and 1.
type simRow struct {
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

// interruptible ends at Ctrl-C; a second one kills the program as usual.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// interrupted is the end of a command that was stopped by a signal.
func interrupted() error { return stopped("interrupted") }

// interruptedWriting is that of one that was to write files.
func interruptedWriting() error { return stopped("interrupted; nothing was written") }

func stopped(text string) error {
	return &exitError{code: exitSignal + int(syscall.SIGINT), err: errors.New(text)}
}

// progressLine shows one line that changes, on a terminal only.
func progressLine(w io.Writer) (show func(format string, args ...any), clear func()) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func(string, ...any) {}, func() {}
	}
	return func(format string, args ...any) { fmt.Fprintf(f, "\r\x1b[K"+format, args...) },
		func() { fmt.Fprint(f, "\r\x1b[K") }
}
