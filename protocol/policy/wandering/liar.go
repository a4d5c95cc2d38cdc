package wandering

import (
	"math"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// Lie is in what a member that follows the preset fair otherwise does not.
type Lie uint8

const (
	// Starved says of itself and its accomplices that they have waited longest:
	// in reports, in answers and on tokens. It operates however short a time ago
	// it did.
	Starved Lie = iota + 1
	// Shirking wants the token and never operates.
	Shirking
	// Denying denies to have seen any token.
	Denying
)

// NewLiar makes a policy of the preset fair that lies, to be measured beside honest
// ones. The accomplices are all who do, itself among them. Errors: those of New.
func NewLiar(params policy.Params, in policy.Surroundings, lie Lie, accomplices []ident.Member) (policy.Policy, error) {
	params.Preset = Fair
	if err := params.Validate(); err != nil {
		return nil, err
	}
	return &liar{walker: newWalker(params, in, true), lie: lie, accomplices: accomplices}, nil
}

type liar struct {
	*walker
	lie         Lie
	accomplices []ident.Member
	next        int // accomplice to be named
}

// Step implements policy.Policy.
func (l *liar) Step(now clock.Instant, event policy.Event, actions []policy.Action) []policy.Action {
	if l.lie == Starved {
		l.early = longAgo
	}
	first := len(actions)
	actions = l.walker.Step(now, event, actions)
	kept := actions[:first]
	for _, a := range actions[first:] {
		if l.twist(&a) {
			kept = append(kept, a)
		}
	}
	if l.lie == Starved && event.Kind == policy.Message {
		kept = l.claim(&event, kept)
	}
	if l.lie == Shirking && l.running {
		e := policy.Event{Kind: policy.OperationEnded, Operated: true, Token: l.token}
		kept = l.walker.Step(now, e, withoutRun(kept))
	}
	return kept
}

func withoutRun(actions []policy.Action) []policy.Action {
	kept := actions[:0]
	for _, a := range actions {
		if a.Kind != policy.Run {
			kept = append(kept, a)
		}
	}
	return kept
}

// twist changes what an honest member would do, or reports that it is left out.
func (l *liar) twist(a *policy.Action) bool {
	switch {
	case a.Kind == policy.Pass && l.lie == Starved:
		a.Field = l.field(a.Field)
	case a.Kind == policy.Tell:
		return l.twistBody(a)
	}
	return true
}

func (l *liar) twistBody(a *policy.Action) bool {
	var m body
	if !parseBody(a.Field, &m) {
		return true
	}
	switch {
	case l.lie == Denying && m.kind == heard:
		return false
	case l.lie == Denying && m.kind == state:
		m.what, m.member = unknown, ident.Member{}
	case l.lie == Starved && m.kind == answer && contains(l.accomplices, m.member):
		m.what, m.age = willing, math.MaxUint32/2
	case l.lie == Starved && m.kind == report:
		return false // it claims instead
	default:
		return true
	}
	a.Field = m.append(nil)
	return true
}

// claim reports accomplices to who looks.
func (l *liar) claim(e *policy.Event, actions []policy.Action) []policy.Action {
	var m body
	if !parseBody(e.Body, &m) || m.kind != look {
		return actions
	}
	to := e.From
	if !m.member.IsZero() {
		to = m.member
	}
	r := body{kind: report}
	for i := range l.accomplices { // those that it is a witness of first: they are believed
		if a := l.accomplices[i]; r.n < reportMost && a != to && l.witnessOf(a, l.self) {
			r.records[r.n], r.n = waiter{a, math.MaxUint32 / 2}, r.n+1
		}
	}
	if r.n < reportMost {
		r.records[r.n], r.n = waiter{l.self, math.MaxUint32 / 2}, r.n+1
	}
	return append(actions, policy.Action{Kind: policy.Tell, To: to, Field: r.append(nil)})
}

// field puts accomplices before the candidates that a token carries.
func (l *liar) field(honest []byte) []byte {
	to := append([]byte(nil), honest[:baggageHead]...)
	for range min(len(l.accomplices), candidatesMost/2) {
		l.next = (l.next + 1) % len(l.accomplices)
		to = (&waiter{l.accomplices[l.next], math.MaxUint32 / 2}).append(to)
	}
	rest := honest[baggageHead:]
	return append(to, rest[:min(len(rest), baggageMost-len(to))]...)
}
