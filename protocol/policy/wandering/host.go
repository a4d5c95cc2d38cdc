package wandering

import (
	"math"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// longAgo is an Instant before all others.
const longAgo = clock.Instant(math.MinInt64)

// host is what the presets share: the tokens that are here, and when they run,
// rest and walk on. What a preset adds is which tokens it drops, and how long
// it waits for one before it makes one.
type host struct {
	min, skip time.Duration // Δmin, Δskip

	// early is the end of the time in which every token is early: Δmin after
	// the last operation. A token at this very instant still is (line 18).
	early clock.Instant

	// regenerate is when to make a token if none is here until then.
	regenerate clock.Instant

	here    int  // tokens that rest or run here
	running bool // one of them runs
	demand  bool

	// anew: the wait for a token is to begin once more, with a new timeout, once no
	// token is here.
	anew bool

	history history
}

func newHost(minInterval, skipDelay time.Duration) host {
	return host{min: minInterval, skip: skipDelay, early: longAgo, regenerate: clock.Never, anew: true}
}

// holds reports whether a token rests or runs here.
func (h *host) holds(id *ident.Token) bool {
	r := h.history.find(id)
	return r != nil && r.place != elsewhere
}

// operated notes the end of an operation (line 25, which follows line 24).
func (h *host) operated(at clock.Instant) {
	h.early = max(h.early, at.Add(h.min))
}

// recallOperation is operated for what a restart tells of. An operation in the
// future, which only a wrong clock can tell of, counts as one of now, or it
// could keep the member from running for years.
func (h *host) recallOperation(now clock.Instant, event *policy.Event) clock.Instant {
	at := min(event.At, now)
	h.operated(at)
	return at
}

// decide runs the operation under a token that is here, or lets it rest (lines
// 18 to 26; for a generated token line 31: the timeout has outlasted Δmin). In
// both cases it is sure to be passed on. It is noted as seen now and not after
// that (line 35): with several tokens here it is the order of their receptions
// that the sandwich rule is about.
func (h *host) decide(now clock.Instant, t *policy.Token, actions []policy.Action) []policy.Action {
	return h.keep(now, t, true, actions)
}

// keep is decide; a token that may not run only rests.
func (h *host) keep(now clock.Instant, t *policy.Token, mayRun bool, actions []policy.Action) []policy.Action {
	r := h.history.push(t)
	if r == nil { // as many rest here as the host can keep apart: let it walk on
		return append(actions, policy.Action{Kind: policy.Pass, Token: t.ID})
	}
	return h.house(now, r, mayRun, actions)
}

// again is decide about a token that nobody has taken. It is not noted as seen anew: one
// that nobody takes, of a wrong clock, would else make spurious whatever passes by.
func (h *host) again(now clock.Instant, t *policy.Token, actions []policy.Action) []policy.Action {
	if r := h.history.find(&t.ID); r != nil {
		return h.house(now, r, true, actions)
	}
	return h.decide(now, t, actions)
}

// house runs the operation under a token that is noted, or lets it rest.
func (h *host) house(now clock.Instant, r *record, mayRun bool, actions []policy.Action) []policy.Action {
	id := r.id
	if r.place == running { // told twice
		return actions
	}
	if r.place == elsewhere {
		h.here++
	}
	if mayRun && h.mayRun(now) {
		actions = h.run(r, actions)
	} else {
		r.place, r.until = resting, now.Add(h.skip)
	}
	return append(actions, policy.Action{Kind: policy.Prepare, Token: id})
}

// mayRun reports whether the operation may begin: somebody wants it, it does
// not run already, and Δmin has passed since it last did (line 18).
func (h *host) mayRun(now clock.Instant) bool {
	return h.demand && !h.running && now > h.early
}

func (h *host) run(r *record, actions []policy.Action) []policy.Action {
	r.place, h.running = running, true
	return append(actions, policy.Action{Kind: policy.Run, Token: r.id})
}

// runResting runs the operation under the oldest token that rests here, the
// one least likely to be spurious, if it may begin.
func (h *host) runResting(now clock.Instant, actions []policy.Action) []policy.Action {
	if h.here == 0 || !h.mayRun(now) {
		return actions
	}
	var oldest *record
	for i := range h.history.records[:h.history.n] {
		r := &h.history.records[i]
		if r.place == resting && (oldest == nil || r.precedes(oldest)) {
			oldest = r
		}
	}
	return h.run(oldest, actions) // some token is here, and none runs
}

// ended passes the token on at once (line 27).
func (h *host) ended(now clock.Instant, event *policy.Event, actions []policy.Action) []policy.Action {
	if event.Operated {
		h.operated(now)
	}
	r := h.history.find(&event.Token.ID)
	if r == nil || r.place != running {
		return actions
	}
	h.running = false
	return h.pass(r, actions)
}

// settled takes note of a token that came back or, while it rested here, was lost.
// It reports whether to decide about it.
func (h *host) settled(event *policy.Event) (returned bool) {
	if event.Outcome != policy.Abandoned {
		return event.Outcome == policy.Returned
	}
	if r := h.history.find(&event.Token.ID); r != nil && r.place == resting {
		h.leave(r)
	}
	return false
}

// drop removes a token that has just arrived; the loop starts over.
func (h *host) drop(t *policy.Token, actions []policy.Action) []policy.Action {
	h.anew = true
	return append(actions, policy.Action{Kind: policy.Drop, Reason: policy.Superseded, Token: t.ID})
}

// passRested passes on what has rested, the longest here first.
func (h *host) passRested(now clock.Instant, actions []policy.Action) []policy.Action {
	for i := h.history.n - 1; i >= 0; i-- {
		r := &h.history.records[i]
		if r.place == resting && r.until <= now {
			actions = h.pass(r, actions)
		}
	}
	return actions
}

// pass sends a token to a random member (line 27).
func (h *host) pass(r *record, actions []policy.Action) []policy.Action {
	h.leave(r)
	return append(actions, policy.Action{Kind: policy.Pass, Token: r.id})
}

// leave notes that a token is here no more.
func (h *host) leave(r *record) {
	r.place = elsewhere
	h.here--
	h.anew = true
}

// overdue reports whether no token was here for too long (line 30).
func (h *host) overdue(now clock.Instant) bool {
	return h.here == 0 && now >= h.regenerate
}

// generate asks for a new token. The answer may stay out, so the next timeout
// starts at once.
func (h *host) generate(actions []policy.Action) []policy.Action {
	h.anew = true
	return append(actions, policy.Action{Kind: policy.Generate})
}

// listens reports, once, that the wait for a token begins anew (line 8).
func (h *host) listens() bool {
	if h.here > 0 || !h.anew {
		return false
	}
	h.anew = false
	return true
}

// Deadline implements policy.Policy.
func (h *host) Deadline() clock.Instant {
	if h.here == 0 {
		return h.regenerate
	}
	next, left := clock.Never, h.here
	for i := 0; left > 0; i++ { // those that are here were seen last: few looks suffice
		r := &h.history.records[i]
		if r.place == elsewhere {
			continue
		}
		left--
		if r.place == resting {
			next = min(next, r.until)
		}
	}
	return next
}
