package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/sim/experiment"
)

func newSimPageCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "page DIR",
		Short: "Make the page of goals from the results that runs have saved",
		Long: `Write DIR/beyond.md from what "sim run" has written to DIR/data and DIR/figures, without
running anything. The goals can so be measured in several runs, each with its own
--out; copy the data and figures of all to DIR, and make the page.`,
		Example: "  wander sim page docs",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			err := experiment.WriteGoalsPage(args[0])
			if errors.Is(err, experiment.ErrNothingSaved) {
				return &exitError{code: exitFailure, err: err, hint: "wander sim run beyond --out " + args[0]}
			}
			return err
		},
	}
}
