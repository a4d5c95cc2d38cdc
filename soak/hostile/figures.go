package main

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/soak/judge"
)

// firstTime is what counts as the beginning of an attack: honest members may need it to
// find out what happens.
const firstTime = time.Minute

// figures are what the programs of the honest members say of one run.
type figures struct {
	first, after float64       // operations in a second, in the first minute and after it
	overlap      time.Duration // with two programs or more
	atOnce       int           // programs, at most
	idle         time.Duration // longest time with no program
	wait         time.Duration // longest time of a member without a program of its own
	lying        int           // programs under tokens that a bad member made
}

// measure reads them off the programs between two instants. All members always want to run,
// so that one waits whenever it does not.
func measure(runs []judge.Run, members []string, made map[string]bool, from, to clock.Instant) (f figures) {
	var within []judge.Run
	count := [2]int{}
	split := from.Add(min(firstTime, to.Sub(from)))
	for _, r := range runs {
		if r.Sure.To <= from || r.Sure.From >= to || !slices.Contains(members, r.Member) {
			continue
		}
		if r.Sure.From >= from {
			if r.Sure.From < split {
				count[0]++
			} else {
				count[1]++
			}
			if made[r.Token] {
				f.lying++
			}
		}
		r.Sure.From, r.Sure.To = max(r.Sure.From, from), min(r.Sure.To, to)
		within = append(within, r)
	}
	f.first = rate(count[0], split.Sub(from))
	f.after = rate(count[1], to.Sub(split))
	for n := 1; len(within) > 0; n++ {
		least, _ := judge.Overlap(within, within[0].Resource, n)
		if n == 1 {
			f.overlap = least
		}
		if f.atOnce = n; least == 0 {
			break
		}
	}
	f.idle = longestGap(within, "", from, to)
	for _, m := range members {
		f.wait = max(f.wait, longestGap(within, m, from, to))
	}
	return f
}

func rate(n int, in time.Duration) float64 {
	if in <= 0 {
		return 0
	}
	return float64(n) / in.Seconds()
}

// longestGap is the longest time without a program, of one member or of all. Runs are in the
// order of their beginning.
func longestGap(runs []judge.Run, member string, from, to clock.Instant) (longest time.Duration) {
	last := from
	for _, r := range runs {
		if member == "" || r.Member == member {
			longest = max(longest, r.Sure.From.Sub(last))
			last = max(last, r.Sure.To)
		}
	}
	return max(longest, to.Sub(last))
}

// crash is what came of the kill of an honest member's daemon.
type crash struct {
	member string        // empty: none was killed
	idle   time.Duration // longest time from then on with no program of any honest member
	back   time.Duration // until the first program of the killed one; 0: there was none
}

// crashOf reads it off the programs since the kill.
func crashOf(runs []judge.Run, members []string, member string, at, to clock.Instant) crash {
	c := crash{member: member}
	var since []judge.Run
	for _, r := range runs {
		if r.Sure.To <= at || r.Sure.From >= to || !slices.Contains(members, r.Member) {
			continue
		}
		if c.back == 0 && r.Member == member && r.Sure.From > at {
			c.back = r.Sure.From.Sub(at)
		}
		since = append(since, r)
	}
	c.idle = longestGap(since, "", at, to)
	return c
}
