package gate_test

import (
	"errors"
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/internal/windows"
	"github.com/wandertoken/wander/protocol/gate"
)

// signIns and seed are of the long form:
//
//	go test ./protocol/gate -run TestSimulation_LyingMembers_OneHonestSession -gate.signins 1000000 -timeout 60m
var (
	signIns  = flag.Int("gate.signins", 20000, "sign-ins of the simulation of lying members")
	sessions = flag.Int("gate.sessions", 25, "sessions of each member in the simulation of a liar that knocks")
	seed     = flag.Uint64("gate.seed", 1, "seed of the simulations")
)

// A third of the members lie, two tokens live half of the time, the gate crashes between any two effects, and hooks fail and hang.
func TestSimulation_LyingMembers_OneHonestSession(t *testing.T) {
	w := newWorld(config{
		members: 9, liars: 3, tokens: 1, second: true, crash: 0.002, trouble: 0.01, forge: true, want: 0.8,
		knock: 2 * time.Second, signIns: *signIns, settings: plain, seed: *seed,
	})
	w.run()
	t.Logf("%d sign-ins, %d of them lies, %d sessions, %d crashes, %d of them before a record was durable, %d alarms, refused %v", w.asked, w.lies, w.opened, w.crashes, w.losses, w.alarms, w.codes)
	assert.Empty(t, w.wrong())
	assert.Greater(t, w.crashes, w.config.signIns/1000)
	assert.Positive(t, w.losses)
	assert.Greater(t, w.opened, w.config.signIns/20)
	assert.Greater(t, w.lies, w.config.signIns/5)
	honest := 0
	for m, n := range w.by {
		if !w.isLiar(m) {
			honest += n
			assert.Positive(t, n, "member %d", m)
		}
	}
	assert.Positive(t, honest)
}

// Two of three liars are revoked. Their keys go on signing for the third one, under tokens that the gate knows.
func TestSimulation_RevokedKeys_OpenNothing(t *testing.T) {
	w := newWorld(config{
		members: 9, liars: 3, tokens: 1, second: true, crash: 0.002, trouble: 0.01, forge: true, revoke: true, want: 0.8,
		knock: 2 * time.Second, signIns: *signIns, settings: plain, seed: *seed,
	})
	w.run()
	t.Logf("%d sign-ins, %d of them lies, %d sessions, %d crashes, %d of them before a record was durable, refused %v", w.asked, w.lies, w.opened, w.crashes, w.losses, w.codes)
	assert.Empty(t, w.wrong())
	assert.Len(t, w.heard, 2, "revoked")
	assert.Greater(t, w.codes[gate.SignerRevoked], w.config.signIns/100)
	for m, n := range w.by {
		assert.True(t, n > 0 || w.isLiar(m), "member %d", m)
	}
}

// Three slots with a token each, and members that sign in at several.
func TestSimulation_Slots_OneSessionOfMemberAndSlot(t *testing.T) {
	s := plain
	s.Slots = 3
	w := newWorld(config{
		members: 9, liars: 3, tokens: 3, second: true, crash: 0.002, trouble: 0.02, forge: true, want: 0.8,
		knock: 2 * time.Second, signIns: *signIns, settings: s, seed: *seed,
	})
	w.run()
	t.Logf("%d sign-ins, %d of them lies, %d sessions, %d crashes, %d of them before a record was durable, %d alarms, refused %v", w.asked, w.lies, w.opened, w.crashes, w.losses, w.alarms, w.codes)
	assert.Empty(t, w.wrong())
	assert.Greater(t, w.opened, w.config.signIns/20)
	for m, n := range w.by {
		assert.True(t, n > 0 || w.isLiar(m), "member %d", m)
	}
}

// A slot with three places and four tokens, of which a configuration takes two away and gives them back.
func TestSimulation_Places_OneSessionEach(t *testing.T) {
	s := plain
	s.Sessions = 3
	w := newWorld(config{
		members: 9, liars: 3, tokens: 4, second: true, crash: 0.002, trouble: 0.02, forge: true, want: 0.8, resize: true,
		knock: 2 * time.Second, signIns: *signIns, settings: s, seed: *seed,
	})
	w.run()
	t.Logf("%d sign-ins, %d of them lies, %d sessions, %d at once, %d crashes, %d of them before a record was durable, %d alarms, refused %v", w.asked, w.lies, w.opened, w.most, w.crashes, w.losses, w.alarms, w.codes)
	assert.Empty(t, w.wrong())
	assert.Equal(t, 3, w.most)
	assert.Greater(t, w.opened, w.config.signIns/20)
	for m, n := range w.by {
		assert.True(t, n > 0 || w.isLiar(m), "member %d", m)
	}
}

// A resource with windows, and a gate whose clock is set forward and back: nothing opens outside them, and what is open ends.
func TestSimulation_Windows_NobodyOutside(t *testing.T) {
	s := plain
	s.Windows = windows.Of(t, "Mon-Sun 00:00-02:00 UTC", "Mon-Sun 03:00-05:00 UTC", "Mon-Sun 06:00-08:00 UTC", "Mon-Sun 09:00-11:00 UTC",
		"Mon-Sun 12:00-14:00 UTC", "Mon-Sun 15:00-17:00 UTC", "Mon-Sun 18:00-20:00 UTC", "Mon-Sun 21:00-23:00 UTC")
	w := newWorld(config{
		members: 9, liars: 3, tokens: 1, second: true, crash: 0.002, trouble: 0.01, forge: true, clocks: true, want: 0.8,
		knock: 2 * time.Second, signIns: *signIns, settings: s, seed: *seed,
	})
	w.run()
	t.Logf("%d sign-ins, %d of them lies, %d sessions, %d ended by windows, %d crashes, refused %v", w.asked, w.lies, w.opened, w.closed, w.crashes, w.codes)
	assert.Empty(t, w.wrong())
	assert.Positive(t, w.closed)
	assert.Greater(t, w.codes[gate.Shut], w.config.signIns/20)
	assert.Greater(t, w.opened, w.config.signIns/40)
}

// maxShare is of how many equal shares a liar may get.
const maxShare = 1.1

// A liar that knocks gets no more than the others, however often it does. All of N = 100 is in the long form.
func TestSimulation_LiarKnocks_EqualShare(t *testing.T) {
	for _, n := range []int{5, 20, 100} {
		for _, knock := range []time.Duration{50 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second} {
			if n == 100 && knock != 200*time.Millisecond && !whole.Asked() {
				continue
			}
			for _, mint := range []bool{false, true} {
				c := config{
					members: n, liars: 1, tokens: 1, fair: true, stock: !mint, mint: mint, want: 1, knock: knock,
					sessions: 100 + *sessions*n, settings: plain, seed: *seed,
				}
				w := newWorld(c)
				w.run()
				share := float64(w.by[n-1]) / float64(w.opened) * float64(n)
				t.Logf("N = %d, knocks each %v, minting %v: %.3f equal shares in %d sessions, %.4f honest sessions a second",
					n, knock, mint, share, w.opened, w.honestRate())
				assert.LessOrEqual(t, share, maxShare, "N = %d, each %v, minting %v", n, knock, mint)
				assert.Empty(t, w.wrong())
			}
		}
	}
}

// A liar that keeps the group's token as long as it may has several sessions meanwhile, as nobody else can come. A minimal interval of
// MaxHold ends that.
func TestSimulation_GreedyLiar_MinIntervalBounds(t *testing.T) {
	for _, n := range []int{5, 20} {
		for _, interval := range []time.Duration{0, plain.MaxHold} {
			s := plain
			s.MinInterval = interval
			w := newWorld(config{
				members: n, liars: 1, tokens: 1, fair: true, mint: true, greedy: true, want: 1, knock: 200 * time.Millisecond,
				sessions: 100 + *sessions*n, settings: s, seed: *seed,
			})
			w.run()
			share := float64(w.by[n-1]) / float64(w.opened) * float64(n)
			t.Logf("N = %d, interval %v: %.3f equal shares in %d sessions", n, interval, share, w.opened)
			if interval > 0 {
				assert.LessOrEqual(t, share, maxShare)
			}
			assert.Empty(t, w.wrong())
		}
	}
}

// Two living tokens cost little, and nobody waits long.
func TestSimulation_TwoTokens_ThroughputOfOne(t *testing.T) {
	took := make([]time.Duration, 3)
	for tokens := 1; tokens <= 2; tokens++ {
		w := newWorld(config{members: 20, tokens: tokens, fair: true, want: 1, sessions: 1000, settings: plain, seed: *seed})
		start := w.now
		w.run()
		require.Empty(t, w.wrong())
		took[tokens] = w.now.Sub(start)
		t.Logf("%d tokens: %d sessions in %v, longest wait %v", tokens, w.opened, took[tokens], w.longest)
		assert.LessOrEqual(t, w.longest, 2*(plain.MaxHold+plain.Settle+plain.Keep))
	}
	assert.GreaterOrEqual(t, float64(took[1])/float64(took[2]), 0.97)
}

// A journal of which records are missing, twice there or in another order is refused, or it gives a gate that holds together.
func TestSimulation_JournalChanged_RefusedOrConsistent(t *testing.T) {
	w := newWorld(config{
		members: 9, liars: 3, tokens: 1, crash: 0.002, trouble: 0.05, forge: true, want: 0.8, knock: 2 * time.Second,
		signIns: 2000, settings: plain, seed: *seed,
	})
	w.run()
	refused := 0
	for range 500 {
		list := w.records()
		i, j := w.rng.IntN(len(list)), w.rng.IntN(len(list))
		switch w.rng.IntN(3) {
		case 0:
			list = slices.Delete(list, i, i+1)
		case 1:
			list = slices.Insert(list, i, list[j])
		case 2:
			list[i], list[j] = list[j], list[i]
		}
		g, _, err := gate.Restore(plain, list, w.reading())
		if err != nil {
			refused++
			assert.True(t, errors.Is(err, gate.ErrJournal) || errors.Is(err, gate.ErrNoJournal) || errors.Is(err, gate.ErrCheckpoint), "%v", err)
			continue
		}
		require.NoError(t, g.Check())
		_, _, err = gate.Restore(plain, g.Checkpoint(), w.reading())
		require.NoError(t, err)
	}
	t.Logf("%d of 500 refused", refused)
	assert.Greater(t, refused, 250)
}
