package main

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/wandertoken/wander/internal/processors"
	"github.com/wandertoken/wander/internal/relay"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

const (
	// idleSubject is the subject of a process whose member wants nothing.
	idleSubject = "idle"
	// idleGossip, idleOperation, idleInterval and idleHold are the settings of the
	// README's group.
	idleGossip    = 5 * time.Second
	idleOperation = 2 * time.Second
	idleInterval  = 500 * time.Millisecond
	idleHold      = 20 * time.Second
	// unitSlack is TimerSlackNSec of the unit in docs/configuration.md.
	unitSlack = time.Millisecond
)

// errRestless says that an idle member costs more than it may.
var errRestless = errors.New("an idle member wakes up too often")

// idleness measures what a member costs while nobody wants anything: each is a
// process of its own, because a process's threads share the wake-ups of its members.
// It reads /proc, so it runs on Linux only.
type idleness struct {
	progress       io.Writer
	members        counts
	policy         string // of the resource
	preset         string // of that policy
	settle, window time.Duration
	slack          time.Duration
	silence        time.Duration // the group's
	gossip         time.Duration // its gossip_interval
	skip           time.Duration // skip_delay; 0: the policy's own
	delay          time.Duration // of the network, one way
	dir, profiles  string
	maxSwitches    float64 // of each member; 0: any
}

// playIdle opens a durable node that wants nothing. The first makes the token.
func playIdle(r role) (player, error) {
	id, err := identity(r.Dir)
	if err != nil {
		return nil, err
	}
	c := node.Config{
		Identity: id, StateDir: filepath.Join(r.Dir, "state"), Listen: "127.0.0.1:0",
		Mode: store.Durable, Socket: "-", Found: r.Peer == "", Quiet: processors.Quiet,
	}
	if r.Peer != "" {
		c.Bootstrap = []string{r.Peer}
	}
	if r.Listen != "" {
		c.Listen, c.Advertise = r.Listen, []string{r.Advertise}
	}
	return openMember(c)
}

// flags are the settings on the command line.
func (i *idleness) flags(f *flag.FlagSet) {
	f.Func("members", "how many processes (default 5,50)", i.members.parse(2, maxCrew))
	f.StringVar(&i.policy, "policy", group.DefaultPolicy, "policy of the resource")
	f.StringVar(&i.preset, "preset", wandering.Fair, "preset of the policy")
	f.DurationVar(&i.settle, "settle", time.Minute, "how long a group runs before it is measured")
	f.DurationVar(&i.window, "for", time.Minute, "how long each group is measured")
	f.DurationVar(&i.slack, "timer-slack", unitSlack, "timer slack of the processes, as systemd's TimerSlackNSec; 0: the system's own")
	f.DurationVar(&i.silence, "silence", group.DefaultSilence, "silence of the group")
	f.DurationVar(&i.gossip, "gossip", idleGossip, "gossip_interval of the group")
	f.DurationVar(&i.skip, "skip", 0, "skip_delay of the resource; 0: the policy's own")
	f.DurationVar(&i.delay, "delay", 0, "delay of the network one way, by a relay before each member")
	f.Float64Var(&i.maxSwitches, "max-switches", 0, "fail if a member has more context switches a second than this (0: never)")
	f.StringVar(&i.dir, "dir", "", "folder for the journals (default: a temporary one)")
	f.StringVar(&i.profiles, "profiles", "", "folder to write CPU profiles to; they cost wake-ups themselves")
}

func (i *idleness) run(out io.Writer) error {
	if i.window <= 0 || i.settle < 0 || i.slack < 0 || i.delay < 0 || i.maxSwitches < 0 {
		return errors.New("nothing to measure: -for must be greater than 0, and no other setting below 0")
	}
	if len(i.members) == 0 {
		i.members = counts{5, 50}
	}
	fmt.Fprintf(out, "| %s |\n| ---: %s|\n", strings.Join(idleHeads, " | "), strings.Repeat("| ---: ", len(idleHeads)-1))
	for _, n := range i.members {
		r, err := i.measure(n)
		if err != nil {
			return fmt.Errorf("%d members: %w", n, err)
		}
		if _, err := fmt.Fprintln(out, r.row(n)); err != nil {
			return err
		}
		if most := slices.Max(r.wakeups); i.maxSwitches > 0 && most > i.maxSwitches {
			return fmt.Errorf("%w: %d members, %.1f context switches a second, %.1f permitted", errRestless, n, most, i.maxSwitches)
		}
	}
	return nil
}

// settings are the group's. A preset that does not use min_interval is not given any.
func (i *idleness) settings(members int) group.Settings {
	interval := idleInterval
	if p, err := catalog.Find(cmp.Or(i.policy, group.DefaultPolicy), i.preset); err == nil && !slices.Contains(p.Uses, "min_interval") {
		interval = 0
	}
	return group.Settings{
		GossipInterval: i.gossip, Silence: i.silence,
		Resources: []group.Resource{{
			Name: resource, Policy: i.policy, MaxHold: idleHold,
			Params: policy.Params{
				Preset: i.preset, OperationTime: idleOperation, MembersMax: members, MinInterval: interval,
				SkipDelay: i.skip,
			},
		}},
	}
}

// measure starts a group, lets it become quiet, and measures it.
func (i *idleness) measure(members int) (r idleReading, err error) {
	dir, err := os.MkdirTemp(i.dir, "wander-bench-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	crowd := make([]string, members)
	for k := range crowd {
		crowd[k] = fmt.Sprintf("m%03d", k+1)
	}
	if err := makeGroupWith(dir, crowd, i.settings(members)); err != nil {
		return r, err
	}
	var slow slowNetwork
	defer slow.close()
	processes, err := i.start(dir, crowd, &slow)
	defer stopAll(processes)
	if err != nil {
		return r, err
	}
	fmt.Fprintf(i.progress, "%d members started\n", members)
	time.Sleep(i.settle)
	return i.observe(processes)
}

// slowNetwork is the relays before the members of a group, in this process.
type slowNetwork struct {
	crew   relay.Crew
	relays []*relay.Relay
}

// before puts a relay before a member, which is told where to listen.
func (s *slowNetwork) before(r *role, delay time.Duration) error {
	listen, err := freePort()
	if err != nil {
		return err
	}
	front, err := s.crew.New(listen, relay.Path{Delay: delay}, 0)
	if err != nil {
		return err
	}
	s.relays = append(s.relays, front)
	r.Listen, r.Advertise = listen.String(), front.Address()
	return nil
}

func (s *slowNetwork) close() {
	for _, r := range s.relays {
		r.Close()
	}
}

// start starts a process for each name.
func (i *idleness) start(dir string, crowd []string, slow *slowNetwork) (all []*process, err error) {
	peer := ""
	for k, name := range crowd {
		if k > 0 {
			time.Sleep(startPause)
		}
		r := role{Subject: idleSubject, Name: name, Dir: filepath.Join(dir, name), Peer: peer}
		if i.profiles != "" {
			r.Profile = filepath.Join(i.profiles, "idle-"+name+".pprof")
		}
		if i.delay > 0 {
			if err := slow.before(&r, i.delay); err != nil {
				return all, err
			}
		}
		var p *process
		err := withTimerSlack(i.slack, func() (err error) { p, err = start(r); return err })
		if err != nil {
			return all, err
		}
		if all = append(all, p); peer == "" {
			peer = cmp.Or(r.Advertise, p.address)
		}
	}
	return all, nil
}

func stopAll(all []*process) {
	for _, p := range all {
		_ = p.in.Close()
	}
	for _, p := range all {
		p.stop()
	}
}

// idleReading is what the members of a group did in a window: each of them, in a
// second.
type idleReading struct {
	wakeups, share, connections []float64
	packets                     float64 // that arrived, in the mean
}

// observe compares the beginning of the window with its end.
func (i *idleness) observe(all []*process) (r idleReading, err error) {
	before, arrived, err := lookAtAll(all)
	if err != nil {
		return r, err
	}
	began := time.Now()
	time.Sleep(i.window)
	seconds := time.Since(began).Seconds()
	after, arrivedThen, err := lookAtAll(all)
	if err != nil {
		return r, err
	}
	for k := range all {
		done := after[k].since(before[k])
		r.wakeups = append(r.wakeups, float64(done.switches)/seconds)
		r.share = append(r.share, float64(done.ran)/1e9/seconds)
	}
	r.packets = float64(arrivedThen-arrived) / seconds / float64(len(all))
	for _, p := range all {
		s, err := p.sample()
		if err != nil {
			return r, err
		}
		r.connections = append(r.connections, float64(s.Connections))
	}
	return r, nil
}

// idleHeads are the columns of the table.
var idleHeads = []string{
	"members", "context switches a second, median and most", "processor, median and most", "packets a second", "connections, median and most",
}

func (r idleReading) row(members int) string {
	return fmt.Sprintf("| %d | %.1f, %.1f | %.3f %%, %.3f %% | %.2f | %.0f, %.0f |", members,
		median(r.wakeups), slices.Max(r.wakeups), 100*median(r.share), 100*slices.Max(r.share),
		r.packets, median(r.connections), slices.Max(r.connections))
}

// thread is what a thread has done until now.
type thread struct {
	switches uint64 // context switches, voluntary and not
	ran      uint64 // nanoseconds on a processor
}

// threads are those of a process, by their numbers.
type threads map[string]thread

// since is what the threads that are there now have done since an earlier reading. What
// one did that has ended meanwhile is not counted: nothing tells of it any more.
func (t threads) since(before threads) (sum thread) {
	for id, now := range t {
		then := before[id]
		if now.switches < then.switches || now.ran < then.ran {
			then = thread{} // another thread has its number
		}
		sum.switches += now.switches - then.switches
		sum.ran += now.ran - then.ran
	}
	return sum
}

// lookAtAll reads what all have done, and how many UDP packets have arrived anywhere
// in the network namespace.
func lookAtAll(all []*process) (list []threads, packets uint64, err error) {
	for _, p := range all {
		t, err := lookAt(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "task"))
		if err != nil {
			return nil, 0, err
		}
		list = append(list, t)
	}
	packets, err = udpPackets()
	return list, packets, err
}

// lookAt reads the threads of a process, whose folder is given, but for those that end
// meanwhile.
func lookAt(tasks string) (threads, error) {
	entries, err := os.ReadDir(tasks)
	if err != nil {
		return nil, err
	}
	list := make(threads)
	for _, e := range entries {
		t, err := readThread(filepath.Join(tasks, e.Name()))
		switch {
		case err == nil:
			list[e.Name()] = t
		case !hasEnded(err):
			return nil, err
		}
	}
	return list, nil
}

func readThread(dir string) (t thread, err error) {
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return t, err
	}
	ran, err := os.ReadFile(filepath.Join(dir, "schedstat"))
	if err != nil {
		return t, err
	}
	t.switches = field(status, "voluntary_ctxt_switches:") + field(status, "nonvoluntary_ctxt_switches:")
	t.ran = number(strings.Fields(string(ran)))
	return t, nil
}

// hasEnded reports whether reading about a thread failed as there is none any more: its
// files are gone, or those that are open give ESRCH.
func hasEnded(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

// udpPackets is how many datagrams have arrived for sockets of this network namespace.
func udpPackets() (uint64, error) {
	text, err := os.ReadFile("/proc/net/snmp")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Udp: "); ok && rest[0] >= '0' && rest[0] <= '9' {
			return number(strings.Fields(rest)), nil
		}
	}
	return 0, errors.New("/proc/net/snmp has no count of UDP packets")
}

// field is the number behind a name at the start of a line, or 0.
func field(text []byte, name string) uint64 {
	s := bufio.NewScanner(strings.NewReader(string(text)))
	for s.Scan() {
		if rest, ok := strings.CutPrefix(s.Text(), name); ok {
			return number(strings.Fields(rest))
		}
	}
	return 0
}

// number is the first of some numbers, or 0.
func number(fields []string) uint64 {
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseUint(fields[0], 10, 64)
	return n
}
