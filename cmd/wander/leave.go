package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/node/api"
)

func newLeaveCommand(env *environment) *cobra.Command {
	return daemonCommand(env, &cobra.Command{
		Use:   "leave",
		Short: "Take the local member out of the group, for ever",
		Long: `Take the local member out of the group: it passes on the tokens it holds, tells
the others and the CA that it is no member any more, and its daemon ends. Its
key is dead from then on. To come back, the machine joins anew, with a new
invite and a new key.

To stop for a while, stop the daemon instead: it passes its tokens on, and is a
member again when it starts.`,
		Example: "  wander leave\n  wander leave --socket a/wander.sock",
	}, func(socket string) error {
		if err := askDaemon(socket, func(ctx context.Context, c *api.Client) error { return c.Leave(ctx) }); err != nil {
			return err
		}
		fmt.Fprintln(env.Out, "left the group; the daemon ends")
		return nil
	})
}
