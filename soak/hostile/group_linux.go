package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/soak/judge"
	"github.com/wandertoken/wander/soak/liar/report"
	"github.com/wandertoken/wander/soak/probe"
	"github.com/wandertoken/wander/soak/record"
	"github.com/wandertoken/wander/soak/world"
)

const (
	port = 4133
	// upWithin bounds the time until the honest members have met.
	upWithin = 2 * time.Minute
	// warmTime is how long all want before the attack begins: the first turns take longer.
	warmTime = 5 * time.Second
	// maxWait is longer than any run: what waits is told to end.
	maxWait = time.Hour
	// auditWithin bounds one audit.
	auditWithin = 2 * time.Minute
	// maxNames bounds the search for a resource's name under which the bad members have their
	// rank. Three bad ones beside 20 honest ones have it under one name of 1,771.
	maxNames  = 100_000
	lookEvery = 50 * time.Millisecond
	// againPause is between two tries to run where there is no daemon.
	againPause = 500 * time.Millisecond

	reportFile = "report.json"
)

// band is a group of honest members, each on its machine, and the bad ones.
type band struct {
	options
	kind     badKind
	preset   string
	honest   int
	resource string
	dir      string
	notes    io.Writer
	world    *world.World
	observer *probe.Observer
	clients  []*api.Client
	names    []string // of the honest members
	bad      []string
	guests   []string // members that are not in the group yet
	returner string   // one that was in it; empty: none
	knocks   *knocks

	mu      sync.Mutex
	runners map[int]int // member: process of its wander run
	over    bool
}

func (b *band) log() string { return filepath.Join(b.dir, "programs.log") }

// open makes the group and starts the honest members.
func (b *band) open() (err error) {
	b.runners = make(map[int]int)
	if err := os.Mkdir(b.dir, 0o700); err != nil {
		return err
	}
	if b.observer, err = probe.Observe(filepath.Join(b.dir, "o.sock"), b.log()); err != nil {
		return err
	}
	for i := range b.honest {
		b.names = append(b.names, fmt.Sprintf("m%d", i+1))
	}
	for i := range b.kind.bad {
		b.bad = append(b.bad, fmt.Sprintf("bad%d", i+1))
	}
	near, far := slices.Clone(b.names), b.bad
	if b.kind.outside {
		for i := range b.Newcomers {
			b.guests = append(b.guests, fmt.Sprintf("new%d", i+1))
		}
		b.returner = "old"
		near = append(append(near, b.guests...), b.returner)
	}
	if !b.kind.far {
		near, far = append(near, b.bad...), nil
	}
	if b.world, err = world.NewWithFar(b.dir, near, far, 1); err != nil {
		return err
	}
	b.knocks = newKnocks(flooded)
	b.world.Network.Watch(b.knocks.look)
	if err := b.makeGroup(); err != nil {
		return err
	}
	for i := range b.names {
		m := b.world.Machines[i]
		b.clients = append(b.clients, api.Dial(filepath.Join(m.Dir, "state", api.SocketName)))
		args := []string{"node", "--config", filepath.Join(m.Dir, "wander.toml")}
		if i == 0 {
			args = append(args, "--found")
		}
		if err := m.StartDaemon(b.Wander, args...); err != nil {
			return err
		}
	}
	if err := b.awaitAll(); err != nil {
		return err
	}
	return b.acquaint()
}

func (b *band) close() {
	if b.world != nil {
		b.world.Close()
	}
}

// makeGroup makes the authority, and the files of all members.
func (b *band) makeGroup() error {
	authority := filepath.Join(b.dir, "ca")
	if err := b.wander("ca", "init", "--dir", authority, "--name", "hostile", "--no-passphrase"); err != nil {
		return err
	}
	b.resource = "x"
	if err := b.configure(); err != nil {
		return err
	}
	for _, m := range b.world.Machines {
		if err := b.wander("ca", "issue", "--dir", authority, "--name", m.Name, "--out", filepath.Join(m.Dir, "member")); err != nil {
			return err
		}
	}
	if err := b.publish(); err != nil {
		return err
	}
	if err := b.rank(); err != nil {
		return err
	}
	if err := b.configure(); err != nil {
		return err
	}
	if err := b.publish(); err != nil {
		return err
	}
	for i, m := range b.world.Machines {
		if slices.Contains(b.bad, m.Name) {
			continue
		}
		peers := b.others(i)
		if i >= b.honest {
			peers = []string{b.address(flooded)}
		}
		if err := os.WriteFile(filepath.Join(m.Dir, "wander.toml"), []byte(b.memberFile(i, peers)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// rank names the resource so that the bad members are the last keepers of its slot, or the
// first ones: which they are by chance decides much of what they can do.
func (b *band) rank() error {
	if len(b.bad) == 0 || b.kind.outside {
		return nil
	}
	var group ident.Group
	all := make(map[string]ident.Member)
	for _, m := range b.world.Machines {
		file := func(name string) string { return filepath.Join(m.Dir, name) }
		id, err := node.LoadIdentity(file("member.crt"), file("member.key"), file("group.crt"))
		if err != nil {
			return err
		}
		group, all[m.Name] = id.Group.ID(), id.Certificate.Member()
	}
	for i := range maxNames {
		b.resource = fmt.Sprintf("x%d", i)
		ranks := directory.NewWitnessRank(group, directory.SlotID(b.resource, 0))
		order := make([]string, 0, len(all))
		rank := make(map[string][2]uint64, len(all))
		for name, id := range all {
			order, rank[name] = append(order, name), ranks.Of(id)
		}
		slices.SortFunc(order, func(x, y string) int {
			if directory.Above(rank[x], rank[y]) == b.First {
				return -1
			}
			return 1
		})
		if !slices.ContainsFunc(order[:len(b.bad)], func(name string) bool { return slices.Contains(b.names, name) }) {
			return nil
		}
	}
	return errors.New("no name of a resource gives the bad members their rank")
}

// configure has the authority sign the group's settings.
func (b *band) configure() error {
	settings := filepath.Join(b.dir, "group.toml")
	if err := os.WriteFile(settings, []byte(b.groupFile()), 0o600); err != nil {
		return err
	}
	return b.wander("ca", "config", "--dir", filepath.Join(b.dir, "ca"), settings)
}

// publish gives all members the group file as the authority has it.
func (b *band) publish() error {
	text, err := os.ReadFile(filepath.Join(b.dir, "ca", "group.crt"))
	if err != nil {
		return err
	}
	for _, m := range b.world.Machines {
		if err := os.WriteFile(filepath.Join(m.Dir, "group.crt"), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func (b *band) wander(args ...string) error {
	out, err := exec.Command(b.Wander, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("wander %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

func (b *band) groupFile() string {
	policy, preset, more := "wandering", b.preset, "min_interval = \"100ms\"\n"
	switch b.preset {
	case "ring":
		policy, preset, more = "ring", "e", ""
	case "split":
		policy, more = "multitoken", "target_interval = \"4s\"\n"
	}
	return fmt.Sprintf("gossip_interval = \"5s\"\nsilence = %q\nclock_allowance = %q\n[[resource]]\nname = %q\npolicy = %q\npreset = %q\noperation_time = %q\nmax_hold = %q\nmembers_max = %d\n%s",
		b.Silence, b.Allowance, b.resource, policy, preset, b.Operation, b.Hold, len(b.world.Machines), more)
}

func (b *band) memberFile(i int, peers []string) string {
	return fmt.Sprintf("state_dir = \"state\"\n[identity]\ncertificate = \"member.crt\"\nkey = \"member.key\"\ngroup = \"group.crt\"\n[log]\nlevel = \"debug\"\n[listen]\naddress = %q\n[bootstrap]\npeers = [\"%s\"]\n",
		b.address(i), strings.Join(peers, "\", \""))
}

func (b *band) address(i int) string { return fmt.Sprintf("%s:%d", b.world.Machines[i].Address, port) }

// others are the addresses of the honest members but one; all, for one that is none.
func (b *band) others(i int) (list []string) {
	for j := range b.names {
		if j != i {
			list = append(list, b.address(j))
		}
	}
	return list
}

// awaitAll waits until all honest members take each other for members.
func (b *band) awaitAll() error {
	for end := boottime.Now().Add(upWithin); ; time.Sleep(2 * lookEvery) {
		bad := ""
		for i := range b.names {
			if !b.meets(i) {
				bad = b.names[i]
			}
		}
		if bad == "" {
			return nil
		}
		if end.Before(boottime.Now()) {
			return fmt.Errorf("%s does not meet the others: see %s", bad, filepath.Join(b.dir, bad, world.LogFile))
		}
	}
}

func (b *band) meets(i int) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	list, err := b.clients[i].Members(ctx)
	valid := 0
	for _, m := range list {
		if m.State == "valid" && !m.Suspected {
			valid++
		}
	}
	return err == nil && valid == len(b.names)
}

// attack lets all honest members want, lets the bad ones begin, and measures what comes of it.
func (b *band) attack() (row, error) {
	r := row{kind: b.kind, preset: b.preset, members: b.honest}
	var all sync.WaitGroup
	for i := range b.names {
		all.Go(func() { b.wants(i) })
	}
	time.Sleep(warmTime)
	from := boottime.Now()
	if err := b.startBad(); err != nil {
		return r, err
	}
	fmt.Fprintf(b.notes, "%s %s, %d: begun\n", b.kind.name, b.preset, b.honest)
	r.newcomers, r.returns = b.visits(from)
	time.Sleep(b.For - boottime.Now().Sub(from))
	to := boottime.Now()
	if b.kind.outside {
		for _, name := range b.bad {
			r.initials += rate(b.knocks.from(b.indexOf(name)), to.Sub(from))
		}
	}
	for i := range b.bad {
		b.machineOf(b.bad[i]).Stop()
	}
	b.endRunners(&all)
	for i := range b.names {
		all.Go(b.world.Machines[i].Stop)
	}
	all.Wait()
	for i := range b.names {
		for _, died := range b.world.Machines[i].Died() {
			fmt.Fprintln(os.Stderr, "a daemon has ended:", b.kind.name, b.preset, died)
		}
		b.world.Machines[i].PowerOff()
	}
	if err := b.observer.Close(); err != nil {
		return r, err
	}
	made := make(map[string]bool)
	for _, name := range b.bad {
		x, err := report.Read(filepath.Join(b.machineOf(name).Dir, reportFile))
		if err != nil {
			x.Error = err.Error()
		}
		for _, t := range x.Tokens {
			made[t] = true
		}
		r.reports = append(r.reports, x)
	}
	runs, err := b.programs(to)
	if err != nil {
		return r, err
	}
	r.figures = measure(runs, b.names, made, from, to)
	r.audit = b.audit()
	return r, nil
}

func (b *band) machineOf(name string) *world.Machine { return b.world.Machines[b.indexOf(name)] }

func (b *band) indexOf(name string) int {
	return slices.IndexFunc(b.world.Machines, func(m *world.Machine) bool { return m.Name == name })
}

// startBad starts the bad members.
func (b *band) startBad() error {
	for i, name := range b.bad {
		m := b.machineOf(name)
		accomplice := b.machineOf(b.bad[(i+1)%len(b.bad)])
		rate := b.kind.rate
		if b.Rate > 0 {
			rate = b.Rate
		}
		shift := b.kind.shift + time.Duration(b.kind.ahead*float64(b.Allowance))
		args := []string{
			"-kind", b.kind.acts, "-dir", m.Dir, "-accomplice", accomplice.Dir, "-listen", fmt.Sprintf("%s:%d", m.Address, port),
			"-peers", strings.Join(append(b.others(-1), b.friends(name)...), ","), "-bad", strings.Join(b.bad, ","), "-resource", b.resource,
			"-rate", fmt.Sprint(rate), "-shift", shift.String(), "-span", b.Hold.String(), "-report", filepath.Join(m.Dir, reportFile),
		}
		if err := m.StartDaemon(b.Liar, append(args, b.kind.args...)...); err != nil {
			return err
		}
	}
	return nil
}

// friends are the addresses of the other bad members.
func (b *band) friends(name string) (list []string) {
	for _, other := range b.bad {
		if other != name {
			list = append(list, fmt.Sprintf("%s:%d", b.machineOf(other).Address, port))
		}
	}
	return list
}

// wants runs one program after the other at a member.
func (b *band) wants(i int) {
	for !b.isOver() {
		if err := b.run(i); err != nil {
			time.Sleep(againPause)
		}
	}
}

func (b *band) isOver() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over
}

// run runs a program at a member, and returns when it has ended.
func (b *band) run(i int) error {
	m := b.world.Machines[i]
	out, err := os.OpenFile(filepath.Join(m.Dir, "runs.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"run", "--socket", filepath.Join(m.Dir, "state", "wander.sock"), "--wait", maxWait.String(), b.resource, "--", self, probeArg}
	order := probe.Order{Observer: filepath.Join(b.dir, "o.sock"), Log: b.log(), Member: m.Name, Takes: b.Operation}
	code, err := m.Run(out, func(pid int) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.runners[i] = pid
		if b.over {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}, b.Wander, append(args, order.Args()...)...)
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.runners, i)
	if err == nil && code != 0 {
		err = fmt.Errorf("wander run ended with %d", code)
	}
	return err
}

// endRunners tells all that wait or run to end, and waits until they have.
func (b *band) endRunners(all *sync.WaitGroup) {
	b.mu.Lock()
	b.over = true
	for _, pid := range b.runners {
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
	b.mu.Unlock()
	all.Wait()
}

// programs are all that have run until an instant.
func (b *band) programs(until clock.Instant) ([]judge.Run, error) {
	file, err := os.Open(b.log())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	records, err := record.Read(file)
	if err != nil {
		return nil, err
	}
	return judge.Runs(records, until)
}

// audit audits the journals of the honest members.
func (b *band) audit() (v verdicts) {
	journals := filepath.Join(b.dir, "journals")
	for _, name := range b.names {
		if err := os.CopyFS(filepath.Join(journals, name), os.DirFS(filepath.Join(b.dir, name, "state", "journal"))); err != nil {
			return verdicts{failed: err.Error()}
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), auditWithin)
	defer cancel()
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(ctx, b.Wander, "audit", "--group", filepath.Join(b.dir, "ca", "group.crt"), "--output", "json", journals)
	cmd.Stdout, cmd.Stderr = &out, &problems
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) { // it exits with 70 for findings
		return verdicts{failed: err.Error()}
	}
	a, err := judge.ParseAudit(out.Bytes())
	if err != nil {
		return verdicts{failed: fmt.Sprintf("%v: %s", err, problems.Bytes())}
	}
	return verdictsOf(a)
}
