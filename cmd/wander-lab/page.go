package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/lab/experiment"
)

func newPageCommand(env *cli.Environment) *cobra.Command {
	return &cobra.Command{
		Use:   "page DIR",
		Short: "Render the pages from the results that runs have saved",
		Long: `Render DIR/reproduction.md, DIR/beyond.md and DIR/register.md from the files that "run"
and "sweep" wrote to DIR/data, without running anything. DIR/data/claims.csv and
constants.csv are made of them too, and the figures of saved rows and tables. Thus experiments can run
separately, each with its own --out: copy the data and figures of all to DIR, and
render the pages. The command names the experiments without saved results, and omits
them from the pages.`,
		Example: "  wander-lab page docs",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			written, err := experiment.WritePages(args[0])
			switch {
			case errors.Is(err, experiment.ErrNothingSaved):
				return &cli.Error{Code: cli.ExitFailure, Err: err, Hint: "wander-lab run all --out " + args[0]}
			case errors.Is(err, experiment.ErrSaved):
				return &cli.Error{Code: cli.ExitFailure, Err: err, Hint: "measure it again with wander-lab run EXPERIMENT --out DIR, or delete the file"}
			case err != nil:
				return err
			}
			if missing := experiment.Missing(args[0]); len(missing) > 0 {
				cli.Warn(env.Err, "omitted from the pages, because no result is saved: %s", strings.Join(missing, ", "))
			}
			_, err = fmt.Fprintf(env.Out, "wrote %s\n", strings.Join(written, ", "))
			return err
		},
	}
}
