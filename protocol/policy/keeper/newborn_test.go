package keeper

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// theMaker makes the tokens that are newborn in these tests. It is no keeper.
const theMaker = 4

var (
	newbornToken = ident.Token{7}
	backoffFirst = longHold + DefaultSilence
	knowsNone    = message{kind: none, span: 3_600_000}
)

// nursery is a keeper that a newborn token comes to.
type nursery struct {
	*lone
	policy *eagerPolicy
}

func newNursery() *nursery {
	n := &nursery{newLone(true), &eagerPolicy{}}
	n.holder.inner = n.policy
	return n
}

// arrivalOf is the arrival of a newborn token.
func arrivalOf(id ident.Token, born uint64, maker int) policy.Event {
	return policy.Event{Kind: policy.Arrival, From: at(maker), Token: policy.Token{ID: id, Born: born, Generator: at(maker), Hop: 1}}
}

func (n *nursery) comes() { n.step(arrivalOf(newbornToken, 1000, theMaker)) }

// taken reports whether the policy has the newborn token, or had it.
func (n *nursery) taken() bool { return slices.Contains(n.policy.told, policy.Arrival) }

func (n *nursery) admits() bool { return n.Admits(n.now, offerOf(newbornToken)) }

// offerOf is a token that the maker offers.
func offerOf(id ident.Token) policy.Token {
	return policy.Token{ID: id, Born: 1000, Generator: at(theMaker)}
}

// accepts has this member accept such a token, if it admits it.
func (n *nursery) accepts(id ident.Token) bool {
	if !n.Admits(n.now, offerOf(id)) {
		return false
	}
	n.step(policy.Event{Kind: policy.Accepted, From: at(theMaker), Token: offerOf(id)})
	return true
}

// havePassed lets another token have been here, and go to a member.
func (n *nursery) havePassed(to int, hop uint64) {
	n.holder.went(passed{custody: custody{token, hop}, to: at(to)})
}

// sentTo is to whom the newborn token was passed; zero: nobody.
func (n *nursery) sentTo() ident.Member {
	for _, a := range n.did {
		if a.Kind == policy.Pass && a.Token == newbornToken {
			return a.To
		}
	}
	return ident.Member{}
}

// TestNewborn_AllKnowNone_TakenAtOnce: P-69. The first keepers are asked, and the member that
// got the last token from here.
func TestNewborn_AllKnowNone_TakenAtOnce(t *testing.T) {
	n := newNursery()
	n.havePassed(theDead, 5)
	n.comes()
	require.False(t, n.taken())
	assert.False(t, n.admits(), "one at a time")
	for _, m := range []int{theHolder, thePasser, theDead} {
		require.False(t, n.taken())
		n.says(m, knowsNone)
	}
	assert.True(t, n.taken())
	assert.True(t, n.done(policy.Run))
	assert.True(t, n.admits())
}

// TestNewborn_EarlierTokenReturns_PassedHere: P-54. Its holder has restarted, and asks whether it may use that. The later token is
// here, and its policy may run under it before that member asks again.
func TestNewborn_EarlierTokenReturns_PassedHere(t *testing.T) {
	for _, born := range []uint64{1, 2000} {
		n := newNursery()
		n.comes()
		n.says(theHolder, message{kind: returned, custody: custody{token, 5}, born: born, promise: promise{1, 1}})
		m := n.told(theHolder, other)
		assert.Equal(t, born == 1, m.kind == other)
		if born == 1 {
			assert.Equal(t, message{kind: other, custody: custody{token, 5}, promise: promise{1, 1}, member: at(theSelf)}, m)
		}
		assert.False(t, n.taken())
	}
}

// TestNewborn_NobodyToAsk_TakenAtOnce: the maker is no witness of its own token.
func TestNewborn_NobodyToAsk_TakenAtOnce(t *testing.T) {
	n := newNursery()
	n.order = fixed{at(theSelf), at(theMaker)}
	n.comes()
	assert.True(t, n.taken())
}

// TestNewborn_PolicyNotExclusive_TakenAtOnce: several tokens are right there.
func TestNewborn_PolicyNotExclusive_TakenAtOnce(t *testing.T) {
	n := &nursery{newLone(false), &eagerPolicy{}}
	n.holder.inner = n.policy
	for i := range byte(3) {
		require.True(t, n.admits())
		n.step(arrivalOf(ident.Token{7, i}, 1, theMaker))
		assert.Len(t, n.policy.told, int(i)+1)
	}
}

// TestNewborn_LaterHop_TakenAtOnce: P-69 is about the first hop.
func TestNewborn_LaterHop_TakenAtOnce(t *testing.T) {
	for hop, from := range map[uint64]int{2: theHolder, 3: theMaker} {
		n := newNursery()
		e := arrivalOf(newbornToken, 1000, theMaker)
		e.Token.Hop, e.From = hop, at(from)
		n.step(e)
		assert.True(t, n.taken())
	}
}

// TestNewborn_OtherTokenGoesOn_SentToIt: a member has another token, and then another member has
// that. The newborn one meets it, and its maker is backed off from, twice as long each time.
func TestNewborn_OtherTokenGoesOn_SentToIt(t *testing.T) {
	n := newNursery()
	for i := range 3 {
		n.did = nil
		n.step(arrivalOf(ident.Token{7, byte(i)}, 1000, theMaker))
		n.says(theHolder, message{kind: have, custody: custody{token, uint64(2*i + 5)}, span: 6000})
		require.True(t, n.newborn.frozen)
		n.says(thePasser, message{kind: have, custody: custody{token, uint64(2*i + 6)}})
		require.False(t, n.newborn.isOn())
		require.True(t, n.done(policy.Pass))
		require.False(t, n.taken())
		n.step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Delivered, From: at(thePasser), Token: policy.Token{ID: ident.Token{7, byte(i)}, Hop: 1}})
		n.after(backoffFirst<<i - time.Second)
		require.False(t, n.admits(), i)
		n.after(time.Second)
		require.True(t, n.admits(), i)
	}
}

// TestNewborn_BacksOff_DroppedIfItComes: the member has accepted it before.
func TestNewborn_BacksOff_DroppedIfItComes(t *testing.T) {
	n := newNursery()
	n.newborn.backsOff(at(theMaker), newbornToken)
	n.comes()
	assert.True(t, n.done(policy.Drop))
	assert.False(t, n.taken())
}

// TestNewborn_OneMemberSaysThatItHasOne_TakenInTheEnd: it may lie, and is asked all the time.
func TestNewborn_OneMemberSaysThatItHasOne_TakenInTheEnd(t *testing.T) {
	n := newNursery()
	n.comes()
	n.says(thePasser, knowsNone)
	var waited time.Duration
	for hop := uint64(5); !n.taken(); waited += time.Second {
		require.LessOrEqual(t, waited, 2*longHold)
		n.says(theHolder, message{kind: have, custody: custody{token, hop}, span: 6000})
		n.says(theMaker, message{kind: have, custody: custody{token, hop + 100}}) // of no weight
		n.after(time.Second)
		require.True(t, n.taken() || n.asked(theHolder))
		hop++
	}
	assert.Equal(t, backoffFirst, waited)
	assert.True(t, n.admits())
}

// TestNewborn_OtherTokenWentOn_Followed: its way is followed, also through this member.
func TestNewborn_OtherTokenWentOn_Followed(t *testing.T) {
	n := newNursery()
	n.havePassed(theDead, 8)
	n.comes()
	n.says(thePasser, knowsNone)
	n.says(theDead, message{kind: went, custody: custody{token, 9}, member: at(5)})
	require.True(t, n.asked(5))
	n.says(theHolder, message{kind: went, custody: custody{token, 4}, member: at(theSelf)})
	assert.True(t, n.asked(theDead), "it has gone on from here")
	n.says(theDead, knowsNone)
	n.says(5, knowsNone)
	assert.True(t, n.taken())
}

// TestNewborn_LongWay_FollowedForAWhile: the other token may have been lost after many hops. So
// no more than maxChain members are asked, and the policy gets the token after L / 4.
func TestNewborn_LongWay_FollowedForAWhile(t *testing.T) {
	for _, slow := range []bool{false, true} {
		n := newNursery()
		n.comes()
		n.says(thePasser, knowsNone)
		from, began := theHolder, n.now
		for i := 0; n.newborn.isOn(); i++ {
			require.Less(t, i, maxChain)
			if slow {
				n.after(75 * time.Millisecond)
				require.Equal(t, n.now < began.Add(DefaultSilence/4), n.newborn.frozen)
			}
			n.says(from, message{kind: went, custody: custody{token, uint64(i + 5)}, member: at(10 + i)})
			from = 10 + i
		}
		assert.True(t, n.taken())
		assert.True(t, n.admits())
	}
}

// TestNewborn_OtherTokenOnItsWay_AskedAgain: it is with nobody then. Where it is for long, its
// receiver may be dead.
func TestNewborn_OtherTokenOnItsWay_AskedAgain(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		n := newNursery()
		n.comes()
		n.says(thePasser, knowsNone)
		moving := message{kind: went, custody: custody{token, 4}, member: at(theDead), span: 10}
		if stuck {
			moving.span = 300
		}
		n.says(theHolder, moving)
		n.did = nil
		n.after(DefaultSilence / 16)
		assert.Equal(t, stuck, n.taken())
		assert.Equal(t, !stuck, n.asked(theHolder))
	}
}

// TestNewborn_NobodyAnswers_TakenSoonAndCheckGoesOn: those that are asked may be dead, and a
// group that has lost its token waits no longer than now. If they answer later, the maker is
// backed off from.
func TestNewborn_NobodyAnswers_TakenSoonAndCheckGoesOn(t *testing.T) {
	for _, answered := range []bool{false, true} {
		n := newNursery()
		n.havePassed(theDead, 5)
		n.comes()
		wait := DefaultSilence / 16
		if answered { // so fast that the others should have
			n.after(5 * time.Millisecond)
			n.says(thePasser, knowsNone)
			wait = nextPause - 5*time.Millisecond
		}
		n.after(wait - 1)
		require.False(t, n.taken())
		n.after(1)
		require.True(t, n.taken())
		n.says(theHolder, message{kind: have, custody: custody{token, 7}})
		n.says(theDead, message{kind: have, custody: custody{token, 8}})
		assert.False(t, n.admits())
		assert.Equal(t, ident.Member{}, n.sentTo(), "the policy has it")
	}
}

// TestNewborn_Frozen_WaitsAndWatches: what is due of the check is waited for, and who is asked is
// watched until it is over.
func TestNewborn_Frozen_WaitsAndWatches(t *testing.T) {
	n := newNursery()
	n.comes()
	assert.LessOrEqual(t, n.Deadline(), n.now.Add(DefaultSilence/16))
	assert.ElementsMatch(t, []ident.Member{at(theHolder), at(thePasser)}, n.watches.list)
	n.says(theHolder, message{kind: have, custody: custody{token, 5}})
	n.says(thePasser, knowsNone)
	assert.LessOrEqual(t, n.Deadline(), n.now.Add(DefaultSilence/4))
	assert.Equal(t, members{at(theHolder)}, n.watches.list)
}

// TestNewborn_AskedIsSilent_NotWaitedFor: nor asked, if that is known before.
func TestNewborn_AskedIsSilent_NotWaitedFor(t *testing.T) {
	n := newNursery()
	n.fellSilent(at(5))
	n.havePassed(5, 5)
	n.comes()
	assert.False(t, n.asked(5))
	n.says(thePasser, knowsNone)
	n.step(policy.Event{Kind: policy.Silent, From: at(theHolder)})
	assert.True(t, n.taken())
	assert.True(t, n.admits())
}

// TestNewborn_OtherTokenIsHere_BothAtOnce: the policy keeps the later one.
func TestNewborn_OtherTokenIsHere_BothAtOnce(t *testing.T) {
	n := newNursery()
	n.step(policy.Event{Kind: policy.Arrival, From: at(theHolder), Token: policy.Token{ID: token, Born: 1, Generator: at(theDead), Hop: 5}})
	n.comes()
	assert.Equal(t, 2, len(slices.DeleteFunc(n.policy.told, func(k policy.EventKind) bool { return k != policy.Arrival })))
	assert.False(t, n.admits())
}

// TestNewborn_OtherTokenComes_BothAtOnce: while it is frozen, or shortly after.
func TestNewborn_OtherTokenComes_BothAtOnce(t *testing.T) {
	for _, test := range []struct {
		name    string
		wait    time.Duration // after the check has ended; 0: it has not
		born    uint64
		belated bool
		backs   bool
	}{
		{"frozen", 0, 1, false, true},
		{"frozen, a later one comes", 0, 2000, false, true},
		{"frozen, an old one comes belated", 0, 1, true, false},
		{"taken", time.Second, 1, false, true},
		{"taken, a later one comes", time.Second, 2000, false, false},
		{"taken long ago", backoffFirst, 1, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newNursery()
			n.comes()
			if test.wait > 0 {
				n.says(theHolder, knowsNone)
				n.says(thePasser, knowsNone)
				n.after(test.wait)
			}
			n.step(policy.Event{Kind: policy.Arrival, From: at(theHolder), Belated: test.belated, Token: policy.Token{ID: token, Born: test.born, Generator: at(theDead), Hop: 5}})
			assert.Equal(t, test.backs, n.newborn.backoffs.from(at(theMaker), n.now))
			assert.Equal(t, !test.belated, n.taken())
		})
	}
}

// TestNewborn_SecondComes_LaterStaysAndCheckGoesOn: who makes tokens all the time prolongs
// nothing.
func TestNewborn_SecondComes_LaterStaysAndCheckGoesOn(t *testing.T) {
	for _, later := range []bool{false, true} {
		n := newNursery()
		n.comes()
		second, born := ident.Token{8}, uint64(999)
		if later {
			born = 1001
		}
		n.says(thePasser, knowsNone)
		n.step(arrivalOf(second, born, 5))
		i := slices.IndexFunc(n.did, func(a policy.Action) bool { return a.Kind == policy.Drop })
		require.GreaterOrEqual(t, i, 0)
		assert.Equal(t, !later, n.did[i].Token == second)
		require.False(t, n.taken())
		n.says(theHolder, knowsNone)
		assert.True(t, n.taken())
	}
}

// TestNewborn_MakerHasTheOther_Dropped: the way of the other token leads to the maker, which
// still has it.
func TestNewborn_MakerHasTheOther_Dropped(t *testing.T) {
	n := newNursery()
	n.comes()
	n.says(theHolder, message{kind: went, custody: custody{token, 5}, member: at(theMaker)})
	require.True(t, n.asked(theMaker))
	n.says(theMaker, message{kind: have, custody: custody{token, 6}})
	assert.True(t, n.done(policy.Drop))
	assert.False(t, n.admits())
	assert.False(t, n.taken())
}

// TestNewborn_MakerHasEarlierOneFromHere_WaitsForItsEnd: P-69, 5. Two makers have passed their tokens to each other. The other one drops the
// earlier token when its program has ended, so this one keeps the later one.
func TestNewborn_MakerHasEarlierOneFromHere_WaitsForItsEnd(t *testing.T) {
	for _, test := range []struct {
		born  uint64 // of the token that went from here to the maker; the newborn one was made at 1000
		waits bool
	}{{999, true}, {1001, false}, {0, false}} {
		n := newNursery()
		n.holder.went(passed{custody: custody{token, 0}, born: test.born, to: at(theMaker)})
		n.comes()
		require.True(t, n.asked(theMaker))
		n.says(theMaker, message{kind: have, custody: custody{token, 1}})
		assert.Equal(t, !test.waits, n.done(policy.Drop), "%d", test.born)
		n.says(theHolder, knowsNone)
		n.says(thePasser, knowsNone)
		assert.False(t, n.taken(), "a program runs under the other token")
		n.says(theMaker, knowsNone)
		assert.Equal(t, test.waits, n.taken(), "%d", test.born)
		assert.False(t, n.admits())
	}
}

// TestNewborn_MakerSpeaksUnasked_NoWeight: the token that this member passed on went to another one. The maker says unasked that it has
// that token. Its word neither contests its own token nor holds it back.
func TestNewborn_MakerSpeaksUnasked_NoWeight(t *testing.T) {
	claim := message{kind: have, custody: custody{token, 1 << 40}}
	for _, first := range []bool{true, false} {
		n := newNursery()
		n.holder.went(passed{custody: custody{token, 2}, born: 5, to: at(thePasser)})
		n.comes()
		if first {
			n.says(theMaker, claim)
		}
		n.says(theHolder, message{kind: have, custody: custody{token, 9}})
		n.says(theMaker, claim)
		require.True(t, n.newborn.isOn())
		assert.Equal(t, at(theHolder), n.newborn.rival)
		n.says(thePasser, message{kind: have, custody: custody{token, 10}})
		assert.Equal(t, at(thePasser), n.sentTo(), "it goes where the other one is")
		assert.False(t, n.admits())
	}
}

// TestNewborn_MakerAloneHoldsItBack_Contested: the maker says for H + L that it has the earlier token. A maker that lies gains no more by that
// than by saying nothing.
func TestNewborn_MakerAloneHoldsItBack_Contested(t *testing.T) {
	n := newNursery()
	n.holder.went(passed{custody: custody{token, 2}, born: 5, to: at(theMaker)})
	began := n.now
	n.comes()
	for !n.taken() && n.now < began.Add(4*backoffFirst) {
		n.says(theMaker, message{kind: have, custody: custody{token, 3}})
		n.after(time.Second)
	}
	assert.True(t, n.taken())
	assert.GreaterOrEqual(t, n.now.Sub(began), backoffFirst)
	assert.False(t, n.admits())
}

// TestNewborn_OtherEndsAtMaker_TakenOnce: the maker has had the other token, and does not say
// where it went. It may have lost its memory; so this one counts, and no other one soon.
func TestNewborn_OtherEndsAtMaker_TakenOnce(t *testing.T) {
	n := newNursery()
	n.comes()
	n.says(theHolder, message{kind: went, custody: custody{token, 5}, member: at(theMaker)})
	n.says(thePasser, knowsNone)
	n.says(theMaker, knowsNone)
	assert.True(t, n.taken())
	assert.False(t, n.admits())
}

// TestNewborn_FrozenAndAsked_SaysSo: a keeper that looks for a lost token is to make none in
// place of one that is frozen. What is known of the other token is said, too.
func TestNewborn_FrozenAndAsked_SaysSo(t *testing.T) {
	for _, had := range []bool{false, true} {
		n := newNursery()
		if had {
			n.havePassed(theDead, 5)
		}
		n.comes()
		n.did = nil
		n.says(thePasser, message{kind: ask, custody: custody{token, 5}})
		var kinds []kind
		for _, a := range n.did {
			if a.Kind == policy.Tell {
				kinds = append(kinds, kind(a.Field[0]))
			}
		}
		want := []kind{returned}
		if had {
			want = []kind{went, returned}
		}
		assert.Equal(t, want, kinds)
		m := n.told(thePasser, returned)
		assert.Equal(t, custody{newbornToken, 1}, m.custody)
		assert.Equal(t, uint64(1000), m.born)
	}
}

// TestNewborn_AskedMemberHasFrozenOne_EarlierWaits: of two that are frozen in two places the later
// one is used, and the other one waits for it.
func TestNewborn_AskedMemberHasFrozenOne_EarlierWaits(t *testing.T) {
	for _, earlier := range []bool{false, true} {
		n := newNursery()
		n.comes()
		n.says(thePasser, knowsNone)
		m := message{kind: returned, custody: custody{ident.Token{8}, 1}, born: 999}
		if earlier {
			m.born = 1001
		}
		n.says(theHolder, m)
		assert.Equal(t, !earlier, n.taken())
	}
}

// TestNewborn_KeeperSearches_MakesNone: this member finds itself that the other token is lost.
func TestNewborn_KeeperSearches_MakesNone(t *testing.T) {
	n := newNursery()
	n.says(theHolder, message{kind: have, custody: custody{token, 5}, span: 2000})
	n.says(thePasser, message{kind: want})
	n.comes()
	n.says(theHolder, message{kind: have, custody: custody{token, 5}, span: 2000})
	for range 8 {
		n.search.make()
	}
	assert.False(t, slices.ContainsFunc(n.Answer(), func(a policy.Action) bool { return a.Kind == policy.Generate && n.newborn.frozen }))
	assert.True(t, n.taken())
}

// TestNewborn_DriverRemovesIt_Forgotten: the policy has never known of it.
func TestNewborn_DriverRemovesIt_Forgotten(t *testing.T) {
	for _, outcome := range []policy.Outcome{policy.Abandoned, policy.Returned} {
		n := newNursery()
		n.comes()
		n.step(policy.Event{Kind: policy.PassEnded, Outcome: outcome, Token: policy.Token{ID: newbornToken, Hop: 1}})
		assert.Equal(t, outcome == policy.Returned, n.newborn.frozen)
		assert.NotContains(t, n.policy.told, policy.PassEnded)
	}
}

// TestNewborn_Belated_AllKeepersAsked: P-55 asks more members, and takes the place of P-69.
func TestNewborn_Belated_AllKeepersAsked(t *testing.T) {
	n := newNursery()
	e := arrivalOf(newbornToken, 1000, theMaker)
	e.Belated = true
	n.step(e)
	assert.False(t, n.newborn.isOn())
	assert.Equal(t, returned, n.told(theHolder, returned).kind)
}

// TestNewborn_AllRefuseIt_StallEndsWithBackOff: an honest member makes a token while others back
// off from it. It keeps that token, and they take it when that is over, or from another one.
func TestNewborn_AllRefuseIt_StallEndsWithBackOff(t *testing.T) {
	for _, members := range []int{3, 5} {
		n := newNetwork(members, 1)
		last := members - 1
		n.want(last)
		n.run(20 * time.Second)
		require.Len(t, n.sites[last].holds, 1)
		n.sites[1].keeper.newborn.backoffs.note(n.sites[0].id, n.now, longestHold+DefaultSilence)
		n.die(last)
		n.stall = 0
		n.want(members - 2)
		n.run(time.Minute)
		require.Equal(t, 1, n.made)
		assert.False(t, n.sites[members-2].demand)
		assert.Positive(t, n.refused)
		assert.Zero(t, n.overlap)
		assert.LessOrEqual(t, n.stall, longestHold+DefaultSilence+2*time.Second)
	}
}

// TestNewborn_AnythingSaid_EndsInTime: whatever others say, a newborn token is dropped, sent on
// or used H + L after somebody has said that there is another one, and members are asked at
// most maxChain times before it is known who has that.
func TestNewborn_AnythingSaid_EndsInTime(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := newNursery()
		n.comes()
		began := n.now
		for i := 0; n.newborn.isOn(); i++ {
			require.LessOrEqual(t, n.now.Sub(began), longHold+4*DefaultSilence+time.Duration(maxChain)*2*DefaultSilence)
			kinds := []kind{have, went, none, rest, returned}
			m := message{
				kind: rapid.SampledFrom(kinds).Draw(r, "kind"), born: rapid.Uint64Range(999, 1001).Draw(r, "born"),
				custody: custody{ident.Token{byte(rapid.IntRange(1, 2).Draw(r, "token"))}, rapid.Uint64Range(1, 9).Draw(r, "hop")},
				member:  at(rapid.IntRange(0, 5).Draw(r, "to")), span: rapid.Uint32Range(0, 5000).Draw(r, "span"),
			}
			n.says(rapid.IntRange(1, 5).Draw(r, "from"), m)
			n.after(time.Duration(rapid.IntRange(0, 3000).Draw(r, "ms")) * time.Millisecond)
			require.LessOrEqual(t, n.newborn.asks, maxChain)
		}
		settled := n.taken() || n.done(policy.Drop) || n.done(policy.Pass)
		require.True(t, settled, fmt.Sprint(n.did))
		require.Equal(t, clock.Never, n.newborn.deadline())
	})
}

// backsOffFromMaker has this member back off from the maker for as long as can be.
func (n *nursery) backsOffFromMaker() { n.newborn.backoffs.note(at(theMaker), n.now, maxBackoff) }

// TestNewborn_OwnOneIsHere_MeetsOneOfTheOther: P-69, 7. Each token of this member's meets one token of a maker that it
// backs off from: the policy gets both, and the later one stays.
func TestNewborn_OwnOneIsHere_MeetsOneOfTheOther(t *testing.T) {
	n := newNursery()
	n.backsOffFromMaker()
	require.False(t, n.admits())
	for i := range byte(2) {
		n.step(policy.Event{Kind: policy.Generated, Token: policy.Token{ID: ident.Token{9, i}, Born: 500 + uint64(i), Generator: at(theSelf)}})
		require.True(t, n.admits())
		n.policy.told = nil
		n.comes()
		assert.True(t, n.taken())
		assert.False(t, n.done(policy.Drop))
		require.False(t, n.admits(), "one for each")
		n.policy.told = nil
		n.step(arrivalOf(ident.Token{8, i}, 1001, theMaker))
		assert.False(t, n.taken())
		n.did = nil
	}
}

// TestNewborn_OwnOneLeavesAfterAccept_OtherTaken: P-69, 7. The own token goes to a third member before the one comes that was
// accepted to meet it. That one is not dropped: its maker would bar this member for it. No further one is accepted meanwhile.
func TestNewborn_OwnOneLeavesAfterAccept_OtherTaken(t *testing.T) {
	for _, accepted := range []bool{true, false} {
		n := newNursery()
		n.backsOffFromMaker()
		own := policy.Token{ID: ident.Token{9}, Born: 500, Generator: at(theSelf)}
		n.step(policy.Event{Kind: policy.Generated, Token: own})
		if accepted {
			require.True(t, n.accepts(newbornToken))
			require.True(t, n.accepts(newbornToken), "it is offered once more")
			require.False(t, n.accepts(ident.Token{8}), "one for each own token")
		}
		n.policy.told = nil
		n.holder.held.remove(&own.ID)
		n.holder.went(passed{custody: custody{own.ID, 0}, to: at(theHolder)})
		assert.Equal(t, accepted, n.accepts(newbornToken))
		n.comes()
		assert.Equal(t, accepted, n.newborn.frozen)
		assert.Equal(t, !accepted, n.done(policy.Drop))
		n.newborn.end()
		assert.False(t, n.accepts(newbornToken), "it has come")
	}
}

// TestNewborn_OwnOneHasMoved_Refused: it goes on, and meets the other one elsewhere.
func TestNewborn_OwnOneHasMoved_Refused(t *testing.T) {
	own := policy.Token{ID: ident.Token{9}, Born: 500, Generator: at(theSelf)}
	n := newNursery()
	n.backsOffFromMaker()
	n.step(policy.Event{Kind: policy.Generated, Token: own})
	own.Hop = 2
	n.step(policy.Event{Kind: policy.Arrival, From: at(theHolder), Token: own})
	assert.False(t, n.admits())
}

// TestNewborn_OwnOneWentToMaker_TakesOneOfIt: P-69, 7. The two may have changed places, or that member may have had the
// later one. It does not take one if its own one went to any other member, or if another token has been here since.
func TestNewborn_OwnOneWentToMaker_TakesOneOfIt(t *testing.T) {
	for _, test := range []struct {
		to    int
		since bool
		takes bool
	}{{theMaker, false, true}, {theHolder, false, false}, {theMaker, true, false}} {
		n := newNursery()
		n.backsOffFromMaker()
		n.search.generated = ident.Token{9}
		n.holder.went(passed{custody: custody{ident.Token{9}, 0}, to: at(test.to)})
		if test.since {
			n.havePassed(theHolder, 3)
		}
		assert.Equal(t, test.takes, n.admits())
		n.comes()
		assert.Equal(t, test.takes, n.newborn.isOn())
		assert.Equal(t, !test.takes, n.done(policy.Drop))
	}
}

// TestNewborn_OwnOneOfBeforeRestart_TakesOneOfOther: P-69, 7. This process has not made it, but no other member has a token by
// the custody at hop 0.
func TestNewborn_OwnOneOfBeforeRestart_TakesOneOfOther(t *testing.T) {
	for _, kind := range []policy.EventKind{policy.Resumed, policy.Running} {
		for hop, takes := range []bool{true, false} {
			n := newNursery()
			n.backsOffFromMaker()
			n.step(policy.Event{Kind: kind, Token: policy.Token{ID: ident.Token{9}, Born: 500, Generator: at(theSelf), Hop: uint64(hop)}})
			require.Equal(t, takes, n.admits())
			n.comes()
			assert.Equal(t, !takes, n.done(policy.Drop))
			n.newborn.end()
			assert.False(t, n.admits(), "one for each own token")
		}
	}
}

// TestNewborn_Pardoned_TakenOnce: P-69, 8. One token is taken, and another one later only if that was the only one.
func TestNewborn_Pardoned_TakenOnce(t *testing.T) {
	for _, only := range []bool{false, true} {
		n := newNursery()
		b := &n.newborn.backoffs
		n.backsOffFromMaker()
		require.True(t, b.pardons(at(theMaker), n.now))
		require.True(t, n.admits())
		n.comes()
		require.True(t, n.newborn.frozen)
		n.says(thePasser, knowsNone)
		if only {
			n.says(theHolder, knowsNone)
		} else {
			n.says(theHolder, message{kind: have, custody: custody{token, 5}})
			n.says(thePasser, message{kind: have, custody: custody{token, 6}})
		}
		require.False(t, n.newborn.isOn())
		assert.False(t, n.admits())
		assert.Equal(t, only, n.taken())
		assert.Equal(t, only, b.mayPardon(at(theMaker), n.now))
		if only { // another one comes, so that it was not
			n.step(policy.Event{Kind: policy.Arrival, From: at(theHolder), Token: policy.Token{ID: token, Born: 1, Generator: at(theDead), Hop: 5}})
			assert.False(t, b.mayPardon(at(theMaker), n.now))
		}
	}
}

// TestNewborn_TwoMakersBackOff_OneTokenSoon: whatever a liar has done before, two honest makers come to one token.
func TestNewborn_TwoMakersBackOff_OneTokenSoon(t *testing.T) {
	for seed := range uint64(20) {
		n := newNetwork(3, seed)
		for i := range 2 {
			n.sites[i].keeper.newborn.backoffs.note(n.sites[1-i].id, n.now, maxBackoff)
		}
		n.sites[2].keeper.newborn.backoffs.note(n.sites[0].id, n.now, maxBackoff)
		n.sites[2].keeper.newborn.backoffs.note(n.sites[1].id, n.now, maxBackoff)
		n.mint(1)
		for i := range 3 {
			n.sites[i].greedy = true
			n.want(i)
		}
		n.run(2 * time.Minute)
		held := 0
		for _, s := range n.sites {
			held += len(s.holds)
		}
		assert.LessOrEqual(t, held, 1)
		assert.Zero(t, n.made)
		assert.LessOrEqual(t, n.overlap, 3*longestHold)
		for i := range 3 {
			for j := range 3 {
				assert.False(t, n.sites[i].keeper.isStruck(n.sites[j].id))
			}
		}
	}
}
