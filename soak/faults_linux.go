package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/soak/judge"
	"github.com/wandertoken/wander/soak/plan"
	"github.com/wandertoken/wander/soak/rig"
	"github.com/wandertoken/wander/soak/world"
)

// backWithin is how long a member may take to answer after a fault.
const backWithin = time.Minute

// step does one fault at its time, and undoes it.
func (r *run) step(ctx context.Context, s plan.Step) {
	pause(ctx, s.At-boottime.Now().Sub(r.began))
	if ctx.Err() != nil {
		return
	}
	s.For -= r.awaitHolder(ctx, s)
	if !r.claim(&s) {
		return
	}
	from := boottime.Now()
	undo := r.inflict(s)
	pause(ctx, s.For)
	r.noteSides(s, judge.Span{From: from, To: boottime.Now()})
	undo()
	r.release(ctx, s, from)
}

// holderWithin is how long a fault waits for somebody whose program runs.
const holderWithin = 2 * time.Second

// awaitHolder waits until somebody runs what a step is to hit, between two programs for
// example, and returns for how long.
func (r *run) awaitHolder(ctx context.Context, s plan.Step) time.Duration {
	from := boottime.Now()
	end := from.Add(min(holderWithin, s.For/4))
	for s.Holder != "" && r.observer.Running(s.Holder) == "" && boottime.Now().Before(end) && ctx.Err() == nil {
		pause(ctx, lookEvery/5)
	}
	return boottime.Now().Sub(from)
}

// claim finds out whom the step hits. It fails if nobody is left.
func (r *run) claim(s *plan.Step) (ok bool) {
	runs := ""
	if s.Holder != "" {
		runs = r.observer.Running(s.Holder)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() {
		if !ok {
			r.skipped++
			r.write(event{Event: "skipped", Fault: string(s.Fault), Detail: s.String()})
			return
		}
		r.done[string(s.Fault)]++
		r.write(event{Event: "fault", Fault: string(s.Fault), Member: r.names(*s), Detail: s.String()})
	}()
	holder := slices.IndexFunc(r.plan.Members, func(m plan.Member) bool { return m.Name == runs })
	r.aim(s, holder)
	if s.Fault == plan.Split || s.Fault.OfPaths() {
		return true
	}
	if holder >= 0 && !r.busy[holder] && s.Voter != plan.Hit {
		s.Member = []int{holder}
	}
	if r.busy[s.Member[0]] {
		return false
	}
	r.busy[s.Member[0]] = true
	return true
}

// aim completes a step whose members depend on who has a token, if anybody does.
func (r *run) aim(s *plan.Step, holder int) {
	if holder < 0 && len(s.Member) > 0 {
		holder = s.Member[0]
	}
	switch {
	case s.Keeper:
		r.aimAtKeeper(s, holder)
	case s.Voter != "":
		r.aimAtVoter(s, holder)
	}
}

// release notes the outage when the members are back.
func (r *run) release(ctx context.Context, s plan.Step, from clock.Instant) {
	hit := s.Member
	switch {
	case s.Fault.OfPaths():
		hit = nil // members are to be served nevertheless
	case s.Fault == plan.Split:
		hit = nil
		for i := range r.plan.Members {
			hit = append(hit, i)
		}
	}
	for _, i := range hit {
		if s.Fault != plan.Split && !r.answers(ctx, i, backWithin) && ctx.Err() == nil {
			r.fail(r.plan.Members[i].Name, fmt.Errorf("no answer for %v after %s", backWithin, s.Fault))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := boottime.Now()
	for _, i := range hit {
		r.outages = append(r.outages, judge.Outage{Member: r.plan.Members[i].Name, Fault: string(s.Fault), Span: judge.Span{From: from, To: now}})
		if s.Fault != plan.Split {
			delete(r.busy, i)
		}
	}
	r.write(event{Event: "undone", Fault: string(s.Fault), Member: r.names(s), Took: now.Sub(from).Seconds()})
}

// noteSides notes who reached each other while the group was cut in two.
func (r *run) noteSides(s plan.Step, span judge.Span) {
	if s.Fault != plan.Cut && s.Fault != plan.Split || !r.plan.Single(s) {
		return
	}
	in, out := judge.Side{Span: span}, judge.Side{Span: span}
	for i, m := range r.plan.Members {
		if slices.Contains(s.Member, i) {
			in.Members = append(in.Members, m.Name)
		} else {
			out.Members = append(out.Members, m.Name)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.idle(&in)
	r.idle(&out)
	r.sides = append(r.sides, out)
	if s.Fault == plan.Split {
		r.sides = append(r.sides, in)
	}
}

// idle notes under which resources no member of a side can have enough votes.
func (r *run) idle(s *judge.Side) {
	for _, x := range r.plan.Resources {
		voter := r.plan.Members[r.voterOf(x.Name)].Name
		if x.OnIsolated == "stop" && !slices.Contains(s.Members, voter) || x.OnIsolated == "majority" && 2*len(s.Members) <= len(r.plan.Members) {
			s.Idle = append(s.Idle, x.Name)
		}
	}
}

func (r *run) names(s plan.Step) string {
	var names []string
	for _, i := range s.Member {
		names = append(names, r.plan.Members[i].Name)
	}
	return fmt.Sprint(names)
}

// inflict does a fault and returns what undoes it.
func (r *run) inflict(s plan.Step) (undo func()) {
	if s.Fault.OfNetwork() {
		r.repath(func(active []plan.Step) []plan.Step { return append(active, s) })
		return func() {
			r.repath(func(active []plan.Step) []plan.Step {
				at := slices.IndexFunc(active, func(x plan.Step) bool { return x.At == s.At && x.Fault == s.Fault })
				return slices.Delete(active, at, at+1)
			})
		}
	}
	i := s.Member[0]
	m := r.world.Machines[i]
	restart := func() { r.fail("restart", r.start(i)) }
	switch s.Fault {
	case plan.Kill:
		m.Kill()
		return restart
	case plan.Restart:
		m.Stop()
		return restart
	case plan.OldCopy:
		r.fail("copying a journal", m.CopyJournal())
		return func() {
			m.Kill()
			r.fail("putting a journal back", m.PutBack())
			restart()
		}
	case plan.CutTail:
		m.Kill()
		r.fail("cutting a journal", m.CutJournal(s.Bytes))
		return restart
	case plan.Clone:
		end, err := m.StartClone(r.program, cloneSettings)
		if r.fail("cloning", err); err != nil {
			return func() {}
		}
		return end
	case plan.Twin:
		end, err := m.StartTwin(r.world.Spare, r.program, func(settings string) string {
			return strings.Replace(settings, m.Address, r.world.Spare.Address, 1)
		})
		if r.fail("cloning a machine", err); err != nil {
			return func() {}
		}
		return func() { r.fail("ending a clone", end()) }
	case plan.Power:
		m.PowerOff()
		return func() {
			m.PowerOn()
			restart()
		}
	case plan.Pause:
		m.Signal(syscall.SIGSTOP)
		return func() { m.Signal(syscall.SIGCONT) }
	case plan.Full:
		r.fail("filling a disk", m.Fill())
		return func() {
			r.fail("emptying a disk", m.Empty())
			m.Stop()
			restart()
		}
	case plan.Freeze:
		m.Freeze()
		return m.Thaw
	case plan.PauseRunner:
		return r.toRunner(m, s.Holder, syscall.SIGSTOP, syscall.SIGCONT)
	case plan.KillRunner:
		return r.toRunner(m, s.Holder, syscall.SIGKILL, 0)
	}
	return func() {}
}

// clonePort is where a clone listens.
const clonePort = rig.Port + 1

// cloneSettings are a member's settings, on another port.
func cloneSettings(settings string) string {
	return strings.Replace(settings, fmt.Sprintf(":%d\"\n[bootstrap]", rig.Port), fmt.Sprintf(":%d\"\n[bootstrap]", clonePort), 1)
}

// toRunner signals the wander run of a member and resource, if there is one, and
// returns what signals it again.
func (r *run) toRunner(m *world.Machine, resource string, now, later syscall.Signal) (undo func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pid := r.runners[[2]string{m.Name, resource}]
	if pid == 0 {
		return func() {}
	}
	_ = syscall.Kill(pid, now)
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if later != 0 && r.runners[[2]string{m.Name, resource}] == pid {
			_ = syscall.Kill(pid, later)
		}
	}
}

// repath changes which faults of the network are in effect.
func (r *run) repath(change func([]plan.Step) []plan.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.active = change(r.active)
	for i := range r.world.Machines {
		for j := range r.world.Machines {
			p := plan.PathUnder(r.active, i, j)
			r.world.Network.Set(i, j, world.Path{Cut: p.Cut, Loss: p.Loss, Delay: p.Delay})
		}
	}
}
