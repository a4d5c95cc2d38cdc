package ring

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

// drawSetup draws what a network is like. Its operations may be slower or faster
// than what is in transit.
func drawSetup(t *rapid.T, preset string, reordered bool) setup {
	span := func(name string) time.Duration {
		return time.Duration(rapid.SampledFrom([]int{0, 1, 10, 100, 1000}).Draw(t, name)) * time.Millisecond
	}
	s := setup{
		members:   rapid.IntRange(1, 7).Draw(t, "members"),
		seed:      rapid.Uint64().Draw(t, "seed"),
		reordered: reordered,
		passing:   span("passing"), telling: span("telling"),
	}
	s.params = policy.Params{
		Preset: preset, OperationTime: time.Duration(rapid.SampledFrom([]int{1, 10, 1000}).Draw(t, "operation")) * time.Millisecond,
		MembersMax: s.members, SkipDelay: 10 * time.Millisecond,
	}
	return s
}

// load lets members want to run at instants drawn, until end.
func (w *network) load(t *rapid.T, end time.Duration) {
	for range rapid.IntRange(1, 40).Draw(t, "demands") {
		i := rapid.IntRange(0, len(w.sites)-1).Draw(t, "who")
		at := time.Duration(rapid.Int64Range(0, int64(end)).Draw(t, "when"))
		w.later(at, func() { w.want(i) })
	}
}

// bounds are those of a Station, found by exhausting all schedules of small
// rings: messages for each request (twice as many for half ones), and messages
// sent from a request to its service.
func bounds(preset string, n int) (twicePerRequest, traffic int) {
	switch preset {
	case "e":
		return 2 * (2*n - 2), 3*n - 3
	case "d":
		return 5*n - 4, 3*n - 2
	}
	return 2 * n, 2*n*n - 3*n + 1
}

// found makes the first token, and waits until it has been around.
func (w *network) found(i int) {
	w.mint(i)
	w.run(clock.Instant(10 * time.Second))
	w.messages = 0
}

// TestWithoutFaults: over FIFO links there is never more than one operation, all
// are served, nothing is repeated, made or dropped, and an agent sends no more
// than its Station.
func TestWithoutFaults(t *testing.T) {
	for _, preset := range []string{"e", "q", "d", "s"} {
		t.Run(preset, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := drawSetup(t, preset, false)
				s.params.RequestTimeout = policy.MaxInterval
				w := newNetwork(t, s)
				w.found(rapid.IntRange(0, s.members-1).Draw(t, "founder"))
				w.load(t, 5*time.Second)
				w.settle(t)
				perRequest, traffic := bounds(preset, s.members)
				if preset != "s" && s.members > 1 {
					require.LessOrEqual(t, 2*w.messages, perRequest*w.requests)
					require.LessOrEqual(t, w.traffic, traffic)
				}
			})
		})
	}
}

// settle lets five seconds of demand pass and then enough time for all to be
// served, by one token and without any repair. A round takes 14 s at most.
func (w *network) settle(t *rapid.T) {
	w.run(w.now.Add(5 * time.Second))
	for range 40 {
		if w.run(w.now.Add(2 * time.Second)); w.waiting() == 0 {
			break
		}
	}
	require.Zero(t, w.waiting())
	require.Zero(t, w.made)
	require.Zero(t, w.repeats)
	require.Empty(t, w.dropped)
	require.Len(t, w.tokens, 1)
}

// TestReorderedLinks: messages overtake messages and tokens, as they do when a
// token takes three messages and two writes to a disk. Requests wait for the
// token that went before them, so nothing has to be repaired.
func TestReorderedLinks(t *testing.T) {
	for _, preset := range []string{"e", "q", "d"} {
		t.Run(preset, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				s := drawSetup(t, preset, true)
				s.params.RequestTimeout = policy.MaxInterval
				w := newNetwork(t, s)
				w.found(rapid.IntRange(0, s.members-1).Draw(t, "founder"))
				w.load(t, 5*time.Second)
				w.settle(t)
			})
		})
	}
}

// TestFaults: while messages, tokens and members get lost nothing is promised
// but that answers are permitted. Some time after the last fault there is one
// token again, and who wants to run does, one at a time.
func TestFaults(t *testing.T) {
	for _, preset := range []string{"e", "q", "d", "s"} {
		t.Run(preset, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkFaults(t, preset) })
		})
	}
}

func checkFaults(t *rapid.T, preset string) {
	s := drawSetup(t, preset, rapid.Bool().Draw(t, "reordered"))
	s.params.OperationTime = 100 * time.Millisecond
	s.passing, s.telling = min(s.passing, 10*time.Millisecond), min(s.telling, 10*time.Millisecond)
	s.faulty, s.kept = true, true
	s.passLoss = rapid.SampledFrom([]float64{0, 0.02, 0.2}).Draw(t, "pass loss")
	s.tellLoss = rapid.SampledFrom([]float64{0, 0.02, 0.5}).Draw(t, "tell loss")
	w := newNetwork(t, s)
	for range rapid.IntRange(0, 1).Draw(t, "founders") {
		w.mint(rapid.IntRange(0, s.members-1).Draw(t, "founder"))
	}
	for range rapid.IntRange(0, 3).Draw(t, "crashes") {
		i := rapid.IntRange(0, s.members-1).Draw(t, "who")
		down := time.Duration(rapid.IntRange(1, 5000).Draw(t, "down")) * time.Millisecond
		w.later(time.Duration(rapid.IntRange(0, 10_000).Draw(t, "when"))*time.Millisecond, func() {
			if s.members > 1 && w.ups() > 1 {
				w.crash(i, down)
			}
		})
	}
	if split := rapid.IntRange(0, s.members-1).Draw(t, "split"); split > 0 {
		parted := time.Duration(rapid.IntRange(1, 5000).Draw(t, "parted")) * time.Millisecond
		w.later(time.Duration(rapid.IntRange(0, 10_000).Draw(t, "when"))*time.Millisecond, func() { w.part(split, parted) })
	}
	w.load(t, 10*time.Second)
	w.run(clock.Instant(15 * time.Second))
	w.setup.passLoss, w.setup.tellLoss = 0, 0
	w.run(clock.Instant(45 * time.Second))
	require.Zero(t, w.waiting(), "somebody was not heard")

	// Two tokens that both rest meet when somebody asks.
	for i := range s.members {
		w.want(i)
		w.run(w.now.Add(3 * time.Second))
	}
	require.Zero(t, w.waiting())
	require.LessOrEqual(t, len(w.tokens), 1)
	overlaps, dropped := w.overlaps, len(w.dropped)
	for i := range w.sites {
		w.want(i)
	}
	w.run(w.now.Add(3 * time.Second))
	require.Zero(t, w.waiting())
	require.Equal(t, overlaps, w.overlaps)
	require.Len(t, w.dropped, dropped)
}

func (w *network) ups() (n int) {
	for _, s := range w.sites {
		if s.up {
			n++
		}
	}
	return n
}
