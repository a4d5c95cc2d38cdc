package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
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
	resource = "x"
	port     = 4133
	// operation is operation_time; programs of the group take less, but for those that
	// are to be lost.
	operation = time.Second
	// upWithin bounds the time until the members have met, and patience the one until
	// somebody runs: what takes longer is stuck.
	upWithin = 2 * time.Minute
	patience = 90 * time.Second
	// smallDisk is the size of a disk that can be filled.
	smallDisk = 24 << 20
	lookEvery = 20 * time.Millisecond
)

// band is a group of members, each on its machine.
type band struct {
	options
	kase     kase
	preset   string
	mode     string
	onSilent string
	dir      string
	world    *world.World
	observer *probe.Observer
	clients  []*api.Client
	gone     map[int]bool // for good
	notes    io.Writer
}

func (b *band) log() string { return filepath.Join(b.dir, "programs.log") }

// open makes the group and starts all members.
func (b *band) open() (err error) {
	b.gone = make(map[int]bool)
	if err := os.Mkdir(b.dir, 0o700); err != nil {
		return err
	}
	if b.observer, err = probe.Observe(filepath.Join(b.dir, "o.sock"), b.log()); err != nil {
		return err
	}
	members := b.Members
	if b.kase.revokes {
		members += b.Runs - 1
	}
	var names []string
	for i := range members {
		names = append(names, fmt.Sprintf("m%d", i+1))
	}
	if b.world, err = world.New(b.dir, names, 1); err != nil {
		return err
	}
	for _, m := range b.world.Machines {
		if b.kase.name == "full" {
			if err := m.MountState(smallDisk); err != nil {
				return err
			}
		}
		b.clients = append(b.clients, api.Dial(filepath.Join(m.Dir, "state", api.SocketName)))
	}
	if err := b.makeGroup(); err != nil {
		return err
	}
	for i := range b.world.Machines {
		if err := b.start(i); err != nil {
			return err
		}
	}
	return b.awaitAll()
}

func (b *band) close() {
	if b.world != nil {
		b.world.Close()
	}
}

func (b *band) makeGroup() error {
	authority, settings := filepath.Join(b.dir, "ca"), filepath.Join(b.dir, "group.toml")
	if err := os.WriteFile(settings, []byte(b.groupFile()), 0o600); err != nil {
		return err
	}
	if err := b.wander("ca", "init", "--dir", authority, "--name", "loss", "--no-passphrase"); err != nil {
		return err
	}
	if err := b.wander("ca", "config", "--dir", authority, settings); err != nil {
		return err
	}
	for i, m := range b.world.Machines {
		if err := b.wander("ca", "issue", "--dir", authority, "--name", m.Name, "--out", filepath.Join(m.Dir, "member")); err != nil {
			return err
		}
		if err := b.publish(i); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(m.Dir, "wander.toml"), []byte(b.memberFile(i)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// publish gives a member the group file as the authority has it.
func (b *band) publish(i int) error {
	text, err := os.ReadFile(filepath.Join(b.dir, "ca", "group.crt"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.world.Machines[i].Dir, "group.crt"), text, 0o600)
}

// revoke revokes a member. Another one hears of it from the authority.
func (b *band) revoke(i, teller int) error {
	if err := b.wander("ca", "revoke", "--dir", filepath.Join(b.dir, "ca"), b.world.Machines[i].Name, "--reason", "lost"); err != nil {
		return err
	}
	b.gone[i] = true
	if err := b.publish(teller); err != nil {
		return err
	}
	b.world.Machines[teller].Signal(syscall.SIGHUP)
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
	policy, more := "wandering", "min_interval = \"100ms\"\n"
	switch b.preset {
	case "ring":
		policy, more = "ring", ""
	case "split":
		policy, more = "multitoken", "target_interval = \"4s\"\n"
	}
	preset := b.preset
	if preset == "ring" {
		preset = "e"
	}
	if b.onSilent != "wait" {
		more += fmt.Sprintf("on_silent_holder = %q\n", b.onSilent)
	}
	return fmt.Sprintf("gossip_interval = \"5s\"\nsilence = %q\n[[resource]]\nname = %q\npolicy = %q\npreset = %q\noperation_time = %q\nmax_hold = %q\nmembers_max = %d\n%s",
		b.Silence, resource, policy, preset, operation, b.Hold, len(b.world.Machines), more)
}

func (b *band) memberFile(i int) string {
	var w strings.Builder
	fmt.Fprintf(&w, "state_dir = \"state\"\nmode = %q\n[identity]\ncertificate = \"member.crt\"\nkey = \"member.key\"\ngroup = \"group.crt\"\n", b.mode)
	fmt.Fprintf(&w, "[log]\nlevel = \"debug\"\n[listen]\naddress = \"%s:%d\"\n[bootstrap]\npeers = [", b.world.Machines[i].Address, port)
	for j, m := range b.world.Machines {
		if j != i {
			fmt.Fprintf(&w, "\"%s:%d\", ", m.Address, port)
		}
	}
	return w.String() + "]\n"
}

// start starts a member's daemon.
func (b *band) start(i int) error {
	m := b.world.Machines[i]
	args := []string{"node", "--config", filepath.Join(m.Dir, "wander.toml")}
	if i == 0 {
		args = append(args, "--found")
	}
	return m.StartDaemon(b.Wander, args...)
}

// awaitAll waits until all members that are not gone for good take each other for members.
func (b *band) awaitAll() error {
	for end := boottime.Now().Add(upWithin); ; time.Sleep(5 * lookEvery) {
		bad := ""
		for i, m := range b.world.Machines {
			if !b.gone[i] && !b.meets(i) {
				bad = m.Name
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

// meets reports whether a member knows all others as valid.
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
	return err == nil && valid == len(b.world.Machines)-len(b.gone)
}

// status asks a member, which may be dead.
func (b *band) status(i int) (s api.Status, ok bool) {
	if b.gone[i] {
		return s, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s, err := b.clients[i].Status(ctx)
	return s, err == nil
}

// holders are the members that have a token now.
func (b *band) holders() (list []int) {
	for i := range b.clients {
		if s, ok := b.status(i); ok && len(s.Resources) > 0 && s.Resources[0].Slots[0].Held {
			list = append(list, i)
		}
	}
	return list
}

// count is what a member's daemon has counted since it began.
type count struct {
	at            clock.Instant // when it was asked
	up            time.Duration
	made, dropped uint64
}

// counts are the numbers of tokens that each member's daemon has counted; zero for who
// does not answer.
func (b *band) counts() (list []count) {
	for i := range b.clients {
		s, _ := b.status(i)
		list = append(list, count{boottime.Now(), time.Duration(s.UptimeS * float64(time.Second)), s.Tokens.Generated, s.Tokens.Dropped})
	}
	return list
}

// since is what all have counted since before.
func since(before, after []count) (made, dropped int) {
	for i, a := range after {
		b := before[i]
		if a.up < a.at.Sub(b.at) { // another life
			b = count{}
		}
		made, dropped = made+int(a.made-b.made), dropped+int(a.dropped-b.dropped)
	}
	return made, dropped
}

// run runs a program at a member, and returns when it has ended.
func (b *band) run(i int, takes time.Duration) error {
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
	args := []string{"run", "--socket", filepath.Join(m.Dir, "state", "wander.sock"), "--wait", (2 * patience).String(), resource, "--", self, probeArg}
	order := probe.Order{Observer: filepath.Join(b.dir, "o.sock"), Log: b.log(), Member: m.Name, Takes: takes}
	_, err = m.Run(out, func(int) {}, b.Wander, append(args, order.Args()...)...)
	return err
}

// programs are all that have run until now.
func (b *band) programs() []judge.Run {
	file, err := os.Open(b.log())
	if err != nil {
		return nil
	}
	defer file.Close()
	records, err := record.Read(file)
	if err != nil {
		fmt.Fprintln(b.notes, err)
	}
	runs, err := judge.Runs(records, boottime.Now())
	if err != nil {
		fmt.Fprintln(b.notes, err)
	}
	return runs
}

// overlap is for how long two programs ran at once from an instant on.
func (b *band) overlap(from clock.Instant) time.Duration {
	var list []judge.Run
	for _, r := range b.programs() {
		if r.Sure.To > from {
			r.Sure.From = max(r.Sure.From, from)
			list = append(list, r)
		}
	}
	least, _ := judge.Overlap(list, resource, 1)
	return least
}
