package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node/api"
)

func newMembersCommand(env *environment) *cobra.Command {
	return showCommand(env, &cobra.Command{
		Use:   "members",
		Short: "List the members that the local daemon knows, with their states",
		Long: `List the members of the group that the local member knows. There is no global view:
another member may know slightly more or less for some seconds.

  valid        takes part
  failed       a quorum of members could not reach it; it takes part again when it returns
  left         has left the group itself, permanently
  revoked      the CA has revoked it, permanently
  expired      its certificate has expired; it takes part again when it is renewed

CLASS is what the CA has certified; a resource may give it a weight.

A valid member marked "no answer" does not answer the local member; others may reach it.`,
		Example: "  wander members\n  wander members --socket a/wander.sock --output json",
	}, func(socket string, asJSON bool) error { return runMembers(env, socket, asJSON) })
}

func runMembers(env *environment, socket string, asJSON bool) error {
	var list []api.MemberInfo
	err := inquire(env, socket, func(ctx context.Context, c *api.Client) (err error) {
		list, err = c.Members(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if asJSON {
		return cli.WriteJSON(env.Out, api.MemberList{V: api.Version, Members: list})
	}
	return printMembers(env.Out, list)
}

// printMembers lists members by name. One that has come back has the name of the member that it was before.
func printMembers(out io.Writer, list []api.MemberInfo) error {
	slices.SortStableFunc(list, func(a, b api.MemberInfo) int { return cmp.Compare(a.Name, b.Name) })
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tMEMBER\tCLASS\tSTATE\tCONNECTED\tCERTIFICATE UNTIL\tADDRESSES")
	for _, m := range list {
		state := m.State
		if m.Suspected && m.State == "valid" {
			state += ", no answer"
		}
		connected := "no"
		switch {
		case m.Self:
			connected = "this one"
		case m.Connected:
			connected = "yes"
		}
		fmt.Fprintf(w, "%s\t%v\t%s\t%s\t%s\t%s\t%s\n", m.Name, m.Member, cmp.Or(m.Class, "-"), state, connected,
			m.Expires.UTC().Format(time.RFC3339), addressesOf(m))
	}
	return w.Flush()
}

// addressesOf is where a member is reached.
func addressesOf(m api.MemberInfo) string {
	switch {
	case len(m.Addresses) > 0:
		return strings.Join(m.Addresses, " ")
	case m.Sequence > 0:
		return "dials out only"
	}
	return "not known yet"
}
