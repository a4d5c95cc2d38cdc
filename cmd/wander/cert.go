package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/atomicfile"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/ident"
)

// certReport is what `wander cert status --output json` prints.
type certReport struct {
	V         int              `json:"v"`
	Member    ident.Member     `json:"member"`
	Name      string           `json:"name"`
	Role      certificate.Role `json:"role"` // member or gate
	Class     string           `json:"class,omitempty"`
	Group     ident.Group      `json:"group"`
	GroupName string           `json:"group_name"`
	Serial    uint64           `json:"serial"`
	NotBefore time.Time        `json:"not_before"`
	NotAfter  time.Time        `json:"not_after"`
	Used      float64          `json:"used"`        // share of its life, 0 to 1
	Renewal   time.Time        `json:"renew_after"` // from then on it is renewed
	LeftS     float64          `json:"left_s"`      // negative when it has expired
	State     string           `json:"state"`       // valid, due, not_yet_valid, key_retired, expired, left or revoked
	Warning   int              `json:"warning"`     // 0 none, 1 to 3 before the end, 4 expired
	Key       string           `json:"key_fingerprint"`
	CA        string           `json:"ca_fingerprint"` // of the CA key that signed it
}

func newCertCommand(env *environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cert",
		Short: "Show or renew this member's certificate",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(newCertStatusCommand(env), newCertRenewCommand(env))
	return cmd
}

func newCertStatusCommand(env *environment) *cobra.Command {
	var config, output string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show when this member's certificate expires and is renewed",
		Long: `Show this member's certificate. For monitoring, the exit code is 77 if the
certificate has expired, and 79 if the group file or the journal shows that the
member has left or was revoked.`,
		Example: "  wander cert status\n  wander cert status --config /etc/wander/wander.toml --output json",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runCertStatus(env, config, output) },
	}
	cmd.Flags().StringVarP(&config, "config", "c", "", configFlag)
	cli.AddOutputFlag(cmd, &output)
	return cmd
}

// loadMember reads the settings and the identity that they name.
func loadMember(env *environment, config string) (settings, node.Identity, error) {
	s, err := loadSettings(env, config)
	if err != nil {
		return s, node.Identity{}, err
	}
	id, err := node.LoadIdentity(s.Identity.Certificate, s.Identity.Key, s.Identity.Group)
	if err != nil {
		return s, id, identityError(err, &s)
	}
	return s, id, nil
}

func runCertStatus(env *environment, config, output string) error {
	if err := cli.CheckOutput(output); err != nil {
		return err
	}
	s, id, err := loadMember(env, config)
	if err != nil {
		return err
	}
	r, gone := newCertReport(id, env.Now()), departed(id, s.StateDir)
	switch {
	case errors.Is(gone, enrolment.ErrRevoked):
		r.State = "revoked"
	case gone != nil:
		r.State = "left"
	}
	if output == "json" {
		err = json.NewEncoder(env.Out).Encode(r)
	} else {
		r.print(env.Out, env.Now())
	}
	switch {
	case err != nil:
		return err
	case gone != nil:
		return deadError(gone)
	case r.Warning == int(enrolment.HasExpired):
		hint := expiredHint
		if schedule := enrolment.ScheduleOf(id.Certificate, id.Group); schedule.InGrace(env.Now()) {
			hint = fmt.Sprintf("the CA renews it until %s (renew_grace): start wander node, or run wander cert renew", r.NotAfter.Add(schedule.Grace).UTC().Format(time.DateTime+" MST"))
		}
		return &cli.Error{Code: cli.ExitNoPermission, Err: fmt.Errorf("the certificate expired on %s", r.NotAfter.Format(time.DateOnly)), Hint: hint}
	case r.State == "not_yet_valid":
		cli.Warn(env.Err, "the certificate is valid from %s on: check this machine's clock", r.NotBefore.Format(time.RFC3339))
	case r.State == "key_retired":
		cli.Warn(env.Err, "the CA key that signed the certificate has been retired, and others refuse it: wander cert renew gets another")
	case r.Warning > 0:
		cli.Warn(env.Err, "the certificate expires in %s and was not renewed: check that the CA is reachable, then run wander cert renew", inDays(r.NotAfter.Sub(env.Now())))
	}
	return nil
}

const expiredHint = "get an invite for the same name and run wander join with it in the same folder: an expired certificate can be renewed only within the group's renew_grace"

func newCertReport(id node.Identity, now time.Time) certReport {
	c, schedule := id.Certificate.Body(), enrolment.ScheduleOf(id.Certificate, id.Group)
	r := certReport{
		V: 1, Member: id.Certificate.Member(), Name: c.Name, Role: c.Role, Class: c.Class, Group: c.Group, GroupName: id.Group.Name(), Serial: c.Serial,
		NotBefore: c.NotBefore, NotAfter: c.NotAfter, Used: schedule.Used(now), Renewal: schedule.Due(),
		LeftS: c.NotAfter.Sub(now).Seconds(), State: "valid", Warning: int(schedule.Warning(now)),
		Key: certificate.Fingerprint(id.Certificate.Key()), CA: certificate.FormatFingerprint(id.Certificate.Authority()),
	}
	switch {
	case now.Before(c.NotBefore):
		r.State = "not_yet_valid"
	case !now.Before(c.NotAfter):
		r.State = "expired"
	case id.Group.Key(id.Certificate.Authority()) == nil:
		r.State = "key_retired"
	case !now.Before(schedule.Due()):
		r.State = "due"
	}
	return r
}

func (r certReport) print(w io.Writer, now time.Time) {
	at := func(t time.Time) string { return t.UTC().Format(time.DateTime + " MST") }
	fmt.Fprintf(w, "%-11v %s (%v)\n", r.Role.String(), r.Name, r.Member)
	if r.Class != "" {
		fmt.Fprintf(w, "class       %s\n", r.Class)
	}
	fmt.Fprintf(w, "group       %s (%s)\n", r.GroupName, r.Group.String()[:16])
	fmt.Fprintf(w, "certificate %d, by CA key %s\n", r.Serial, r.CA)
	fmt.Fprintf(w, "key         %s\n", r.Key)
	fmt.Fprintf(w, "valid       %s to %s, %s\n", at(r.NotBefore), at(r.NotAfter), remaining(r.NotAfter.Sub(now)))
	if r.State == "left" || r.State == "revoked" {
		fmt.Fprintf(w, "state       %s: not usable any more\n", r.State)
		return
	}
	fmt.Fprintf(w, "used        %.0f %%\n", 100*r.Used)
	fmt.Fprintf(w, "renewal     from %s on\n", at(r.Renewal))
}

func remaining(left time.Duration) string {
	if left <= 0 {
		return "expired"
	}
	return inDays(left) + " left"
}

// inDays is a span for people.
func inDays(d time.Duration) string { return duration.Format(duration.About(d)) }

func newCertRenewCommand(env *environment) *cobra.Command {
	var config string
	cmd := &cobra.Command{
		Use:   "renew",
		Short: "Renew this member's certificate now",
		Long: `Request a new certificate for the same key, and a newer group configuration, from the
CA. The member stays the same. A certificate that has expired is renewed within the
group's renew_grace. A running daemon renews without interruption; without
a daemon, the command renews the files. The CA issues no new certificate while the
old one has more than two thirds of its lifetime left.`,
		Example: "  wander cert renew --config /etc/wander/wander.toml",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return runCertRenew(env, config) },
	}
	cmd.Flags().StringVarP(&config, "config", "c", "", configFlag)
	return cmd
}

func runCertRenew(env *environment, config string) error {
	s, id, err := loadMember(env, config)
	if err != nil {
		return err
	}
	if len(s.CA.Address) == 0 {
		return cli.ConfigError(errors.New("no CA address configured"), "set ca.address in the settings file, or WANDER_CA_ADDRESS")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	for _, file := range []string{s.Identity.Group, s.Identity.Certificate} {
		atomicfile.Sweep(filepath.Dir(file))
	}
	if renewal, err := api.Dial(s.socket()).Renew(ctx); !errors.Is(err, api.ErrNoDaemon) {
		return reportRenewal(env, renewal, err)
	}
	client := enrolment.Client{Addresses: s.CA.Address, Group: id.Group, Certificate: id.Certificate, Key: id.Key, Now: env.Now}
	if !env.Now().Before(id.Certificate.Body().NotAfter) { // it is let in for nothing else, if the group has a renew_grace
		late, err := client.Renew(ctx)
		if err != nil {
			return authorityError(err, s.CA.Address)
		}
		client.Certificate = late.Certificate
	}
	// The group first: a certificate by a new CA key needs a group that has it.
	news, err := client.Sync(ctx, enrolment.Mine{Revocations: lastRevocation(id)})
	if err != nil {
		return authorityError(err, s.CA.Address)
	}
	if news.Group != id.Group {
		id.Extra.Revocations = append(id.Extra.Revocations, news.Revocations...)
		if err := putGroup(s.Identity.Group, news.Group, id.Extra); err != nil {
			return err
		}
		fmt.Fprintf(env.Out, "configuration %d is in %s\n", news.Group.Config().Version(), s.Identity.Group)
		client.Group = news.Group
	}
	renewed, err := client.Renew(ctx)
	if err != nil {
		return authorityError(err, s.CA.Address)
	}
	return s.keepRenewed(env, id, client, renewed)
}

// reportRenewal says what a daemon's renewal has come to.
func reportRenewal(env *environment, r api.Renewal, err error) error {
	switch {
	case errors.Is(err, api.ErrRevoked):
		return &cli.Error{Code: cli.ExitNoPermission, Err: err, Hint: "that is final for this key, unless the certificate has only expired: " + expiredHint}
	case err != nil:
		return &cli.Error{Code: cli.ExitUnavailable, Err: err, Hint: "see the daemon's log"}
	}
	what := "the daemon has renewed it"
	if !r.Newer {
		what = "nothing to do"
	}
	fmt.Fprintf(env.Out, "%s: certificate %d is valid until %s\n", what, r.Serial, r.Expires.UTC().Format(time.DateTime+" MST"))
	return nil
}

// keepRenewed writes the new certificate, if it is one.
func (s *settings) keepRenewed(env *environment, id node.Identity, client enrolment.Client, renewed enrolment.Renewed) error {
	c := renewed.Certificate.Body()
	if renewed.Certificate.Hash() == id.Certificate.Hash() {
		due := enrolment.ScheduleOf(renewed.Certificate, client.Group).Due()
		fmt.Fprintf(env.Out, "nothing to do: certificate %d is valid until %s and renewed from %s on\n", c.Serial,
			c.NotAfter.Format(time.DateOnly), due.Format(time.DateOnly))
		return nil
	}
	if client.Group.Key(renewed.Certificate.Authority()) == nil {
		return &cli.Error{Code: cli.ExitUnavailable, Err: errors.New("the CA key is being changed"), Hint: "try again in a minute"}
	}
	if err := putCertificate(s.Identity.Certificate, renewed.Certificate); err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "certificate %d is in %s, valid until %s\n", c.Serial, s.Identity.Certificate, c.NotAfter.Format(time.DateTime+" MST"))
	return nil
}

// lastRevocation is the version up to which a group file has the revocations.
func lastRevocation(id node.Identity) uint64 {
	var last uint64
	for _, raw := range id.Extra.Revocations {
		if r, err := certificate.ParseRevocation(id.Group.ID(), raw, id.Group); err == nil {
			last = max(last, r.Body().Version)
		}
	}
	return last
}

// authorityError gives an error of a request to the CA its exit code and says what to do.
func authorityError(err error, addresses []string) error {
	at := strings.Join(addresses, ", ")
	var clock *enrolment.ClockError
	switch {
	case errors.Is(err, enrolment.ErrRevoked), errors.Is(err, enrolment.ErrLeft):
		return deadError(err)
	case errors.Is(err, enrolment.ErrExpired):
		return &cli.Error{Code: cli.ExitNoPermission, Err: err, Hint: expiredHint}
	case errors.Is(err, enrolment.ErrNotYetValid):
		return &cli.Error{Code: cli.ExitConfiguration, Err: err, Hint: "the CA's clock is behind: tell its operator"}
	case errors.As(err, &clock):
		return &cli.Error{Code: cli.ExitConfiguration, Err: err, Hint: fmt.Sprintf("set this machine's clock: it is wrong by at least %s", duration.Format(clock.Difference().Abs().Round(time.Second)))}
	case errors.Is(err, enrolment.ErrImpostor), errors.Is(err, enrolment.ErrRefused):
		return &cli.Error{Code: cli.ExitNoPermission, Err: err, Hint: "check that " + at + " is the CA of this group"}
	case errors.Is(err, enrolment.ErrUnreachable), errors.Is(err, enrolment.ErrBusy), errors.Is(err, enrolment.ErrFailed):
		return &cli.Error{Code: cli.ExitUnavailable, Err: err, Hint: "check that wander ca serve is running at " + at + ", then run the same command again to continue"}
	}
	return err
}
