package api

import (
	"context"
	"maps"
	"math"
	"net/http"
	"sync"
	"time"
)

// progress tells a program what it waits for while it does, if it wants to know.
type progress struct {
	w        http.ResponseWriter
	handler  *handler
	resource string

	begun bool // the stream has
	told  Waiting
	at    time.Time // when that was told
}

// acquire is Backend.Acquire, with events meanwhile.
func (p *progress) acquire(ctx context.Context, r AcquireRequest) (held HeldGrant, err error) {
	if !r.Progress {
		return p.handler.backend.Acquire(ctx, r)
	}
	looking, over := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer over() // a grant does not wait behind a look
		held, err = p.handler.backend.Acquire(ctx, r)
	}()
	tick := time.NewTicker(p.handler.samples.every)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return held, err
		case <-tick.C:
			w, noLook := look(looking, p.handler, func() Waiting { return p.handler.samples.waiting(p.handler.backend, p.resource) })
			if noLook != nil || !p.tell(w) {
				<-ended // or the client has gone, which ctx says, too
				return held, err
			}
		}
	}
}

// samples are what programs were told last that wait, so that it costs the member the same however many do.
type samples struct {
	every time.Duration // they are made anew

	mu sync.Mutex
	of map[string]sample // by resources: those that programs wait for
}

type sample struct {
	waiting Waiting
	at      time.Time
}

// waiting is what a program waits for that wants the resource, as of less than every ago.
func (s *samples) waiting(backend Backend, resource string) Waiting {
	s.mu.Lock()
	last, known := s.of[resource]
	s.mu.Unlock()
	if now := time.Now(); !known || now.Sub(last.at) >= s.every {
		last = sample{backend.Waiting(resource), now}
		s.mu.Lock()
		maps.DeleteFunc(s.of, func(_ string, old sample) bool { return now.Sub(old.at) >= s.every })
		s.of[resource] = last
		s.mu.Unlock()
	}
	return last.waiting
}

// tell writes what is news, and reports whether that was possible.
func (p *progress) tell(w Waiting) bool {
	now := time.Now()
	if p.begun && !differs(p.told, w, now.Sub(p.at)) {
		return true
	}
	if !p.begun {
		p.w.Header().Set("Content-Type", "application/x-ndjson")
	}
	p.begun, p.told, p.at = true, w, now
	return writeEvent(p.w, event{V: Version, Event: eventWaiting, Waiting: &w}) == nil
}

// differs reports whether one state of a wait is more than another one that so much time has passed over.
func differs(a, b Waiting, passed time.Duration) bool {
	return a.Cause != b.Cause || moved(a.P50S, b.P50S, passed) || moved(a.P95S, b.P95S, passed) ||
		(a.Before == nil) != (b.Before == nil) || a.Before != nil && *a.Before != *b.Before
}

// moved reports whether a prediction has changed by more than a second and a tenth, beside the time that has passed.
func moved(a, b *float64, passed time.Duration) bool {
	if a == nil || b == nil {
		return (a == nil) != (b == nil)
	}
	left := max(0, *a-passed.Seconds())
	return math.Abs(*b-left) > 1+left/10
}
