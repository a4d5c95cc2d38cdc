package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wandertoken/wander/internal/relay"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

const (
	// quiet takes the place of a preset: a group that has no token, and whose
	// members want nothing. It shows what a group costs by itself.
	quiet = "quiet"
	// skipShare is operation_time in skip_delays, as in the papers' 4 s and 0.1 s.
	skipShare = 40
	// leastOperation is the shortest one, of which skip_delay is a permitted share.
	leastOperation = skipShare * policy.MinDuration
	// meetWithin bounds the time until all members know each other.
	meetWithin = 3 * time.Minute
	// settle is how long a group runs at least before it is measured: connections
	// without messages are closed after 30 to 35 seconds.
	settle = 40 * time.Second
	// settleRounds is how many rounds of operations it runs before.
	settleRounds = 1.5
	// maxCrew bounds the members of a group: each takes a socket, four files and about
	// 10 MB.
	maxCrew = 1000
	// slack is how much longer than an operation a grant is, for timers that are
	// late on a busy machine.
	slack = 10 * time.Second
)

// usual are the presets that are measured when none are named.
var usual = []string{quiet, wandering.Paper, wandering.Light, wandering.Fair}

// walk is a measurement of a whole group whose members all always want to
// operate: what the token and what policies say of it cost among many members.
type walk struct {
	progress          io.Writer
	members           counts
	presets           []string
	operation, window time.Duration
	warmUp            time.Duration // 0: until settled
	delay             time.Duration // of the network, one way
	volatile          bool
	dir, profiles     string
}

// walked is what came of one group.
type walked struct {
	members     int
	preset      string
	took        time.Duration
	cpu         time.Duration // of this process, user and system
	did         tally
	watch       *occupancy
	connections []float64
}

func (w *walk) only(list string) error {
	w.presets = strings.Split(list, ",")
	for _, p := range w.presets {
		known := slices.ContainsFunc(catalog.Presets(catalog.Wandering), func(k catalog.Preset) bool { return k.Name == p })
		if !known && p != quiet {
			return fmt.Errorf("the policy %s has no preset %q", catalog.Wandering, p)
		}
	}
	return nil
}

// flags are the settings on the command line.
func (w *walk) flags(f *flag.FlagSet) {
	f.Func("members", "how many (default 25,100)", w.members.parse(2, maxCrew))
	f.Func("preset", "which presets of the policy wandering, or "+quiet+" (default "+strings.Join(usual, ",")+")", w.only)
	f.DurationVar(&w.operation, "operation", time.Second, "how long an operation takes")
	f.DurationVar(&w.window, "for", time.Minute, "how long each group is measured")
	f.DurationVar(&w.warmUp, "warm-up", 0, "how long it runs before (default a round and a half of operations, 40 s at least)")
	f.DurationVar(&w.delay, "delay", 0, "delay of the network one way, by a relay before each member")
	f.BoolVar(&w.volatile, "volatile", false, "do not sync the journals")
	f.StringVar(&w.dir, "dir", "", "folder for the journals, on the disk to be measured (default: a temporary one)")
	f.StringVar(&w.profiles, "profiles", "", "folder to write CPU profiles to")
}

func (w *walk) run(out io.Writer) error {
	if w.operation < leastOperation || w.window <= w.operation {
		return fmt.Errorf("an operation takes %v at least, and the measurement longer than that", leastOperation)
	}
	if w.delay < 0 {
		return fmt.Errorf("the network has a delay of 0 at least, not %v", w.delay)
	}
	if len(w.members) == 0 {
		w.members = counts{25, 100}
	}
	if len(w.presets) == 0 {
		w.presets = usual
	}
	fmt.Fprintf(out, "| %s |\n| ---: | --- %s|\n", strings.Join(heads, " | "), strings.Repeat("| ---: ", len(heads)-2))
	for _, n := range w.members {
		for _, preset := range w.presets {
			r, err := w.measure(n, preset)
			if err != nil {
				return fmt.Errorf("%d members, %s: %w", n, preset, err)
			}
			if _, err := fmt.Fprintln(out, r.row()); err != nil {
				return err
			}
		}
	}
	return nil
}

// resource is what a group shares.
func (w *walk) resource(members int, preset string) group.Resource {
	r := group.Resource{
		Name: resource, MaxHold: w.operation + slack, Policy: catalog.Wandering,
		Params: policy.Params{Preset: preset, OperationTime: w.operation, MembersMax: members, SkipDelay: w.operation / skipShare},
	}
	if preset == quiet {
		r.Policy, r.Params.Preset = catalog.Uncoordinated, ""
	}
	return r
}

// measure runs one group for as long as it takes.
func (w *walk) measure(members int, preset string) (walked, error) {
	r := walked{members: members, preset: preset, watch: new(occupancy)}
	dir, err := os.MkdirTemp(w.dir, "wander-bench-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	var crowd []string
	for i := range members {
		crowd = append(crowd, fmt.Sprintf("m%03d", i+1))
	}
	if err := makeGroup(dir, crowd, w.resource(members, preset)); err != nil {
		return r, err
	}
	does := work{operation: w.operation, watch: r.watch, path: relay.Path{Delay: w.delay}}
	if w.volatile {
		does.mode = store.Volatile
	}
	if preset == quiet {
		does.operation = 0
	}
	c, err := openCrew(dir, crowd, does)
	defer c.close()
	if err != nil {
		return r, err
	}
	if err := w.prepare(c); err != nil {
		return r, err
	}
	return r, w.observe(c, &r)
}

// prepare waits until the members know each other, and then as long as they need
// to settle.
func (w *walk) prepare(c crew) error {
	began := time.Now()
	for !c.knowEachOther() {
		if time.Since(began) > meetWithin {
			return fmt.Errorf("the members do not know each other after %v", meetWithin)
		}
		time.Sleep(100 * time.Millisecond)
	}
	fmt.Fprintf(w.progress, "%d members know each other after %.1f s\n", len(c), time.Since(began).Seconds())
	time.Sleep(cmp.Or(w.warmUp, w.settled(len(c))))
	return nil
}

// settled is how long a group runs until what it does repeats.
func (w *walk) settled(members int) time.Duration {
	round := time.Duration(members) * w.operation
	return max(settle, time.Duration(settleRounds*float64(round)))
}

// profile is where the profile of a group is written, if at all.
func (w *walk) profile(r *walked) string {
	if w.profiles == "" {
		return ""
	}
	return filepath.Join(w.profiles, fmt.Sprintf("walk-%d-%s.pprof", r.members, r.preset))
}

// observe counts what happens in the window.
func (w *walk) observe(c crew, r *walked) error {
	stop, err := profile(w.profile(r))
	if err != nil {
		return err
	}
	defer stop()
	before := c.tally() // which costs time itself
	began, err := cpuTime()
	if err != nil {
		return err
	}
	r.watch.open(time.Now())
	time.Sleep(w.window)
	r.took = r.watch.close(time.Now())
	ended, err := cpuTime()
	r.cpu, r.did, r.connections = ended-began, c.tally().since(before), c.connections()
	fmt.Fprintf(w.progress, "%d members, %s: %d operations, %d hops, %d messages (%d small), %d dials, %d batches written, %d tokens made and %d dropped\n",
		r.members, r.preset, r.watch.operations, r.did.hops, r.did.messages, r.did.small, r.did.dials, r.did.syncs, r.did.made, r.did.dropped)
	return err
}

// heads are the columns of the table.
var heads = []string{
	"members", "preset", "operations", "messages each", "small messages each", "per hop", "hops each", "dials each", "CPU each", "CPU in all",
	"connections of a member, median and most", "end to next start, median and p99", "none runs", "several run",
}

// row is a line of the table.
func (r walked) row() string {
	o := r.watch
	n := float64(o.operations)
	seconds := r.took.Seconds()
	cells := []string{
		strconv.Itoa(r.members), "`" + r.preset + "`", "–", "–", "–", "–", "–", "–", "–",
		fmt.Sprintf("%.1f %%", 100*r.cpu.Seconds()/seconds),
		fmt.Sprintf("%.0f, %.0f", median(r.connections), slices.Max(r.connections)), "–", "–", "–",
	}
	if o.operations > 0 {
		copy(cells[2:], []string{
			strconv.Itoa(o.operations), fmt.Sprintf("%.1f", float64(r.did.messages)/n), fmt.Sprintf("%.1f", float64(r.did.small)/n), fmt.Sprintf("%.1f", float64(r.did.small)/float64(max(1, r.did.hops))),
			fmt.Sprintf("%.1f", float64(r.did.hops)/n), fmt.Sprintf("%.1f", float64(r.did.dials)/n), fmt.Sprintf("%.1f ms", r.cpu.Seconds()*1e3/n),
		})
		copy(cells[12:], []string{
			fmt.Sprintf("%.1f %%", 100*o.idle.Seconds()/seconds), fmt.Sprintf("%.1f %%", 100*o.overlap.Seconds()/seconds),
		})
	}
	if len(o.gaps) > 0 {
		cells[11] = fmt.Sprintf("%.1f ms, %.1f ms", median(o.gaps)*1e3, quantile(o.gaps, 0.99)*1e3)
	}
	return "| " + strings.Join(cells, " | ") + " |"
}
