package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/wire"
)

// TestMain lets the test's program be the processes that it starts.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childCommand {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestSubjectsHandOver: each subject runs as two processes and counts.
func TestSubjectsHandOver(t *testing.T) {
	for _, subject := range subjectNames() {
		t.Run(subject, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, makeGroup(dir, fastest(2), names[:]))
			p := plan{}
			procs, err := startPair(p.role(subject, names[1], dir, 2), p.role(subject, names[0], dir, 2))
			require.NoError(t, err)
			defer procs.stop()
			var s sample
			for s.Handoffs < 10 {
				before := s
				s, err = procs.sample()
				require.NoError(t, err)
				require.GreaterOrEqual(t, s.Handoffs, before.Handoffs)
				require.GreaterOrEqual(t, s.CPU, before.CPU)
			}
			assert.NotZero(t, s.CPU)
		})
	}
}

// TestScriptHasTheRealSizes: the straw man's frames are as long as a member's.
func TestScriptHasTheRealSizes(t *testing.T) {
	s, err := newScript()
	require.NoError(t, err)
	for _, m := range []wire.Message{&s.offer, &s.accept, &s.transfer, &s.receipt} {
		real, err := wire.Encode(m)
		require.NoError(t, err, "%v", m.Type())
		straw, err := appendMessage(nil, m)
		require.NoError(t, err)
		assert.Equal(t, wire.AppendFrame(nil, real), straw, "%v", m.Type())
	}
}

// TestStrawChecksSignatures: the straw man does the work that it is there for.
func TestStrawChecksSignatures(t *testing.T) {
	for _, keys := range []func(*straw, role) error{projectKeys, standardKeys} {
		var sender, receiver straw
		require.NoError(t, keys(&sender, role{Peer: "somebody"}))
		require.NoError(t, keys(&receiver, role{}))
		object := make([]byte, 300)
		sender.seal(object)
		require.NoError(t, receiver.check(object))
		object[serialAt]++
		require.Error(t, receiver.check(object))
		require.Error(t, receiver.check(object[:3]))
	}
}

func TestDifference(t *testing.T) {
	a := sample{At: 1e9, CPU: 100, Handoffs: 5, Syncs: 7}
	b := sample{At: 3e9, CPU: 500, Handoffs: 25, Syncs: 17}
	r, err := difference(a, b)
	require.NoError(t, err)
	assert.Equal(t, reading{rate: 10, cpu: 20, syncs: 0.5}, r)
	_, err = difference(a, a)
	require.Error(t, err)
}

func TestMedian(t *testing.T) {
	assert.Equal(t, 2.0, median([]float64{9, 1, 2}))
	assert.Equal(t, 2.0, median([]float64{9, 1, 3, 2}))
}

func TestFollowCountsNeighbours(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	visits := make(chan visit, 20)
	for i := range 7 {
		visits <- visit{hop: uint64(i), granted: at(100 * i), releasing: at(100*i + 40)}
	}
	visits <- visit{hop: 8, granted: at(800), releasing: at(840)} // one was missed
	visits <- visit{hop: 9, granted: at(900)}
	l := latencies{handoffs: 3}
	took, err := l.follow(visits)
	require.NoError(t, err)
	assert.InDeltaSlice(t, []float64{0.06, 0.06, 0.06}, took, 1e-9)
}

func TestArguments(t *testing.T) {
	for _, args := range [][]string{
		nil, {"nonsense"}, {"throughput", "-tokens", "0"}, {"throughput", "-tokens", "1,x"},
		{"throughput", "-only", "nobody"}, {"throughput", "-rounds", "0"}, {"latency", "-rounds", "0"},
		{childCommand}, {childCommand, `{"Subject":"nobody"}`},
	} {
		assert.Error(t, run(args, io.Discard, io.Discard), "%v", args)
	}
}

func TestGroupFilesAreAnIdentity(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, makeGroup(dir, fastest(64), names[:]))
	id, err := identity(filepath.Join(dir, names[1]))
	require.NoError(t, err)
	r, ok := id.Group.Config().Resource(resource)
	require.True(t, ok)
	assert.Equal(t, 64, r.Slots)
}

func TestRegression_Judge_FailsAboveLimit(t *testing.T) {
	g := regression{subject: "volatile", tokens: 64, limit: 1.25}
	var out strings.Builder
	require.NoError(t, g.judge(&out, []float64{1.1, 1.2, 3}))
	assert.Contains(t, out.String(), "volatile with 64 tokens: 1.200")
	assert.ErrorIs(t, g.judge(io.Discard, []float64{1.1, 1.3, 1.4}), errRegression)
}

func TestRegression_Decided_OnceClear(t *testing.T) {
	g := regression{limit: 1.25}
	ratios := func(n int, of ...float64) (list []float64) {
		for i := range n {
			list = append(list, of[i%len(of)])
		}
		return list
	}
	assert.False(t, g.decided(ratios(minRounds-1, 1.1)), "too few rounds")
	assert.True(t, g.decided(ratios(minRounds, 1.1)))
	assert.True(t, g.decided(ratios(minRounds, 1.4)))
	assert.False(t, g.decided(ratios(2*minRounds, 1.1, 1.4)), "the limit is within the interval")
}

// TestRegression_Runs lets both subjects take a few turns, each held while the other runs.
func TestRegression_Runs(t *testing.T) {
	var out strings.Builder
	g := regression{progress: io.Discard, subject: "volatile", tokens: 8, rounds: 2, window: 50 * time.Millisecond, limit: 100, dir: t.TempDir()}
	require.NoError(t, g.run(&out))
	assert.Contains(t, out.String(), "2 rounds")
	g.rounds = 0
	assert.Error(t, g.run(io.Discard))
}
