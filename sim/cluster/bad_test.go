package cluster

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

// badGroup is a busy group with bad members, and what an observer sees of it.
type badGroup struct {
	*busy
	geneses  map[ident.Token]bool // made up by bad members, and taken by honest ones
	accused  int                  // honest members, by honest ones
	accusing int                  // bad members, by honest ones
	against  map[deed]int         // how often honest members did so to honest ones; a strike is a violation besides
}

// newBad starts so many members, of which the last are of these kinds; "" is an honest one, and "greedy" one whose
// programs take max_hold.
func newBad(t *testing.T, seed uint64, members int, p busyPolicy, times busyTimes, kinds ...string) *badGroup {
	t.Helper()
	g := makeBad(t, seed, members, p, times, kinds)
	g.start()
	return g
}

// makeBad is such a group that has not started.
func makeBad(t *testing.T, seed uint64, members int, p busyPolicy, times busyTimes, kinds []string) *badGroup {
	t.Helper()
	return makeBadOf(t, busySetting(seed, members, p, times), members, times, kinds, 0)
}

// makeBadOf is such a group of a setting, with clocks that are wrong by these in turn.
func makeBadOf(t *testing.T, in setting, members int, times busyTimes, kinds []string, skews ...time.Duration) *badGroup {
	t.Helper()
	g := &badGroup{busy: newBusyGroup(t, in, times), geneses: make(map[ident.Token]bool), against: make(map[deed]int)}
	g.watch = func(m Moment) {
		g.busy.saw(m)
		if m.Deed == Wrote && !g.lies(m.Member) {
			g.wrote(m.Member, m.Record)
		}
	}
	for i := range members {
		s := memberSetting{durable: true, found: i == 0, driving: grouped, skew: skews[i%len(skews)]}
		if first := members - len(kinds); i >= first {
			s.kind = kinds[i-first]
		}
		greedy := s.kind == "greedy"
		if greedy {
			s.kind = ""
		}
		if n := g.add(g.ca.enrol(g.now), s); greedy {
			others := g.lasts
			g.lasts = func(o *node) time.Duration {
				if o == n {
					return times.hold
				}
				return others(o)
			}
		}
	}
	return g
}

// wrote looks at a record of an honest member.
func (g *badGroup) wrote(by ident.Member, r journal.Record) {
	switch r := r.(type) {
	case *journal.Held:
		b, _, err := token.PeekTransfer(g.group.ID(), r.Transfer)
		must(err)
		if g.forged[b.Token] {
			g.geneses[b.Token] = true
		}
	case *journal.Evidence:
		switch {
		case r.Accused.IsZero():
		case g.lies(r.Accused):
			g.accusing++
		default:
			g.accused++
		}
	case *journal.Complained:
		if d := (judges{g.cluster}).complaint(g.find(by), r); d != (deed{}) {
			g.against[d]++
		}
	}
}

// briskTimes are those of groups with programs so short that a token comes to each member several times while one
// member is found out.
var briskTimes = busyTimes{
	name: "brisk", operation: 300 * time.Millisecond, hold: 4 * time.Second, interval: 100 * time.Millisecond,
	skip: 100 * time.Millisecond, gossip: 5 * time.Second, shortest: 300 * time.Millisecond, longest: 320 * time.Millisecond,
	delay: time.Millisecond,
}

// TestBad_ShortPrograms_OneStall: who keeps a token is found out by all members while it keeps the first one. Where the
// keeper alone had given it up, each other member passed it the next token.
func TestBad_ShortPrograms_OneStall(t *testing.T) {
	skipUnderRaceDetector(t)
	const stall = 15 * time.Second // longer than a loss takes
	for i, kind := range []string{"dodger", "hoarder"} {
		for _, p := range []busyPolicy{fairTurns, lightTurns, ringTurns} {
			for seed := range uint64(whole.Part(1, 3)) {
				t.Run(fmt.Sprintf("%s/%v/%d", kind, p, seed), func(t *testing.T) {
					t.Parallel()
					g := &badMeasured{badGroup: newBad(t, 100*uint64(i)+seed, 6, p, briskTimes, kind)}
					g.good = g.nodes[:5]
					turns := g.nodes[5].bad
					g.nodes[5].bad = nil // until the token has come some way
					g.runFor(5 * time.Second)
					g.busy.want(g.good, 0)
					g.runFor(5 * time.Second)
					begun := g.now
					g.nodes[5].bad = turns
					g.busy.want(g.nodes[5:], 0)
					g.runFor(150 * time.Second)
					stalls, end := 0, begun
					for _, r := range g.honestRuns() {
						if r.from > end+stall {
							stalls++
						}
						end = max(end, r.to)
					}
					assert.Equal(t, 1, stalls)
					assert.Less(t, g.now-end, stall)
					assert.Zero(t, g.accused)
					assert.Empty(t, g.violations)
				})
			}
		}
	}
}

// badTimes are the settings of the short groups with bad members.
var badTimes = turnsTimes

// TestBad_EachKind_DoesWhatItSays: a bad member of each kind has had its chance after some
// seconds, and used it.
func TestBad_EachKind_DoesWhatItSays(t *testing.T) {
	skipUnderRaceDetector(t)
	for _, test := range []struct {
		kinds []string
		does  func(*badGroup, badness) bool
	}{
		{[]string{"hoarder"}, func(g *badGroup, b badness) bool { return b.(*hoarder).taken > 0 && g.standsStill() }},
		{[]string{"dodger"}, func(g *badGroup, b badness) bool { return b.(*dodger).kept > 0 && g.standsStill() }},
		{[]string{"evader"}, func(_ *badGroup, b badness) bool { return b.(*evader).told > 0 }},
		{[]string{"denier"}, func(_ *badGroup, b badness) bool { return b.(*denier).told > 0 }},
		{[]string{"beginner"}, func(_ *badGroup, b badness) bool { return b.(*denier).told > 0 }},
		{[]string{"babbler"}, func(_ *badGroup, b badness) bool { return b.(*babbler).said > 0 && b.(*babbler).count > 0 }},
		{[]string{"dropper"}, func(_ *badGroup, b badness) bool { return b.(*dropper).count > 0 }},
		{[]string{"dropper-quiet"}, func(_ *badGroup, b badness) bool { return b.(*dropper).count > 0 }},
		{[]string{"dropper-half"}, func(_ *badGroup, b badness) bool {
			return b.(*dropper).count > 0 && b.(*dropper).seen > b.(*dropper).count
		}},
		{[]string{"dropper-restart"}, func(_ *badGroup, b badness) bool { return b.(*dropperRestart).ended > 0 }},
		{[]string{"dropper-sent"}, func(_ *badGroup, b badness) bool { return b.(dropperSent).count > 0 }},
		{[]string{"misleader"}, func(_ *badGroup, b badness) bool { return b.(*misleader).count > 0 && b.(*misleader).hop > 0 }},
		{[]string{"pretender"}, func(_ *badGroup, b badness) bool { return b.(*misleader).count > 0 && b.(*misleader).hop > 0 }},
		{[]string{"stonewaller"}, func(_ *badGroup, b badness) bool { return b.(*stonewaller).count > 0 && b.(*stonewaller).asked > 0 }},
		{[]string{"ghost"}, func(_ *badGroup, b badness) bool { return b.(*stonewaller).count > 0 && b.(*stonewaller).asked > 0 }},
		{[]string{"idler"}, func(_ *badGroup, b badness) bool { return b.(*idler).count > 0 }},
		{[]string{"refuser"}, func(g *badGroup, b badness) bool { return b.(*refuser).untook > 0 && !g.standsStill() }},
		{[]string{"prophet"}, func(_ *badGroup, b badness) bool { return b.(*prophet).told > 0 }},
		{[]string{"herald"}, func(g *badGroup, b badness) bool { return b.(*herald).told > 10 && !g.standsStill() }},
		{[]string{"laggard"}, func(g *badGroup, b badness) bool { return b.(*laggard).taken > 0 && g.standsStill() }},
		{[]string{"ender"}, func(_ *badGroup, b badness) bool { return b.(*ender).told > 0 }},
		{[]string{"ignorer"}, func(g *badGroup, b badness) bool { return b.(*refuser).untook > 0 && !g.standsStill() }},
		{[]string{"decliner"}, func(g *badGroup, b badness) bool { return b.(*refuser).untook > 0 && !g.standsStill() }},
		{[]string{"tardy"}, func(g *badGroup, b badness) bool { return b.(*tardy).late > 0 && !g.standsStill() }},
		{[]string{"coy"}, func(g *badGroup, b badness) bool { return b.(*coy).told > 0 && !g.standsStill() }},
		{[]string{"renewer"}, func(_ *badGroup, b badness) bool { return b.(*renewer).count > 0 && b.(*renewer).named > 0 }},
		{[]string{"releaser"}, func(_ *badGroup, b badness) bool { return b.(*releaser).count > 0 && b.(*releaser).told > 0 }},
		{[]string{"pesterer"}, func(g *badGroup, b badness) bool { return b.(*pesterer).count > 0 && !g.standsStill() }},
		{[]string{"overrunner"}, func(g *badGroup, b badness) bool { return len(b.(*overrunner).over) > 0 && !g.standsStill() }},
		{[]string{"overrunner-silent"}, func(_ *badGroup, b badness) bool { return len(b.(*overrunner).over) > 0 }},
		{[]string{"rester"}, func(_ *badGroup, b badness) bool { return b.(*rester).told > 0 && b.(*rester).asked > 0 }},
		{[]string{"rester-quiet"}, func(_ *badGroup, b badness) bool { return b.(*rester).told > 0 && b.(*rester).asked > 0 }},
		{[]string{"minter"}, func(g *badGroup, b badness) bool { return b.(*minter).made > 200 && len(g.geneses) > 5 }},
		{[]string{"minter-slow"}, func(g *badGroup, b badness) bool { return b.(*minter).taken > 5 && len(g.geneses) > 5 }},
		{[]string{"friends", "friends"}, func(g *badGroup, _ badness) bool { return g.standsStill() }},
		{[]string{"favourer"}, func(g *badGroup, _ badness) bool { return len(g.tainted) > 0 }},
		{[]string{"swallower"}, func(g *badGroup, b badness) bool { return b.(*swallower).count > 0 && !g.standsStill() }},
		{[]string{"forger", "forger"}, func(g *badGroup, b badness) bool { return b.(*forger).taken > 1 && len(g.geneses) > 1 }},
	} {
		t.Run(test.kinds[0], func(t *testing.T) {
			t.Parallel()
			g := newBad(t, 1, 5, fairTurns, badTimes, test.kinds...)
			g.want(g.nodes, 0)
			g.runFor(15 * time.Second)
			assert.True(t, test.does(g, g.nodes[len(g.nodes)-1].bad.kind))
			assert.Zero(t, g.accused)
			require.Empty(t, g.violations)
		})
	}
}

// TestBad_Swallower_HoldersPassTheirTokensOn: of an honest holder that wants nothing, and to which no request
// comes, nobody thinks that it keeps its token: it hears from the keeper that somebody waits.
func TestBad_Swallower_HoldersPassTheirTokensOn(t *testing.T) {
	skipUnderRaceDetector(t)
	for _, p := range []busyPolicy{fairTurns, ringTurns, lightTurns}[:whole.Part(2, 3)] {
		t.Run(p.String(), func(t *testing.T) {
			for seed := range uint64(whole.Part(1, 4)) {
				g := newBad(t, seed, 5, p, badTimes, "swallower")
				g.want(g.nodes[:2], 5*time.Second) // now and then, and the others never
				g.runFor(10 * time.Minute)
				assert.NotEmpty(t, g.ran)
				require.Empty(t, g.violations)
			}
		})
	}
}

// TestBad_Idler_IsFirstKeeper_OthersFindTheLoss: it only notes that others want a token that it has dropped.
func TestBad_Idler_IsFirstKeeper_OthersFindTheLoss(t *testing.T) {
	skipUnderRaceDetector(t)
	g := newBadKeeper(t, 1, 5, fairTurns, quietTimes[0], 0, "idler")
	g.want(g.nodes, 0)
	g.runFor(10 * time.Minute)
	i := slices.IndexFunc(g.nodes, func(n *node) bool { return n.bad != nil })
	liar := g.nodes[i].bad.kind.(*idler)
	assert.Positive(t, liar.count)
	assert.Positive(t, liar.noted)
	assert.False(t, g.standsStill())
	assert.Zero(t, g.accused)
	require.Empty(t, g.violations)
}

// TestBad_Minter_OverlapIsBounded: whoever makes tokens while others have one, first keeper or
// not, has few of them taken: a number for each honest member that grows with the logarithm of
// the time. Each that is taken has programs overlap for one max_hold at most.
func TestBad_Minter_OverlapIsBounded(t *testing.T) {
	skipUnderRaceDetector(t)
	const long = 2 * time.Minute
	for i, p := range []busyPolicy{fairTurns, lightTurns, ringTurns} {
		for _, members := range []int{5, 3, 20}[:whole.Part(1, 3)] {
			for rank := range 4 {
				if rank == members || whole.Spares(i+rank, 2) {
					continue
				}
				t.Run(fmt.Sprintf("%v/%d/keeper %d", p, members, rank), func(t *testing.T) {
					t.Parallel()
					g := &badMeasured{badGroup: newBadKeeper(t, uint64(members), members, p, quietTimes[0], rank, "minter")}
					g.good = g.nodes.honest()
					g.runFor(time.Second)
					g.busy.want(g.nodes, 0)
					g.runFor(long)
					for _, p := range g.running {
						g.ran.add(p, g.now)
					}
					first := quietTimes[0].hold + silence // back-off
					each := 3 + bits.Len(uint(long/first))
					overlap := g.cost().overlap
					t.Logf("%d geneses taken, %v of overlap", len(g.geneses), overlap)
					assert.LessOrEqual(t, len(g.geneses), each*len(g.good))
					assert.LessOrEqual(t, overlap, time.Duration(len(g.geneses))*quietTimes[0].hold)
					assert.Zero(t, g.accused)
				})
			}
		}
	}
}

// newBadKeeper starts so many members, of which the one with this rank among the slot's keepers
// is of this kind.
func newBadKeeper(t *testing.T, seed uint64, members int, p busyPolicy, times busyTimes, rank int, kind string) *badGroup {
	t.Helper()
	g := makeBad(t, seed, members, p, times, make([]string, members))
	bad := g.ranked()[rank]
	g.nodes[0].found = bad != g.nodes[0] // the first token is of an honest member
	g.nodes[1].found = !g.nodes[0].found
	bad.kind = kind
	bad.turnBad()
	g.start()
	return g
}

// ranked are all members in the order in which they are the slot's keeper.
func (g *badGroup) ranked() crowd {
	ranks := directory.NewWitnessRank(g.group.ID(), directory.SlotID(g.resources[0].Name, 0))
	return slices.SortedFunc(slices.Values(g.nodes), func(a, b *node) int {
		x, y := ranks.Of(a.id), ranks.Of(b.id)
		return slices.Compare(y[:], x[:])
	})
}

// standsStill reports whether no honest program has begun for ten seconds.
func (g *badGroup) standsStill() bool {
	for _, turn := range g.turns {
		if !g.lies(turn.member) && turn.at > g.now-10*time.Second {
			return false
		}
	}
	return true
}

// TestBad_WithFaults_HonestBlameless: whatever else goes wrong, bad members of all kinds leave
// the rules as they are for the tokens that they have not touched, and no honest one is accused.
func TestBad_WithFaults_HonestBlameless(t *testing.T) {
	skipUnderRaceDetector(t)
	for _, bad := range []string{"hoarder", "dropper,dropper-quiet", "dropper-half,minter-slow", "hoarder,minter", "friends,friends"} {
		t.Run(bad, func(t *testing.T) {
			t.Parallel()
			s := Setting{Seed: 5, Members: 6, For: 10 * time.Second, Bad: bad}
			require.NoError(t, s.Run(nil).Err())
		})
	}
}

// TestBad_Setting_IsWrittenAndRead: a setting with bad members is printed whole, and one with
// too many of them, or of no kind, is none.
func TestBad_Setting_IsWrittenAndRead(t *testing.T) {
	s := Setting{Members: 4, Bad: "hoarder,minter"}
	require.NoError(t, s.Validate())
	assert.Contains(t, s.Args(), "--bad hoarder,minter")
	assert.Contains(t, s.String(), `Bad: "hoarder,minter"`)
	s.Members = 3
	require.ErrorIs(t, s.Validate(), ErrSetting)
	require.ErrorIs(t, Setting{Members: 4, Bad: "saint"}.Validate(), ErrSetting)
	require.ErrorIs(t, Setting{Members: 4, Liars: 1, Bad: "hoarder,minter"}.Validate(), ErrSetting)
}

// TestBad_SameSeed_SameRun: a run with bad members is the same each time.
func TestBad_SameSeed_SameRun(t *testing.T) {
	skipUnderRaceDetector(t)
	s := Setting{Seed: 3, Members: 6, For: 10 * time.Second, Bad: "hoarder,dropper-half,minter"}
	var first, second bytes.Buffer
	s.Run(&first)
	s.Run(&second)
	assert.Equal(t, first.String(), second.String())
}
