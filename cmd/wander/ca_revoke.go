package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

type caRevokeFlags struct {
	*caFlags
	serial   uint64
	reason   string
	evidence string
}

func newCARevokeCommand(env *environment, shared *caFlags) *cobra.Command {
	f := caRevokeFlags{caFlags: shared}
	cmd := &cobra.Command{
		Use:   "revoke NAME|MEMBER",
		Short: "Revoke a member permanently",
		Long: `Revoke a member and all its certificates permanently: the authority never certifies
its key again. This also revokes the open invites for its names. Members learn the
revocation from wander ca serve or from the new group file, and pass it on to each
other.

--evidence revokes the member that a file of evidence convicts, keeps the evidence,
and records it as the reason.`,
		Example: "  wander ca revoke --dir ca ftp-03 --reason \"stolen\"\n  wander ca revoke --dir ca --serial 17\n" +
			"  wander ca revoke --dir ca --evidence ca/evidence/FILE",
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return runCARevoke(env, f, args) },
	}
	flags := cmd.Flags()
	flags.Uint64Var(&f.serial, "serial", 0, "revoke the member with this certificate, instead of a name")
	flags.StringVar(&f.reason, "reason", "", "reason for people to read, one line")
	flags.StringVar(&f.evidence, "evidence", "", "revoke the member that this file convicts, instead of a name")
	return cmd
}

func runCARevoke(env *environment, f caRevokeFlags, args []string) error {
	if err := f.check(args); err != nil {
		return err
	}
	a, err := f.open(env)
	if err != nil {
		return err
	}
	revoke, err := f.deed(env, a, args)
	if err != nil {
		return err
	}
	before, err := a.List()
	if err != nil {
		return caError(err)
	}
	signed, err := revoke()
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
	fmt.Fprintf(env.Out, "revoked member %v, in version %d of the revocation list\n", signed.Body().Member, signed.Body().Version)
	f.sayPublish(env)
	return nil
}

// check sees that one member is named, in one way.
func (f caRevokeFlags) check(args []string) error {
	ways := len(args)
	for _, given := range []bool{f.serial != 0, f.evidence != ""} {
		if given {
			ways++
		}
	}
	switch {
	case ways == 0:
		return &cli.Error{Code: cli.ExitUsage, Err: errors.New("no member specified"), Hint: "give a name, a member ID, --serial N or --evidence FILE"}
	case ways > 1:
		return &cli.Error{Code: cli.ExitUsage, Err: fmt.Errorf("member specified in %d ways", ways), Hint: "give only one of: a name, a member ID, --serial N, --evidence FILE"}
	case f.evidence != "" && f.reason != "":
		return cli.UsageError("--evidence and --reason cannot be combined: the evidence is the reason")
	}
	return nil
}

// deed is how to revoke the member that was named. Evidence is shown before.
func (f caRevokeFlags) deed(env *environment, a *ca.Authority, args []string) (func() (certificate.SignedRevocation, error), error) {
	if f.evidence == "" {
		m, err := f.member(a, args)
		return func() (certificate.SignedRevocation, error) { return a.Revoke(m, f.reason) }, caError(err)
	}
	v := verdictOn(env, f.evidence, a.Group(), true)
	if !v.Proof {
		return nil, &cli.Error{
			Code: cli.ExitFailure, Err: fmt.Errorf("%s: no proof: %s", f.evidence, v.Reason),
			Hint: "no member was revoked; to revoke one without proof: wander ca revoke NAME --reason TEXT",
		}
	}
	v.Print(env.Out)
	return func() (certificate.SignedRevocation, error) {
		_, signed, err := a.RevokeBy(v.encoded)
		return signed, err
	}, nil
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
		fmt.Fprintf(env.Out, "revoked invite %v for %s\n", i.ID, i.Name)
	}
}

func (f caRevokeFlags) member(a *ca.Authority, args []string) (ident.Member, error) {
	if f.serial != 0 {
		return a.FindSerial(f.serial)
	}
	return a.Find(args[0])
}
