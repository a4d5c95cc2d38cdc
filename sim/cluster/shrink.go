package cluster

import (
	"context"
	"time"
)

// shrinker looks for smaller settings that break the same rule.
type shrinker struct {
	ctx   context.Context
	like  Violation
	tried func(runs int, s Setting)
	runs  int

	best   Setting
	result *Result
}

// Shrink makes a failing run smaller: fewer members, less time, fewer faults of
// each kind, as long as it breaks a rule in the same way as the first violation of
// the result. It returns the smallest run that it found, which is the one that was
// given if there is none, or when the context ends before. Progress is told of each
// try; nil: nobody.
func Shrink(ctx context.Context, r *Result, progress func(runs int, smallest Setting)) *Result {
	if len(r.Violations) == 0 {
		return r
	}
	s := &shrinker{ctx: ctx, like: r.Violations[0], tried: progress, best: r.Setting, result: r}
	for again := true; again && ctx.Err() == nil; {
		runs, before := s.runs, s.best
		s.time()
		s.members()
		for kind := range faults {
			s.faults(kind)
		}
		again = s.best != before && s.runs > runs
	}
	return s.result
}

// try makes a run, and keeps it when it fails as it should.
func (s *shrinker) try(candidate Setting) bool {
	if candidate == s.best || s.ctx.Err() != nil || candidate.Validate() != nil {
		return false
	}
	s.runs++
	r := candidate.Run(nil)
	if s.tried != nil {
		s.tried(s.runs, s.best)
	}
	for _, v := range r.Violations {
		if v.isLike(s.like) {
			s.best, s.result = candidate, r
			return true
		}
	}
	return false
}

// shortest is the shortest time that faults are given.
const shortest = time.Second

// time lets the faults end sooner: by halves, then by quarters.
func (s *shrinker) time() {
	c := s.best
	c.For = s.result.Virtual.Truncate(shortest) + shortest
	if s.best.For == 0 || c.For < s.best.For {
		s.try(c)
	}
	for _, share := range []time.Duration{2, 4} {
		for s.best.For > shortest {
			c = s.best
			c.For -= max(shortest, (c.For / share).Truncate(shortest))
			if !s.try(c) {
				break
			}
		}
	}
}

// members tries the smallest groups first.
func (s *shrinker) members() {
	for n := 2; n < s.result.Members; n += max(1, n/4) {
		c := s.best
		c.Members = n
		c.Liars = min(c.Liars, max(0, n-2-len(c.bads())))
		if (s.best.Liars == 0) == (c.Liars == 0) && s.try(c) {
			return
		}
	}
}

// faults tries a run without any fault of a kind, else with as few as it takes: the
// last one of the fewest first ones, and then the first of those.
func (s *shrinker) faults(kind fault) {
	if s.best.Faults[kind] == closedWindow || s.with(kind, closedWindow) {
		return
	}
	w := s.best.Faults[kind]
	if w == (Window{}) {
		w = Window{1, s.result.due[kind]}
	}
	for low := w.First; low < w.Last; {
		if middle := (low + w.Last) / 2; s.with(kind, Window{w.First, middle}) {
			w.Last = middle
		} else {
			low = middle + 1
		}
	}
	for high := w.Last; w.First < high; {
		if middle := (w.First + high + 1) / 2; s.with(kind, Window{middle, w.Last}) {
			w.First = middle
		} else {
			high = middle - 1
		}
	}
}

func (s *shrinker) with(kind fault, w Window) bool {
	c := s.best
	c.Faults[kind] = w
	return s.try(c)
}
