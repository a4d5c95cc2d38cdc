package quorum

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/policytest"
)

// running are the programs that execute now.
func (n *network) executes(e *execution) {
	n.ran++
	n.log("%v: program of %d under %d@%d begins", n.now, e.site.at, e.token[0], e.hop)
	for _, o := range n.executing {
		n.overlap = true
		n.log("%v: beside that of %d under %d@%d", n.now, o.site.at, o.token[0], o.hop)
	}
	n.executing = append(n.executing, e)
}

func (n *network) leaves(e *execution) {
	for i, o := range n.executing {
		if o == e {
			n.executing = append(n.executing[:i], n.executing[i+1:]...)
			return
		}
	}
}

// pass moves a token that is not in use.
func (n *network) pass(c *coin, to int) {
	if c.at == lost {
		return
	}
	from := n.sites[c.at]
	if from.frozen != nil || from.busy[c.ID] || from.executes(c.ID) != nil || to == c.at {
		return
	}
	old := c.Token
	c.at, c.Hop = to, c.Hop+1
	from.step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Delivered, From: n.id(to), Token: old})
	s := n.sites[to]
	t := c.Token
	s.hears(func() { s.step(policy.Event{Kind: policy.Arrival, From: n.id(from.at), Token: t}) })
}

func (n *network) thaw(i int) {
	s := n.sites[i]
	heard := s.frozen
	s.frozen = nil
	for _, f := range heard {
		f()
	}
}

func (n *network) restart(i int) {
	s := n.sites[i]
	s.frozen = nil
	s.start()
}

// forget restarts a member that has lost its tokens. Its programs go on.
func (n *network) forget(i int) {
	for _, c := range n.tokens {
		if c.at == i {
			c.at = lost
		}
	}
	n.restart(i)
}

// living is how many tokens there are.
func (n *network) living() (tokens int) {
	for _, c := range n.tokens {
		if c.at != lost {
			tokens++
		}
	}
	return tokens
}

// parts cuts the group in two.
func (n *network) parts(mask int) {
	clear(n.cut)
	for i := range n.sites {
		for k := range n.sites {
			if mask>>i&1 != mask>>k&1 {
				n.cut[[2]int{i, k}] = true
			}
		}
	}
}

var kinds = []policy.OnIsolated{policy.Stop, policy.Majority}

// happens does something to the group.
func (n *network) happens(t *rapid.T) {
	who := rapid.IntRange(0, len(n.sites)-1).Draw(t, "who")
	switch rapid.SampledFrom([]string{"pass", "pass", "pass", "cut", "link", "heal", "freeze", "thaw", "restart", "forget", "want", "mint", "loss"}).Draw(t, "what") {
	case "pass":
		n.pass(n.tokens[rapid.IntRange(0, len(n.tokens)-1).Draw(t, "token")], who)
	case "cut":
		n.parts(rapid.IntRange(0, 1<<len(n.sites)-1).Draw(t, "part"))
	case "link":
		k := rapid.IntRange(0, len(n.sites)-1).Draw(t, "to")
		n.cut[[2]int{who, k}], n.cut[[2]int{k, who}] = true, rapid.Bool().Draw(t, "both")
	case "heal":
		clear(n.cut)
		n.lossy = 0
	case "freeze":
		if n.sites[who].frozen == nil {
			n.sites[who].frozen = []func(){}
		}
	case "thaw":
		n.thaw(who)
	case "restart":
		n.restart(who)
	case "forget":
		n.forget(who)
	case "want":
		n.sites[who].demand = !n.sites[who].demand
		n.sites[who].hears(func() { n.sites[who].step(policy.Event{Kind: policy.Timer}) })
	case "mint":
		if n.living() < 2 && len(n.tokens) < 200 {
			n.mint(who)
		}
	case "loss":
		n.lossy = 0.3
	}
}

// Whatever is cut, frozen, lost or restarted, with one token or two: no two programs run at
// once; and when all is well again, they run.
func TestQuorum_CutsFreezesRestarts_OneProgram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		n := newNetwork(rapid.IntRange(1, 5).Draw(t, "members"), kind, rapid.Uint64().Draw(t, "seed"))
		n.log = t.Logf
		for _, s := range n.sites {
			s.demand = rapid.Bool().Draw(t, "demand")
		}
		n.run(rapid.SampledFrom([]time.Duration{0, 2 * longest}).Draw(t, "calm"))
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			n.happens(t)
			n.run(time.Duration(rapid.SampledFrom([]int{1, 20, 100, 700, 2000, 7000}).Draw(t, "pause")) * time.Millisecond)
			require.False(t, n.overlap, "two programs at once")
		}
		n.recovers(t)
	})
}

// recovers checks that programs run soon after all is well again.
func (n *network) recovers(t require.TestingT) {
	clear(n.cut)
	n.lossy = 0
	for i, s := range n.sites {
		n.thaw(i)
		s.demand = true
	}
	if n.living() == 0 {
		n.mint(0)
	}
	before := n.ran
	for range 30 { // the votes of before, and those that members give after a restart
		for _, s := range n.sites {
			s.step(policy.Event{Kind: policy.Timer})
		}
		n.run(time.Second)
	}
	require.False(t, n.overlap, "two programs at once")
	assert.Greater(t, n.ran, before, "nobody runs")
}

// Where nothing fails, a program needs one round trip: the messages of one operation.
func TestQuorum_NothingFails_Messages(t *testing.T) {
	for _, c := range []struct {
		kind     policy.OnIsolated
		members  int
		messages int
	}{
		{policy.Stop, 5, 3}, {policy.Majority, 3, 3}, {policy.Majority, 5, 6}, {policy.Majority, 8, 12},
	} {
		n := newNetwork(c.members, c.kind, 1)
		n.run(2 * longest)
		n.pass(n.tokens[0], c.members-1) // not the slot's first member
		n.run(time.Second)
		before := n.sent
		s := n.sites[c.members-1]
		s.demand = true
		s.step(policy.Event{Kind: policy.Timer})
		n.run(maxDelay * 2)
		s.demand = false
		n.run(3 * longest)
		assert.Equal(t, 1, n.ran)
		assert.Equal(t, c.messages, n.sent-before, "%v of %d", c.kind, c.members)
	}
}

// A member that is cut off from its voter does not begin a program, and says why.
func TestQuorum_CutFromVoter_NotBegun(t *testing.T) {
	for _, kind := range kinds {
		n := newNetwork(3, kind, 2)
		n.run(2 * longest)
		n.pass(n.tokens[0], 2)
		n.parts(0b100)
		s := n.sites[2]
		s.demand = true
		s.step(policy.Event{Kind: policy.Timer})
		n.run(silence + 10*time.Millisecond)
		assert.Zero(t, n.ran)
		assert.Equal(t, 1, s.refused, "the policy is told that it did not begin")
		_, missing, is := s.quorum.Isolated()
		assert.True(t, is)
		assert.Contains(t, missing, n.id(0))
		clear(n.cut)
		n.recovers(t)
		_, missing, is = s.quorum.Isolated()
		assert.False(t, is)
		assert.Empty(t, missing)
	}
}

// The slot's first member does not move on when it falls silent, and when it is revoked
// the next one gives no vote before the programs have ended that it may have given its own.
func TestQuorum_FirstRevoked_NextWaits(t *testing.T) {
	n := newNetwork(3, policy.Stop, 3)
	n.run(2 * longest)
	n.pass(n.tokens[0], 2)
	n.sites[2].demand = true
	n.sites[2].step(policy.Event{Kind: policy.Timer})
	n.run(400 * time.Millisecond)
	require.Equal(t, 1, n.ran)
	n.mint(1)
	n.sites[0].revoked = true
	for range 20 {
		n.sites[1].demand = true
		n.sites[1].step(policy.Event{Kind: policy.Timer})
		n.run(500 * time.Millisecond)
	}
	assert.False(t, n.overlap)
	n.recovers(t)
}

// A holder that knows half of the group only begins nothing with the votes of members that
// know more: it has two of two, and they know five.
func TestQuorum_HalfDirectory_NotBegun(t *testing.T) {
	n := newNetwork(5, policy.Majority, 6)
	n.sites[0].knows = 2
	n.run(2 * longest)
	n.pass(n.tokens[0], 0)
	n.sites[0].demand = true
	n.sites[0].step(policy.Event{Kind: policy.Timer})
	n.run(silence + 10*time.Millisecond)
	assert.Zero(t, n.ran)
	n.sites[0].knows = 3
	n.recovers(t)
}

// A member that lies about its vote gives it to two. Under majority, that is too little
// where two majorities have one member more in common than lie.
func TestQuorum_LiarVotesForTwo_EvenGroupHolds(t *testing.T) {
	for members, holds := range map[int]bool{3: false, 4: true, 5: false, 6: true} {
		assert.Equal(t, holds, !overlapsWithLiar(members), "%d members", members)
	}
}

// overlapsWithLiar reports whether two programs run where the last member votes for
// everybody, and nobody else reaches the others' half.
func overlapsWithLiar(members int) bool {
	n := newNetwork(members, policy.Majority, 4)
	n.run(2 * longest)
	liar := members - 1
	n.pass(n.tokens[0], 0)
	n.mint(1)
	half := 0
	for i := 0; i < liar; i += 2 {
		half |= 1 << i
	}
	n.parts(half)
	for i := range members {
		delete(n.cut, [2]int{i, liar})
		delete(n.cut, [2]int{liar, i})
	}
	for range 8 {
		for i := range 2 {
			n.sites[i].demand = true
			n.sites[i].step(policy.Event{Kind: policy.Timer})
		}
		for range 10 {
			n.run(50 * time.Millisecond)
			n.sites[liar].quorum.voter.given = ballot{} // it lies
		}
	}
	return n.overlap
}

// No other message than a well-formed one changes anything.
func TestQuorum_MalformedBody_Ignored(t *testing.T) {
	n := newNetwork(3, policy.Stop, 5)
	n.run(2 * longest)
	for _, body := range [][]byte{{0x90}, {0x94}, make([]byte, 600), {0xff, 1}, append([]byte{0x90}, make([]byte, 200)...)} {
		if len(body) > 500 {
			body[0] = 0x91
		}
		require.ErrorIs(t, CheckBody(body), ErrBody)
		n.sites[0].step(policy.Event{Kind: policy.Message, From: n.id(1), Body: body})
	}
	assert.Equal(t, ballot{}, n.sites[0].quorum.voter.given)
	var whole message
	for k, size := range sizes {
		m := message{kind: k, request: request{custody{ident.Token{1}, 2}, 3, 4}, born: 5, span: 6, members: 7, other: ident.Token{8}}
		b := m.append(nil)
		require.Len(t, b, size+1)
		require.NoError(t, CheckBody(b))
		whole = message{}
		require.True(t, parse(b, &whole))
		assert.Equal(t, b, whole.append(nil))
	}
}

// hearer counts the messages that a policy hears.
type hearer struct {
	policytest.Untimed
	heard int
}

func (h *hearer) Step(_ clock.Instant, e policy.Event, actions []policy.Action) []policy.Action {
	if e.Kind == policy.Message {
		h.heard++
	}
	return actions
}

// TestQuorum_OtherKinds_PassedOn: P-68. A policy and its keeper hear what is not about votes.
func TestQuorum_OtherKinds_PassedOn(t *testing.T) {
	h := &hearer{}
	q := Around(h, policy.Params{OnIsolated: policy.Stop}, policy.Surroundings{Self: ident.Member{1}})
	for kind := range 256 {
		before := h.heard
		q.Step(1, policy.Event{Kind: policy.Message, From: ident.Member{2}, Body: []byte{byte(kind)}}, nil)
		assert.Equal(t, kind < 0x90 || kind > 0x9f, h.heard > before, "%d", kind)
	}
}
