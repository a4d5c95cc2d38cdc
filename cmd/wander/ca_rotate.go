package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/counted"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

type caRotateFlags struct {
	*caFlags
	force    bool
	lifetime cli.Span
	output   string
}

// rotationReport is what `wander ca rotate --output json` prints.
type rotationReport struct {
	V             int                  `json:"v"`
	Phase         string               `json:"phase"` // settled, introduced or switched
	Configuration uint64               `json:"configuration_version"`
	Since         *time.Time           `json:"since,omitempty"` // of the configuration
	Heard         *time.Time           `json:"heard,omitempty"` // when every member that is up has it
	Keys          []rotationKey        `json:"keys"`
	Pending       []pendingCertificate `json:"pending"` // to be renewed before the old key is retired
	Next          string               `json:"next"`    // the step that comes next
}

type rotationKey struct {
	Number      int       `json:"number"`
	Use         ca.Use    `json:"use"` // signs, next, old or retired
	Fingerprint string    `json:"fingerprint"`
	Expires     time.Time `json:"expires"`
	File        string    `json:"file"`
}

type pendingCertificate struct {
	Name     string       `json:"name"`
	Member   ident.Member `json:"member"`
	Serial   uint64       `json:"serial"`
	NotAfter time.Time    `json:"not_after"`
}

// rotationStep is one that the command does.
type rotationStep struct {
	name, done string
	do         func(*ca.Authority, caRotateFlags) error
}

var rotationSteps = []rotationStep{
	{"begin", "created CA key %d, which does not sign yet", func(a *ca.Authority, f caRotateFlags) error { return a.IntroduceKey(f.lifetime.Duration) }},
	{"switch", "CA key %d signs from now on", func(a *ca.Authority, _ caRotateFlags) error { return a.SwitchKey() }},
	{"retire", "CA key %d is the only valid one from now on", func(a *ca.Authority, f caRotateFlags) error { return a.RetireKey(f.force) }},
	{"withdraw", "withdrew the new CA key; key %d signs as before", func(a *ca.Authority, _ caRotateFlags) error { return a.WithdrawKey() }},
}

func newCARotateCommand(env *environment, shared *caFlags) *cobra.Command {
	f := caRotateFlags{caFlags: shared}
	cmd := &cobra.Command{
		Use:   "rotate [begin|switch|retire|withdraw]",
		Short: "Replace the CA key, in three steps",
		Long: `Replace the CA key while the group operates. Without a step, show the state of the
rotation, the next step, and when it is possible. The steps:

  begin      create a new key; the old one vouches for it and continues to sign
  switch     sign with the new key; signatures of the old one remain valid
  retire     invalidate every signature of the old key. Refused while a member has
             no newer certificate, unless --force is given: such members are
             excluded until they get one
  withdraw   after begin: withdraw the new key permanently

No step stops tokens or members. Back up the new key after the first step.`,
		Example:   "  wander ca rotate --dir ca\n  wander ca rotate begin --dir ca",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: []string{"begin", "switch", "retire", "withdraw"},
		RunE:      func(_ *cobra.Command, args []string) error { return runCARotate(env, f, args) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.force, "force", false, "retire the old key even if members have certificates only from it")
	flags.Var(cli.PositiveSpan(&f.lifetime), "lifetime", "lifetime of the new key (default 3650d)")
	cli.AddOutputFlag(cmd, &f.output)
	return cmd
}

func runCARotate(env *environment, f caRotateFlags, args []string) error {
	if err := cli.CheckOutput(f.output); err != nil {
		return err
	}
	step, err := stepNamed(args)
	if err != nil {
		return err
	}
	a, err := f.open(env)
	if err != nil {
		return err
	}
	if step != nil {
		if err := step.do(a, f); err != nil {
			return caError(err)
		}
	}
	r, err := a.Rotation()
	if err != nil {
		return caError(err)
	}
	report := newRotationReport(r, a.Config().Version())
	if f.output == "json" {
		return json.NewEncoder(env.Out).Encode(report)
	}
	if step != nil {
		fmt.Fprintf(env.Out, step.done+"\n", report.changed(step.name))
		fmt.Fprintf(env.Out, "signed configuration %d; copy %s to the members, or let wander ca serve publish it\n\n",
			report.Configuration, f.groupFile(env))
	}
	return report.print(env.Out, f.folder(env))
}

// stepNamed is the step that the arguments name, nil for none.
func stepNamed(args []string) (*rotationStep, error) {
	if len(args) == 0 {
		return nil, nil
	}
	var names []string
	for i, s := range rotationSteps {
		if s.name == args[0] {
			return &rotationSteps[i], nil
		}
		names = append(names, s.name)
	}
	return nil, &cli.Error{
		Code: cli.ExitUsage, Err: fmt.Errorf("unknown step %q", args[0]), Hint: cli.DidYouMean(args[0], names),
	}
}

func newRotationReport(r ca.Rotation, version uint64) rotationReport {
	report := rotationReport{
		V: 1, Phase: r.Phase.String(), Configuration: version, Pending: []pendingCertificate{},
		Next: map[ca.Phase]string{ca.Settled: "begin", ca.Introduced: "switch", ca.Switched: "retire"}[r.Phase],
	}
	if version > 0 {
		report.Since, report.Heard = &r.Since, &r.Heard
	}
	report.Keys = rotationKeys(r.Keys)
	for _, p := range r.Pending {
		report.Pending = append(report.Pending, pendingCertificate{Name: p.Name, Member: p.Member, Serial: p.Serial, NotAfter: p.NotAfter})
	}
	return report
}

func rotationKeys(keys []ca.Key) []rotationKey {
	var list []rotationKey
	for _, k := range keys {
		list = append(list, rotationKey{
			Number: k.Number, Use: k.Use, Fingerprint: certificate.FormatFingerprint(k.Statement.ID()),
			Expires: k.Statement.Body().NotAfter, File: k.File,
		})
	}
	return list
}

// changed is the number of the key that a step was about.
func (r rotationReport) changed(step string) int {
	use := ca.Signs
	if step == "begin" {
		use = ca.Next
	}
	return r.using(use).Number
}

// using is the last key with a use.
func (r rotationReport) using(use ca.Use) rotationKey {
	var found rotationKey
	for _, k := range r.Keys {
		if k.Use == use {
			found = k
		}
	}
	return found
}

func (r rotationReport) print(out io.Writer, dir string) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CA KEY\tUSE\tFINGERPRINT\tVALID UNTIL\tFILE")
	for _, k := range r.Keys {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\n", k.Number, k.Use, k.Fingerprint, k.Expires.Format(time.DateOnly), filepath.Join(dir, k.File))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for _, line := range r.advice(dir) {
		fmt.Fprintln(out, line)
	}
	return nil
}

// maxPendingShown bounds the list of members for people; --output json has all.
const maxPendingShown = 20

// advice says what comes next, and when.
func (r rotationReport) advice(dir string) []string {
	switch r.Phase {
	case ca.Introduced.String():
		key := r.using(ca.Next)
		return []string{
			fmt.Sprintf("before the next step: back up %s, as you did the old key", filepath.Join(dir, key.File)),
			"next: wander ca rotate switch",
			"      any time: members that have not heard of the new key learn it from those that have.",
			fmt.Sprintf("      By gossip, all that are up have heard of it at %s.", r.Heard.Format(time.DateTime+" MST")),
			"      If the new key is lost or stolen: wander ca rotate withdraw",
		}
	case ca.Switched.String():
		return append(r.waiting(), "next: wander ca rotate retire", "      "+r.retireWhen())
	}
	if r.Configuration == 0 {
		return []string{"next: sign a configuration: wander ca config"}
	}
	return []string{"next: nothing. To replace the key: wander ca rotate begin"}
}

// waiting lists who still needs a certificate of the new key.
func (r rotationReport) waiting() []string {
	if len(r.Pending) == 0 {
		return nil
	}
	lines := []string{counted.Of(len(r.Pending), "member") + " with a certificate of the old key only:"}
	for _, p := range r.Pending[:min(len(r.Pending), maxPendingShown)] {
		lines = append(lines, fmt.Sprintf("  %s, member %v, valid until %s", p.Name, p.Member, p.NotAfter.Format(time.DateTime)))
	}
	if more := len(r.Pending) - maxPendingShown; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	return lines
}

func (r rotationReport) retireWhen() string {
	var last time.Time
	for _, p := range r.Pending {
		if p.NotAfter.After(last) {
			last = p.NotAfter
		}
	}
	if last.IsZero() {
		return "now: every member that lives has a certificate of the new key."
	}
	return fmt.Sprintf("when they have renewed, which those with ca.address in their settings soon do by themselves while wander ca serve runs (or now: wander cert renew, on each); the others need another certificate (wander ca issue); at %s at the latest, when the last one ends.",
		last.Format(time.DateTime+" MST"))
}
