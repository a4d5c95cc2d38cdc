package cluster

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/internal/whole"
)

// badKeeperCase is a group with a bad keeper.
type badKeeperCase struct {
	kind    string
	policy  busyPolicy
	members int
	rank    int           // of the bad member among the slot's keepers
	pause   time.Duration // between two turns of a member, on average
	losses  time.Duration // an honest holder loses its power so often, for a minute; 0: none does
	seed    uint64
}

func (c badKeeperCase) String() string {
	return fmt.Sprintf("%s/%v/%d/rank %d/pause %v/losses %v/%d", c.kind, c.policy, c.members, c.rank, c.pause, c.losses, c.seed)
}

// measure lets such a group work for a while. In the one that it is compared with the member is honest, and wants
// nothing, if the bad one has no turns.
func (c badKeeperCase) measure(t *testing.T, isBad bool, span time.Duration) *badMeasured {
	t.Helper()
	kind := c.kind
	if !isBad {
		kind = ""
	}
	g := &badMeasured{badGroup: newBadKeeper(t, uint64(c.members)+100*c.seed, c.members, c.policy, quietTimes[0], c.rank, kind)}
	bad := g.ranked()[c.rank]
	g.good = slices.DeleteFunc(slices.Clone(g.nodes), func(n *node) bool { return n == bad })
	g.runFor(badSettle)
	g.busy.want(g.good, c.pause)
	if isBad || !drops(c.kind) {
		g.busy.want([]*node{bad}, c.pause)
	}
	for end := g.now + span; g.now < end; {
		if c.losses == 0 {
			g.runFor(end - g.now)
			break
		}
		g.runFor(min(c.losses, end-g.now))
		if n := g.honestHolder(bad); n != nil && g.now < end {
			g.lose(n, time.Minute)
		}
	}
	for _, p := range g.running {
		g.ran.add(p, g.now)
	}
	return g
}

// honestHolder runs the group until a member other than one has the token.
func (g *badMeasured) honestHolder(not *node) *node {
	for until := g.now + 5*time.Minute; g.now < until; g.runFor(10 * time.Millisecond) {
		if n := g.holderNow(); n != nil && n != not {
			return n
		}
	}
	return nil
}

// TestBad_Keeper_HonestMembersGoOn: a keeper that breaks the rules takes less than a tenth of the others' operations in an
// hour, where all are always busy and where tokens rest. One that has turns is compared with an honest one that has them.
//
//	go test ./sim/cluster -run 'TestBad_Keeper_/withholder/./^5$' -cluster.bad -v
func TestBad_Keeper_HonestMembersGoOn(t *testing.T) {
	skipUnderRaceDetector(t)
	for _, c := range badKeeperCases() {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			without := c.measure(t, false, time.Hour).cost()
			g := c.measure(t, true, time.Hour)
			k := g.cost()
			t.Logf("%v: %.2f of the operations (%d of %d), %v of overlap (%v), nobody ran for %v (%v), a member waited for %v (%v)", c, ratio(k.later, without.later), k.later, without.later, k.overlap, without.overlap, k.nobody, without.nobody, k.wait, without.wait)
			assert.GreaterOrEqual(t, ratio(k.later, without.later), 0.9)
			assert.LessOrEqual(t, k.overlap, without.overlap)
			assert.Zero(t, g.accused)
			assert.Empty(t, g.violations)
		})
	}
}

// badKeeperCases are, in the long form, all kinds under each policy, where members are always busy and where tokens rest, with
// losses and without.
func badKeeperCases() (list []badKeeperCase) {
	if !*badCosts {
		return []badKeeperCase{
			{"renewer", ringTurns, 5, 0, 0, 0, 0},
			{"withholder", fairTurns, 5, 0, 10 * time.Second, 0, 0},
			{"scatterer", ringTurns, 5, 0, 10 * time.Second, 0, 0},
		}[:whole.Part(1, 3)]
	}
	for _, kind := range []string{"renewer", "releaser", "noter", "diverter", "scatterer", "withholder", "forgetter", "pesterer", "returner"} {
		for _, p := range []busyPolicy{fairTurns, lightTurns, ringTurns} {
			for _, members := range []int{3, 5, 20, 48} {
				for _, pause := range []time.Duration{0, 10 * time.Second} {
					for _, losses := range []time.Duration{0, 10 * time.Minute} {
						for seed := range uint64(2) {
							list = append(list, badKeeperCase{kind, p, members, 0, pause, losses, seed})
						}
					}
				}
			}
		}
	}
	return list
}

// drops reports whether members of a kind drop or keep tokens, so that they have no turns.
func drops(kind string) bool { return kind == "renewer" || kind == "releaser" }
