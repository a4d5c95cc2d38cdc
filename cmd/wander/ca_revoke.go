package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/protocol/ident"
)

type caRevokeFlags struct {
	*caFlags
	serial uint64
	reason string
}

func newCARevokeCommand(env *environment, shared *caFlags) *cobra.Command {
	f := caRevokeFlags{caFlags: shared}
	cmd := &cobra.Command{
		Use:   "revoke NAME|MEMBER",
		Short: "Revoke a member, for ever",
		Long: `Revoke a member with all its certificates, for ever: its key is never certified
again. The open invites for its names end with it: whoever has the machine may
have one. Members hear of it from each other; wander ca serve tells them, or give
one of them the new group file.`,
		Example: "  wander ca revoke --dir ca ftp-03 --reason \"stolen\"\n  wander ca revoke --dir ca --serial 17",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return runCARevoke(env, f, args) },
	}
	flags := cmd.Flags()
	flags.Uint64Var(&f.serial, "serial", 0, "the member with this certificate, instead of a name")
	flags.StringVar(&f.reason, "reason", "", "for people; one line")
	return cmd
}

func runCARevoke(env *environment, f caRevokeFlags, args []string) error {
	if (len(args) == 1) == (f.serial != 0) {
		return &exitError{code: exitUsage, err: errors.New("whom to revoke"), hint: "give one name, one member id, or --serial N"}
	}
	a, err := f.open(env)
	if err != nil {
		return err
	}
	m, err := f.member(a, args)
	if err != nil {
		return caError(err)
	}
	before, err := a.List()
	if err != nil {
		return caError(err)
	}
	signed, err := a.Revoke(m, f.reason)
	if after, listErr := a.List(); listErr == nil {
		printCancelled(env, newlyCancelled(before.Invites, after.Invites))
	}
	if errors.Is(err, ca.ErrRevoked) {
		fmt.Fprintf(env.Out, "nothing to do: %v\n", err)
		return nil
	}
	if err != nil {
		return caError(err)
	}
	fmt.Fprintf(env.Out, "revoked member %v, in version %d of the revocation list\n", m, signed.Body().Version)
	f.sayPublish(env)
	return nil
}

// newlyCancelled are the invites that were taken back between two listings.
func newlyCancelled(before, after []ca.Invite) []ca.Invite {
	var list []ca.Invite
	for n, i := range after {
		if !i.Cancelled.IsZero() && (n >= len(before) || before[n].Cancelled.IsZero()) {
			list = append(list, i)
		}
	}
	return list
}

func printCancelled(env *environment, list []ca.Invite) {
	for _, i := range list {
		fmt.Fprintf(env.Out, "took back invite %v for %s: it lets nobody in any more\n", i.ID, i.Name)
	}
}

func (f caRevokeFlags) member(a *ca.Authority, args []string) (ident.Member, error) {
	if f.serial != 0 {
		return a.FindSerial(f.serial)
	}
	return a.Find(args[0])
}
