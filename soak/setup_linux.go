package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wandertoken/wander/soak/plan"
	"github.com/wandertoken/wander/soak/probe"
	"github.com/wandertoken/wander/soak/rig"
)

const (
	// gossipInterval is short, as the runs are.
	gossipInterval = 5 * time.Second
	// daemonProgram is how long the program takes that a daemon runs by itself.
	daemonProgram = 400 * time.Millisecond
)

// makeGroup makes the authority, and the files of all members, with the program
// itself.
func (r *run) makeGroup() error {
	authority := filepath.Join(r.dir, "ca")
	settings := filepath.Join(r.dir, "group.toml")
	if err := os.WriteFile(settings, []byte(groupFile(r.plan)), 0o600); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"ca", "init", "--dir", authority, "--name", "soak", "--no-passphrase"},
		{"ca", "config", "--dir", authority, settings},
	} {
		if err := rig.Wander(r.program, args...); err != nil {
			return err
		}
	}
	for i, m := range r.plan.Members {
		dir := r.world.Machines[i].Dir
		if err := rig.Wander(r.program, "ca", "issue", "--dir", authority, "--name", m.Name, "--out", filepath.Join(dir, "member")); err != nil {
			return err
		}
		if err := copyFile(filepath.Join(authority, "group.crt"), filepath.Join(dir, "group.crt"), 0o600); err != nil {
			return err
		}
	}
	if err := r.identify(); err != nil {
		return err
	}
	for i := range r.plan.Members {
		name := filepath.Join(r.world.Machines[i].Dir, settingsFile)
		if err := os.WriteFile(name, []byte(r.memberFile(i)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// groupFile is the group's configuration.
func groupFile(p plan.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "gossip_interval = %q\nsilence = %q\n", gossipInterval, p.Silence)
	for _, r := range p.Resources {
		fmt.Fprintf(&b, "\n[[resource]]\nname = %q\npolicy = %q\npreset = %q\nslots = %d\n", r.Name, r.Policy, r.Preset, r.Slots)
		fmt.Fprintf(&b, "operation_time = %q\nmax_hold = %q\nmembers_max = %d\n", r.OperationTime, r.MaxHold, len(p.Members))
		if r.OnIsolated != "" {
			fmt.Fprintf(&b, "on_isolated = %q\n", r.OnIsolated)
		}
		for _, optional := range []struct {
			key   string
			value time.Duration
		}{
			{"min_interval", r.MinInterval}, {"target_interval", r.TargetEvery},
		} {
			if optional.value > 0 {
				fmt.Fprintf(&b, "%s = %q\n", optional.key, optional.value)
			}
		}
	}
	return b.String()
}

// memberFile is a member's settings.
func (r *run) memberFile(i int) string {
	m, machine := r.plan.Members[i], r.world.Machines[i]
	mode, listen := "durable", fmt.Sprintf("%s:%d", machine.Address, rig.Port)
	if m.Volatile {
		mode = "volatile"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "state_dir = \"state\"\nmode = %q\n", mode)
	fmt.Fprintf(&b, "[identity]\ncertificate = \"member.crt\"\nkey = \"member.key\"\ngroup = \"group.crt\"\n")
	if m.DialOnly {
		listen = ""
	}
	fmt.Fprintf(&b, "[listen]\naddress = %q\n[bootstrap]\npeers = [", listen)
	for j, other := range r.plan.Members {
		if j != i && !other.DialOnly {
			fmt.Fprintf(&b, "\"%s:%d\", ", r.world.Machines[j].Address, rig.Port)
		}
	}
	fmt.Fprintf(&b, "]\n")
	for _, d := range m.Demands {
		if d.Daemon {
			command := append([]string{r.self, rig.ProbeArg}, r.order(i, daemonProgram, false).Args()...)
			fmt.Fprintf(&b, "[operation]\nresource = %q\ncommand = [\"%s\"]\n", d.Resource, strings.Join(command, "\", \""))
		}
	}
	return b.String()
}

// order is one protected program of a member.
func (r *run) order(member int, takes time.Duration, stubborn bool) probe.Order {
	return probe.Order{
		Observer: filepath.Join(r.dir, observerSocket), Log: filepath.Join(r.dir, logFile),
		Member: r.plan.Members[member].Name, Takes: takes, Stubborn: stubborn,
	}
}
