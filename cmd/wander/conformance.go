package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/spec/vector"
)

// conformanceFlags are what the command is told.
type conformanceFlags struct {
	vectors string
	full    bool
	output  string
}

func newConformanceCommand(env *environment) *cobra.Command {
	var flags conformanceFlags
	cmd := &cobra.Command{
		Use:   "conformance --vectors DIR",
		Short: "Run the protocol's test vectors",
		Long: `Run a folder of test vectors against this program: each is one input and its one
outcome, or a member put through a scenario. The project's own stand in
spec/vectors, whose README describes the files for those who build another
implementation. One line for each vector that comes out otherwise; the exit
code is 1 then. With --full the hashes are compared over all of their seeded
cases, which takes some ten seconds, and not over the first hundred of each.`,
		Example: "  wander conformance --vectors spec/vectors\n  wander conformance --vectors spec/vectors --full --output json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := checkOutput(flags.output); err != nil {
				return err
			}
			if err := flags.check(); err != nil {
				return err
			}
			return runVectors(env, flags)
		},
	}
	cmd.Flags().StringVar(&flags.vectors, "vectors", "", "folder of test vectors")
	cmd.Flags().BoolVar(&flags.full, "full", false, "compare the hashes over all seeded cases")
	addOutputFlag(cmd, &flags.output)
	return cmd
}

// check wants one thing to run.
func (f conformanceFlags) check() error {
	if f.vectors == "" {
		return &exitError{
			code: exitUsage, err: errors.New("what to run is missing"),
			hint: "wander conformance --vectors DIR runs the test vectors of a folder",
		}
	}
	return nil
}

// runVectors runs the test vectors of a folder.
func runVectors(env *environment, flags conformanceFlags) error {
	if info, err := os.Stat(flags.vectors); err != nil {
		return configError(err, "the project's own vectors stand in spec/vectors")
	} else if !info.IsDir() {
		return configError(fmt.Errorf("%s is not a folder", flags.vectors), "name the folder that the vectors stand in")
	}
	set, err := vector.Load(os.DirFS(flags.vectors))
	if err != nil {
		return configError(fmt.Errorf("%s: %w", flags.vectors, err), "spec/vectors/README.md describes the files")
	}
	run := set.Check
	if flags.full {
		run = set.CheckFull
	}
	report, err := run()
	if err != nil {
		return configError(fmt.Errorf("%s: %w", flags.vectors, err), "spec/vectors/README.md describes keys.json")
	}
	if err := showVectors(env, flags, report); err != nil {
		return err
	}
	if n := len(report.Failures); n > 0 {
		return fmt.Errorf("%d of %d vectors and hashes came out otherwise than they should", n, report.Vectors+report.Hashes)
	}
	return nil
}

func showVectors(env *environment, flags conformanceFlags, r *vector.Report) error {
	if flags.output == "json" {
		return json.NewEncoder(env.Out).Encode(r)
	}
	for _, f := range r.Failures {
		fmt.Fprintln(env.Out, oneLine(fmt.Sprintf("%s: %s: %s", f.File, f.Name, f.Why)))
	}
	_, err := fmt.Fprintf(env.Out, "%d vectors: %d valid, %d refused, %d scenarios; %d hashes over %d cases; %d failed\n",
		r.Vectors, r.Valid, r.Refused, r.Scenarios, r.Hashes, r.Cases, len(r.Failures))
	return err
}
