package wandering

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/agenda"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/keeper"
)

// group is members of the preset fair or light, with their keepers, that tell each
// other, and pass tokens, in no time. Member i has the id i+1.
type group struct {
	t         *testing.T
	params    policy.Params
	walkers   []*walker
	keepers   []*keeper.Keeper // around them
	rng       *rand.Rand
	now       clock.Instant
	agenda    agenda.Agenda[clock.Instant, func()]
	asked     []clock.Instant
	tokens    map[ident.Token]policy.Token
	down      map[int]bool
	shunned   map[int]bool // nobody takes what such a member made
	generated int
	ran       []int
}

// ring is a Roster of n members, in which those that follow a member are its witnesses.
type ring struct {
	self, n int
	rng     *rand.Rand
}

func (r ring) Draw(n int, to []ident.Member) []ident.Member {
	for _, i := range r.rng.Perm(r.n) {
		if i != r.self && n > 0 {
			to, n = append(to, idOf(i)), n-1
		}
	}
	return to
}

func (r ring) Others(n int, to []ident.Member) []ident.Member { return r.Draw(n, to) }

func (r ring) Size() int { return r.n - 1 }

func (r ring) Witnesses(of ident.Member, n int, to []ident.Member) []ident.Member {
	for k := 1; k <= min(n, r.n-1); k++ {
		to = append(to, idOf((indexOf(of)+k)%r.n))
	}
	return to
}

// slot stands for the group's slot.
var slot = ident.Member{255}

// silence is how long a dead member that is watched has to be silent.
const silence = 4 * time.Second

func idOf(i int) ident.Member    { return ident.Member{byte(i + 1)} }
func indexOf(m ident.Member) int { return int(m[0]) - 1 }

func newGroup(t *testing.T, members int, params policy.Params) *group {
	g := &group{t: t, params: params, rng: rand.New(rand.NewPCG(7, uint64(members))), tokens: map[ident.Token]policy.Token{},
		down: map[int]bool{}, shunned: map[int]bool{}, ran: make([]int, members), asked: make([]clock.Instant, members)}
	for i := range members {
		in := policy.Surroundings{Self: idOf(i), Random: rand.NewPCG(8, uint64(i)), Roster: ring{i, members, g.rng}, Slot: slot}
		made, err := New(params, in)
		require.NoError(t, err)
		g.walkers = append(g.walkers, made.(*walker))
		g.keepers = append(g.keepers, keeper.Around(made, params, in, true))
		g.asked[i] = clock.Never
		g.plan(0, i, policy.Event{Kind: policy.DemandChanged, Demand: true})
	}
	return g
}

func (g *group) plan(at clock.Instant, to int, e policy.Event) {
	g.agenda.Plan(at, func() { g.step(to, e) })
}

// every does something now and then, without end.
func (g *group) every(pause clock.Instant, do func()) {
	var again func()
	again = func() {
		do()
		g.agenda.Plan(g.now+pause, again)
	}
	g.agenda.Plan(g.now+pause, again)
}

// run lets time pass until the end, or until enough is true.
func (g *group) run(end clock.Instant, enough func() bool) {
	for enough == nil || !enough() {
		at, do, ok := g.agenda.Next(end)
		if !ok {
			g.now = end
			return
		}
		g.now = at
		do()
	}
}

func (g *group) say(from, to int, m body) {
	if from != to {
		g.plan(g.now, to, policy.Event{Kind: policy.Message, From: idOf(from), Body: m.append(nil)})
	}
}

func (g *group) mint(at int, kind policy.EventKind) {
	token := policy.Token{Born: uint64(g.now / 1e6)}
	binary.BigEndian.PutUint64(token.ID[:], uint64(len(g.tokens)+1))
	g.tokens[token.ID] = token
	g.plan(g.now, at, policy.Event{Kind: kind, Token: token})
}

func (g *group) step(at int, e policy.Event) {
	if g.down[at] || e.Kind == policy.Timer && g.now != g.asked[at] {
		return
	}
	for _, a := range slices.Clone(g.keepers[at].Step(g.now, e, nil)) {
		g.perform(at, a)
	}
	if due := g.keepers[at].Deadline(); due != g.asked[at] || e.Kind == policy.Timer {
		g.asked[at] = due
		if due != clock.Never {
			g.plan(due, at, policy.Event{Kind: policy.Timer})
		}
	}
}

func (g *group) perform(at int, a policy.Action) {
	token := g.tokens[a.Token]
	switch a.Kind {
	case policy.Run:
		g.ran[at]++
		g.plan(g.now.Add(g.params.OperationTime), at, policy.Event{Kind: policy.OperationEnded, Token: token, Operated: true})
	case policy.Pass:
		to := indexOf(a.To)
		if a.To.IsZero() {
			to = (at + 1 + g.rng.IntN(len(g.walkers)-1)) % len(g.walkers)
		}
		if g.shunned[at] && token.Hop == 0 {
			g.plan(g.now, at, policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, From: idOf(to), Token: token})
			return
		}
		token.Hop, token.Field = token.Hop+1, slices.Clone(a.Field)
		g.tokens[a.Token] = token
		g.plan(g.now, to, policy.Event{Kind: policy.Arrival, From: idOf(at), Token: token})
		left := token
		left.Hop--
		g.plan(g.now, at, policy.Event{Kind: policy.PassEnded, Outcome: policy.Delivered, From: idOf(to), Token: left})
	case policy.Generate:
		g.generated++
		g.mint(at, policy.Generated)
	case policy.Watch:
		if g.down[indexOf(a.To)] {
			g.plan(g.now.Add(silence), at, policy.Event{Kind: policy.Silent, From: a.To})
		}
	case policy.Tell:
		g.plan(g.now, indexOf(a.To), policy.Event{Kind: policy.Message, From: idOf(at), Body: slices.Clone(a.Field)})
	}
}
