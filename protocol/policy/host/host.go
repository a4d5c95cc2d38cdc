// Package host is what circulation policies share, whatever their rules: the step in
// progress and the answer that it collects, the demand here, and of two tokens the one that stays. A policy embeds a Host,
// or a Talker if its agents send messages, and its own part is when to run, pass, drop
// and generate:
//
//	func (a *agent) Step(now clock.Instant, event policy.Event, actions []policy.Action) []policy.Action {
//		if a.Begin(now, &event, actions) {
//			... // the agent begins its work
//		}
//		switch event.Kind {
//		case policy.Arrival:
//			a.Run(event.Token.ID)
//		...
//		}
//		return a.Answer()
//	}
package host

import (
	"math"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// LongAgo is an Instant before all others.
const LongAgo = clock.Instant(math.MinInt64)

// MaxUntaken is after how many passes that came back, in one custody, a holder that knows of no waiting member runs the
// operation again. Hardly so many members fail at once, and a holder that is cut off from all others is
// kept from running for a few L only.
const MaxUntaken = 3

// Precedes orders tokens by their genesis time, the latest first, and by id where that is
// equal: so what stays is what the fence of programs is greatest under (token.Fence).
func Precedes(born uint64, id *ident.Token, otherBorn uint64, other *ident.Token) bool {
	return born > otherBorn || born == otherBorn && id.Compare(*other) < 0
}

// Host is one agent's. A simulation has a million of them.
type Host struct {
	// Now is the instant of the step in progress.
	Now clock.Instant
	// Demand is that somebody here wants to run.
	Demand bool

	begun   bool
	actions []policy.Action
}

// Begin begins a Step. It reports whether the agent begins its work: a Recalled tells of
// what was before, and so does Acted.
func (h *Host) Begin(now clock.Instant, event *policy.Event, actions []policy.Action) (first bool) {
	h.Now, h.actions = now, actions
	first = !h.begun && event.Kind != policy.Recalled && event.Kind != policy.Acted
	h.begun = h.begun || first
	return first
}

// Answer is what a Step returns.
func (h *Host) Answer() []policy.Action { return h.actions }

// RecalledAt is when a Recalled was. What comes from the future is a wrong clock's, and
// was now: else it could keep the member from running for years.
func (h *Host) RecalledAt(event *policy.Event) clock.Instant { return min(event.At, h.Now) }

// Do adds an action to the answer.
func (h *Host) Do(a policy.Action) { h.actions = append(h.actions, a) }

// Run runs the operation under a token.
func (h *Host) Run(id ident.Token) { h.Do(policy.Action{Kind: policy.Run, Token: id}) }

// Prepare announces that a token will be passed to a member; zero: to any one.
func (h *Host) Prepare(id ident.Token, to ident.Member) {
	h.Do(policy.Action{Kind: policy.Prepare, Token: id, To: to})
}

// Pass passes a token to a member, zero: to any one, with a policy field.
func (h *Host) Pass(id ident.Token, to ident.Member, field []byte) {
	h.Do(policy.Action{Kind: policy.Pass, Token: id, To: to, Field: field})
}

// Drop removes a token.
func (h *Host) Drop(id ident.Token, reason policy.DropReason) {
	h.Do(policy.Action{Kind: policy.Drop, Reason: reason, Token: id})
}

// Generate makes a token.
func (h *Host) Generate() { h.Do(policy.Action{Kind: policy.Generate}) }

// Talker is the Host of an agent that sends messages.
type Talker struct {
	Host
	fields []byte // of the actions
}

// Begin is that of Host.
func (t *Talker) Begin(now clock.Instant, event *policy.Event, actions []policy.Action) (first bool) {
	t.fields = t.fields[:0]
	return t.Host.Begin(now, event, actions)
}

// Field is what write appends. It stays until the next Step.
func (t *Talker) Field(write func([]byte) []byte) []byte {
	start := len(t.fields)
	t.fields = write(t.fields)
	return t.fields[start:len(t.fields):len(t.fields)]
}

// Tell sends a message to a member.
func (t *Talker) Tell(to ident.Member, write func([]byte) []byte) {
	t.Do(policy.Action{Kind: policy.Tell, To: to, Field: t.Field(write)})
}
