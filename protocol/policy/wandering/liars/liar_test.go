package liars

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// all is a Roster of the members 1 to 5.
type all struct{}

func (all) Draw(n int, to []ident.Member) []ident.Member {
	return all{}.Witnesses(ident.Member{1}, n, to)
}

func (all) Others(n int, to []ident.Member) []ident.Member { return all{}.Draw(n, to) }

func (all) Size() int { return 4 }

func (all) Witnesses(of ident.Member, n int, to []ident.Member) []ident.Member {
	for i := byte(1); i <= 5; i++ {
		if m := (ident.Member{i}); m != of && n > 0 {
			to, n = append(to, m), n-1
		}
	}
	return to
}

func liarOf(t *testing.T, lie Lie, about ...ident.Member) policy.Policy {
	p := policy.Params{OperationTime: 4 * time.Second, MembersMax: 300, SkipDelay: time.Second}
	l, err := New(p, policy.Surroundings{Self: ident.Member{1}, Random: rand.NewPCG(1, 1), Roster: all{}}, lie, about)
	require.NoError(t, err)
	l.Step(1, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
	return l
}

const second = clock.Instant(time.Second)

func told(actions []policy.Action, kind byte) (bodies [][]byte) {
	for _, a := range actions {
		if a.Kind == policy.Tell && a.Field[0] == kind {
			bodies = append(bodies, append([]byte(nil), a.Field...))
		}
	}
	return bodies
}

func count(actions []policy.Action, kind policy.ActionKind) (n int) {
	for _, a := range actions {
		if a.Kind == kind {
			n++
		}
	}
	return n
}

var arrival = policy.Event{Kind: policy.Arrival, From: ident.Member{2}, Token: policy.Token{ID: ident.Token{9}, Born: 5, Hop: 7}}

// What is lied in is where the honest member put the truth.
func TestLies(t *testing.T) {
	question := append([]byte{ask}, make([]byte, 40+memberSize)...)
	question[1], question[40] = 9, 7
	for lie, what := range map[Lie]byte{Starved: have, Denying: none} {
		l := liarOf(t, lie, ident.Member{1}, ident.Member{3})
		l.Step(2*second, arrival, nil)
		answers := told(l.Step(3*second, policy.Event{Kind: policy.Message, From: ident.Member{2}, Body: question}, nil), what)
		require.Len(t, answers, 1)
	}

	starved := liarOf(t, Starved, ident.Member{1}, ident.Member{3})
	require.Equal(t, 1, count(starved.Step(2*second, arrival, nil), policy.Run))
	ended := starved.Step(6*second, policy.Event{Kind: policy.OperationEnded, Operated: true, Token: arrival.Token}, nil)
	require.Len(t, told(ended, demand), 4)
	inquiry := append([]byte{3}, make([]byte, sightSize+memberSize)...)
	inquiry[1+sightSize] = 3
	answers := told(starved.Step(7*second, policy.Event{Kind: policy.Message, From: ident.Member{2}, Body: inquiry}, nil), answer)
	require.Len(t, answers, 1)
	require.Equal(t, byte(willing), answers[0][answerWhat])
	require.Equal(t, byte(0x7f), answers[0][answerAge])
	claims := told(starved.Step(8*second, policy.Event{Kind: policy.Message, From: ident.Member{2}, Body: lookOf(ident.Member{2}, 5)}, nil), report)
	require.Len(t, claims, 1)
	require.Len(t, claims[0], 1+2*waiterSize)

	shirk := liarOf(t, Shirking)
	require.Zero(t, count(shirk.Step(2*second, arrival, nil), policy.Run))
}

// Campaigns begin again after a pause, and not before.
func TestCampaigns(t *testing.T) {
	for lie, pause := range map[Lie]time.Duration{Inventing: repetition, Marking: 150*time.Second + time.Millisecond} {
		l := liarOf(t, lie, ident.Member{3}, ident.Member{4})
		timer := policy.Event{Kind: policy.Timer}
		require.Empty(t, told(l.Step(clock.Instant(pause), timer, nil), look))
		sent := told(l.Step(clock.Instant(pause)+1, timer, nil), look)
		require.Len(t, sent, map[Lie]int{Inventing: 2, Marking: 6}[lie])
		for _, body := range sent {
			require.Len(t, body, lookSize)
		}
	}
}
