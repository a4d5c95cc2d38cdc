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
		Short: "Remove the local member from the group permanently",
		Long: `Remove the local member from the group permanently: it ends the programs that run
under its grants, passes on its tokens, tells the other members and the CA that it has
left, and its daemon exits. Its key is not valid any more. To rejoin, the machine needs
a new invite and a new key. Under a grant across the restart of its machine it does not
leave: wander release comes first.

To pause, stop the daemon instead: it passes on its tokens, and the member takes part
again when the daemon starts.`,
		Example: "  wander leave\n  wander leave --socket a/wander.sock",
	}, func(socket string) error {
		if err := askDaemon(socket, func(ctx context.Context, c *api.Client) error { return c.Leave(ctx) }); err != nil {
			return err
		}
		fmt.Fprintln(env.Out, "left the group; the daemon exits")
		return nil
	})
}
