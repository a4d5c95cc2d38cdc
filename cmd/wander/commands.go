package main

import "github.com/spf13/cobra"

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
		newStatusCommand(env),
		newMembersCommand(env),
		newLeaveCommand(env),
		newInspectCommand(env),
		newAuditCommand(env),
		newVersionCommand(env),
		newPauseCommand(env),
	}
}
