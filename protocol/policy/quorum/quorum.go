package quorum

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/host"
)

// Quorum is the policy of one slot at one member, and around it this member's part in the
// votes of the slot: it asks for them, and gives its own. It implements policy.Policy.
type Quorum struct {
	host.Talker
	spans
	inner      policy.Policy
	self       ident.Member
	electorate policy.Electorate
	majority   bool
	quiet      time.Duration // for how long a member that begins gives no vote

	scratch []policy.Action // of the policy
	own     []message       // of this step, to this member itself
	start   clock.Instant   // when this member began
	order   []ident.Member

	holder holder
	voter  voter
}

var (
	_ policy.Policy   = (*Quorum)(nil)
	_ policy.Gauger   = (*Quorum)(nil)
	_ policy.Isolated = (*Quorum)(nil)

	_ policy.Observant = (*Quorum)(nil)
	_ policy.Admitter  = (*Quorum)(nil)
)

// Around has a policy run programs only with votes: of the slot's first member, or of more
// than half of all members.
func Around(inner policy.Policy, p policy.Params, in policy.Surroundings) *Quorum {
	q := &Quorum{
		spans: deriveSpans(p), inner: inner, self: in.Self, electorate: in.Electorate,
		majority: p.OnIsolated == policy.Majority,
	}
	q.quiet = bound(max(q.hold, in.Longest) + killTime)
	if q.electorate == nil {
		q.electorate = nobody{}
	}
	q.voter.reset()
	return q
}

// Admits implements policy.Admitter: as the policy within does.
func (q *Quorum) Admits(now clock.Instant, t policy.Token) bool {
	a, ok := q.inner.(policy.Admitter)
	return !ok || a.Admits(now, t)
}

// Step implements policy.Policy.
func (q *Quorum) Step(now clock.Instant, event policy.Event, actions []policy.Action) []policy.Action {
	first := q.Begin(now, &event, actions)
	if event.Kind == policy.Recalled || event.Kind == policy.Acted {
		q.step(event)
		return q.Answer()
	}
	if first {
		q.start = now
		q.voter.from = now.Add(q.quiet)
		q.isVoter()
	}
	q.happened(&event)
	q.handleOwn()
	return q.Answer()
}

func (q *Quorum) happened(e *policy.Event) {
	switch e.Kind {
	case policy.Message:
		if isMessage(e.Body) {
			q.hear(e.From, e.Body)
			return
		}
	case policy.Timer:
		q.holderDue()
		q.voterDue()
		if due := q.inner.Deadline(); q.Now < due && due != clock.Never {
			return
		}
	case policy.Neighbour:
		q.isVoter()
	case policy.Arrival, policy.Generated:
		q.gained(&e.Token)
	case policy.Resumed:
		q.gained(&e.Token)
		q.resumes(&e.Token)
	case policy.Running:
		q.gained(&e.Token)
		q.occupied(&e.Token)
	case policy.OperationEnded:
		q.over(custody{e.Token.ID, e.Token.Hop})
	case policy.PassEnded:
		if e.Outcome == policy.Returned {
			q.gained(&e.Token)
		} else {
			q.lost(e.Token)
		}
	}
	q.step(*e)
}

// step lets the policy answer an event, and looks at what it wants done. What it answered
// before is only valid until then.
func (q *Quorum) step(e policy.Event) {
	q.scratch = q.inner.Step(q.Now, e, q.scratch[:0])
	for i := range q.scratch {
		q.act(&q.scratch[i])
	}
}

// act passes on what the policy wants done. A program waits for votes.
func (q *Quorum) act(a *policy.Action) {
	switch a.Kind {
	case policy.Run:
		q.runs(a.Token)
		return
	case policy.Drop:
		q.gone(a.Token)
	}
	if a.Field != nil { // it is only valid until the policy's next step
		a.Field = q.Field(func(to []byte) []byte { return append(to, a.Field...) })
	}
	q.Do(*a)
}

// Deadline implements policy.Policy.
func (q *Quorum) Deadline() clock.Instant {
	return min(q.inner.Deadline(), q.holder.deadline(), q.voter.deadline())
}

// hear handles a message. Whatever is not well-formed is ignored.
func (q *Quorum) hear(from ident.Member, b []byte) {
	var m message
	if from.IsZero() || from == q.self || !parse(b, &m) {
		return
	}
	q.handle(from, &m)
}

func (q *Quorum) handle(from ident.Member, m *message) {
	q.holder.slow = without(q.holder.slow, from)
	switch m.kind {
	case ask:
		q.requested(from, m)
	case vote:
		q.voted(from, m)
	case free:
		q.questioned(from, m)
	case ended:
		q.released(from, m)
	}
}

// handleOwn handles what this member says to itself.
func (q *Quorum) handleOwn() {
	for len(q.own) > 0 {
		m := q.own[0]
		q.own = append(q.own[:0], q.own[1:]...)
		q.handle(q.self, &m)
	}
}

// tell sends a message. One to this member itself is handled at the end of the step.
func (q *Quorum) tell(to ident.Member, m message) {
	if to == q.self {
		q.own = append(q.own, m)
		return
	}
	q.Tell(to, m.append)
}

// Gauges implements policy.Gauger: those of the policy.
func (q *Quorum) Gauges(show func(string, float64)) {
	if g, ok := q.inner.(policy.Gauger); ok {
		g.Gauges(show)
	}
}

// Observed implements policy.Observant: that of the policy.
func (q *Quorum) Observed(others int) (o policy.Observation) {
	if v, ok := q.inner.(policy.Observant); ok {
		o = v.Observed(others)
	}
	return o
}

// Isolated implements policy.Isolated.
func (q *Quorum) Isolated() (since clock.Instant, missing []ident.Member, is bool) {
	i := &q.holder.isolation
	return i.since, slices.Clone(i.missing), i.is
}

func without(list []ident.Member, m ident.Member) []ident.Member {
	if i := slices.Index(list, m); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// nobody is the Electorate where no member can be asked for its vote.
type nobody struct{}

func (nobody) Voters(_ int, to []ident.Member) ([]ident.Member, int) { return to, 0 }
