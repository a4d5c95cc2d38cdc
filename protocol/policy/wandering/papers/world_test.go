package papers

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/agenda"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// world is the paper's simulation (§3): agents that always want to run,
// operations that all take Δop, and handoffs that take no time.
type world struct {
	t      *testing.T
	params policy.Params
	rng    *rand.Rand
	agents []*site

	now     clock.Instant
	agenda  agenda.Agenda[clock.Instant, queuedEvent]
	actions []policy.Action
	tokens  map[ident.Token]policy.Token // those that exist
	minted  uint64
	lose    int // how many of the next passes lose their token

	// what is observed
	generated  []clock.Instant
	dropped    []policy.Token
	late       int // receptions at which only the unbounded history drops
	receptions int
	running    int
	runSince   clock.Instant
	operating  map[int]time.Duration // time with so many operations at once
	alive      map[int]time.Duration // time with so many tokens
	aliveSince clock.Instant
}

// site is an agent and what is noted about it.
type site struct {
	policy    policy.Policy
	unbounded ledger // nil unless wanted
	asked     clock.Instant
	left      clock.Instant   // when the last token left
	ran       clock.Instant   // when the last operation ended
	came      clock.Instant   // when the last token arrived
	visits    []time.Duration // between arrivals
	intervals []time.Duration // between operations
}

// ledger is an unbounded history that is quick to search: line 12 is true
// exactly when an older token's last reception is after the token's first one.
type ledger map[ident.Token]*entry

type entry struct {
	token       policy.Token
	first, last int
}

func (l ledger) sandwich(token policy.Token) bool {
	e := l[token.ID]
	if e == nil {
		return false
	}
	for _, o := range l {
		if o.last > e.first && older(o.token, token) {
			return true
		}
	}
	return false
}

func (l ledger) push(token policy.Token, number int) {
	if l[token.ID] == nil {
		l[token.ID] = &entry{token: token, first: number}
	}
	l[token.ID].last = number
}

type queuedEvent struct {
	to    int
	event policy.Event
}

func newWorld(t *testing.T, seed uint64, agents int, params policy.Params) *world {
	w := &world{t: t, params: params, rng: rand.New(rand.NewPCG(seed, 0)), tokens: map[ident.Token]policy.Token{},
		operating: map[int]time.Duration{}, alive: map[int]time.Duration{}}
	for i := range agents {
		agent, err := New(params, rand.NewPCG(seed, uint64(i)+1))
		require.NoError(t, err)
		w.agents = append(w.agents, &site{policy: agent, asked: clock.Never})
		w.schedule(0, i, policy.Event{Kind: policy.DemandChanged, Demand: true})
	}
	return w
}

func (w *world) schedule(at clock.Instant, to int, e policy.Event) {
	w.agenda.Plan(at, queuedEvent{to, e})
}

// mint makes a token that is as old as the present and gives it to an agent.
func (w *world) mint(to int, kind policy.EventKind) policy.Token {
	w.count()
	w.minted++
	token := policy.Token{Born: uint64(w.now / 1e6)}
	binary.BigEndian.PutUint64(token.ID[:], w.minted)
	w.tokens[token.ID] = token
	w.schedule(w.now, to, policy.Event{Kind: kind, Token: token})
	return token
}

// remove takes a token out of the world.
func (w *world) remove(id ident.Token) {
	w.count()
	delete(w.tokens, id)
}

// count books the time since the number of tokens changed last.
func (w *world) count() {
	w.alive[len(w.tokens)] += w.now.Sub(w.aliveSince)
	w.aliveSince = w.now
}

// operate books the time since the number of operations changed last.
func (w *world) operate(change int) {
	w.operating[w.running] += w.now.Sub(w.runSince)
	w.runSince = w.now
	w.running += change
}

// run lets time pass until the end, or until enough is true after an event.
func (w *world) run(end clock.Instant, enough func() bool) {
	for {
		at, h, ok := w.agenda.Next(end)
		if !ok {
			break
		}
		w.now = at
		w.tell(h.to, h.event)
		if enough != nil && enough() {
			break
		}
	}
	if enough == nil {
		w.now = end
	}
	w.count()
	w.operate(0)
}

func (w *world) tell(to int, e policy.Event) {
	s := w.agents[to]
	switch e.Kind {
	case policy.Timer:
		if w.now != s.asked {
			return // replaced
		}
	case policy.Arrival:
		if s.came != 0 {
			s.visits = append(s.visits, w.now.Sub(s.came))
		}
		s.came = w.now
	case policy.OperationEnded:
		w.operate(-1)
		if s.ran != 0 {
			s.intervals = append(s.intervals, w.now.Sub(s.ran))
		}
		s.ran = w.now
	}
	w.actions = s.policy.Step(w.now, e, w.actions[:0])
	w.compare(s, e, w.actions)
	for _, a := range w.actions {
		w.perform(to, a)
	}
	if due := s.policy.Deadline(); due != s.asked || e.Kind == policy.Timer {
		s.asked = due
		if due != clock.Never {
			w.schedule(due, to, policy.Event{Kind: policy.Timer})
		}
	}
}

// compare asks the unbounded history for its verdict on a reception.
func (w *world) compare(s *site, e policy.Event, actions []policy.Action) {
	if s.unbounded == nil || e.Kind != policy.Arrival && e.Kind != policy.Generated {
		return
	}
	w.receptions++
	dropped := len(actions) > 0 && actions[0].Kind == policy.Drop
	verdict := e.Kind == policy.Arrival && s.unbounded.sandwich(e.Token)
	require.True(w.t, verdict || !dropped, "the bound removed a token")
	if verdict && !dropped {
		w.late++
	}
	if !dropped {
		s.unbounded.push(e.Token, w.receptions)
	}
}

func (w *world) perform(at int, a policy.Action) {
	s := w.agents[at]
	token := w.tokens[a.Token]
	switch a.Kind {
	case policy.Run:
		w.operate(+1)
		w.schedule(w.now.Add(w.params.OperationTime), at, policy.Event{Kind: policy.OperationEnded, Token: token, Operated: true})
	case policy.Pass:
		s.left = w.now
		if w.lose > 0 {
			w.lose--
			w.remove(a.Token)
			return
		}
		to := (at + 1 + w.rng.IntN(len(w.agents)-1)) % len(w.agents)
		w.schedule(w.now, to, policy.Event{Kind: policy.Arrival, Token: token})
		w.schedule(w.now, at, policy.Event{Kind: policy.PassEnded, Token: token, Outcome: policy.Delivered})
	case policy.Drop:
		s.left = w.now
		w.dropped = append(w.dropped, token)
		w.remove(a.Token)
	case policy.Generate:
		w.generated = append(w.generated, w.now)
		w.mint(at, policy.Generated)
	}
}
