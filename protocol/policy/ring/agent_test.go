package ring

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// four is a ring of four with a round of 4.4 s.
var four = setup{
	params:  policy.Params{OperationTime: time.Second, MembersMax: 4, SkipDelay: 100 * time.Millisecond},
	members: 4, seed: 1, passing: 10 * time.Millisecond, telling: 10 * time.Millisecond,
}

// TestLostRequest: wherever a request is lost on its way, it is repeated, past the
// stations that have sent it on, and no token is made for it.
func TestLostRequest(t *testing.T) {
	for _, preset := range []string{"e", "q", "d"} {
		for lost := range 3 {
			s := four
			s.params.Preset = preset
			w := newNetwork(t, s)
			w.mint(0)
			w.run(clock.Instant(100 * time.Millisecond)) // it has been around
			rests := slices.IndexFunc(w.sites, func(s *site) bool { return len(s.here) > 0 })
			w.lose = func(told int) bool { return told == lost+1 }
			w.want((rests + 1) % s.members)
			w.run(clock.Instant(4 * time.Second))
			require.Equal(t, 1, w.waiting(), "%s: nothing moves without a request", preset)
			w.run(clock.Instant(6 * time.Second))
			assert.Zero(t, w.waiting(), "%s: repeated after a round", preset)
			assert.Zero(t, w.made)
		}
	}
}

// TestRequests_Repeated_One: of requests that are repeated at one time, each goes only
// to the next member that has sent one on. While the token is lost they cost two
// messages each, not n.
func TestRequests_Repeated_One(t *testing.T) {
	s := four
	s.members, s.params.MembersMax = 40, 40
	w := newNetwork(t, s)
	for i := range s.members {
		w.want(i)
	}
	w.run(clock.Instant(43 * time.Second))
	require.Zero(t, w.repeats)
	w.run(clock.Instant(50 * time.Second)) // a round is 44 s
	assert.GreaterOrEqual(t, w.repeats, 40)
	assert.LessOrEqual(t, w.repeats, 2*40)
}

// TestMadeTokens: where all members of a ring wait for a token that is lost, one is made.
func TestMadeTokens(t *testing.T) {
	for seed := range uint64(20) {
		s := four
		s.members, s.params.MembersMax, s.seed, s.kept = 40, 40, seed, true
		w := newNetwork(t, s)
		for i := range s.members {
			w.want(i)
		}
		w.run(clock.Instant(3 * time.Minute))
		require.Equal(t, 1, w.made)
		require.Zero(t, w.waiting())
		require.Len(t, w.tokens, 1)
	}
}

// TestWanted_TokenRests_GoesRoundUnlessItMovedBefore: somebody between may have swallowed the request of who
// waits.
func TestWanted_TokenRests_GoesRoundUnlessItMovedBefore(t *testing.T) {
	for _, preset := range []string{"e", "q", "d"} {
		t.Run(preset, func(t *testing.T) {
			a, err := New(policy.Params{Preset: preset, OperationTime: time.Second, SkipDelay: time.Second, MembersMax: 3, Silence: 2 * time.Second})
			require.NoError(t, err)
			now, passed := clock.Instant(0), 0
			step := func(e policy.Event) {
				for _, x := range a.Step(now, e, nil) {
					if x.Kind == policy.Pass {
						passed++
					}
				}
			}
			tok := policy.Token{ID: ident.Token{1}, Born: 1, Hop: 1, Field: AppendBaton(nil, Baton{})}
			step(policy.Event{Kind: policy.Neighbour, From: memberID(1), Members: 3})
			step(policy.Event{Kind: policy.Arrival, From: memberID(2), Token: tok})
			require.Zero(t, passed, "nobody waits, as far as the token knows")

			step(policy.Event{Kind: policy.Wanted, From: memberID(2)})
			now = clock.Instant(2*time.Second - 1)
			step(policy.Event{Kind: policy.Wanted, From: memberID(2)})
			step(policy.Event{Kind: policy.Timer})
			require.Zero(t, passed, "the request may be on its way")
			now++
			step(policy.Event{Kind: policy.Timer})
			require.Equal(t, 1, passed)
			now += clock.Instant(time.Minute)
			step(policy.Event{Kind: policy.Timer})
			require.Equal(t, 1, passed)
		})
	}
}

// TestWanted_OperationsWithPauses_TokenGoesOn: a holder that wants its next turn just after each one hears that somebody
// waits between two of them, and no request, as one that has no place on the ring.
func TestWanted_OperationsWithPauses_TokenGoesOn(t *testing.T) {
	for _, preset := range []string{"e", "q", "d"} {
		t.Run(preset, func(t *testing.T) {
			a, err := New(policy.Params{Preset: preset, OperationTime: time.Second, SkipDelay: time.Second, MembersMax: 3, Silence: 2 * time.Second})
			require.NoError(t, err)
			now, last := clock.Instant(0), policy.ActionKind(0)
			step := func(e policy.Event) {
				for _, x := range a.Step(now, e, nil) {
					if x.Kind == policy.Run || x.Kind == policy.Pass {
						last = x.Kind
					}
				}
			}
			tok := policy.Token{ID: ident.Token{1}, Born: 1, Hop: 1, Field: AppendBaton(nil, Baton{})}
			step(policy.Event{Kind: policy.Neighbour, From: memberID(1), Members: 3})
			step(policy.Event{Kind: policy.Arrival, From: memberID(2), Token: tok})
			for last != policy.Pass {
				require.Less(t, now, clock.Instant(3*time.Second))
				step(policy.Event{Kind: policy.DemandChanged, Demand: true})
				require.Equal(t, policy.Run, last)
				now += clock.Instant(300 * time.Millisecond)
				if a.Deadline() <= now {
					step(policy.Event{Kind: policy.Timer})
				}
				step(policy.Event{Kind: policy.DemandChanged})
				step(policy.Event{Kind: policy.OperationEnded, Operated: true, Token: tok})
				step(policy.Event{Kind: policy.Wanted, From: memberID(2)})
				now += clock.Instant(100 * time.Millisecond)
			}
		})
	}
}

// TestWanted_OperationEndsAndAnotherIsWanted_TokenGoesOn: P-25. Somebody waits, as was said while the operation ran.
func TestWanted_OperationEndsAndAnotherIsWanted_TokenGoesOn(t *testing.T) {
	for _, preset := range []string{"e", "q", "d"} {
		a, err := New(policy.Params{Preset: preset, OperationTime: time.Second, SkipDelay: time.Second, MembersMax: 3, Silence: 2 * time.Second})
		require.NoError(t, err)
		last := policy.ActionKind(0)
		step := func(e policy.Event) {
			for _, x := range a.Step(0, e, nil) {
				if x.Kind == policy.Run || x.Kind == policy.Pass {
					last = x.Kind
				}
			}
		}
		tok := policy.Token{ID: ident.Token{1}, Born: 1, Hop: 1, Field: AppendBaton(nil, Baton{})}
		step(policy.Event{Kind: policy.Neighbour, From: memberID(1), Members: 3})
		step(policy.Event{Kind: policy.Arrival, From: memberID(2), Token: tok})
		step(policy.Event{Kind: policy.DemandChanged, Demand: true})
		require.Equal(t, policy.Run, last)
		step(policy.Event{Kind: policy.Wanted, From: memberID(2)})
		step(policy.Event{Kind: policy.OperationEnded, Operated: true, Token: tok})
		assert.Equal(t, policy.Pass, last, preset)
	}
}

// TestReplacement_OldReturns_Lives: a token that was here keeps away, within the freshness, those that were
// made before it, and none that was made later: it may be in its place.
func TestReplacement_OldReturns_Lives(t *testing.T) {
	c := derive(policy.Params{OperationTime: time.Second, MembersMax: 10, SkipDelay: time.Second})
	round := 20 * time.Second
	assert.Equal(t, constants{skip: time.Second, requestTimeout: round, freshness: 2 * round, patience: longestPatience}, c)
	for _, test := range []struct {
		at      time.Duration
		born    uint64 // of the second token; that of the first is 5
		dropped bool
	}{
		{10 * time.Second, 4, true}, {10 * time.Second, 6, false}, {c.freshness, 4, true}, {c.freshness + 2*time.Second, 4, false},
	} {
		agent, err := New(policy.Params{OperationTime: time.Second, MembersMax: 10, SkipDelay: time.Second})
		require.NoError(t, err)
		agent.Step(0, policy.Event{Kind: policy.Neighbour, From: ident.Member{2}, Members: 10}, nil)
		first := policy.Token{ID: ident.Token{1}, Born: 5, Field: AppendBaton(nil, Baton{Count: 9})}
		actions := agent.Step(clock.Instant(time.Second), policy.Event{Kind: policy.Arrival, Token: first}, nil)
		require.Equal(t, policy.Pass, actions[len(actions)-1].Kind)
		agent.Step(clock.Instant(time.Second), policy.Event{Kind: policy.PassEnded, Outcome: policy.Delivered, Token: first}, nil)
		second := policy.Token{ID: ident.Token{2}, Born: test.born, Hop: 1, Field: AppendBaton(nil, Baton{})}
		actions = agent.Step(clock.Instant(test.at), policy.Event{Kind: policy.Arrival, Token: second}, nil)
		assert.Equal(t, test.dropped, len(actions) > 0 && actions[0].Kind == policy.Drop, "%+v", test)
	}
}

// TestLongestSpans: nothing overflows where all parameters are as long as they may
// be.
func TestLongestSpans(t *testing.T) {
	p := policy.Params{
		OperationTime: policy.MaxInterval / policy.MaxMembers, MembersMax: policy.MaxMembers, SkipDelay: policy.MaxSkipDelay,
		RequestTimeout: policy.MaxInterval,
	}
	require.NoError(t, p.Validate())
	assert.Equal(t, policy.MaxInterval, Round(p.OperationTime, p.SkipDelay, p.MembersMax))
	assert.Equal(t, 2*policy.MaxInterval, derive(p).freshness)
}

func TestRefusals(t *testing.T) {
	p := four.params
	p.Preset = "f"
	_, err := New(p)
	require.ErrorIs(t, err, policy.ErrPreset)
	p = four.params
	p.MembersMax = 0
	_, err = New(p)
	require.ErrorIs(t, err, policy.ErrOutOfRange)
}

// TestNoAllocations: an agent allocates nothing after New.
func TestNoAllocations(t *testing.T) {
	for _, preset := range []string{"e", "q", "d", "s"} {
		p := four.params
		p.Preset = preset
		agent, err := New(p)
		require.NoError(t, err)
		actions := make([]policy.Action, 0, actionsMax)
		var body [boundSize]byte
		asks := message{kind: repeat, count: 2, reach: 9, bound: true, token: ident.Token{1}, hop: 1}
		token := policy.Token{ID: ident.Token{1}, Field: AppendBaton(nil, Baton{Count: 1})}
		now := clock.Instant(0)
		tell := func(e policy.Event) {
			now = now.Add(time.Second)
			actions = agent.Step(now, e, actions[:0])
		}
		hop := func() {
			token.Hop++
			asks.hop = token.Hop
			tell(policy.Event{Kind: policy.Neighbour, From: ident.Member{byte(token.Hop%2 + 1)}, Members: 4})
			tell(policy.Event{Kind: policy.Message, From: ident.Member{9}, Body: asks.append(body[:0])})
			tell(policy.Event{Kind: policy.DemandChanged, Demand: token.Hop%2 == 0})
			tell(policy.Event{Kind: policy.Timer})
			tell(policy.Event{Kind: policy.Arrival, Token: token})
			tell(policy.Event{Kind: policy.OperationEnded, Operated: true, Token: token})
			tell(policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: token})
			tell(policy.Event{Kind: policy.Timer})
			tell(policy.Event{Kind: policy.PassEnded, Outcome: policy.Delivered, Token: token})
		}
		assert.Zero(t, testing.AllocsPerRun(1000, hop), preset)
	}
}

// TestSize: a million agents fit into a gigabyte, and leave room for what a
// simulator keeps about them.
func TestSize(t *testing.T) {
	assert.LessOrEqual(t, reflect.TypeFor[Agent]().Size(), uintptr(1280), "the size class of the allocator")
	t.Log(reflect.TypeFor[Agent]().Size())
}

// TestPatience: a lost token comes back although nobody waits for it for as long as
// it takes until it is known to be lost: programs give up, and others come.
func TestPatience(t *testing.T) {
	for _, preset := range []string{"e", "q", "d", "s"} {
		s := four
		s.params.Preset, s.kept = preset, true
		w := newNetwork(t, s)
		for at := time.Duration(0); at < 2*time.Minute; at += 5 * time.Second {
			w.later(at, func() { w.want(1) })
			w.later(at+time.Second, func() { w.withdraw(1) })
		}
		w.run(clock.Instant(3 * time.Minute))
		assert.Positive(t, w.served, preset)
		assert.Equal(t, 1, w.made, preset)
	}
}

// TestPatience_Over_NextAsked: who has given up, and has seen the token since, waits for
// nothing.
func TestPatience_Over_NextAsked(t *testing.T) {
	for _, preset := range []string{"e", "q", "d"} {
		s := four
		s.params.Preset = preset
		w := newNetwork(t, s)
		w.mint(3)
		w.later(0, func() { w.want(1) })
		w.later(time.Millisecond, func() { w.withdraw(1) })
		w.run(clock.Instant(10 * time.Minute))
		assert.Zero(t, w.served, preset)
		assert.Zero(t, w.repeats, preset)
		assert.Zero(t, w.made, preset)
		assert.Zero(t, w.agenda.Len(), preset)
	}
}
