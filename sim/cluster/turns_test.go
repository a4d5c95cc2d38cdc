package cluster

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
)

// turnsAll lets TestTurns try all sizes and shares: go test -cluster.turns.
var turnsAll = flag.Bool("cluster.turns", false, "try dead members in groups of all sizes")

// turnsTimes are the settings of the groups with dead members: programs take as long as
// is said, so that the rest of a round is what the token needs.
var turnsTimes = busyTimes{
	name: "tight", operation: 300 * time.Millisecond, hold: 300 * time.Millisecond, interval: 50 * time.Millisecond,
	skip: 100 * time.Millisecond, gossip: time.Second, shortest: 250 * time.Millisecond, longest: 251 * time.Millisecond,
}

// deaths are the ways in which members come to an end for the others.
var deaths = []struct {
	name string
	end  func(*busy, []*node)
}{
	{"killed", func(b *busy, dead []*node) {
		for _, n := range dead {
			b.crash(n)
		}
	}},
	{"cut", func(b *busy, dead []*node) {
		for _, n := range dead {
			b.separate([]*node{n}, silence)
			b.forgo(n)
		}
	}},
	{"revoked", func(b *busy, dead []*node) {
		for _, n := range dead {
			n.doomed, n.fate = true, revoked
			b.killPrograms(n)
			b.forgo(n)
			n.revocation = b.ca.revoke(n.certificate, b.now)
			b.nodes[0].put(member.Learn{Revocations: [][]byte{n.revocation}})
		}
	}},
}

// TestTurns_DeadMembers_GoRoundAmongLiving: with one, a quarter, half, and all but two
// of the members dead, no living member runs more than twice while another one waits.
// Under fair that is so before their deaths are stated, too, and then the living have
// their turns as if the dead had never been. All sizes and ways are
//
//	go test ./sim/cluster -run TestTurns -cluster.turns -v -timeout 2h
func TestTurns_DeadMembers_GoRoundAmongLiving(t *testing.T) {
	skipUnderRaceDetector(t)
	sizes := []int{8, 12, 40, 300}
	if !*turnsAll {
		sizes = sizes[:whole.Part(1, 3)]
	}
	for _, p := range []busyPolicy{fairTurns, lightTurns, ringTurns} {
		for k, members := range sizes {
			for i, dead := range []int{1, members / 4, members / 2, members - 2} {
				for j, way := range deaths {
					if !*turnsAll && j != (i+k)%len(deaths) {
						continue // each size, share and way, but not each with each
					}
					t.Run(fmt.Sprintf("%v/%d of %d %s", p, dead, members, way.name), func(t *testing.T) {
						testTurns(t, newBusy(t, uint64(members*100+dead), members, p, turnsTimes), p, dead, way.end)
					})
				}
			}
		}
	}
}

// turnsBack bounds for how long nobody has a turn where the holder and its keeper died at
// once, and turnsStated how long the living need to state the deaths: two living of 300 do
// so in three and a half minutes.
const (
	turnsBack   = 10 * time.Minute
	turnsStated = 10 * time.Minute
)

// state lets the group work for a minute, and on until no living member counts others than
// the living.
func (b *busy) state() (took time.Duration) {
	start := b.now
	for b.runFor(time.Minute); b.now < start+turnsStated && slices.ContainsFunc(b.nodes, b.countsDead); {
		b.runFor(time.Second)
	}
	return b.now - start
}

// countsDead reports whether a member takes others than the living for members that take part.
func (b *busy) countsDead(n *node) bool {
	count := 0
	for _, id := range n.member.IDs() {
		if n.member.Eligible(id) == nil {
			count++
		}
	}
	return count > len(b.nodes)
}

func testTurns(t *testing.T, b *busy, p busyPolicy, dead int, end func(*busy, []*node)) {
	t.Helper()
	b.want(b.nodes, 0)
	b.runFor(max(20*time.Second, time.Duration(len(b.nodes))*time.Second))
	pace := b.pace()
	end(b, b.nodes[len(b.nodes)-dead:])
	b.living(b.nodes[:len(b.nodes)-dead])
	died := b.now
	for b.now < died+turnsBack && len(b.turns) == 0 {
		b.runFor(time.Second)
	}
	again := b.now - died
	stated := b.state()
	first := b.longestRun()
	b.turns = nil
	round := time.Duration(len(b.nodes)) * pace
	worked := max(time.Minute, 5*round)
	b.runFor(worked)
	gap := float64(b.gap(0.99)) / float64(round)
	used := float64(len(b.turns)) * float64(pace) / float64(worked)
	t.Logf("the first turn after %v, all deaths stated after %v; %d at most in a row until then, %d then; p99 of the time between turns %.2f of a round; %.2f of the turns",
		again, stated, first, b.longestRun(), gap, used)
	require.NotEmpty(t, b.turns)
	assert.GreaterOrEqual(t, used, 0.95, "no turn is spent on the dead")
	if p != ringTurns {
		assert.LessOrEqual(t, b.longestRun(), 2)
	}
	if p == fairTurns {
		assert.LessOrEqual(t, first, 2, "before the deaths are stated")
		assert.LessOrEqual(t, gap, 1.1)
		mean := float64(len(b.turns)) / float64(len(b.nodes))
		for _, n := range b.nodes { // of a large group each has few
			assert.InDelta(t, mean, b.turnsOf(n), max(1, mean/10), n.name)
		}
	}
	require.Empty(t, b.violations)
}

// turnsOf is how many turns a member had.
func (b *busy) turnsOf(n *node) (count int) {
	for _, turn := range b.turns {
		if turn.member == n.id {
			count++
		}
	}
	return count
}

// living counts turns of these members only, from now on.
func (b *busy) living(list []*node) {
	b.nodes, b.turns, b.counts = list, nil, make(map[ident.Member]bool)
	for _, n := range list {
		b.counts[n.id] = true
	}
}

// pace is the time from one turn to the next, on average over the last half.
func (b *busy) pace() time.Duration {
	list := b.turns[len(b.turns)/2:]
	return (list[len(list)-1].at - list[0].at) / time.Duration(len(list)-1)
}

// longestRun is the most turns of one member in a row while another one waited.
func (b *busy) longestRun() (most int) {
	run := 0
	for i := range b.turns {
		if run++; i > 0 && b.turns[i].member != b.turns[i-1].member {
			run = 1
		}
		most = max(most, run)
	}
	return most
}

// gap is a quantile of the time between two turns of a member, over all of them.
func (b *busy) gap(quantile float64) time.Duration {
	last := make(map[ident.Member]time.Duration)
	var gaps []time.Duration
	for _, turn := range b.turns {
		if at, ran := last[turn.member]; ran {
			gaps = append(gaps, turn.at-at)
		}
		last[turn.member] = turn.at
	}
	if len(gaps) == 0 {
		return 1 << 62
	}
	slices.Sort(gaps)
	return gaps[int(quantile*float64(len(gaps)-1))]
}
