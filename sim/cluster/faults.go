package cluster

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// fault is a kind of what goes wrong in a run.
type fault uint8

// The kinds of faults. Each draws from random numbers of its own, so that leaving
// out faults of one kind does not move those of another.
const (
	// faultCrash ends a process between any two operations of its driver.
	faultCrash fault = iota
	// faultPower ends a machine, with the programs that run on it. A record that was
	// being written is torn.
	faultPower
	// faultStop is an orderly end of a process, and a restart.
	faultStop
	// faultBreak ends a connection.
	faultBreak
	// faultCut parts the members in two for a while; faultOneWay lets through what goes in
	// one direction.
	faultCut
	faultOneWay
	// faultClock sets a wall clock, forwards or back.
	faultClock
	// faultSuspend puts a machine to sleep, with the programs that run on it. Its boot
	// clock goes on.
	faultSuspend
	// faultSlowDisk makes each sync of a disk take up to seconds, for a while.
	faultSlowDisk
	// faultSyncFails makes the next sync of a disk fail, faultDiskFull the next write, in
	// the middle of a record. The member ends, and restarts later.
	faultSyncFails
	faultDiskFull
	// faultReconfigure gives the group another configuration.
	faultReconfigure
	// faultLoss, faultRepeat and faultLate are about single messages.
	faultLoss
	faultRepeat
	faultLate
	// faultLie is one lie of a member whose driver lies.
	faultLie
	// faultGoBack puts an older journal in the place of a member's, or cuts off its end.
	faultGoBack
	faults

	healthy = faults // of a disk: nothing is wrong
)

var faultNames = [faults]string{
	"crash", "power", "stop", "break", "cut", "oneway", "clock", "suspend", "slowdisk", "syncfails", "diskfull",
	"reconfigure", "loss", "repeat", "late", "lie", "goback",
}

func (f fault) String() string { return faultNames[f] }

// counts reports whether faults of this kind are among the injected ones that
// Result.injected adds up: what happens to a machine, its clock, its disk or its
// lines, and nothing that a network does to messages anyway.
func (f fault) counts() bool {
	switch f {
	case faultCrash, faultPower, faultCut, faultOneWay, faultClock, faultSuspend, faultSlowDisk, faultSyncFails, faultDiskFull:
		return true
	}
	return false
}

// Window says which faults of a kind happen, by their number from 1 on: those from
// First to Last. The zero value lets all of them happen.
type Window struct{ First, Last int }

// closedWindow is the window through which no fault gets.
var closedWindow = Window{First: 1}

func (w Window) has(n int) bool { return w == Window{} || w.First <= n && n <= w.Last }

func (w Window) empty() bool { return w.First > w.Last }

func (w Window) String() string {
	switch {
	case w == Window{}:
		return "all"
	case w.empty():
		return "none"
	}
	return fmt.Sprintf("%d-%d", w.First, w.Last)
}

// Limits are the windows of all kinds of faults. The zero value limits nothing.
type Limits [faults]Window

// ErrLimits says that limits are not written as ParseLimits reads them.
var ErrLimits = errors.New("not limits of faults")

// others stands for all kinds that are not named.
const others = "others"

// ParseLimits reads what String writes: "crash=2-5,others=none".
func ParseLimits(text string) (Limits, error) {
	var l Limits
	var named [faults]bool
	var rest Window
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		w, err := parseWindow(value)
		if err != nil {
			return l, fmt.Errorf("%w: %s=%q: all, none, or two numbers as 2-5", ErrLimits, name, value)
		}
		kind := slices.Index(faultNames[:], name)
		switch {
		case name == others:
			rest = w
			continue
		case kind < 0:
			return l, fmt.Errorf("%w: %q is none of %s", ErrLimits, name, strings.Join(faultNames[:], ", "))
		}
		l[kind], named[kind] = w, true
	}
	for kind := range l {
		if !named[kind] {
			l[kind] = rest
		}
	}
	return l, nil
}

func parseWindow(text string) (w Window, err error) {
	switch text {
	case "all":
		return Window{}, nil
	case "none":
		return closedWindow, nil
	}
	first, last, _ := strings.Cut(text, "-")
	if w.First, err = strconv.Atoi(first); err == nil {
		w.Last, err = strconv.Atoi(last)
	}
	if err == nil && (w.First < 1 || w.empty()) {
		err = ErrLimits
	}
	return w, err
}

// String writes what is limited; it is empty when nothing is.
func (l Limits) String() string {
	var parts []string
	var rest Window
	none := 0
	for _, w := range l {
		if w == closedWindow {
			none++
		}
	}
	if none > int(faults)/2 {
		rest = closedWindow
	}
	for kind, w := range l {
		if w != rest {
			parts = append(parts, fmt.Sprintf("%v=%v", fault(kind), w))
		}
	}
	if rest == closedWindow {
		parts = append(parts, others+"=none")
	}
	return strings.Join(parts, ",")
}

// hazard is one kind of fault in a run.
type hazard struct {
	rng      *rand.Rand
	seen     int // that there would have been without limits
	happened int
}

// hazards are all kinds of faults in a run, and which of them may happen.
type hazards struct {
	kinds  [faults]hazard
	limits Limits
}

func newHazards(seed uint64, limits Limits) *hazards {
	h := &hazards{limits: limits}
	for kind := range h.kinds {
		h.kinds[kind].rng = rand.New(rand.NewPCG(seed, math.MaxUint64-uint64(kind)))
	}
	return h
}

// rng are the random numbers of a kind.
func (h *hazards) rng(kind fault) *rand.Rand { return h.kinds[kind].rng }

// happens reports whether a fault that is due is to happen, and counts it.
func (h *hazards) happens(kind fault) bool {
	k := &h.kinds[kind]
	k.seen++
	if !h.limits[kind].has(k.seen) {
		return false
	}
	k.happened++
	return true
}

// strikes reports whether a fault happens that has this probability.
func (h *hazards) strikes(kind fault, p float64) bool {
	return p > 0 && h.rng(kind).Float64() < p && h.happens(kind)
}

// falls is how often a process or a machine crashed.
func (h *hazards) falls() int { return h.kinds[faultCrash].happened + h.kinds[faultPower].happened }
