package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/group"
)

func newReleaseCommand(env *environment) *cobra.Command {
	var socket string
	cmd := &cobra.Command{
		Use:   "release RESOURCE",
		Short: "End what the local member holds across a restart of the machine",
		Long: `End the grant of wander run --across-reboot, or of FleetLock, when the machine is up again:
the token goes on to the next member. Without such a grant it does nothing and succeeds, so
that a service can run it at each start.`,
		Example: "  wander release reboot",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := group.CheckName(args[0]); err != nil {
				return &cli.Error{Code: cli.ExitUsage, Err: err, Hint: "wander status shows the resources of the group"}
			}
			path, err := socketPath(env, socket)
			if err != nil {
				return err
			}
			ended := 0
			err = askDaemon(path, func(ctx context.Context, c *api.Client) (err error) {
				ended, err = c.Back(ctx, args[0])
				return err
			})
			switch {
			case err != nil:
				return err
			case ended == 0:
				fmt.Fprintln(env.Out, args[0]+" was not held across a restart")
			default:
				fmt.Fprintln(env.Out, args[0]+" is released")
			}
			return nil
		},
	}
	addSocketFlag(cmd.Flags(), &socket)
	return cmd
}
