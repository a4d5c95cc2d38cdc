package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/soak/liar/report"
	"github.com/wandertoken/wander/soak/rig"
	"github.com/wandertoken/wander/soak/world"
)

const (
	// warmTime is how long all want before the attack begins: the first turns take longer.
	warmTime = 5 * time.Second
	// downTime is how long a killed daemon is down: longer than its peers take to find it silent.
	downTime = 10 * time.Second
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
	*rig.Group
	kind     badKind
	preset   string
	honest   int
	resource string
	notes    io.Writer
	names    []string // of the honest members
	bad      []string
	guests   []string // members that are not in the group yet
	returner string   // one that was in it; empty: none
	knocks   *knocks

	mu      sync.Mutex
	runners map[int]int // member: process of its wander run
	over    bool
}

// open makes the group and starts the honest members.
func (b *band) open() error {
	b.runners = make(map[int]int)
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
	if err := b.Open(near, far); err != nil {
		return err
	}
	b.knocks = newKnocks(flooded)
	b.World.Network.Watch(b.knocks.look)
	if err := b.makeGroup(); err != nil {
		return err
	}
	var honest []int
	for i := range b.names {
		if err := b.Start(i); err != nil {
			return err
		}
		honest = append(honest, i)
	}
	if err := b.AwaitAll(honest); err != nil {
		return err
	}
	return b.acquaint()
}

// makeGroup makes the authority, and the files of all members.
func (b *band) makeGroup() error {
	if err := b.Init("hostile"); err != nil {
		return err
	}
	b.resource = "x"
	if err := b.Configure(b.groupFile()); err != nil {
		return err
	}
	if err := b.Issue(); err != nil {
		return err
	}
	if err := b.Publish(b.World.Machines...); err != nil {
		return err
	}
	if err := b.rank(); err != nil {
		return err
	}
	if err := b.Configure(b.groupFile()); err != nil {
		return err
	}
	if err := b.Publish(b.World.Machines...); err != nil {
		return err
	}
	for i, m := range b.World.Machines {
		if slices.Contains(b.bad, m.Name) {
			continue
		}
		peers := b.others(i)
		if i >= b.honest {
			peers = []string{b.Address(flooded)}
		}
		if err := b.WriteMember(i, "durable", peers); err != nil {
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
	for _, m := range b.World.Machines {
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
			if directory.Above(rank[x], rank[y]) == (b.First || b.kind.first) {
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

func (b *band) groupFile() string {
	return fmt.Sprintf("gossip_interval = \"5s\"\nsilence = %q\nclock_allowance = %q\n", b.Silence, b.Allowance) +
		b.Resource(b.resource, b.preset, b.Operation, b.Hold)
}

// others are the addresses of the honest members but one; all, for one that is none.
func (b *band) others(i int) (list []string) {
	for j := range b.names {
		if j != i {
			list = append(list, b.Address(j))
		}
	}
	return list
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
	victim, killed := -1, clock.Never
	if b.Kill {
		time.Sleep(b.For/2 - boottime.Now().Sub(from))
		victim, killed = b.victim(), boottime.Now()
		if err := b.kill(victim); err != nil {
			return r, err
		}
	}
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
		all.Go(b.World.Machines[i].Stop)
	}
	all.Wait()
	for i := range b.names {
		for _, died := range b.World.Machines[i].Died() {
			fmt.Fprintln(os.Stderr, "a daemon has ended:", b.kind.name, b.preset, died)
		}
		b.World.Machines[i].PowerOff()
	}
	if err := b.Observer.Close(); err != nil {
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
	runs, err := b.Programs(to)
	if err != nil {
		return r, err
	}
	r.figures = measure(runs, b.names, made, from, to)
	if victim >= 0 {
		r.crash = crashOf(runs, b.names, b.names[victim], killed, to)
	}
	r.audit = b.audit()
	return r, nil
}

func (b *band) machineOf(name string) *world.Machine { return b.World.Machines[b.indexOf(name)] }

func (b *band) indexOf(name string) int {
	return slices.IndexFunc(b.World.Machines, func(m *world.Machine) bool { return m.Name == name })
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
			"-kind", b.kind.acts, "-dir", m.Dir, "-accomplice", accomplice.Dir, "-listen", b.Address(b.indexOf(name)),
			"-peers", strings.Join(append(b.others(-1), b.friends(name)...), ","), "-bad", strings.Join(b.bad, ","), "-resource", b.resource,
			"-rate", fmt.Sprint(rate), "-shift", shift.String(), "-span", b.Hold.String(), "-report", filepath.Join(m.Dir, reportFile),
		}
		if err := m.StartDaemon(b.Liar, append(args, b.kind.args...)...); err != nil {
			return err
		}
	}
	return nil
}

// victim is the honest member whose program runs, or the first one.
func (b *band) victim() int {
	return max(slices.Index(b.names, b.Observer.Running(b.resource)), 0)
}

// kill ends a member's daemon as a crash does, and starts it again.
func (b *band) kill(i int) error {
	b.World.Machines[i].Kill()
	fmt.Fprintf(b.notes, "%s %s, %d: %s killed\n", b.kind.name, b.preset, b.honest, b.names[i])
	time.Sleep(downTime)
	return b.Start(i)
}

// friends are the addresses of the other bad members.
func (b *band) friends(name string) (list []string) {
	for _, other := range b.bad {
		if other != name {
			list = append(list, b.Address(b.indexOf(other)))
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
	code, err := b.Run(i, b.resource, maxWait, b.Operation, func(pid int) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.runners[i] = pid
		if b.over {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	})
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

// audit audits the journals of the honest members.
func (b *band) audit() (v verdicts) {
	journals := filepath.Join(b.Folder, "journals")
	for _, name := range b.names {
		if err := os.CopyFS(filepath.Join(journals, name), os.DirFS(filepath.Join(b.Folder, name, "state", "journal"))); err != nil {
			return verdicts{failed: err.Error()}
		}
	}
	a, err := rig.Audit(b.Program, filepath.Join(b.Authority(), "group.crt"), journals, auditWithin)
	if err != nil {
		return verdicts{failed: err.Error()}
	}
	return verdictsOf(a)
}
