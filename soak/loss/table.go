package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// outcome is what came of one loss.
type outcome struct {
	gap     time.Duration // until another member ran; since the grant's end, if that was to be waited for
	overlap time.Duration // in which two programs ran
	after   time.Duration // the same, once the member was back
	made    int           // tokens
	dropped int
	stuck   bool // nobody ran
}

// row is one line of the table.
type row struct {
	kase         kase
	preset, mode string
	onSilent     string
	silence      time.Duration
	hold         time.Duration
	outcomes     []outcome
	failed       int // could not be arranged
}

var heads = []string{"case", "preset", "mode", "on_silent_holder", "silence", "runs", "next operation, median", "largest", "overlap, median", "largest", "overlap when it is back, largest", "tokens made", "dropped", "goal"}

func (r row) limit() time.Duration {
	switch {
	case r.kase.goal == alive, r.kase.goal == granted && r.onSilent == "wait":
		return time.Second
	case r.kase.goal == unknown && r.onSilent == "wait":
		return r.hold + r.silence/4 + time.Second
	case r.kase.goal == none:
		return 0
	}
	return r.silence + grace
}

func (r row) missed() bool {
	limit := r.limit()
	return limit > 0 && median(r.outcomes, gapOf) > limit
}

func gapOf(o outcome) time.Duration     { return o.gap }
func overlapOf(o outcome) time.Duration { return o.overlap }
func afterOf(o outcome) time.Duration   { return o.after }

func (r row) String() string {
	made, dropped, stuck := 0, 0, 0
	for _, o := range r.outcomes {
		made += o.made
		dropped += o.dropped
		if o.stuck {
			stuck++
		}
	}
	largest := seconds(most(r.outcomes, gapOf))
	if stuck > 0 {
		largest = fmt.Sprintf("above %s (%d times)", largest, stuck)
	}
	goal := "none"
	if limit := r.limit(); limit > 0 {
		goal = seconds(limit)
		if r.missed() {
			goal += ", missed"
		}
	}
	return fmt.Sprintf("| `%s` | `%s` | %s | `%s` | %v | %d | %s | %s | %s | %s | %s | %d | %d | %s |",
		r.kase.name, r.preset, r.mode, r.onSilent, r.silence, len(r.outcomes), seconds(median(r.outcomes, gapOf)), largest,
		seconds(median(r.outcomes, overlapOf)), seconds(most(r.outcomes, overlapOf)), seconds(most(r.outcomes, afterOf)), made, dropped, goal)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// median is the middle one, the larger one of two.
func median(list []outcome, of func(outcome) time.Duration) time.Duration {
	if len(list) == 0 {
		return 0
	}
	sorted := slices.SortedFunc(slices.Values(list), func(a, b outcome) int { return cmp.Compare(of(a), of(b)) })
	return of(sorted[len(sorted)/2])
}

func most(list []outcome, of func(outcome) time.Duration) (m time.Duration) {
	for _, o := range list {
		m = max(m, of(o))
	}
	return m
}
