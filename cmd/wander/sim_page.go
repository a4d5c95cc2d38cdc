package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/sim/experiment"
)

func newSimPageCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "page DIR",
		Short: "Make the page of goals from the results that runs have saved",
		Long: `Write DIR/beyond.md from what "sim run" has written to DIR/data and DIR/figures, without
running anything. The goals can so be measured in several runs, each with its own
--out; copy the data and figures of all to DIR, and make the page. Experiments of
which nothing is saved are named, and are not on the page.`,
		Example: "  wander sim page docs",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			err := experiment.WriteGoalsPage(args[0])
			switch {
			case errors.Is(err, experiment.ErrNothingSaved):
				return &exitError{code: exitFailure, err: err, hint: "wander sim run beyond --out " + args[0]}
			case errors.Is(err, experiment.ErrSaved):
				return &exitError{code: exitFailure, err: err, hint: "measure it again with wander sim run EXPERIMENT --out DIR, or take the file away"}
			case err != nil:
				return err
			}
			if missing := experiment.MissingGoals(args[0]); len(missing) > 0 {
				warn(env.Err, "not on the page, as nothing of it is saved: %s", strings.Join(missing, ", "))
			}
			_, err = fmt.Fprintf(env.Out, "wrote %s\n", filepath.Join(args[0], experiment.GoalsName))
			return err
		},
	}
}
