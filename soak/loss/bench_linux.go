package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/soak/judge"
	"github.com/wandertoken/wander/soak/rig"
	"github.com/wandertoken/wander/soak/world"
)

const (
	// calm is how long the group is left alone before each loss, and after the member is
	// back: a token rests by then. Tokens of light rest for some seconds.
	calm = 2 * time.Second
	// busyTime is how long all want after a lost member is back: two tokens would show.
	busyTime = 3 * time.Second
	// slow is the delay of packets where a handoff is to be interrupted: a transfer is on
	// its way for so long.
	slow = 250 * time.Millisecond
	// within is how long a handoff may take to begin.
	within = 10 * time.Second
)

// errArranged says that what was to be interrupted did not come about.
var errArranged = errors.New("not arranged")

func runInner() { rig.Inner(inner) }

// outer builds the program, and has the measurement done within namespaces.
func outer(o options) (int, error) {
	dir, err := rig.Folder(o.Keep, "wl-")
	if err != nil {
		return exitFailure, err
	}
	if o.Keep == "" {
		defer os.RemoveAll(dir)
	}
	if o.Dir = dir; o.Wander == "" {
		o.Wander = filepath.Join(dir, "wander")
		if err := rig.Build(o.Wander, "cmd/wander", "run loss within the module, or name the program with -wander"); err != nil {
			return exitFailure, err
		}
	}
	if o.Wander, err = filepath.Abs(o.Wander); err != nil {
		return exitFailure, err
	}
	return rig.Outer(o)
}

// inner is the measurement within the namespaces.
func inner(o options) (int, error) {
	fmt.Printf("| %s |\n|%s\n", strings.Join(heads, " | "), strings.Repeat(" --- |", len(heads)))
	code := exitOK
	for _, k := range cases {
		if !slices.Contains(o.Cases, k.name) {
			continue
		}
		for _, preset := range o.Presets {
			if len(k.presets) > 0 && !slices.Contains(k.presets, preset) {
				continue
			}
			for _, mode := range o.Modes {
				for _, onSilent := range o.OnSilent {
					r, err := o.measure(k, preset, mode, onSilent)
					if err != nil {
						return exitFailure, fmt.Errorf("%s, %s, %s: %w", k.name, preset, mode, err)
					}
					fmt.Println(r)
					if o.Check && r.missed() {
						code = exitMissed
					}
				}
			}
		}
	}
	return code, nil
}

// measure makes a group, and loses a member again and again.
func (o options) measure(k kase, preset, mode, onSilent string) (row, error) {
	r := row{kase: k, preset: preset, mode: mode, onSilent: onSilent, silence: o.Silence, hold: o.Hold}
	dir := filepath.Join(o.Dir, strings.Join([]string{k.name, preset, mode, onSilent}, "-"))
	b := &band{options: o, Group: &rig.Group{Program: o.Wander, Folder: dir}, kase: k, preset: preset, mode: mode, onSilent: onSilent, notes: io.Discard}
	if o.Verbose {
		b.notes = os.Stderr
	}
	defer b.Close()
	if err := b.open(); err != nil {
		return r, err
	}
	for n := 0; len(r.outcomes) < o.Runs && n < 3*o.Runs; n++ {
		oc, err := b.lose()
		if errors.Is(err, errArranged) {
			r.failed++
			fmt.Fprintln(b.notes, k.name, preset, mode, err)
			continue
		} else if err != nil {
			return r, err
		}
		fmt.Fprintf(b.notes, "%s %s %s %s: %+v\n", k.name, preset, mode, onSilent, oc)
		r.outcomes = append(r.outcomes, oc)
	}
	return r, nil
}

// loss is one loss in progress.
type loss struct {
	*band
	victim  int
	waiters []int // who wants, the first one first
	at      clock.Instant
	undo    []func() error
	runs    sync.WaitGroup
}

// lose arranges one loss, waits for the next operation elsewhere, and has the member back.
func (b *band) lose() (oc outcome, err error) {
	before := b.counts()
	l := &loss{band: b}
	if err := l.arrange(); err != nil {
		l.back()
		return oc, err
	}
	grantEnd := l.grantEnd()
	if b.onSilent == "wait" && b.kase.goal == granted && b.preset != "split" {
		l.measure(&oc, max(l.at, grantEnd))
	} else {
		l.measure(&oc, l.at)
	}
	if err := l.back(); err != nil { // with all programs at their ends
		return oc, err
	}
	oc.overlap = b.overlap(l.at)
	returned := boottime.Now()
	b.busy()
	oc.after = b.overlap(returned)
	oc.made, oc.dropped = since(before, b.counts())
	return oc, nil
}

// measure waits until another member runs.
func (l *loss) measure(oc *outcome, since clock.Instant) {
	victim := l.World.Machines[l.victim].Name
	for end := l.at.Add(l.Hold + l.Silence + patience); boottime.Now().Before(end); time.Sleep(lookEvery) {
		list := l.programs()
		i := slices.IndexFunc(list, func(r judge.Run) bool { return r.Member != victim && r.Sure.From >= l.at })
		if i >= 0 {
			oc.gap = max(0, list[i].Sure.From.Sub(since))
			return
		}
	}
	oc.stuck, oc.gap = true, boottime.Now().Sub(since)
}

// grantEnd is when the last grant of the lost member ends.
func (l *loss) grantEnd() (end clock.Instant) {
	for _, r := range l.programs() {
		if r.Member == l.World.Machines[l.victim].Name {
			end = max(end, r.Deadline)
		}
	}
	return end
}

// wants lets members want to run for a while.
func (l *loss) wants(list ...int) {
	for _, i := range list {
		l.runs.Go(func() { _ = l.run(i, short) })
	}
}

// arrange brings the group to where the loss is to happen, and lets it happen.
func (l *loss) arrange() error {
	k := l.kase
	left := l.living()
	rand.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
	l.victim, l.waiters = left[0], left[1:3]
	if !k.before {
		if err := l.run(l.victim, short); err != nil {
			return err
		}
		if k.name != "ended" {
			time.Sleep(calm)
			if err := l.findResting(); err != nil {
				return err
			}
		}
		if k.name == "rolling" {
			if err := l.rolls(); err != nil {
				return err
			}
		}
		l.happens()
		l.wants(l.waiters...)
		return nil
	}
	began := make(chan struct{})
	from := boottime.Now()
	l.runs.Go(func() { close(began); _ = l.run(l.victim, k.takes) })
	<-began
	if err := l.await(within, func() bool { return l.running(l.victim, from) }); err != nil {
		return err
	}
	l.wants(l.waiters[0])
	if k.delayed {
		l.slowly(slow)
	}
	time.Sleep(time.Second)
	l.wants(l.waiters[1])
	if !k.delayed {
		l.happens()
		return nil
	}
	name := l.World.Machines[l.victim].Name
	err := l.await(k.takes+within, func() bool {
		if l.Observer.Running(resource) == name {
			return false
		}
		if k.name == "offers" {
			return true
		}
		s, ok := l.status(l.victim)
		return ok && s.Handoffs.InDoubt > 0
	})
	if err == nil {
		l.happens()
	}
	l.slowly(0)
	return err
}

// findResting takes for victim who has the token now: it does not always stay where it
// was used.
func (l *loss) findResting() error {
	return l.await(within, func() bool {
		list := l.holders()
		if len(list) == 0 {
			return false
		}
		l.victim = list[0]
		left := slices.DeleteFunc(l.living(), func(i int) bool { return i == l.victim })
		rand.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
		l.waiters = left[:2]
		return true
	})
}

// rolls restarts the other members, one after the other.
func (l *loss) rolls() error {
	for _, i := range l.living() {
		if i == l.victim || i == l.waiters[0] {
			continue
		}
		l.World.Machines[i].Stop()
		if err := l.Start(i); err != nil {
			return err
		}
	}
	if err := l.awaitAll(); err != nil {
		return err
	}
	time.Sleep(calm)
	return l.findResting()
}

// happens is the loss.
func (l *loss) happens() {
	machine := l.World.Machines[l.victim]
	restart := func(i int) func() error { return func() error { return l.Start(i) } }
	l.at = boottime.Now()
	fmt.Fprintf(l.notes, "%s %s loses %s\n", time.Now().Format(time.RFC3339Nano), l.kase.name, machine.Name)
	switch l.kase.name {
	case "nothing":
	case "rests", "ended", "rolling", "runs", "offers", "passes":
		machine.Kill()
		l.undo = append(l.undo, restart(l.victim))
	case "both":
		other := l.others()[0]
		machine.Kill()
		l.World.Machines[other].Kill()
		l.undo = append(l.undo, restart(l.victim), restart(other))
	case "power":
		machine.PowerOff()
		l.undo = append(l.undo, func() error { machine.PowerOn(); return l.Start(l.victim) })
	case "cut", "runs-cut":
		l.cuts(l.victim, true)
		l.undo = append(l.undo, func() error { l.cuts(l.victim, false); return nil })
	case "receives":
		l.victim = l.waiters[0]
		l.World.Machines[l.victim].Kill()
		l.undo = append(l.undo, restart(l.victim))
	case "revoked":
		l.slowly(0)
		_ = l.revoke(l.victim, l.others()[0])
	case "doubt":
		l.victim = l.waiters[0]
		l.World.Machines[l.victim].Kill()
		l.slowly(0)
		_ = l.revoke(l.victim, l.others()[0])
		l.at = boottime.Now() // so long it took
	case "full":
		l.victim = l.waiters[0]
		m := l.World.Machines[l.victim]
		_ = m.Fill()
		l.undo = append(l.undo, func() error { m.Stop(); return errors.Join(m.Empty(), l.Start(l.victim)) })
	}
}

// others are neither the victim nor those that want.
func (l *loss) others() []int {
	return slices.DeleteFunc(l.living(), func(i int) bool { return i == l.victim || slices.Contains(l.waiters, i) })
}

func (b *band) living() (list []int) {
	for i := range b.World.Machines {
		if !b.gone[i] {
			list = append(list, i)
		}
	}
	return list
}

func (b *band) cuts(i int, cut bool) {
	for j := range b.World.Machines {
		b.World.Network.Set(i, j, world.Path{Cut: cut})
		b.World.Network.Set(j, i, world.Path{Cut: cut})
	}
}

func (b *band) slowly(delay time.Duration) {
	for i := range b.World.Machines {
		for j := range b.World.Machines {
			b.World.Network.Set(i, j, world.Path{Delay: delay})
		}
	}
}

// running reports whether a member's program has begun since an instant.
func (b *band) running(i int, since clock.Instant) bool {
	return slices.ContainsFunc(b.programs(), func(r judge.Run) bool {
		return r.Member == b.World.Machines[i].Name && r.Sure.From >= since
	})
}

func (l *loss) await(d time.Duration, is func() bool) error {
	for end := boottime.Now().Add(d); !is(); time.Sleep(lookEvery / 4) {
		if end.Before(boottime.Now()) {
			return errArranged
		}
	}
	return nil
}

// back undoes the loss, and waits until all are there and nobody waits.
func (l *loss) back() error {
	var errs []error
	for _, undo := range l.undo {
		errs = append(errs, undo())
	}
	if err := errors.Join(append(errs, l.awaitAll())...); err != nil {
		return err
	}
	l.runs.Wait()
	return nil
}

// busy lets all want for a while: two tokens show by two programs at once.
func (b *band) busy() {
	var all sync.WaitGroup
	end := boottime.Now().Add(busyTime)
	for _, i := range b.living() {
		all.Go(func() {
			for boottime.Now().Before(end) {
				_ = b.run(i, short)
			}
		})
	}
	all.Wait()
}
