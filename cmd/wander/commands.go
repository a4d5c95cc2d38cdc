package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
)

// commands are all commands, in the order in which help shows them.
func commands(env *environment) []*cobra.Command {
	return []*cobra.Command{
		newDemoCommand(env),
		newPlanCommand(env),
		newCACommand(env),
		newJoinCommand(env),
		newCertCommand(env),
		newNodeCommand(env),
		newRunCommand(env),
		newHoldCommand(env),
		newReleaseCommand(env),
		newStatusCommand(env),
		newWhoCommand(env),
		newEtaCommand(env),
		newTopCommand(env),
		newDoctorCommand(env),
		newMembersCommand(env),
		newLeaveCommand(env),
		newInspectCommand(env),
		newAuditCommand(env),
		newPermitCommand(env),
		newGateCommand(env),
		newVersionCommand(env),
		newPauseCommand(env),
		movedCommand("sim", "wander-lab"),
		movedCommand("conformance", "wander-lab conformance"),
	}
}

// movedCommand returns a hidden command that names the command of wander-lab that
// replaces it, whatever its arguments are.
func movedCommand(name, replacement string) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Short:              "Name the command of wander-lab that replaces this one",
		Hidden:             true,
		DisableFlagParsing: true,
		Args:               cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			return &cli.Error{
				Code: cli.ExitUsage, Err: fmt.Errorf("wander %s has moved to the program wander-lab", name),
				Hint: "write it as: " + strings.Join(append([]string{replacement}, args...), " "),
			}
		},
	}
}
