package wandering

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/keeper"
)

// A member that waits takes no token, and no other one wants it. For others the token has been here since before the pass that
// came back. So another program begins only if it ends in time. Else the token goes to another member.
func TestFair_PassComesBack_NextProgramEndsInTime(t *testing.T) {
	const refuser = 2 // that is drawn first
	for _, c := range []struct {
		name    string
		program time.Duration
		members int
		untaken int // passes that come back before the next program
		passes  int // in all, of which the last one is not to the refuser
	}{
		{"time is left", 2 * time.Second, 20, 1, 1},
		{"no time is left", 10 * time.Second, 20, 0, 2},
		{"nobody else is left", 10 * time.Second, 2, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := policy.Params{OperationTime: 10 * time.Second, MaxHold: time.Minute, MembersMax: 8, SkipDelay: 100 * time.Millisecond, MinInterval: 500 * time.Millisecond}
			w := walkerAt(t, 1, Fair, p)
			w.roster = everybody{c.members, 1}
			w.Step(w.Now, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
			e := arrival(9, 1000)
			require.NotEmpty(t, kinds(w.Step(2*second, e, nil), policy.Run))
			var list candidates
			list.insert(second, candidate{member: ident.Member{refuser}, served: second, weight: 1})
			w.fair.candidates = list
			now, ran, passed := 2*second, 1, []policy.Action(nil)
			asked := make(map[ident.Member]bool)
			did := func(actions []policy.Action) {
				ran += len(kinds(actions, policy.Run))
				passed = append(passed, kinds(actions, policy.Pass)...)
				for _, a := range kinds(actions, policy.Tell) {
					var m body
					asked[a.To] = asked[a.To] || parseBody(a.Field, &m) && m.kind == inquire && m.member == a.To
				}
			}
			for ends := now.Add(c.program); ran == 1 && len(passed) < c.passes+1 && now < ends.Add(10*time.Second); now += second / 20 {
				if now == ends {
					did(w.Step(now, policy.Event{Kind: policy.OperationEnded, Operated: true, Token: e.Token}, nil))
				}
				did(w.Step(now, policy.Event{Kind: policy.Timer}, nil))
				for i := range byte(c.members) {
					a := body{kind: answer, member: ident.Member{i + 1}, what: unwilling, age: 1 << 20}
					if i+1 == refuser {
						a.what = willing
					}
					if asked[a.member] {
						delete(asked, a.member)
						did(w.Step(now, said(i+1, a), nil))
					}
				}
				if !w.have && passed[len(passed)-1].To == (ident.Member{refuser}) {
					if c.members == refuser {
						w.roster = everybody{1, 1} // its keeper avoids the refuser
					}
					did(w.Step(now, policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: e.Token}, nil))
				}
			}
			require.Len(t, passed, c.passes)
			assert.Equal(t, ident.Member{refuser}, passed[0].To)
			if ran == 1 {
				assert.NotEqual(t, ident.Member{refuser}, passed[1].To)
			}
			assert.Equal(t, c.untaken, ran-1)
		})
	}
}

// TestSpans_Again_AsKeepersCount: both count with one silence, where params have none.
func TestSpans_Again_AsKeepersCount(t *testing.T) {
	assert.Equal(t, time.Duration(keeper.DefaultSilence), time.Duration(defaultSilence))
	assert.Equal(t, clock.Instant(9*time.Second), clock.Instant(0).Add(deriveSpans(policy.Params{OperationTime: time.Second, MinInterval: time.Second}, true).again))
}

// avoiding is everybody, without a member that is passed no token.
type avoiding struct {
	everybody
	avoided ident.Member
}

func (a avoiding) Draw(n int, to []ident.Member) []ident.Member {
	start := len(to)
	to = without(a.everybody.Draw(n+1, to), a.avoided)
	return to[:min(len(to), start+n)]
}

func (a avoiding) Size() int { return a.everybody.Size() - 1 }

// One of two others has not taken the token, and is avoided for that. The other one is offered it before the operation runs
// again.
func TestLight_PassComesBack_OtherOneOffered(t *testing.T) {
	w := walkerAt(t, 1, Light, table1)
	w.roster = everybody{3, 1}
	w.Step(w.Now, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
	e := arrival(9, 1000)
	require.NotEmpty(t, kinds(w.Step(2*second, e, nil), policy.Run))
	w.early = w.Now
	passed := kinds(w.Step(6*second, policy.Event{Kind: policy.OperationEnded, Token: e.Token}, nil), policy.Pass)
	if len(passed) == 0 {
		passed = kinds(w.Step(w.Deadline(), policy.Event{Kind: policy.Timer}, nil), policy.Pass)
	}
	require.Len(t, passed, 1)
	require.Equal(t, ident.Member{2}, passed[0].To)
	w.roster = avoiding{everybody{3, 1}, ident.Member{2}}
	require.Empty(t, kinds(w.Step(7*second, policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: e.Token}, nil), policy.Run))
	passed = kinds(w.Step(w.Deadline(), policy.Event{Kind: policy.Timer}, nil), policy.Pass)
	require.Len(t, passed, 1)
	assert.Equal(t, ident.Member{3}, passed[0].To)
	w.roster = everybody{1, 1}
	assert.NotEmpty(t, kinds(w.Step(9*second, policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: e.Token}, nil), policy.Run), "nobody else is left")
}
