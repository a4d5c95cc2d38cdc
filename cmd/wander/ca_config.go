package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/cmd/internal/groupfile"
	"github.com/wandertoken/wander/internal/configfile"
	"github.com/wandertoken/wander/internal/counted"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// groupFile is a group configuration as people write it.
type groupFile struct {
	group.Settings
	resources []groupfile.Resource
}

// Places returns where the values of the file go, by their keys.
func (g *groupFile) Places() map[string]any {
	places := map[string]any{"name": &g.Name, "resource": &g.resources}
	for _, c := range group.Constants {
		places[c.Name] = c.Field(&g.Settings)
	}
	return places
}

func newCAConfigCommand(env *environment, f *caFlags) *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use:   "config FILE.toml",
		Short: "Sign the group configuration",
		Long: `Sign the settings that all members share, as a new version that replaces the
previous one. FILE.toml looks like this; - is standard input:

  [[resource]]
  name           = "ftp"
  operation_time = "4s"      # how long one operation takes at most
  members_max    = 100       # how many members saturate the resource

A resource may also have slots, skip_delay, max_hold, on_isolated, policy, preset,
and the parameters of that preset; the default preset is the policy's first. weights
are such as "backup=5, web=2": members of class backup (wander ca invite --class) are
served five times as often as those of no class:

` + groupfile.PolicyHelp() + `
It may have windows, outside of which no program runs: a list of up to 8 texts such as
"Mon-Fri 22:00-06:00 Europe/Rome". The zone may also be UTC, an offset such as +02:00,
or a rule such as CET-1CEST,M3.5.0,M10.5.0/3. The signature covers the rule that
this machine's database of time zones has for a name now: sign again when the law
has changed.

A resource with a gate has gate, the id that wander ca list shows, gate_address,
and may have gate_mode ("enforce" or "observe") and
` + gateHelp() + `

The group may have, above the first [[resource]], name and
` + constantsHelp(),
		Example: "  wander ca config --dir ca group.toml",
		Args:    cobra.ExactArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return runCAConfig(env, f, args[0], dry) },
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "check FILE.toml, and say when windows open next and what weights come to; sign nothing")
	return c
}

func runCAConfig(env *environment, f *caFlags, file string, dry bool) error {
	a, err := f.open(env)
	if err != nil {
		return err
	}
	text, err := cli.ReadLimited(env.In, file, configfile.MaxSize)
	if err != nil {
		return cli.ConfigError(err, "")
	}
	s, err := parseGroupFile(file, text, a.Certificate().Body().Name)
	if err != nil {
		return hintGate(err, text, a)
	}
	names, err := gateNames(a)
	if err != nil {
		return err
	}
	before := a.Config()
	var c group.Config
	if dry {
		err = a.CheckConfig(s)
	} else {
		c, err = a.SetConfig(s)
	}
	if errors.Is(err, ca.ErrUnchanged) {
		fmt.Fprintf(env.Out, "configuration %d of group %s says this already\n", before.Version(), s.Name)
		return nil
	}
	if err != nil {
		return caError(err)
	}
	if dry {
		fmt.Fprintf(env.Out, "%s is valid for group %s, with %s; nothing is signed\n", file, s.Name, counted.Of(len(s.Resources), "resource"))
	} else {
		fmt.Fprintf(env.Out, "signed configuration %d of group %s, with %s\n", c.Version(), s.Name, counted.Of(len(s.Resources), "resource"))
		if before.Version() > 0 {
			sayGates(env.Out, before.Settings(), c.Settings(), names)
		}
	}
	sayWindows(env, s)
	if !dry {
		f.sayPublish(env)
	}
	return cmp.Or(sayIsolated(env, a, s), sayWeights(env, a, s))
}

// openingsShown is how many openings of each resource are shown.
const openingsShown = 3

// sayWindows says when each resource with windows is open next.
func sayWindows(env *environment, s group.Settings) {
	const form = "Mon 2 Jan 15:04 MST"
	for _, r := range s.Resources {
		if len(r.Windows) == 0 {
			continue
		}
		fmt.Fprintf(env.Out, "%s: windows %v\n", r.Name, r.Windows)
		for _, o := range r.Windows.Next(env.Now(), openingsShown) {
			until := "for good"
			if !o.To.IsZero() {
				until = "until " + r.Windows.Local(o.To.Add(-1)).Add(1).Format(form)
			}
			fmt.Fprintf(env.Out, "%s: open from %s %s\n", r.Name, r.Windows.Local(o.From).Format(form), until)
		}
	}
}

// sayIsolated says when no program runs where programs need votes.
func sayIsolated(env *environment, a *ca.Authority, s group.Settings) error {
	if !slices.ContainsFunc(s.Resources, func(r group.Resource) bool { return r.OnIsolated != policy.Continue }) {
		return nil
	}
	list, err := a.List()
	if err != nil {
		return caError(err)
	}
	members := make(map[ident.Member]bool)
	for _, r := range list.Records {
		if r.Role == certificate.MemberRole && r.Revoked == nil && r.Left == nil {
			members[r.Member] = true
		}
	}
	n := len(members)
	for _, r := range s.Resources {
		switch r.OnIsolated {
		case policy.Stop:
			fmt.Fprintf(env.Out, "%s: one member votes; while it has failed no program begins, until you revoke it\n", r.Name)
		case policy.Majority:
			today := ""
			if n > 0 {
				today = fmt.Sprintf(" (with %s as today: %d)", counted.Of(n, "member"), n-n/2)
			}
			fmt.Fprintf(env.Out, "%s: more than half of all members vote; while half of them have failed%s no program begins, until you revoke some of them\n", r.Name, today)
		}
	}
	return nil
}

// constantsHelp returns a line for each constant of a group: its default and its range.
func constantsHelp() string { return settingsHelp(group.Constants) }

// gateHelp returns the same for each number of a gate.
func gateHelp() string { return settingsHelp(group.GateConstants) }

func settingsHelp[T any](settings []policy.Setting[T]) string {
	var b strings.Builder
	for _, c := range settings {
		absent, low, high := c.Texts()
		if c.Optional {
			low = "0 and " + low
		}
		fmt.Fprintf(&b, "\n  %-21s default %s, permitted %s to %s", c.Name, absent, low, high)
	}
	return b.String()
}

// parseGroupFile reads and checks a group configuration for a group. Version and time
// are the authority's; those here only let the rest be checked.
func parseGroupFile(file string, text []byte, name string) (group.Settings, error) {
	g := groupFile{Settings: group.Settings{Version: 1, Issued: time.Unix(0, 0), Name: name}.WithDefaults()}
	if err := configfile.Decode(file, text, &g); err != nil {
		return group.Settings{}, err
	}
	for i, r := range g.resources {
		if err := r.Check(file, text, "resource", i); err != nil {
			return group.Settings{}, err
		}
		g.Resources = append(g.Resources, r.Group())
	}
	slices.SortFunc(g.Resources, func(x, y group.Resource) int { return cmp.Compare(x.Name, y.Name) })
	if err := g.Validate(); err != nil {
		return group.Settings{}, groupfile.Placed(file, text, err, "")
	}
	return g.Settings, nil
}
