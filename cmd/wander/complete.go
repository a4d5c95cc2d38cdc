package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// completionPatience bounds the wait of somebody who has pressed the tab key.
const completionPatience = time.Second

// completer proposes words for a shell. It never fails: where it knows nothing, it proposes nothing.
type completer struct{ env *environment }

// register sets what is proposed for the arguments and flags of the commands below root.
func (c completer) register(root *cobra.Command) {
	first := map[string]cobra.CompletionFunc{
		"wander run": c.resources, "wander hold": c.resources, "wander who": c.resources, "wander eta": c.resources, "wander release": c.resources,
		"wander gate connect": c.resources, "wander doctor": c.peers, "wander ca revoke": c.certified,
		"wander ca rotate": words("begin", "switch", "retire", "withdraw"),
		"wander plan":      words(), "wander status": words(), "wander members": words(), "wander top": words(), "wander leave": words(),
	}
	flags := map[string]cobra.CompletionFunc{
		"output": words("text", "json"), "log-format": words("text", "json"), "policy": words(catalog.Names()...), "else": words("fail", "skip", "run"),
		"on-lost": words("term", "kill", "warn"), "cancel": c.invited,
	}
	resourceOf := []string{"wander gate", "wander audit", "wander join"}
	each(root, func(cmd *cobra.Command) {
		if f := first[cmd.CommandPath()]; f != nil {
			cmd.ValidArgsFunction = firstArgument(f)
		}
		for name, f := range flags {
			propose(cmd, name, f)
		}
		if slices.Contains(resourceOf, cmd.CommandPath()) {
			propose(cmd, "resource", c.resources)
		}
	})
}

// propose sets what is proposed for a flag, if the command has it.
func propose(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if cmd.LocalNonPersistentFlags().Lookup(flag) != nil {
		_ = cmd.RegisterFlagCompletionFunc(flag, f) // fails only without the flag
	}
}

func each(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, sub := range cmd.Commands() {
		each(sub, do)
	}
}

// words proposes always the same.
func words(list ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

// firstArgument proposes something for the first argument. The other arguments may be a command with files.
func firstArgument(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return f(cmd, args, begun)
	}
}

// ask asks the daemon that the command would ask.
func (c completer) ask(cmd *cobra.Command, ask func(context.Context, *api.Client) error) error {
	given := ""
	if f := cmd.Flags().Lookup("socket"); f != nil {
		given = f.Value.String()
	}
	socket, err := socketPath(c.env, given)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), completionPatience)
	defer cancel()
	return ask(ctx, api.Dial(socket))
}

// resources proposes the resources of the group: those that the daemon knows or, without one, those of the group file.
func (c completer) resources(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	var names []string
	err := c.ask(cmd, func(ctx context.Context, client *api.Client) error {
		s, err := client.Status(ctx)
		for _, r := range s.Resources {
			names = append(names, r.Name)
		}
		return err
	})
	if err != nil {
		names = c.resourcesOfFile()
	}
	return proposals(names, begun)
}

func (c completer) resourcesOfFile() (names []string) {
	s, err := socketSettings(c.env)
	if err != nil {
		return nil
	}
	g, err := cli.LoadGroup(s.Identity.Group)
	if err != nil || g.Config().IsZero() {
		return nil
	}
	for _, r := range g.Config().Settings().Resources {
		names = append(names, r.Name)
	}
	return names
}

// peers proposes the other members, and the CA.
func (c completer) peers(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	names := []string{"CA"}
	_ = c.ask(cmd, func(ctx context.Context, client *api.Client) error {
		list, err := client.Members(ctx)
		for _, m := range list {
			if !m.Self && m.State != "left" && m.State != "revoked" {
				names = append(names, m.Name)
			}
		}
		return err
	})
	return proposals(names, begun)
}

// certified proposes the members that the authority can revoke.
func (c completer) certified(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, r := range c.listing(cmd).Records {
		if r.Revoked == nil && r.Left == nil {
			names = append(names, r.Name)
		}
	}
	return proposals(names, begun)
}

// invited proposes the names with an open invite.
func (c completer) invited(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, i := range c.listing(cmd).Invites {
		if i.Member.IsZero() && i.Cancelled.IsZero() && i.Expires.After(c.env.Now()) {
			names = append(names, i.Name)
		}
	}
	return proposals(names, begun)
}

func (c completer) listing(cmd *cobra.Command) ca.Listing {
	f := caFlags{}
	if flag := cmd.Flags().Lookup("dir"); flag != nil {
		f.dir = flag.Value.String()
	}
	a, err := ca.Open(f.folder(c.env), ca.Options{Now: c.env.Now})
	if err != nil {
		return ca.Listing{}
	}
	list, err := a.List()
	if err != nil {
		return ca.Listing{}
	}
	return list
}

// proposals are the names that begin with what was typed, each once.
func proposals(names []string, begun string) ([]string, cobra.ShellCompDirective) {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasPrefix(name, begun) })
	slices.Sort(names)
	return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
}
