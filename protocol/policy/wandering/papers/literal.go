package papers

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

// literal is the pseudo-code of the report paper's figure 1, word by word.
type literal struct {
	rules   *reporter      // its constants and Δgen; it is never stepped
	last    policy.Token   // lasttoken
	waiting []policy.Token // received while the loop is not at its select
	token   policy.Token   // what the loop holds
	busy    bool           // it sleeps or executes
	until   clock.Instant  // the end of the sleep, or clock.Never
	gen     clock.Instant  // when select gives up
}

// NewLiteral makes the report paper's figure 1 as it is printed. It does not
// work, and is here so that experiments can show it: the timestamp of a token
// is that of its generation, so under one token each member runs only once,
// and a second token is removed by the first one whichever is older. Δper, which
// the paper does not define, is Δmin. A member's demand is ignored. Errors: those of New with the preset report.
func NewLiteral(params policy.Params) (policy.Policy, error) {
	params.Preset = Report
	made, err := New(params, nil)
	if err != nil {
		return nil, err
	}
	return &literal{rules: made.(*reporter), until: clock.Never, gen: clock.Never}, nil
}

// Step implements policy.Policy.
func (l *literal) Step(now clock.Instant, event policy.Event, actions []policy.Action) []policy.Action {
	if l.gen == clock.Never {
		l.receive(now)
	}
	switch {
	case event.Kind == policy.Arrival, event.Kind == policy.Resumed,
		event.Kind == policy.PassEnded && event.Outcome == policy.Returned:
		l.waiting = append(l.waiting, event.Token)
	case event.Kind == policy.Generated:
		l.token = event.Token
		actions = l.send(now, actions)
	case event.Kind == policy.OperationEnded:
		actions = l.send(now, actions)
	case event.Kind == policy.Timer && l.busy && now >= l.until:
		actions = l.send(now, actions)
	case event.Kind == policy.Timer && !l.busy && now >= l.gen:
		l.rules.generation = l.rules.grown()
		l.receive(now)
		actions = append(actions, policy.Action{Kind: policy.Generate})
	}
	for !l.busy && len(l.waiting) > 0 {
		actions = l.take(now, actions)
	}
	return actions
}

// receive is the select at the head of the loop.
func (l *literal) receive(now clock.Instant) {
	l.busy, l.until = false, clock.Never
	l.gen = now.Add(l.rules.generation)
}

// take is what follows when select returns a token.
func (l *literal) take(now clock.Instant, actions []policy.Action) []policy.Action {
	l.token, l.waiting = l.waiting[0], l.waiting[1:]
	l.rules.generation -= l.rules.decay.Of(l.rules.generation - l.rules.max)
	age := time.Duration(int64(l.token.Born-l.last.Born)) * time.Millisecond
	switch {
	case age > l.rules.min:
		l.busy = true
		return append(actions, policy.Action{Kind: policy.Run, Token: l.token.ID})
	case l.token.ID != l.last.ID:
		l.receive(now) // next, past the assignment to lasttoken
		return append(actions, policy.Action{Kind: policy.Drop, Reason: policy.Superseded, Token: l.token.ID})
	}
	l.busy, l.until = true, now.Add(l.rules.skip)
	return actions
}

// send ends a round of the loop.
func (l *literal) send(now clock.Instant, actions []policy.Action) []policy.Action {
	l.last = l.token
	l.receive(now)
	return append(actions, policy.Action{Kind: policy.Pass, Token: l.token.ID})
}

// Deadline implements policy.Policy.
func (l *literal) Deadline() clock.Instant {
	if l.busy {
		return l.until
	}
	return l.gen
}
