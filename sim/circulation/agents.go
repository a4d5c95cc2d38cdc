package circulation

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// agents tells the members' policies what happens, and performs what they
// answer.
type agents struct {
	*group
	tokens     *tokens
	handoffs   *handoffs
	operations *operations
	mail       *mail
	watches    *watches
	actions    []policy.Action // a policy's answer, while it is performed
}

// step tells a member's policy of an event and performs what it answers.
// Nothing that is performed steps a policy before it returns.
func (a *agents) step(m int32, e *policy.Event) {
	actions := a.sites[m].policy.Step(a.now, *e, a.actions[:0])
	for i := range actions {
		a.act(m, &actions[i])
	}
	a.actions = actions[:0]
	s := &a.sites[m]
	if due := s.policy.Deadline(); due != s.due || e.Kind == policy.Timer {
		s.due = due
		a.setTimer(m, due)
	}
}

// stepToken tells of an event of a token, like step.
func (a *agents) stepToken(m int32, t *token, kind policy.EventKind, operated bool) {
	t.Kind, t.Operated, t.Outcome = kind, operated, 0
	if kind != policy.Arrival {
		t.From = ident.Member{}
	}
	a.step(m, &t.Event)
}

func (a *agents) act(m int32, action *policy.Action) {
	switch action.Kind {
	case policy.Generate:
		a.tokens.generate(m)
	case policy.Tell:
		a.mail.tell(m, action)
	case policy.Watch:
		a.watches.watch(m, action.To)
	case policy.Unwatch:
		a.watches.unwatch(m, action.To)
	case policy.Prepare:
		if t, _ := a.tokens.find(&action.Token); t != nil && t.holder == m && (t.state == held || t.state == running) {
			a.handoffs.prepare(t, action.To)
		}
	case policy.Run, policy.Pass, policy.Drop:
		if t, i := a.tokens.find(&action.Token); t != nil && t.holder == m && t.state == held {
			a.actOn(t, i, action)
		}
	}
}

// actOn performs an action on a token that rests with its holder.
func (a *agents) actOn(t *token, i int32, action *policy.Action) {
	switch action.Kind {
	case policy.Run:
		a.operations.run(t, i)
	case policy.Pass:
		a.handoffs.pass(t, i, action.To, action.Field)
	case policy.Drop:
		a.stats.Dropped[action.Reason]++
		a.tokens.end(t, Dropped)
		a.tokens.free(i)
	}
}

// answered tells of a token that was generated, or of an operation that did not
// begin, if the token still rests with the member.
func (a *agents) answered(e event) {
	t := &a.tokens.list[e.ref]
	if t.state != held || t.holder != e.member {
		return
	}
	kind := policy.Generated
	if e.kind == notRun {
		kind = policy.OperationEnded
	}
	a.stepToken(e.member, t, kind, false)
}

// firstTimer is the turn of the first entry of timers: its timer is due, or was
// put off.
func (a *agents) firstTimer() {
	h := &a.queue.timers
	e := h.entries[0]
	a.timerDue(e.member, e.at, e.seq)
	// Only e.member's policy was stepped, and its entry came first already: it
	// still is the first one.
	if s := &a.sites[e.member]; s.timer == clock.Never {
		h.removeFirst()
	} else {
		h.down(0, timer{s.timer, s.timerSeq, e.member})
	}
}

var timerEvent = policy.Event{Kind: policy.Timer}

// timerDue tells the policy of its timer, if it is the one it waits for.
func (a *agents) timerDue(m int32, at clock.Instant, seq uint64) {
	if s := &a.sites[m]; s.timer == at && s.timerSeq == seq {
		s.timer = clock.Never
		a.step(m, &timerEvent)
	}
}
