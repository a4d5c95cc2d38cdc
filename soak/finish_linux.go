package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/soak/judge"
	"github.com/wandertoken/wander/soak/world"
)

const (
	// oneViewWithin is how long the members may take to agree on who is one,
	// when nothing fails any more.
	oneViewWithin = 2 * time.Minute
	// duringAudits is how often the journals are audited while members run.
	duringAudits = 3
)

// finish stops the members, audits their journals, and judges.
func (r *run) finish() (int, error) {
	e := judge.Evidence{Began: r.began, Ended: r.ended, Calm: r.calm}
	if r.early {
		e.Calm = 0
	}
	e.Views, e.Stuck = r.views()
	var all sync.WaitGroup
	for _, m := range r.world.Machines {
		all.Go(m.Stop)
	}
	all.Wait()
	for _, m := range r.world.Machines {
		e.Died = append(e.Died, m.Died()...)
		m.PowerOff() // what a killed runner has left
	}
	r.fail("observer", r.observer.Close())
	for _, m := range r.world.Machines {
		for _, name := range []string{world.LogFile, runsLog} {
			e.Panics = append(e.Panics, panics(filepath.Join(m.Dir, name))...)
		}
	}
	r.fail("audit", r.audit("end"))
	err := r.save(&e)
	if err != nil {
		return exitFailure, err
	}
	if e.Runs, err = programsOf(r.dir); err != nil {
		return exitFailure, err
	}
	return r.tell(judge.Judge(e))
}

// save completes the evidence and writes it to its file, in the place of the one before.
func (r *run) save(e *judge.Evidence) error {
	r.fill(e)
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	name := filepath.Join(r.dir, evidenceFile)
	if err := os.WriteFile(name+".new", append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// fill completes the evidence from what the run has noted.
func (r *run) fill(e *judge.Evidence) {
	for _, x := range r.plan.Resources {
		e.Resources = append(e.Resources, judge.Resource{
			Name: x.Name, Slots: x.Slots, Several: x.Several, MaxHold: x.MaxHold, MaxStall: x.MaxStall, MaxTurn: x.MaxTurn,
			MaxTokens: x.MaxTokens, Alone: x.Alone, Beside: x.Beside, MaxSide: x.MaxSide, MaxUneven: x.MaxUneven, Always: r.plan.Always(x.Name),
		})
	}
	for _, m := range r.plan.Members {
		if m.Volatile {
			e.Volatile = append(e.Volatile, m.Name)
		}
	}
	e.Rolled = r.plan.Forgetful()
	r.mu.Lock()
	defer r.mu.Unlock()
	clone := slices.Clone[[]string]
	e.Asks, e.Outages, e.Sides, e.Audits = slices.Clone(r.asks), slices.Clone(r.outages), slices.Clone(r.sides), slices.Clone(r.audits)
	e.Errors, e.Hung = clone(r.errors), clone(r.hung)
}

// auditMeanwhile audits the journals while they are being written. The evidence until then
// is kept, so that a run that is killed later can be judged.
func (r *run) auditMeanwhile(ctx context.Context) {
	for i := range duringAudits {
		pause(ctx, r.plan.For*time.Duration(i+1)/(duringAudits+1)-boottime.Now().Sub(r.began))
		if ctx.Err() != nil {
			return
		}
		until := boottime.Now()
		r.fail("audit", r.audit(fmt.Sprintf("during-%d", i+1)))
		r.fail("evidence", r.save(&judge.Evidence{Began: r.began, Ended: until}))
	}
}

// audit copies all journals and audits the copies.
func (r *run) audit(name string) error {
	dir := filepath.Join(r.dir, auditsFolder, name)
	a := judge.Audited{Name: name}
	a.Copied.From = boottime.Now()
	for _, m := range r.world.Machines {
		if err := copyJournal(filepath.Join(m.Dir, "state", "journal"), filepath.Join(dir, m.Name)); err != nil {
			return err
		}
	}
	a.Copied.To = boottime.Now()
	var err error
	if a.Audit, err = auditOf(r.program, r.dir, name); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.audits = append(r.audits, a)
	r.write(event{Event: "audited", Detail: name, Took: boottime.Now().Sub(a.Copied.From).Seconds()})
	return nil
}

// copyJournal copies what is in a journal's folder now.
func copyJournal(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		err := copyFile(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()), 0o600)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// views waits until all members take all for valid. It returns in which they
// differ from that in the end, and who does not answer.
func (r *run) views() (differ, stuck []string) {
	for end := boottime.Now().Add(oneViewWithin); ; pause(context.Background(), 5*lookEvery) {
		differ, stuck = nil, nil
		for i, m := range r.plan.Members {
			view, err := r.view(i)
			switch {
			case err != nil:
				stuck = append(stuck, fmt.Sprintf("%s: %v", m.Name, err))
			case view != r.wholeView():
				differ = append(differ, fmt.Sprintf("%s: %s", m.Name, view))
			}
		}
		if len(differ)+len(stuck) == 0 || !boottime.Now().Before(end) {
			return differ, stuck
		}
	}
}

// view is who is a member, by one of them.
func (r *run) view(i int) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	members, err := r.clients[i].Members(ctx)
	if err != nil {
		return "", err
	}
	var list []string
	for _, m := range members {
		list = append(list, m.Name+" "+m.State)
	}
	slices.Sort(list)
	return strings.Join(list, ", "), nil
}

// wholeView is that of a group in which nobody is missing.
func (r *run) wholeView() string {
	var list []string
	for _, m := range r.plan.Members {
		list = append(list, m.Name+" valid")
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// panics are the lines of a log that no program should write.
func panics(name string) (list []string) {
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil // it said nothing
	}
	if err != nil {
		return []string{err.Error()}
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		for _, start := range []string{"panic:", "fatal error:", "WARNING: DATA RACE"} {
			if strings.HasPrefix(lines.Text(), start) {
				list = append(list, name+": "+lines.Text())
			}
		}
	}
	if err := lines.Err(); err != nil {
		list = append(list, name+": "+err.Error())
	}
	return list
}
