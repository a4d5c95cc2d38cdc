package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/soak/judge"
	"github.com/wandertoken/wander/soak/plan"
	"github.com/wandertoken/wander/soak/probe"
	"github.com/wandertoken/wander/soak/rig"
	"github.com/wandertoken/wander/soak/world"
)

// Files in the folder of a run.
const (
	observerSocket = "observer.sock"
	logFile        = "programs.log"
	eventsFile     = "events.ndjson"
	planFile       = "plan.json"
	evidenceFile   = "evidence.json"
	reportFile     = "report.json"
	auditsFolder   = "audits"
)

const (
	// upWithin is how long the members may take to start.
	upWithin = 2 * time.Minute
	// answerWithin is how long one may take to answer its API.
	answerWithin = 5 * time.Second
	// smallDisk is the size of a disk that can be filled, in bytes. A journal grows
	// by about 10 MB in an hour.
	smallDisk = 256 << 20
	// spareTime is how much longer than planned a run may take before it is given
	// up: for starting, for agreeing in the end, and for the audit.
	spareTime = 15 * time.Minute
	// lookEvery is how often it is looked whether something has come about.
	lookEvery = 100 * time.Millisecond
)

// run is one soak run.
type run struct {
	options
	plan     plan.Plan
	dir      string
	program  string // wander
	self     string
	world    *world.World
	observer *probe.Observer
	clients  []*api.Client
	group    ident.Group
	ids      []ident.Member // in the order of the plan's members
	began    clock.Instant
	calm     clock.Instant
	ended    clock.Instant
	early    bool // it was interrupted

	mu      sync.Mutex
	events  *json.Encoder
	asks    []judge.Ask
	outages []judge.Outage
	sides   []judge.Side
	audits  []judge.Audited
	errors  []string
	done    map[string]int    // faults, by kind
	skipped int               // faults for which nobody was left
	hung    []string          // wander runs that did not end when told
	runners map[[2]string]int // member and resource: process of the wander run
	active  []plan.Step       // faults of the network that are in effect
	busy    map[int]bool      // members that a fault has hit
}

// inner is the run within the namespaces.
func inner(o options) (code int, err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	p, err := o.makePlan()
	if err != nil {
		return exitUsage, err
	}
	time.AfterFunc(p.For+spareTime, func() {
		fmt.Fprintln(os.Stderr, "error: the run does not come to its end")
		os.Exit(exitFailure) // everything else ends with it
	})
	r := &run{
		options: o, plan: p, dir: o.Out, program: filepath.Join(o.Out, "wander"), self: filepath.Join(o.Out, "soak"),
		runners: make(map[[2]string]int), busy: make(map[int]bool), done: make(map[string]int),
	}
	if err := r.prepare(); err != nil {
		if errors.Is(err, os.ErrPermission) {
			return exitUnsupported, rig.Unsupported(err)
		}
		return exitFailure, err
	}
	defer r.world.Close()
	if err := r.makeGroup(); err != nil {
		return exitFailure, err
	}
	if err := r.startAll(ctx); err != nil {
		if ctx.Err() != nil {
			return exitInterrupted, errors.New("interrupted before all members were up: nothing is judged")
		}
		return exitFailure, err
	}
	r.play(ctx)
	r.early = ctx.Err() != nil
	stop() // a second signal ends the run at once
	if r.early {
		fmt.Fprintln(os.Stderr, "interrupted: judging what happened until now")
	}
	code, err = r.finish()
	if r.early && code == exitOK {
		code = exitInterrupted
	}
	return code, err
}

// prepare makes the files of the run and the machines.
func (r *run) prepare() error {
	text, err := json.MarshalIndent(r.plan, "", " ")
	if err == nil {
		err = os.WriteFile(filepath.Join(r.dir, planFile), append(text, '\n'), 0o600)
	}
	if err != nil {
		return err
	}
	events, err := os.OpenFile(filepath.Join(r.dir, eventsFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	r.events = json.NewEncoder(events)
	if r.observer, err = probe.Observe(filepath.Join(r.dir, observerSocket), filepath.Join(r.dir, logFile)); err != nil {
		return err
	}
	var names []string
	for _, m := range r.plan.Members {
		names = append(names, m.Name)
	}
	if r.world, err = world.New(r.dir, names, r.plan.Seed); err != nil {
		return err
	}
	for i, m := range r.world.Machines {
		if r.plan.Members[i].SmallDisk {
			if err := m.MountState(smallDisk); err != nil {
				return err
			}
		}
		r.clients = append(r.clients, api.Dial(filepath.Join(m.Dir, "state", api.SocketName)))
	}
	return nil
}

// start starts a member's daemon.
func (r *run) start(i int) error {
	args := []string{"node", "--config", filepath.Join(r.world.Machines[i].Dir, settingsFile)}
	if i == 0 {
		args = append(args, "--found")
	}
	return r.world.Machines[i].StartDaemon(r.program, args...)
}

func (r *run) startAll(ctx context.Context) error {
	for i := range r.world.Machines {
		if err := r.start(i); err != nil {
			return err
		}
	}
	for i, m := range r.world.Machines {
		if !r.answers(ctx, i, upWithin) {
			return fmt.Errorf("%s has not started: see %s", m.Name, filepath.Join(m.Dir, world.LogFile))
		}
	}
	return nil
}

// answers waits until a member answers its API.
func (r *run) answers(ctx context.Context, i int, within time.Duration) bool {
	for end := boottime.Now().Add(within); boottime.Now().Before(end) && ctx.Err() == nil; pause(ctx, lookEvery) {
		asked, cancel := context.WithTimeout(ctx, answerWithin)
		_, err := r.clients[i].Status(asked)
		cancel()
		if err == nil {
			return true
		}
	}
	return false
}

// play lets everybody want, and hurts them, until the time is over.
func (r *run) play(ctx context.Context) {
	r.began = boottime.Now()
	r.calm = r.began.Add(r.plan.For - r.plan.Calm)
	r.event(event{Event: "begin"})
	timed, cancel := context.WithTimeout(ctx, r.plan.For)
	defer cancel()
	var all sync.WaitGroup
	for i, m := range r.plan.Members {
		for j, d := range m.Demands {
			if !d.Daemon {
				rng := rand.New(rand.NewPCG(r.plan.Seed, uint64(i)<<32|uint64(j)))
				all.Go(func() { (&demander{run: r, member: i, Demand: d, rng: rng}).loop(timed) })
			}
		}
	}
	for _, s := range r.plan.Steps {
		all.Go(func() { r.step(timed, s) })
	}
	all.Go(func() { r.auditMeanwhile(timed) })
	<-timed.Done()
	r.ended = boottime.Now()
	r.event(event{Event: "end"})
	r.endRunners(&all)
}

// event is one line of the file of events.
type event struct {
	At     float64 `json:"at_s"` // since the beginning
	Event  string  `json:"event"`
	Fault  string  `json:"fault,omitempty"`
	Member string  `json:"member,omitempty"`
	Detail string  `json:"detail,omitempty"`
	Took   float64 `json:"took_s,omitempty"`
	Exit   *int    `json:"exit,omitempty"`
}

func (r *run) event(e event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(e)
}

// write is event for whoever has the lock.
func (r *run) write(e event) {
	if r.began > 0 {
		e.At = boottime.Now().Sub(r.began).Seconds()
	}
	if err := r.events.Encode(e); err != nil {
		r.errors = append(r.errors, err.Error())
	}
}

func (r *run) fail(what string, err error) {
	if err == nil || errors.Is(err, world.ErrOff) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, fmt.Sprintf("%s: %v", what, err))
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
