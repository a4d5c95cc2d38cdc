package member_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/wire"
)

// aWhile is how long somebody is shunned in these tests.
const aWhile = 10 * time.Minute

// judge is a marionette whose reports about shunned members are kept.
type judge struct {
	*marionette
	self   *someone
	others []*someone
	list   []effect.Report
}

func (j *judge) shun(m ident.Member, d time.Duration, struck bool) {
	j.shunAs(policy.Action{To: m, Struck: struck}, d)
}

func (j *judge) shunAs(a policy.Action, d time.Duration) {
	a.Kind, a.At = policy.Shun, j.now.Boot.Add(d)
	j.puppet.next = []policy.Action{a}
	j.step(member.Demand{Request: uint64(len(j.puppet.events)) + 100, Resource: resource})
	require.Empty(j.t, j.puppet.next)
	for _, r := range reports(j.box) {
		if r.Kind == member.PassesNoTokens {
			j.list = append(j.list, r)
		}
	}
	j.step(member.Withdraw{Request: uint64(len(j.puppet.events)) + 99})
}

// newJudge is a member among others, with a token if it founds the group.
func newJudge(t *testing.T, others int, found bool) (*judge, []*someone) {
	a := newAuthority(t)
	self := a.issue(1, 100*24*time.Hour)
	j := &judge{marionette: a.marionette(self, func(c *member.Config) { c.Found = found }), self: self}
	var list []*someone
	for n := range others {
		list = append(list, a.issue(byte(2+n), 24*time.Hour))
		j.meet(list[n])
	}
	j.others = list
	return j, list
}

// TestShun_UntilAnInstant_NotChosenAndThenAgain: a later one replaces it, and one that has come ends it.
func TestShun_UntilAnInstant_NotChosenAndThenAgain(t *testing.T) {
	j, others := newJudge(t, 2, false)
	id := others[0].id()
	j.shun(id, aWhile, false)
	require.True(t, j.Shunned(id))
	assert.False(t, j.Shunned(others[1].id()))
	j.after(aWhile - 1)
	require.True(t, j.Shunned(id))
	j.after(1)
	require.False(t, j.Shunned(id))

	j.shun(id, aWhile, false)
	j.shun(id, 2*aWhile, false)
	j.after(aWhile)
	require.True(t, j.Shunned(id))
	j.shun(id, 0, false)
	require.False(t, j.Shunned(id))
	j.shun(id, 0, false)
	require.False(t, j.Shunned(id))
}

// TestShun_All_AskedAllTheSame: who gets no token may have one.
func TestShun_All_AskedAllTheSame(t *testing.T) {
	j, others := newJudge(t, 2, false)
	shunned, other := others[0].id(), others[1].id()
	j.shun(shunned, aWhile, true)
	roster := j.puppet.Roster
	assert.Equal(t, []ident.Member{other}, roster.Draw(9, nil))
	assert.ElementsMatch(t, []ident.Member{shunned, other}, roster.Others(9, nil))
	assert.Len(t, roster.Others(1, nil), 1)
}

// TestShun_Struck_ReportedOnce: one report each time that a policy strikes a member, and none else.
func TestShun_Struck_ReportedOnce(t *testing.T) {
	j, others := newJudge(t, 1, false)
	id := others[0].id()
	j.shun(id, aWhile, false)
	require.Empty(t, j.list, "it has not given account yet")
	j.shun(id, aWhile, true)
	require.Len(t, j.list, 1)
	assert.Equal(t, id, j.list[0].About)
	assert.Contains(t, j.list[0].Detail, "10m0s")
	j.after(aWhile)
	j.shun(id, 0, false)
	require.Len(t, j.list, 1)
	j.shun(id, aWhile, true)
	assert.Len(t, j.list, 2)
}

// TestShun_Many_Bounded: those that are shunned already may be shunned longer.
func TestShun_Many_Bounded(t *testing.T) {
	j, _ := newJudge(t, 1, false)
	some := func(i int) ident.Member { return ident.Member{7, byte(i), byte(i >> 8)} }
	for i := range 3 * member.MaxShunned {
		j.shun(some(i), aWhile, false)
	}
	assert.Equal(t, member.MaxShunned, j.Shuns())
	assert.True(t, j.Shunned(some(member.MaxShunned-1)))
	assert.False(t, j.Shunned(some(member.MaxShunned)))
	j.shun(some(0), 2*aWhile, false)
	j.after(aWhile)
	assert.True(t, j.Shunned(some(0)))
	assert.False(t, j.Shunned(some(1)))
	assert.Equal(t, 1, j.Shuns(), "those of long ago are forgotten")
	j.shun(some(member.MaxShunned), aWhile, false)
	assert.True(t, j.Shunned(some(member.MaxShunned)))
}

// offers are those to whom tokens are offered while time passes, nobody accepting any.
func (j *judge) offers(d time.Duration) map[ident.Member]int {
	to := make(map[ident.Member]int)
	for end := j.now.Boot.Add(d); j.now.Boot < end; j.after(250 * time.Millisecond) {
		for _, e := range j.effects {
			if s, ok := e.(effect.Send); ok {
				if _, ok := s.Message.(*wire.Offer); ok {
					to[s.To]++
				}
			}
		}
	}
	return to
}

// TestShun_PassToAnybody_OfferedWhereNobodyElseIsLeft: unless it is struck, or shunned firmly. Who keeps
// a token because it shuns all others would be struck for that.
func TestShun_PassToAnybody_OfferedWhereNobodyElseIsLeft(t *testing.T) {
	for _, test := range []struct {
		others        int
		struck, firm  bool
		is, elsewhere bool
	}{
		{others: 1, is: true},
		{others: 1, struck: true},
		{others: 1, firm: true},
		{others: 3, elsewhere: true},
		{others: 3, struck: true, elsewhere: true},
	} {
		j, list := newJudge(t, test.others, true)
		require.NotEmpty(t, j.puppet.events)
		id := list[0].id()
		var tok ident.Token
		for _, e := range j.puppet.events {
			if e.Kind == policy.Generated {
				tok = e.Token.ID
			}
		}
		require.NotZero(t, tok)
		j.shunAs(policy.Action{To: id, Struck: test.struck, Firm: test.firm}, aWhile)
		j.does(policy.Action{Kind: policy.Pass, Token: tok})
		got := j.offers(time.Minute)
		assert.Equal(t, test.is, got[id] > 0, "%+v", test)
		delete(got, id)
		assert.Equal(t, test.elsewhere, len(got) > 0, "%+v", test)
	}
}

// TestShun_RingOfTwo_NeighbourUnlessStruck: a member alone on its ring keeps its token.
func TestShun_RingOfTwo_NeighbourUnlessStruck(t *testing.T) {
	for _, struck := range []bool{false, true} {
		j, list := newJudge(t, 1, false)
		j.shun(list[0].id(), aWhile, struck)
		j.after(0)
		next := list[0].id()
		for _, e := range j.puppet.events {
			if e.Kind == policy.Neighbour {
				next = e.From
			}
		}
		assert.Equal(t, struck, next.IsZero())
	}
}

// TestShun_PassToItByName_Offered: the policy that names it knows why.
func TestShun_PassToItByName_Offered(t *testing.T) {
	j, list := newJudge(t, 2, true)
	var tok ident.Token
	for _, e := range j.puppet.events {
		if e.Kind == policy.Generated {
			tok = e.Token.ID
		}
	}
	j.shun(list[0].id(), aWhile, false)
	j.does(policy.Action{Kind: policy.Pass, Token: tok, To: list[0].id()})
	got := j.offers(time.Second)
	assert.Positive(t, got[list[0].id()])
	assert.Zero(t, got[list[1].id()])
}

// TestShun_RingNeighbour_SkippedUntilItIsOver: and it follows this member again without a connection.
func TestShun_RingNeighbour_SkippedUntilItIsOver(t *testing.T) {
	for _, ends := range []bool{false, true} {
		j, list := newJudge(t, 3, false)
		neighbour := func() (id ident.Member) {
			for _, e := range j.puppet.events {
				if e.Kind == policy.Neighbour {
					id = e.From
				}
			}
			return id
		}
		first := neighbour()
		require.NotZero(t, first)
		j.shun(first, aWhile, false)
		j.after(0)
		second := neighbour()
		require.NotEqual(t, first, second)
		require.NotZero(t, second)
		for range 9 {
			j.after(time.Minute)
			for _, o := range list {
				j.speaks(o)
			}
			require.Equal(t, second, neighbour())
		}
		if ends {
			j.shun(first, 0, false)
			j.after(0)
			require.Equal(t, first, neighbour(), "at once")
			continue
		}
		j.after(time.Minute)
		require.Equal(t, first, neighbour(), "when the time is over")
	}
}
