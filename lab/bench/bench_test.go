package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/protocol/group"
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

// TestSubjects_Each_HandOver: each subject runs as two processes and counts.
func TestSubjects_Each_HandOver(t *testing.T) {
	for _, subject := range subjectNames() {
		t.Run(subject, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, makeGroup(dir, names[:], fastest(2)))
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

// TestIdle_TwoMembers_Measured runs two processes that want nothing.
func TestIdle_TwoMembers_Measured(t *testing.T) {
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skip("the measurement reads /proc")
	}
	var out strings.Builder
	i := idleness{progress: io.Discard, members: counts{2}, preset: "fair", gossip: idleGossip, skip: 50 * time.Millisecond, window: 100 * time.Millisecond, dir: t.TempDir()}
	require.NoError(t, i.run(&out))
	assert.Regexp(t, `(?m)^\| 2 \| [0-9.]+, [0-9.]+ \| [0-9.]+ %, [0-9.]+ % \| [0-9.]+ \| [01], [01] \|$`, out.String())
	i.maxSwitches = 0.001
	await.Until(t, "one of them wakes up in a window", func() bool { return errors.Is(i.run(io.Discard), errRestless) })
}

// TestScript_Messages_RealSizes: the straw man's frames are as long as a member's.
func TestScript_Messages_RealSizes(t *testing.T) {
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

// TestStraw_ForgedSignature_Refused: the straw man does the work that it is there for.
func TestStraw_ForgedSignature_Refused(t *testing.T) {
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

func TestFollow_Neighbours_Counted(t *testing.T) {
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
		{"idle", "-members", "1"}, {"idle", "-for", "0s"}, {"idle", "-settle", "-1s"}, {"idle", "more"},
		{"idle", "-timer-slack", "-1ms"}, {"idle", "-max-switches", "-1"}, {"walk", "more"},
	} {
		assert.Error(t, run(args, io.Discard, io.Discard), "%v", args)
	}
}

func TestGroupFiles_Read_OneGroup(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, makeGroup(dir, names[:], fastest(64)))
	id, err := identity(filepath.Join(dir, names[1]))
	require.NoError(t, err)
	r, ok := id.Group.Config().Resource(resource)
	require.True(t, ok)
	assert.Equal(t, 64, r.Slots)
}

func TestPlan_Apart_EachTokenHasAResource(t *testing.T) {
	p := plan{apart: true}
	dir := t.TempDir()
	require.NoError(t, makeGroup(dir, names[:], p.resources(group.MaxResources)...))
	id, err := identity(filepath.Join(dir, names[0]))
	require.NoError(t, err)
	resources := id.Group.Config().Settings().Resources
	require.Len(t, resources, group.MaxResources)
	for _, r := range resources {
		assert.Equal(t, 1, r.Slots)
	}
}

// costsOf are rounds in which a handoff takes the straw man 1 and the subject one of
// these in turn.
func costsOf(rounds int, subject ...float64) (c costs) {
	for i := range rounds {
		c.straw, c.subject = append(c.straw, 1), append(c.subject, subject[i%len(subject)])
	}
	return c
}

func TestRegression_Judge_FailsAboveLimit(t *testing.T) {
	g := regression{subject: "volatile", tokens: 64, limit: 1.25}
	var out strings.Builder
	require.NoError(t, g.judge(&out, costsOf(100, 1.2, 1.4, 3)), "turns that were disturbed do not count")
	assert.Contains(t, out.String(), "volatile with 64 tokens: 1.200")
	assert.ErrorIs(t, g.judge(io.Discard, costsOf(100, 1.3, 1.4)), errRegression)
}

func TestRegression_Decided_OnceWithinLimit(t *testing.T) {
	g := regression{limit: 1.25}
	assert.False(t, g.decided(costsOf(minRounds-1, 1.1)), "too few rounds")
	assert.True(t, g.decided(costsOf(minRounds, 1.1)))
	assert.False(t, g.decided(costsOf(minRounds, 1.4)), "a failure takes all rounds")
}

// TestRegression_Runs lets both subjects take turns, each held while the other runs,
// and starts them twice.
func TestRegression_Runs(t *testing.T) {
	var out strings.Builder
	g := regression{progress: io.Discard, subject: "volatile", tokens: 8, rounds: startRounds + 2, window: 20 * time.Millisecond, limit: 100, dir: t.TempDir()}
	require.NoError(t, g.run(&out))
	assert.Contains(t, out.String(), "32 rounds")
	g.rounds = 0
	assert.Error(t, g.run(io.Discard))
}
