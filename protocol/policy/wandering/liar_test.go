package wandering

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/host"
	"github.com/wandertoken/wander/protocol/policy/wandering/papers"
)

// One liar tells all of a later token that does not exist. They pass that on, each
// to who holds the token: it stays all the same. Of three members it is believed.
func TestObservation_OneLiar_NotBelieved(t *testing.T) {
	for _, liars := range []byte{1, 2, 3} {
		holder := walkerAt(t, 1, Fair, table1)
		holder.Step(2*second, arrival(9, 1000), nil)
		at, dropped := 5*second, 0
		holder.Now = at
		for i := byte(2); i < 14; i++ {
			witness := walkerAt(t, i, Fair, table1)
			invented := sight{id: ident.Token{66}, born: 1 << 40, hop: ^uint64(0)}
			witness.Step(at, said(15+i%liars, body{kind: look, sight: invented, member: ident.Member{18}}), nil)
			actions := witness.Step(at+1, said(19, body{kind: look, sight: holder.sight(), member: ident.Member{1}}), nil)
			for _, m := range told(actions, 1, heard) {
				require.Equal(t, ident.Member{15 + i%liars}, m.member)
				dropped += len(kinds(holder.Step(at+2, said(i, m), nil), policy.Drop))
			}
		}
		require.Equal(t, liars >= credible, dropped == 1, "%d liars", liars)
	}
}

// A liar takes one place for the tokens it tells of, whatever it says.
func TestObservations_Liar_NotFilled(t *testing.T) {
	w := walkerAt(t, 1, Fair, table1)
	w.observations.note(&sight{id: ident.Token{9}, born: 5}, ident.Member{}, 2*second)
	for i := range byte(40) {
		invented := sight{id: ident.Token{66, i}, born: 1}
		w.Step(3*second+clock.Instant(i), said(15, body{kind: look, sight: invented}), nil)
		w.Step(3*second+clock.Instant(i), said(15, body{kind: heard, sight: invented, member: ident.Member{16, i}}), nil)
	}
	require.LessOrEqual(t, w.observations.n, 2)
	require.NotNil(t, w.observations.find(&ident.Token{9}))
}

// A liar that reports members again and again that do not want the token keeps it
// for as long as it takes to ask each of them, not longer.
func TestCandidates_Refused_NotAskedAgain(t *testing.T) {
	w := walkerAt(t, 1, Fair, table1)
	now := 2 * second
	w.Step(now, arrival(9, 1000), nil)
	var fakes body
	fakes.kind, fakes.n = report, reportMost
	for i := range fakes.records {
		fakes.records[i] = waiter{ident.Member{byte(2 + i)}, 1 << 31}
	}
	inquiries := 0
	for range 2000 {
		now += clock.Instant(time.Millisecond)
		actions := detached(w.Step(now, said(12, fakes), nil))
		actions = append(actions, detached(w.Step(now, policy.Event{Kind: policy.Timer}, nil))...)
		for len(actions) > 0 {
			var next []policy.Action
			for _, a := range kinds(actions, policy.Tell) {
				var m body
				require.True(t, parseBody(a.Field, &m))
				if m.kind == inquire && a.To == m.member {
					inquiries++
					next = append(next, detached(w.Step(now, policy.Event{Kind: policy.Message, From: a.To,
						Body: (&body{kind: answer, member: a.To, what: unwilling}).append(nil)}, nil))...)
				}
			}
			actions = next
		}
	}
	require.LessOrEqual(t, inquiries, 5*reportMost) // anew with each look, of which there are a few
	require.Positive(t, inquiries)
}

// At one member's word a witness tells others only now and then.
func TestAsks_Repeated_Rare(t *testing.T) {
	w := walkerAt(t, 1, Fair, table1)
	w.observations.note(&sight{id: ident.Token{9}, born: 5}, ident.Member{}, 2*second)
	w.Step(2*second, said(3, body{kind: demand, what: willing}), nil)
	sent := 0
	for i := range 200 {
		m := body{kind: look, sight: sight{id: ident.Token{66}, born: 9, age: 1000}, member: ident.Member{byte(4 + i%14)}}
		sent += len(kinds(w.Step(3*second+clock.Instant(i), said(2, m), nil), policy.Tell))
	}
	require.LessOrEqual(t, sent, 2)
}

// However many tell everybody again and again of a token that does not exist, it keeps
// nobody from making one.
func TestObservation_Invented_GenerationNotPrevented(t *testing.T) {
	for _, c := range []struct{ members, liars int }{{40, 0}, {40, 1}, {40, 3}, {13, 2}, {6, 1}, {4, 1}} {
		p := table1
		p.Preset = Fair
		g := newGroup(t, c.members, p)
		lie := body{kind: look, sight: sight{id: ident.Token{66}, born: 1 << 40, hop: 9}, older: nothingOlder}
		g.every(5*second, func() {
			for from := range c.liars {
				for to := range c.members {
					g.say(from, to, lie)
				}
			}
		})
		for liar := range c.liars { // they make none, and answer nobody
			g.down[liar] = true
		}
		g.run(120*second, func() bool { return g.generated > 0 })
		require.Positive(t, g.generated, "%d liars of %d", c.liars, c.members)
	}
}

// A token that lives is not replaced: not while nobody is due for long, in small groups,
// and while one operation takes as long as a freshness and more; nor when a liar tells
// everybody of it far more often than others do.
func TestToken_Living_NotReplaced(t *testing.T) {
	for _, c := range []struct {
		preset    string
		members   int
		operation time.Duration
		liar      bool
	}{
		{Fair, 40, 4 * time.Second, false}, {Fair, 40, 4 * time.Second, true}, {Fair, 5, 4 * time.Second, false},
		{Fair, 5, time.Hour, false}, {Light, 40, 4 * time.Second, false}, {Light, 5, time.Hour, false},
		{Fair, 20, 10 * time.Minute, false}, {Light, 20, 10 * time.Minute, false},
	}[:whole.Part(6, 8)] {
		p := table1
		p.Preset, p.OperationTime, p.MembersMax = c.preset, c.operation, max(c.members, 5)
		p.MinInterval = 2 * c.operation * time.Duration(c.members)
		g := newGroup(t, c.members, p)
		g.mint(1, policy.Arrival)
		if c.liar {
			g.every(5*second, func() {
				for id, token := range g.tokens {
					for to := range c.members {
						g.say(0, to, body{kind: look, sight: sight{id: id, born: token.Born, hop: token.Hop}, older: nothingOlder})
					}
				}
			})
		}
		g.run(clock.Instant(4*p.MinInterval), nil)
		require.Zero(t, g.generated, "%+v", c)
		require.Greater(t, g.ran[1], 2, "%+v", c)
	}
}

// victims is a group in which some mark a member again and again as one that was
// served just now, as often as they are believed about somebody.
func victims(t *testing.T, members, victim int, liars ...int) *group {
	p := table1
	p.Preset, p.MembersMax = Fair, members
	g := newGroup(t, members, p)
	g.mint(1, policy.Arrival)
	g.every(clock.Instant(papers.MinInterval(p.OperationTime, p.MembersMax)/4)+1, func() {
		for _, liar := range liars {
			m := body{kind: look, sight: sight{id: ident.Token{66}, born: 0}, member: idOf(victim), older: nothingOlder}
			g.tellWitnesses(liar, victim, m)
		}
	})
	return g
}

func (g *group) tellWitnesses(from, of int, m body) {
	for _, witness := range (ring{n: len(g.walkers)}).Witnesses(idOf(of), policy.MaxTimekeepers, nil) {
		g.say(from, indexOf(witness), m)
	}
}

func (g *group) runRounds(n int) {
	g.run(clock.Instant(n*len(g.walkers)*4*int(time.Second)), nil)
}

// Two that say of a third again and again that it was served keep it from its turn once
// each. Three starve it.
func TestLiars_TwoMarks_NobodyStarves(t *testing.T) {
	const rounds = 40
	for _, c := range []struct {
		liars []int
		least int
	}{{nil, rounds - 2}, {[]int{0}, rounds - 4}, {[]int{0, 39}, rounds - 6}, {[]int{0, 39, 38}, 0}} {
		g := victims(t, 40, 20, c.liars...)
		g.runRounds(rounds)
		require.GreaterOrEqual(t, g.ran[20], c.least, "%v", c.liars)
		require.GreaterOrEqual(t, g.ran[10], rounds-2)
		require.Equal(t, c.least > 0, g.ran[20] > 3, "%v", c.liars)
	}
}

// Who denies each turn gains one of each member that it is believed about, and no more.
func TestTurns_Denied_GainTwo(t *testing.T) {
	const rounds = 30
	g := victims(t, 120, 20)
	g.every(second, func() { // and would take the token at any time
		g.walkers[20].early = host.LongAgo
		g.tellWitnesses(20, 20, body{kind: demand, what: willing, age: 1 << 31})
	})
	g.runRounds(rounds)
	require.LessOrEqual(t, g.ran[20], g.ran[10]+3)
}

// counting is a Roster that counts how often it ranks all members.
type counting struct {
	everybody
	ranked *int
}

func (c counting) Witnesses(of ident.Member, n int, to []ident.Member) []ident.Member {
	*c.ranked++
	return c.everybody.Witnesses(of, n, to)
}

// Who floods a member has it rank the group a few times in a second, and no more.
func TestDemands_Flood_RankSeldom(t *testing.T) {
	flood := map[string]func(i int) body{
		"looks": func(int) body { return body{kind: look, sight: sight{id: ident.Token{8}, born: 9}} },
		"marks": func(i int) body {
			return body{kind: look, sight: sight{id: ident.Token{8}, born: 9}, member: ident.Member{byte(20 + i%200)}}
		},
		"demands": func(int) body { return body{kind: demand, what: willing, age: 1 << 30} },
		"reports": func(i int) body {
			m := body{kind: report, n: reportMost}
			for k := range m.records {
				m.records[k] = waiter{ident.Member{byte(2 + (i+k)%17)}, 1 << 30}
			}
			return m
		},
	}
	for name, next := range flood {
		ranked := 0
		p := table1
		p.Preset = Fair
		made, err := New(p, policy.Surroundings{
			Self: ident.Member{1}, Random: rand.NewPCG(1, 1), Roster: counting{everybody{20, 1}, &ranked},
		})
		require.NoError(t, err)
		w := made.(*walker)
		w.Step(second, policy.Event{Kind: policy.Timer}, nil)
		for i := range byte(10) {
			w.Step(second, said(2+i, body{kind: demand, what: willing}), nil)
		}
		w.Step(200*second, said(19, body{kind: look, sight: sight{id: ident.Token{8}, born: 9}, member: ident.Member{2}, older: nothingOlder}), nil)
		w.Step(200*second, arrival(9, 1000), nil)
		ranked = 0
		for i := range 400 {
			w.Step(201*second+clock.Instant(i)*second/400, said(2, next(i)), nil)
		}
		require.LessOrEqual(t, ranked, 4*(reportMost+1), name)
	}
}

// However often the operation begins once more under a token, its holder asks who is due
// no more often than after the shortest pause.
func TestRun_AgainAndAgain_LooksAreThinned(t *testing.T) {
	p := table1
	p.OperationTime, p.MinInterval = time.Millisecond, time.Millisecond
	w := walkerAt(t, 1, Fair, p)
	w.Step(2*second, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
	token := policy.Token{ID: ident.Token{9}, Born: 1000}
	w.Step(2*second, policy.Event{Kind: policy.Arrival, From: ident.Member{2}, Token: token}, nil)
	sent, ran := 0, 0
	for now := 2*second + second/1000; now < 4*second; now += second / 1000 {
		actions := detached(w.Step(now, policy.Event{Kind: policy.OperationEnded, Operated: true, Token: token}, nil))
		actions = append(actions, w.Step(now+second/2000, policy.Event{Kind: policy.Timer}, nil)...)
		ran += len(kinds(actions, policy.Run))
		for _, a := range kinds(actions, policy.Tell) {
			if bodyKind(a.Field[0]) == look {
				sent++
			}
		}
	}
	require.Greater(t, ran, 100)
	require.LessOrEqual(t, sent, readsAtOnce*(1+int(2*time.Second/readPauseLeast)))
	require.Greater(t, sent, readsAtOnce, "at once, and again")
}

// However often somebody says that it waits, who holds an idle token looks for it no more
// often than after the shortest pause.
func TestWanted_Flood_LooksAreThinned(t *testing.T) {
	w := walkerAt(t, 1, Fair, table1)
	w.Step(2*second, arrival(9, 1000), nil)
	now, sent := 3*second, 0
	w.Step(now, policy.Event{Kind: policy.Timer}, nil) // nobody is due
	for ; now < 5*second; now += second / 1000 {
		sent += len(kinds(w.Step(now, policy.Event{Kind: policy.Wanted}, nil), policy.Tell))
		if now >= w.Deadline() {
			sent += len(kinds(w.Step(now, policy.Event{Kind: policy.Timer}, nil), policy.Tell))
		}
	}
	require.LessOrEqual(t, sent, readsAtOnce*(1+int(2*time.Second/readPauseLeast)))
	require.Greater(t, sent, readsAtOnce, "at once, and again")
}

// A token that nobody took goes to who was said to wait meanwhile: most of the others may be dead, and the
// one that waits is not. It is drawn at random where the one that waits did not take it.
func TestWanted_LightTokenComesBack_GoesToWhoWaits(t *testing.T) {
	waits := ident.Member{5}
	w := walkerAt(t, 1, Light, table1)
	e := arrival(9, 1000)
	passed := kinds(w.Step(2*second, e, nil), policy.Pass)
	if len(passed) == 0 {
		passed = kinds(w.Step(w.Deadline(), policy.Event{Kind: policy.Timer}, nil), policy.Pass)
	}
	require.Len(t, passed, 1)
	back := policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: e.Token}
	w.Step(3*second, policy.Event{Kind: policy.Wanted, From: waits}, nil)
	w.Step(4*second, back, nil)
	passed = kinds(w.Step(w.Deadline(), policy.Event{Kind: policy.Timer}, nil), policy.Pass)
	require.Len(t, passed, 1)
	assert.Equal(t, waits, passed[0].To)

	w.Step(w.Now+second, policy.Event{Kind: policy.Wanted, From: waits}, nil)
	w.Step(w.Now+second, back, nil)
	require.Empty(t, kinds(w.Step(w.Now, policy.Event{Kind: policy.Wanted, From: ident.Member{1}}, nil), policy.Pass))
	again := kinds(w.Step(w.Now, policy.Event{Kind: policy.Wanted, From: ident.Member{6}}, nil), policy.Pass)
	require.Len(t, again, 1, "another one waits, and the token rests")
	assert.Equal(t, ident.Member{6}, again[0].To)
}
