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
	"text/tabwriter"
	"time"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/spec/conformance"
)

// peerFlags are what the conformance of a running member is tested with.
type peerFlags struct {
	address  string
	identity string
	revoked  string
	expired  string
	newer    string
	resource string
	timeout  time.Duration
	only     []string
}

// peerReport is what `wander-lab conformance --peer ADDR --output json` prints.
type peerReport struct {
	V       int                  `json:"v"`
	Peer    string               `json:"peer"`
	Member  ident.Member         `json:"member"`
	Name    string               `json:"name"`
	Checks  []conformance.Result `json:"checks"`
	Passed  int                  `json:"passed"`
	Failed  int                  `json:"failed"`
	Skipped int                  `json:"skipped"`
	Made    int                  `json:"tokens_made"`
	Left    int                  `json:"tokens_left"` // that had not come back
}

const identityHint = "give --identity a folder that wander join made for this test: member.key, member.crt, group.crt"

// runPeerConformance plays a member against the one at an address.
func runPeerConformance(env *cli.Environment, f peerFlags, output string) error {
	o, err := f.options(env)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	show, clear := cli.ProgressLine(env.Err)
	o.Progress = func(r conformance.Result) { show("%s: %s", r.Name, r.Verdict) }
	report, err := conformance.Run(ctx, o)
	clear()
	if report == nil {
		return peerError(err, f)
	}
	if e := showPeerReport(env.Out, f.address, report, output); e != nil {
		return e
	}
	failed := report.Count(conformance.Fail)
	switch {
	case errors.Is(err, conformance.ErrGone):
		return &cli.Error{
			Code: cli.ExitUnavailable, Err: fmt.Errorf("%s: %w, after %d checks", f.address, err, len(report.Results)),
			Hint: "see the member's log; the last failed check may have stopped it",
		}
	case err != nil:
		return fmt.Errorf("interrupted after %d checks", len(report.Results))
	case failed > 0:
		return fmt.Errorf("%d of %d checks failed", failed, len(report.Results))
	}
	return nil
}

// options are a run as the flags want it.
func (f *peerFlags) options(env *cli.Environment) (o conformance.Options, err error) {
	if f.identity == "" {
		return o, &cli.Error{Code: cli.ExitUsage, Err: errors.New("required flags missing: --identity"), Hint: identityHint}
	}
	if err := certificate.CheckAddress(f.address); err != nil {
		return o, &cli.Error{Code: cli.ExitUsage, Err: fmt.Errorf("--peer: %w", err), Hint: "for example 192.0.2.7:4133"}
	}
	if f.timeout <= 0 {
		return o, cli.UsageError("--timeout %v: must be greater than 0", f.timeout)
	}
	id, err := identity(f.identity)
	if err != nil {
		return o, cli.ConfigError(err, identityHint)
	}
	if err := id.Certificate.ValidAt(env.Now()); err != nil {
		return o, &cli.Error{Code: cli.ExitNoPermission, Err: fmt.Errorf("%s: %w", f.identity, err), Hint: identityHint}
	}
	o = conformance.Options{
		Address: f.address, Group: id.Group, Identity: played(id), Timeout: f.timeout, Only: f.only,
	}
	if o.Resource, err = f.resourceOf(id.Group); err != nil {
		return o, err
	}
	if o.Revoked, err = other(f.revoked); err == nil {
		o.Expired, err = other(f.expired)
	}
	if err != nil || f.newer == "" {
		return o, err
	}
	if o.Newer, err = cli.LoadGroup(f.newer); err != nil {
		return o, cli.ConfigError(err, "name the group.crt that wander ca config has written after the resource was taken out")
	}
	return o, nil
}

// identity reads the folder of a member, as wander join makes it.
func identity(dir string) (node.Identity, error) {
	file := func(name string) string { return filepath.Join(dir, name) }
	return node.LoadIdentity(file("member.crt"), file("member.key"), file("group.crt"))
}

func played(id node.Identity) conformance.Identity {
	return conformance.Identity{Certificate: id.Certificate, Key: id.Key}
}

// other is the member in a folder, nil if none is named.
func other(dir string) (*conformance.Identity, error) {
	if dir == "" {
		return nil, nil
	}
	id, err := identity(dir)
	if err != nil {
		return nil, cli.ConfigError(err, identityHint)
	}
	p := played(id)
	return &p, nil
}

// resourceOf is the resource that tokens are made of: the one that is named, or
// the only one that there is.
func (f *peerFlags) resourceOf(g *group.Group) (string, error) {
	var names []string
	for _, r := range g.Config().Settings().Resources {
		names = append(names, r.Name)
	}
	if f.resource == "" && len(names) == 1 {
		return names[0], nil
	}
	if _, ok := g.Config().Resource(f.resource); ok {
		return f.resource, nil
	}
	err := fmt.Errorf("the group has no resource %q", f.resource)
	if f.resource == "" {
		err = fmt.Errorf("the group has %d resources", len(names))
	}
	return "", &cli.Error{Code: cli.ExitUsage, Err: err, Hint: "name one with --resource: " + strings.Join(names, ", ")}
}

// peerError says why a run has not begun.
func peerError(err error, f peerFlags) error {
	switch {
	case errors.Is(err, conformance.ErrUnreachable):
		return &cli.Error{Code: cli.ExitUnavailable, Err: fmt.Errorf("%s: %w", f.address, err), Hint: "check that it is the UDP address of a member of this group, and that " + f.identity + "/group.crt is the group's newest"}
	case errors.Is(err, conformance.ErrRefused):
		return &cli.Error{Code: cli.ExitNoPermission, Err: fmt.Errorf("%s: %w", f.address, err), Hint: "check that " + f.identity + " is of its group, and that the clocks of both machines are right"}
	case errors.Is(err, conformance.ErrOptions):
		return &cli.Error{Code: cli.ExitUsage, Err: err, Hint: "see docs/conformance.md for the checks and the requirements on --identity and --newer"}
	}
	return err
}

func showPeerReport(w io.Writer, address string, r *conformance.Report, output string) error {
	passed, failed, skipped := r.Count(conformance.Pass), r.Count(conformance.Fail), r.Count(conformance.Skipped)
	if output == "json" {
		return json.NewEncoder(w).Encode(peerReport{
			V: 1, Peer: address, Member: r.Member, Name: r.Name, Checks: r.Results,
			Passed: passed, Failed: failed, Skipped: skipped, Made: r.Made, Left: r.Left,
		})
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "REQUIREMENT\tCHECK\tVERDICT\tDETAIL")
	for _, c := range r.Results {
		fmt.Fprintf(table, "%s\t%s\t%s", strings.Join(c.Requirements, " "), c.Name, c.Verdict)
		if c.Detail != "" {
			fmt.Fprintf(table, "\t%s", cli.OneLine(c.Detail))
		}
		fmt.Fprintln(table)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s (%v): %d passed, %d failed, %d skipped; of %d tokens handed over, %d have not come back\n",
		cli.OneLine(r.Name), r.Member, passed, failed, skipped, r.Made, r.Left)
	return err
}
