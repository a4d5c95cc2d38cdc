package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/soak/judge"
	"github.com/wandertoken/wander/soak/plan"
	"github.com/wandertoken/wander/soak/rig"
	"github.com/wandertoken/wander/soak/world"
)

const (
	// runsLog is the file, in a member's folder, for what wander run says.
	runsLog = "runs.log"
	// maxWait is how long a program waits for the resource before it gives up
	// and asks again.
	maxWait = 60 * time.Second
	// noDaemonPause is how long is waited where there is no daemon.
	noDaemonPause = 500 * time.Millisecond
	// endWithin is how long wander run may take to end when it is told to: the
	// longest grant, the time for telling a daemon of it, and that for an audit.
	endWithin = 2 * time.Minute
	// maxPauses bounds a pause, in means.
	maxPauses = 4
	// unavailable is the exit code of wander run where there is no daemon.
	unavailable = 69
)

// demander wants a resource for a member, again and again.
type demander struct {
	*run
	plan.Demand
	member int
	rng    *rand.Rand
}

func (d *demander) loop(ctx context.Context) {
	m := d.world.Machines[d.member]
	log, err := os.OpenFile(filepath.Join(m.Dir, runsLog), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		d.fail("wander run", err)
		return
	}
	defer log.Close()
	for ctx.Err() == nil {
		if d.Pause > 0 {
			pause(ctx, min(time.Duration(d.rng.ExpFloat64()*float64(d.Pause)), maxPauses*d.Pause))
		}
		exit, err := d.ask(ctx, m, log)
		switch {
		case errors.Is(err, world.ErrOff), err == nil && exit == unavailable:
			pause(ctx, noDaemonPause)
		case err != nil:
			d.fail("wander run", err)
			return
		}
	}
}

// ask runs the program once.
func (d *demander) ask(ctx context.Context, m *world.Machine, log *os.File) (exit int, err error) {
	takes, stubborn := d.program()
	args := []string{"run", "--socket", filepath.Join(m.Dir, "state", "wander.sock"), "--wait", maxWait.String(), d.Resource, "--", d.self, rig.ProbeArg}
	args = append(args, d.order(d.member, takes, stubborn).Args()...)
	a := judge.Ask{Resource: d.Resource, Member: m.Name}
	a.From = boottime.Now()
	key := [2]string{m.Name, d.Resource}
	exit, err = m.Run(log, func(pid int) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.runners[key] = pid
		if ctx.Err() != nil { // the others have been told to stop already
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}, d.run.program, args...)
	a.To, a.Exit = boottime.Now(), exit
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.runners, key)
	if err == nil {
		d.asks = append(d.asks, a)
		d.write(event{Event: "run", Member: m.Name, Detail: fmt.Sprintf("%s, %v", d.Resource, takes), Took: a.Length().Seconds(), Exit: &exit})
	}
	return exit, err
}

// program is how long the next program takes, and whether it ignores SIGTERM.
// Most are short; some come to their deadline, which is at max_hold.
func (d *demander) program() (takes time.Duration, stubborn bool) {
	hold := d.plan.Resource(d.Resource).MaxHold
	part := func(least, most float64) time.Duration {
		return time.Duration((least + (most-least)*d.rng.Float64()) * float64(hold)).Round(time.Millisecond)
	}
	switch x := d.rng.IntN(100); {
	case d.plan.Long && x < 75: // so that two sides of a cut run at the same time, if both do
		return part(0.3, 0.7), false
	case x < 3:
		return 0, false
	case x < 75:
		return part(0.01, 0.2), false
	case x < 90:
		return part(0.2, 0.7), x%2 == 0
	case x < 96:
		return part(1.1, 2), false
	}
	return part(1.1, 2), true
}

// endRunners tells all wander runs to end, and waits until they have, and faults
// and audits, too. If some do not, their machines are switched off.
func (r *run) endRunners(all *sync.WaitGroup) {
	r.mu.Lock()
	for _, pid := range r.runners {
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
	r.mu.Unlock()
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	select {
	case <-done:
		return
	case <-time.After(endWithin):
	}
	r.mu.Lock()
	for key := range r.runners {
		r.hung = append(r.hung, key[0]+": "+key[1])
	}
	r.mu.Unlock()
	for _, m := range r.world.Machines {
		m.PowerOff()
	}
	<-done
}
