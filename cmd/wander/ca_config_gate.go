package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/internal/configfile"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// sayGates says in words what a configuration changes at the gates of resources.
func sayGates(w io.Writer, before, after group.Settings, names map[ident.Member]string) {
	for _, r := range after.Resources {
		old := group.Resource{}
		if i := slices.IndexFunc(before.Resources, func(o group.Resource) bool { return o.Name == r.Name }); i >= 0 {
			old = before.Resources[i]
		}
		for _, text := range gateChanges(old, r, names) {
			fmt.Fprintf(w, "%s: %s\n", r.Name, text)
		}
	}
	for _, r := range before.Resources { // one that is not there any more leaves its gate
		if !slices.ContainsFunc(after.Resources, func(o group.Resource) bool { return o.Name == r.Name }) {
			for _, text := range gateChanges(r, group.Resource{}, names) {
				fmt.Fprintf(w, "%s: %s\n", r.Name, text)
			}
		}
	}
}

// gateChanges are what becomes of a resource with another gate, or another setting of the same one.
func gateChanges(from, to group.Resource, names map[ident.Member]string) (list []string) {
	before, after := from.Gate, to.Gate
	name := func(g group.Gate) string {
		return fmt.Sprintf("%s (%s) at %s", cmp.Or(names[g.Member], "unknown"), g.Member.Short(), g.Address)
	}
	does := map[group.GateMode]string{
		group.Enforce: "it enforces: a program waits for a session there, and what comes without one is cut",
		group.Observe: "it observes: programs do not wait for it, and it cuts nothing",
	}
	switch {
	case after.IsZero() && before.IsZero():
		return nil
	case after.IsZero():
		return []string{"no gate any more: programs begin without a session. The gate goes on letting in members that do not have this configuration yet: stop it, then let the resource be reached without it"}
	case before.IsZero():
		return []string{"has a gate, " + name(after) + "; " + does[after.Mode]}
	case before.Member != after.Member, before.Address != after.Address:
		list = append(list, fmt.Sprintf("the gate is %s, and was %s: members leave the old one, and the programs that run under its sessions are killed", name(after), name(before)))
	}
	if before.Mode != after.Mode {
		list = append(list, "the gate has another mode; "+does[after.Mode])
	}
	if after.Mode == group.Enforce && !slices.Equal(from.Windows, to.Windows) {
		list = append(list, "the windows are others: as soon as the gate has this configuration, a session outside them ends, and its program is killed")
	}
	for _, c := range group.GateConstants {
		if was, is := c.Value(&before), c.Value(&after); was != is {
			list = append(list, fmt.Sprintf("%s is %v, and was %v, as soon as the gate has this configuration", c.Name, is, was))
		}
	}
	return list
}

// gateNames are the names of the gates that the authority has certified.
func gateNames(a *ca.Authority) (map[ident.Member]string, error) {
	list, err := a.List()
	names := make(map[ident.Member]string)
	for _, r := range list.Records {
		if r.Role == certificate.GateRole {
			names[r.Member] = r.Name
		}
	}
	return names, caError(err)
}

// hintGate adds the id to an error about a file that gives a gate's name in its place.
func hintGate(err error, text []byte, a *ca.Authority) error {
	var bad *configfile.Error
	if !errors.As(err, &bad) || bad.Hint != "" {
		return err
	}
	names, failure := gateNames(a)
	if failure != nil {
		return err
	}
	lines := strings.Split(string(text), "\n")
	if bad.Line < 1 || bad.Line > len(lines) {
		return err
	}
	key, value, _ := strings.Cut(lines[bad.Line-1], "=")
	for id, name := range names {
		if strings.TrimSpace(key) == "gate" && strings.Trim(value, " \t\r\"'") == name {
			bad.Hint = fmt.Sprintf("gate is an id, not a name: gate = %q", id)
		}
	}
	return err
}
