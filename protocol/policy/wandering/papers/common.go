package papers

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/host"
)

// common is what the presets share: the tokens that are here, and when they run,
// rest and walk on. What a preset adds is which tokens it drops, and how long
// it waits for one before it makes one.
type common struct {
	host.Host
	constants

	// early is the end of the time in which every token is early: Δmin after
	// the last operation. A token at this very instant still is (line 18).
	early clock.Instant

	// regenerate is when to make a token if none is here until then.
	regenerate clock.Instant

	here    int  // tokens that rest or run here
	running bool // one of them runs

	// anew: the wait for a token is to begin once more, with a new timeout, once no
	// token is here.
	anew bool

	history history
}

func newCommon(c constants) common {
	return common{constants: c, early: host.LongAgo, regenerate: clock.Never, anew: true}
}

// holds reports whether a token rests or runs here.
func (c *common) holds(id *ident.Token) bool {
	r := c.history.find(id)
	return r != nil && r.place != elsewhere
}

// operated notes the end of an operation (line 25, which follows line 24).
func (c *common) operated(at clock.Instant) {
	c.early = max(c.early, at.Add(c.min))
}

// recallOperation is operated for what a restart tells of.
func (c *common) recallOperation(event *policy.Event) clock.Instant {
	at := c.RecalledAt(event)
	c.operated(at)
	return at
}

// decide runs the operation under a token that is here, or lets it rest (lines
// 18 to 26; for a generated token line 31: the timeout has outlasted Δmin). In
// both cases it is sure to be passed on. It is noted as seen now and not after
// that (line 35): with several tokens here it is the order of their receptions
// that the sandwich rule is about.
func (c *common) decide(t *policy.Token) { c.keep(t, true) }

// keep is decide; a token that may not run only rests.
func (c *common) keep(t *policy.Token, mayRun bool) {
	if r := c.history.push(t); r != nil {
		c.house(r, mayRun)
	} else { // as many rest here as can be kept apart: let it walk on
		c.Pass(t.ID, ident.Member{}, nil)
	}
}

// again is decide about a token that nobody has taken. It is not noted as seen anew: one
// that nobody takes, of a wrong clock, would else make spurious whatever passes by.
func (c *common) again(t *policy.Token) {
	if r := c.history.find(&t.ID); r != nil {
		c.house(r, true)
	} else {
		c.decide(t)
	}
}

// house runs the operation under a token that is noted, or lets it rest.
func (c *common) house(r *record, mayRun bool) {
	if r.place == running { // told twice
		return
	}
	if r.place == elsewhere {
		c.here++
	}
	if mayRun && c.mayRun() {
		c.run(r)
	} else {
		r.place, r.until = resting, c.Now.Add(c.skip)
	}
	c.Prepare(r.id, ident.Member{})
}

// mayRun reports whether the operation may begin: somebody wants it, it does
// not run already, and Δmin has passed since it last did (line 18).
func (c *common) mayRun() bool {
	return c.Demand && !c.running && c.Now > c.early
}

func (c *common) run(r *record) {
	r.place, c.running = running, true
	c.Run(r.id)
}

// runResting runs the operation under the oldest token that rests here, the
// one least likely to be spurious, if it may begin.
func (c *common) runResting() {
	if c.here == 0 || !c.mayRun() {
		return
	}
	var oldest *record
	for i := range c.history.records[:c.history.n] {
		r := &c.history.records[i]
		if r.place == resting && (oldest == nil || r.precedes(oldest)) {
			oldest = r
		}
	}
	c.run(oldest) // some token is here, and none runs
}

// ended passes the token on at once (line 27).
func (c *common) ended(event *policy.Event) {
	if event.Operated {
		c.operated(c.Now)
	}
	if r := c.history.find(&event.Token.ID); r != nil && r.place == running {
		c.running = false
		c.pass(r)
	}
}

// settled takes note of a token that came back or, while it rested here, was lost.
// It reports whether to decide about it.
func (c *common) settled(event *policy.Event) (returned bool) {
	if event.Outcome != policy.Abandoned {
		return event.Outcome == policy.Returned
	}
	if r := c.history.find(&event.Token.ID); r != nil && r.place == resting {
		c.leave(r)
	}
	return false
}

// drop removes a token that has just arrived; the loop starts over.
func (c *common) drop(t *policy.Token) {
	c.anew = true
	c.Drop(t.ID, policy.Superseded)
}

// passRested passes on what has rested, the longest here first.
func (c *common) passRested() {
	for i := c.history.n - 1; i >= 0; i-- {
		r := &c.history.records[i]
		if r.place == resting && r.until <= c.Now {
			c.pass(r)
		}
	}
}

// pass sends a token to a random member (line 27).
func (c *common) pass(r *record) {
	c.leave(r)
	c.Pass(r.id, ident.Member{}, nil)
}

// leave notes that a token is here no more.
func (c *common) leave(r *record) {
	r.place = elsewhere
	c.here--
	c.anew = true
}

// overdue reports whether no token was here for too long (line 30).
func (c *common) overdue() bool {
	return c.here == 0 && c.Now >= c.regenerate
}

// generate asks for a new token. The answer may stay out, so the next timeout
// starts at once.
func (c *common) generate() {
	c.anew = true
	c.Generate()
}

// listens reports, once, that the wait for a token begins anew (line 8).
func (c *common) listens() bool {
	if c.here > 0 || !c.anew {
		return false
	}
	c.anew = false
	return true
}

// Deadline implements policy.Policy.
func (c *common) Deadline() clock.Instant {
	if c.here == 0 {
		return c.regenerate
	}
	next, left := clock.Never, c.here
	for i := 0; left > 0; i++ { // those that are here were seen last: few looks suffice
		r := &c.history.records[i]
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
