package ring

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

// liar is member 0 of a network: it answers nothing and says what it likes to
// whom it likes.
type liar struct {
	policytest.Untimed
	w *network
}

func (liar) Step(_ clock.Instant, _ policy.Event, actions []policy.Action) []policy.Action {
	return actions
}

func newLiar(t tester, s setup) (*network, liar) {
	s.faulty, s.kept = true, true
	w := newNetwork(t, s)
	w.sites[0].policy = liar{}
	return w, liar{w: w}
}

func (l liar) says(to int, m message) {
	l.w.step(to, policy.Event{Kind: policy.Message, From: memberID(0), Body: m.append(nil)})
}

// hands gives a token, made up or old, with a field that may say anything.
func (l liar) hands(to int, t policy.Token) {
	w := l.w
	if known := w.tokens[t.ID]; known != nil && !w.sites[0].here[t.ID] {
		return // it has not got it
	}
	delete(w.sites[0].here, t.ID)
	w.tokens[t.ID] = &t
	w.sites[to].here[t.ID] = true
	w.step(to, policy.Event{Kind: policy.Arrival, Token: t})
}

// TestRequests_Flood_Thinned: what one liar says to all others as fast as it may, they do
// not repeat to each other as fast: else it would take from them what each may say.
func TestRequests_Flood_Thinned(t *testing.T) {
	for _, preset := range []string{"e", "d", "s"} {
		for _, k := range []kind{request, wake, repeat} {
			s := four
			s.members, s.params.MembersMax, s.params.Preset = 20, 20, preset
			w, l := newLiar(t, s)
			const seconds = 30
			for at := time.Duration(0); at < seconds*time.Second; at += 100 * time.Millisecond {
				w.later(at, func() {
					for to := 1; to < s.members; to++ {
						l.says(to, message{kind: k, count: 1, reach: 1000})
					}
				})
			}
			before := w.sent
			w.run(clock.Instant(seconds * time.Second))
			perMember := float64(w.sent-before) / float64(s.members-1) / seconds
			t.Logf("%s, kind %d: %.2f messages a second and member", preset, k, perMember)
			assert.Less(t, perMember, 1.0, "%s, kind %d", preset, k)
		}
	}
}

// TestOneLiar: whatever one member says to anybody, and whatever it does with
// tokens, the others run their operations: it cannot stop them for longer than a
// ring without a token is without one.
func TestOneLiar(t *testing.T) {
	t.Skip("not so yet: who hands tokens to one member, and keeps what comes, starves those behind it")
	for _, preset := range []string{"e", "q", "d", "s"} {
		t.Run(preset, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkLiar(t, preset) })
		})
	}
}

func checkLiar(t *rapid.T, preset string) {
	s := four
	s.params.Preset, s.params.OperationTime = preset, 100*time.Millisecond
	s.members = rapid.IntRange(2, 6).Draw(t, "members")
	s.params.MembersMax = s.members
	s.seed = rapid.Uint64().Draw(t, "seed")
	w, l := newLiar(t, s)
	const longest = time.Minute
	patient := make([]clock.Instant, s.members)
	for i := 1; i < s.members; i++ {
		w.want(i)
	}
	who := rapid.IntRange(1, s.members-1)
	lie := rapid.Custom(func(t *rapid.T) message {
		return message{
			kind:  kind(rapid.IntRange(1, 3).Draw(t, "kind")),
			count: rapid.SampledFrom([]uint32{1, 2, 1 << 31}).Draw(t, "count"),
			reach: rapid.SampledFrom([]uint32{1, 2, 3, 1 << 31}).Draw(t, "reach"),
			bound: rapid.Bool().Draw(t, "bound"), token: ident.Token{100}, hop: 1 << 40,
		}
	})
	var tokens byte
	habit := time.Duration(rapid.SampledFrom([]int{100, 300, 1000}).Draw(t, "every")) * time.Millisecond
	lies := rapid.SliceOfN(lie, 1, 4).Draw(t, "lies")
	targets := rapid.SliceOfN(who, 1, 4).Draw(t, "targets")
	gifts := rapid.SliceOfN(rapid.Bool(), 1, 4).Draw(t, "gifts")
	field := AppendBaton(nil, Baton{Count: rapid.SampledFrom([]uint32{0, 1, 1 << 31}).Draw(t, "baton")})
	for round := 0; w.now < clock.Instant(longest+longest/8); round++ {
		w.run(w.now.Add(habit))
		to := targets[round%len(targets)]
		l.says(to, lies[round%len(lies)])
		if gifts[round%len(gifts)] {
			tokens++
			l.hands(to, policy.Token{ID: ident.Token{byte(tokens % 50), 77}, Generator: memberID(0), Hop: uint64(round), Field: field})
		}
		for i := 1; i < s.members; i++ {
			site := w.sites[i]
			if !site.demand {
				patient[i] = w.now
				w.want(i)
			}
			require.LessOrEqual(t, w.now.Sub(patient[i]), longest, "member %d waits", i)
		}
	}
}
