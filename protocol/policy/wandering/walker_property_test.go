package wandering

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/policytest"
)

// company is a Roster of the members 1 to n; who asks is zero's neighbour, 1.
type company byte

func (c company) Draw(n int, to []ident.Member) []ident.Member {
	for i := range min(n, int(c)-1) {
		to = append(to, ident.Member{byte(2 + i)})
	}
	return to
}

func (c company) Others(n int, to []ident.Member) []ident.Member { return c.Draw(n, to) }

func (c company) Size() int { return int(c) - 1 }

func (c company) Witnesses(of ident.Member, n int, to []ident.Member) []ident.Member {
	for i := range int(c) {
		if w := (ident.Member{byte(1 + (int(of[0])+i)%int(c))}); w != of && n > 0 {
			to, n = append(to, w), n-1
		}
	}
	return to
}

// maxActions is the most that a walker does at once: it tells the witnesses of who took
// the token, and its own ones, goes on with another token, and inquires about a candidate.
const maxActions = canvassMost + 2*policy.MaxTimekeepers + readsAtOnce + confirmations + 8

// books are a member's, of what a walker does.
type books struct {
	*rapid.T
	walker policy.Policy
	now    clock.Instant
	places map[ident.Token]policytest.Place
	tokens []policy.Token
	demand bool
}

func newBooks(t *rapid.T, preset string) *books {
	params := policy.Params{OperationTime: 40 * time.Millisecond, MembersMax: 5, SkipDelay: 10 * time.Millisecond}
	params.Preset = preset
	seed := rapid.Uint64().Draw(t, "seed")
	made, err := New(params, policy.Surroundings{
		Self: ident.Member{1}, Random: rand.NewPCG(seed, 0), Roster: company(rapid.SampledFrom([]int{1, 2, 3, 40}).Draw(t, "members")),
	})
	require.NoError(t, err)
	b := &books{T: t, walker: made, places: map[ident.Token]policytest.Place{}}
	for i := range 5 {
		b.tokens = append(b.tokens, policy.Token{ID: ident.Token{byte(i + 1)}, Born: uint64(i / 2)})
	}
	return b
}

// event draws one that a driver may tell now.
func (b *books) event() (e policy.Event, ok bool) {
	b.now = b.now.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 1, 9, 100, 600, 5000, 40_000}).Draw(b.T, "ms")) * time.Millisecond)
	e.Kind = policy.EventKind(rapid.IntRange(int(policy.Arrival), int(policy.Silent)).Draw(b.T, "kind"))
	e.From = ident.Member{rapid.Byte().Draw(b.T, "from") % 6}
	switch e.Kind {
	case policy.Recalled:
		return e, false
	case policy.Timer:
		if due := b.walker.Deadline(); due != clock.Never && rapid.Bool().Draw(b.T, "due") {
			b.now = max(b.now, due)
		}
	case policy.DemandChanged:
		e.Demand = rapid.Bool().Draw(b.T, "demand")
		b.demand = e.Demand
	case policy.Message:
		e.Body = b.body()
	case policy.OperationEnded:
		e.Operated = rapid.Bool().Draw(b.T, "operated")
	case policy.PassEnded:
		e.Outcome = policy.Outcome(rapid.IntRange(int(policy.Delivered), int(policy.Abandoned)).Draw(b.T, "outcome"))
	}
	return e, b.token(&e)
}

// token draws the token that an event tells of.
func (b *books) token(e *policy.Event) bool {
	places, needed := policytest.Permitted[e.Kind]
	if !needed {
		return true
	}
	t := rapid.SampledFrom(b.tokens).Draw(b.T, "token")
	for _, p := range places {
		if b.places[t.ID] == p {
			t.Hop = rapid.Uint64Range(0, 3).Draw(b.T, "hop")
			t.Field = b.field()
			e.Token = t
			return true
		}
	}
	return false
}

// field is what a token carries, true or not.
func (b *books) field() []byte {
	if rapid.Bool().Draw(b.T, "noise") {
		return rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(b.T, "field")
	}
	to := []byte{baggageForm, rapid.Byte().Draw(b.T, "streak"), 0, 0, rapid.Byte().Draw(b.T, "age"), 0}
	for range rapid.IntRange(0, candidatesMost).Draw(b.T, "candidates") {
		to = (&waiter{ident.Member{rapid.Byte().Draw(b.T, "member") % 6}, rapid.Uint32().Draw(b.T, "age")}).append(to)
	}
	return to
}

// body is a message, true or not.
func (b *books) body() []byte {
	if rapid.IntRange(0, 9).Draw(b.T, "noise") == 0 {
		return rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(b.T, "body")
	}
	m := body{
		kind:   bodyKind(rapid.IntRange(int(look), int(heard)).Draw(b.T, "what")),
		member: ident.Member{rapid.Byte().Draw(b.T, "member") % 6}, age: rapid.Uint32Range(0, 70_000).Draw(b.T, "age"),
		what: rapid.Byte().Draw(b.T, "state") % 4, n: rapid.IntRange(1, reportMost).Draw(b.T, "records"),
		sight: sight{
			id: ident.Token{rapid.Byte().Draw(b.T, "sighted") % 7}, born: rapid.Uint64Range(0, 3).Draw(b.T, "born"),
			hop: rapid.Uint64Range(0, 4).Draw(b.T, "hop"), age: rapid.Uint32Range(0, 70_000).Draw(b.T, "sight age"),
		},
	}
	for i := range m.n {
		m.records[i] = waiter{ident.Member{rapid.Byte().Draw(b.T, "waiter") % 6}, rapid.Uint32().Draw(b.T, "waits")}
	}
	return m.append(nil)
}

func (b *books) step(e policy.Event) {
	id := e.Token.ID
	switch {
	case policytest.Receives(e):
		b.places[id] = policytest.Kept
	case e.Kind == policy.OperationEnded:
		b.places[id] = policytest.Kept
	case e.Kind == policy.PassEnded:
		b.places[id] = policytest.Away
	}
	actions := b.walker.Step(b.now, e, nil)
	require.LessOrEqual(b, len(actions), maxActions)
	for i := range actions {
		b.book(&actions[i])
	}
	if e.Kind == policy.Timer {
		require.Greater(b, b.walker.Deadline(), b.now, "a Timer leaves nothing undone")
	}
}

func (b *books) book(a *policy.Action) {
	require.LessOrEqual(b, len(a.Field), policy.MaxField)
	place := b.places[a.Token]
	switch a.Kind {
	case policy.Run:
		require.Equal(b, policytest.Kept, place)
		require.True(b, b.demand)
		for _, p := range b.places {
			require.NotEqual(b, policytest.Used, p, "two operations")
		}
		b.places[a.Token] = policytest.Used
	case policy.Prepare:
		require.Contains(b, []policytest.Place{policytest.Kept, policytest.Used}, place)
	case policy.Pass:
		require.Equal(b, policytest.Kept, place)
		require.NotEqual(b, ident.Member{1}, a.To, "to itself")
		b.places[a.Token] = policytest.Sent
	case policy.Drop:
		require.Equal(b, policytest.Kept, place)
		require.Equal(b, policy.Superseded, a.Reason)
		b.places[a.Token] = policytest.Away
	case policy.Generate, policy.Watch, policy.Unwatch:
		require.Fail(b, "this is up to a keeper")
	case policy.Tell:
		require.NotContains(b, []ident.Member{{}, {1}}, a.To)
	}
}

// TestWalkers: whatever happens and whatever others say, a walker keeps to what the
// interface permits, says little at once, and forgets no token that it holds.
func TestWalkers(t *testing.T) {
	for _, preset := range []string{Light, Fair} {
		t.Run(preset, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				b := newBooks(t, preset)
				for range rapid.IntRange(1, 150).Draw(t, "events") {
					if e, ok := b.event(); ok {
						b.step(e)
					}
				}
				b.rests()
			})
		})
	}
}

// rests: what is here leaves, or is removed, in the end.
func (b *books) rests() {
	b.demand = false
	b.step(policy.Event{Kind: policy.DemandChanged})
	for range 2000 {
		for _, t := range b.tokens {
			if b.places[t.ID] == policytest.Used {
				b.step(policy.Event{Kind: policy.OperationEnded, Operated: true, Token: t})
			}
		}
		if places := slices.Collect(maps.Values(b.places)); !slices.Contains(places, policytest.Kept) && !slices.Contains(places, policytest.Used) {
			return
		}
		require.NotEqual(b, clock.Never, b.walker.Deadline(), "nobody wakes up")
		b.now = max(b.now, b.walker.Deadline())
		b.step(policy.Event{Kind: policy.Timer})
	}
	require.Fail(b, "a token never leaves", "%v", b.places)
}
