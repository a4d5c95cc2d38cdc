package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/soak/judge"
	"github.com/wandertoken/wander/soak/probe"
	"github.com/wandertoken/wander/soak/record"
	"github.com/wandertoken/wander/soak/world"
)

const (
	// Port is where members listen, each on its own machine.
	Port = 4133
	// upWithin bounds the time until the members have met.
	upWithin  = 2 * time.Minute
	lookEvery = 100 * time.Millisecond
)

// Group is members on machines of their own, in a folder that also has the files of their
// authority.
type Group struct {
	Program  string // wander
	Folder   string
	World    *world.World
	Observer *probe.Observer
	Clients  []*api.Client // by machine
}

// Open makes the folder, the observer, and a machine for each name. Those that are far are
// behind the others, each in a network of its own.
func (g *Group) Open(names, far []string) (err error) {
	if err := os.Mkdir(g.Folder, 0o700); err != nil {
		return err
	}
	if g.Observer, err = probe.Observe(g.socket(), g.log()); err != nil {
		return err
	}
	if g.World, err = world.NewWithFar(g.Folder, names, far, 1); err != nil {
		return err
	}
	for _, m := range g.World.Machines {
		g.Clients = append(g.Clients, api.Dial(filepath.Join(m.Dir, "state", api.SocketName)))
	}
	return nil
}

// Close ends everything on the machines.
func (g *Group) Close() {
	if g.World != nil {
		g.World.Close()
	}
}

func (g *Group) socket() string { return filepath.Join(g.Folder, "o.sock") }
func (g *Group) log() string    { return filepath.Join(g.Folder, "programs.log") }

// Authority is the folder of the CA.
func (g *Group) Authority() string { return filepath.Join(g.Folder, "ca") }

// CA runs a command of the authority.
func (g *Group) CA(verb string, args ...string) error {
	return Wander(g.Program, append([]string{"ca", verb, "--dir", g.Authority()}, args...)...)
}

// Wander runs a wander program outside of all machines.
func Wander(program string, args ...string) error {
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("wander %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Init makes the authority.
func (g *Group) Init(name string) error {
	return g.CA("init", "--name", name, "--no-passphrase")
}

// Configure has the authority sign the group's settings.
func (g *Group) Configure(settings string) error {
	file := filepath.Join(g.Folder, "group.toml")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		return err
	}
	return g.CA("config", file)
}

// Issue makes a key and a certificate for each machine.
func (g *Group) Issue() error {
	for _, m := range g.World.Machines {
		if err := g.CA("issue", "--name", m.Name, "--out", filepath.Join(m.Dir, "member")); err != nil {
			return err
		}
	}
	return nil
}

// Publish gives members the group file as the authority has it.
func (g *Group) Publish(members ...*world.Machine) error {
	text, err := os.ReadFile(filepath.Join(g.Authority(), "group.crt"))
	if err != nil {
		return err
	}
	for _, m := range members {
		if err := os.WriteFile(filepath.Join(m.Dir, "group.crt"), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Address is where a member listens.
func (g *Group) Address(i int) string {
	return fmt.Sprintf("%s:%d", g.World.Machines[i].Address, Port)
}

// WriteMember writes a member's settings.
func (g *Group) WriteMember(i int, mode string, peers []string) error {
	text := fmt.Sprintf("state_dir = \"state\"\nmode = %q\n[identity]\ncertificate = \"member.crt\"\nkey = \"member.key\"\ngroup = \"group.crt\"\n"+
		"[log]\nlevel = \"debug\"\n[listen]\naddress = %q\n[bootstrap]\npeers = [\"%s\"]\n",
		mode, g.Address(i), strings.Join(peers, "\", \""))
	return os.WriteFile(g.settings(i), []byte(text), 0o600)
}

func (g *Group) settings(i int) string { return filepath.Join(g.World.Machines[i].Dir, "wander.toml") }

// Resource is the settings of a resource whose rules are those of a preset.
func (g *Group) Resource(name, preset string, operation, hold time.Duration) string {
	policy, more := "wandering", "min_interval = \"100ms\"\n"
	switch preset {
	case "ring":
		policy, preset, more = "ring", "e", ""
	case "split":
		policy, more = "multitoken", "target_interval = \"4s\"\n"
	}
	return fmt.Sprintf("[[resource]]\nname = %q\npolicy = %q\npreset = %q\noperation_time = %q\nmax_hold = %q\nmembers_max = %d\n%s",
		name, policy, preset, operation, hold, len(g.World.Machines), more)
}

// Start starts a member's daemon. The first one makes the token.
func (g *Group) Start(i int) error {
	args := []string{"node", "--config", g.settings(i)}
	if i == 0 {
		args = append(args, "--found")
	}
	return g.World.Machines[i].StartDaemon(g.Program, args...)
}

// AwaitAll waits until some members take each other, and nobody else, for members.
func (g *Group) AwaitAll(members []int) error {
	for end := boottime.Now().Add(upWithin); ; time.Sleep(lookEvery) {
		var bad *world.Machine
		for _, i := range members {
			if !g.meets(i, len(members)) {
				bad = g.World.Machines[i]
			}
		}
		if bad == nil {
			return nil
		}
		if end.Before(boottime.Now()) {
			return fmt.Errorf("%s does not meet the others: see %s", bad.Name, filepath.Join(bad.Dir, world.LogFile))
		}
	}
}

// meets reports whether a member knows so many as valid.
func (g *Group) meets(i, n int) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	list, err := g.Clients[i].Members(ctx)
	valid := 0
	for _, m := range list {
		if m.State == "valid" && !m.Suspected {
			valid++
		}
	}
	return err == nil && valid == n
}

// Run runs a protected program at a member, and returns when it has ended. It tells
// started of the process of wander run.
func (g *Group) Run(i int, resource string, wait, takes time.Duration, started func(pid int)) (code int, err error) {
	m := g.World.Machines[i]
	out, err := os.OpenFile(filepath.Join(m.Dir, "runs.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	args := []string{"run", "--socket", filepath.Join(m.Dir, "state", api.SocketName), "--wait", wait.String(), resource, "--", self, ProbeArg}
	order := probe.Order{Observer: g.socket(), Log: g.log(), Member: m.Name, Takes: takes}
	return m.Run(out, started, g.Program, append(args, order.Args()...)...)
}

// Programs are all that have run until an instant, as far as the log can be read.
func (g *Group) Programs(until clock.Instant) ([]judge.Run, error) {
	file, err := os.Open(g.log())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	records, unread := record.Read(file)
	runs, err := judge.Runs(records, until)
	return runs, errors.Join(unread, err)
}

// Audit audits the copies of journals in a folder, by the file of their group. The report
// is put beside them.
func Audit(program, groupFile, journals string, within time.Duration) (judge.Audit, error) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "audit", "--group", groupFile, "--output", "json", journals)
	cmd.Stdout, cmd.Stderr = &out, &problems
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) { // it exits with 70 for findings
		return judge.Audit{}, err
	}
	if err := os.WriteFile(filepath.Join(journals, "audit.json"), out.Bytes(), 0o600); err != nil {
		return judge.Audit{}, err
	}
	a, err := judge.ParseAudit(out.Bytes())
	if err != nil {
		err = fmt.Errorf("%w: %s", err, problems.Bytes())
	}
	return a, err
}
