package api

import (
	"context"
	"math"
	"net/http"
	"time"
)

// progress tells a program what it waits for while it does, if it wants to know.
type progress struct {
	w        http.ResponseWriter
	backend  Backend
	resource string

	begun bool // the stream has
	told  Waiting
	at    time.Time // when that was told
}

// acquire is Backend.Acquire, with events meanwhile.
func (p *progress) acquire(ctx context.Context, r AcquireRequest, every time.Duration) (held HeldGrant, err error) {
	if !r.Progress {
		return p.backend.Acquire(ctx, r)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		held, err = p.backend.Acquire(ctx, r)
	}()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return held, err
		case <-tick.C:
			if !p.tell(p.backend.Waiting(p.resource)) {
				<-ended // the client has gone, which ctx says, too
				return held, err
			}
		}
	}
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
