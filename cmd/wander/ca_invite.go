package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/ca/service"
	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/configfile"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/invite"
)

type caInviteFlags struct {
	*caFlags
	name, output string
	cancel       string
	ttl          cli.Span
	addresses    []string
	gate         bool
	class        string
}

// inviteReport is what `wander ca invite --output json` prints.
type inviteReport struct {
	V         int              `json:"v"`
	Invite    string           `json:"invite"`
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Role      certificate.Role `json:"role"`
	Class     string           `json:"class,omitempty"`
	Expires   time.Time        `json:"expires"`
	Addresses []string         `json:"addresses"`
	CA        string           `json:"ca_fingerprint"`
}

func newCAInviteCommand(env *environment, shared *caFlags) *cobra.Command {
	f := caInviteFlags{caFlags: shared}
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Print an invite, with which one machine can join once",
		Long: `Print an invite: one word with the group, the fingerprint of the CA key, the
addresses of wander ca serve, the expiry, and a secret that works once. Give it to
wander join on the machine. Treat it as a password until then: anybody with it can
join as that member. --cancel revokes an unused invite.

With --gate the machine becomes a gate in place of a member: it stands before a
resource, and runs wander gate. Its certificate is valid for 7 days at most, and it
renews that as members do.

With --class the member gets a class, which a resource may give a weight under the
preset fair: members of that class are served so many times as often.`,
		Example: "  wander ca invite --dir ca --name ftp-03 --ttl 1h --address ca.example.org:4134\n  wander ca invite --dir ca --cancel ftp-03",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runCAInvite(env, f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "the member's name: a-z, 0-9, '.' and '-'")
	flags.Var(cli.PositiveSpan(&f.ttl), "ttl", "lifetime of the invite (default 1h)")
	flags.StringSliceVar(&f.addresses, "address", nil, "address of wander ca serve, host:port; may be repeated (default WANDER_CA_ADDRESS)")
	flags.StringVar(&f.cancel, "cancel", "", "revoke the open invites for this name, or the one with this id, instead")
	flags.StringVar(&f.class, "class", "", "the member's class: a-z, 0-9 and '-'; a resource may give it a weight")
	flags.BoolVar(&f.gate, "gate", false, "invite a gate in place of a member")
	cli.AddOutputFlag(cmd, &f.output)
	return cmd
}

func runCAInvite(env *environment, f caInviteFlags) error {
	if err := cli.CheckOutput(f.output); err != nil {
		return err
	}
	if f.cancel != "" {
		return runCancelInvite(env, f)
	}
	if err := f.complete(env); err != nil {
		return err
	}
	a, err := f.open(env)
	if err != nil {
		return err
	}
	if a.Config().IsZero() {
		return serveError(service.ErrNoConfiguration)
	}
	made, err := f.make(a)
	switch {
	case errors.Is(err, ca.ErrLifetime):
		return &cli.Error{Code: cli.ExitUsage, Err: err}
	case errors.Is(err, ca.ErrNameInUse):
		return &cli.Error{Code: cli.ExitUsage, Err: err, Hint: "choose another --name, or revoke that member first; wander ca list shows when its certificate ends"}
	}
	if err != nil {
		return caError(err)
	}
	return f.print(env, a, made)
}

// make makes the invite.
func (f *caInviteFlags) make(a *ca.Authority) (ca.Invited, error) {
	switch {
	case f.gate:
		return a.InviteGate(f.name, f.ttl.Duration)
	case f.class != "":
		return a.InviteClass(f.class, f.name, f.ttl.Duration)
	}
	return a.Invite(f.name, f.ttl.Duration)
}

func runCancelInvite(env *environment, f caInviteFlags) error {
	if f.name != "" || f.gate || f.class != "" || f.ttl.Duration != 0 || len(f.addresses) > 0 || f.output != "text" {
		return cli.UsageError("--cancel can be combined with --dir only")
	}
	a, err := f.open(env)
	if err != nil {
		return err
	}
	ended, err := a.Cancel(f.cancel)
	printCancelled(env, ended)
	if err != nil {
		return caError(err)
	}
	if len(ended) == 0 {
		fmt.Fprintf(env.Out, "nothing to do: no invite of %s is open\n", f.cancel)
	}
	return nil
}

// complete fills in the addresses and checks what was given, so that no invite
// is made that cannot be printed.
func (f *caInviteFlags) complete(env *environment) error {
	if f.name == "" {
		return &cli.Error{Code: cli.ExitUsage, Err: errors.New("no member name specified"), Hint: "add --name, for example --name ftp-03"}
	}
	if text := env.Getenv("WANDER_CA_ADDRESS"); len(f.addresses) == 0 && text != "" {
		if err := configfile.Set(&f.addresses, text); err != nil {
			return err
		}
	}
	if len(f.addresses) == 0 || len(f.addresses) > invite.MaxAddresses {
		return &cli.Error{
			Code: cli.ExitUsage, Err: fmt.Errorf("--address: must be given 1 to %d times", invite.MaxAddresses),
			Hint: "add --address, for example --address ca.example.org:4134",
		}
	}
	for _, address := range f.addresses {
		if err := certificate.CheckAddress(address); err != nil {
			return &cli.Error{Code: cli.ExitUsage, Err: fmt.Errorf("--address: %w", err), Hint: "for example ca.example.org:4134 or [2001:db8::1]:4134"}
		}
	}
	return cmp.Or(caError(certificate.CheckName(f.name)), checkClass(f.class, f.gate))
}

// print writes the invite, and nothing else to the standard output: it is made
// to be pasted or piped.
func (f *caInviteFlags) print(env *environment, a *ca.Authority, made ca.Invited) error {
	i := invite.Invite{
		Group: a.Group(), Authority: a.Config().Signer(), Addresses: f.addresses,
		ID: made.ID, Secret: made.Secret, Expires: made.Expires, Name: made.Name,
	}
	text, err := i.Format()
	if err != nil {
		return err
	}
	shown := certificate.FormatFingerprint(i.Authority)
	if f.output == "json" {
		return json.NewEncoder(env.Out).Encode(inviteReport{
			V: 1, Invite: text, ID: ca.InviteID(i.ID).String(), Name: i.Name, Role: made.Role, Class: made.Class, Expires: i.Expires.UTC().Truncate(time.Second),
			Addresses: i.Addresses, CA: shown,
		})
	}
	fmt.Fprintln(env.Out, text)
	as := i.Name
	if made.Role == certificate.GateRole {
		as = "gate " + i.Name
	}
	fmt.Fprintf(env.Err, "hint: until %s, on the machine that is to be %s: wander join INVITE\n", i.Expires.UTC().Format(time.DateTime+" MST"), as)
	fmt.Fprintf(env.Err, "hint: it shows the CA key %s; it asks %s\n", shown, strings.Join(i.Addresses, ", "))
	return nil
}
