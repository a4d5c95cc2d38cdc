package history_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/history"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

var (
	self, m2, m3 = ident.Member{1}, ident.Member{2}, ident.Member{3}
	tape         = history.Place{Resource: "tape"}
	one, other   = ident.Token{1}, ident.Token{2}
)

// at is an instant so many seconds after two hours.
func at(seconds float64) clock.Instant {
	return clock.Instant(2 * time.Hour).Add(time.Duration(seconds * float64(time.Second)))
}

func slots(string) int { return 1 }

// runs is what the holder says of its program.
func runs(who ident.Member, hop uint64, heard, ends float64) policy.Observation {
	return policy.Observation{Holder: who, By: who, Token: one, Hop: hop, At: at(heard), Ends: at(ends)}
}

func TestSaw_HeldElsewhere_OneSightingEach(t *testing.T) {
	l := history.New(self)
	l.Saw(history.Sighting{Place: tape, Token: one, Hop: 4, Holder: self, How: api.Here, By: self, At: at(0)})
	l.Saw(history.Sighting{Place: tape, Token: one, Hop: 5, Holder: m2, How: api.Proved, By: self, At: at(1)})
	l.Heard(tape, policy.Observation{Holder: m2, By: m3, Token: one, Hop: 5, At: at(2)}, api.Told, at(2)) // known
	l.Heard(tape, policy.Observation{Holder: m3, By: m3, Token: one, Hop: 4, At: at(3)}, api.Said, at(3)) // older
	l.Heard(tape, policy.Observation{Holder: self, By: m3, Token: one, Hop: 6, At: at(3)}, api.Told, at(3))
	l.Heard(tape, policy.Observation{}, api.Told, at(3))
	l.Heard(tape, policy.Observation{Holder: m3, By: m3, Token: other, Hop: 0, At: at(4)}, api.Said, at(4))
	n := l.Since(0, at(5))
	require.Len(t, n.Sightings, 3)
	assert.Equal(t, []ident.Member{self, m2, m3}, []ident.Member{n.Sightings[0].Holder, n.Sightings[1].Holder, n.Sightings[2].Holder})
	assert.Empty(t, l.Since(n.Next, at(5)).Sightings)
}

// Of its own programs a member knows all. Of others' it knows when it heard of them, and when they are killed.
func TestOperations_HereAndElsewhere_AsHeard(t *testing.T) {
	l := history.New(self)
	l.Began(history.Operation{Place: tape, Token: one, Hop: 4, Member: self, How: api.Here, By: self, Begun: at(0), EndsBy: at(20)})
	first := l.Since(0, at(1))
	require.Len(t, first.Operations, 1)
	assert.Zero(t, first.Operations[0].Ended)
	l.Ended(tape, one, at(2))
	l.Ended(tape, one, at(3)) // none runs
	l.Heard(tape, runs(m2, 5, 3, 23), api.Said, at(3))
	l.Heard(tape, runs(m2, 5, 4, 24), api.Said, at(4)) // the same, longer
	l.Heard(tape, policy.Observation{Holder: m3, By: m3, Token: one, Hop: 6, At: at(9)}, api.Said, at(9))
	l.Heard(tape, runs(m2, 7, 10, 12), api.Said, at(10))                         // and nothing more comes
	l.Heard(history.Place{Resource: "b"}, runs(m3, 1, 10, 30), api.Said, at(10)) // ends early:
	l.Heard(history.Place{Resource: "b"}, policy.Observation{Holder: m3, By: m3, Token: one, Hop: 1, At: at(15)}, api.Said, at(15))
	news := l.Since(first.Next, at(16))
	require.Len(t, news.Operations, 4)
	for i, want := range []struct {
		who         ident.Member
		begun, ends float64
	}{{self, 0, 2}, {m2, 3, 9}, {m3, 10, 15}, {m2, 10, 12}} {
		o := news.Operations[i]
		assert.Equal(t, []any{want.who, at(want.begun), at(want.ends)}, []any{o.Member, o.Begun, o.Ended}, i)
	}
	assert.Equal(t, first.Operations[0].ID, news.Operations[0].ID)
	assert.Equal(t, at(24), news.Operations[1].EndsBy)
}

// The hops tell how many turns there were, also those of which nothing was heard.
func TestSummaries_Hour_ByMinutes(t *testing.T) {
	l := history.New(self)
	saw := func(who ident.Member, token ident.Token, hop uint64, when float64) {
		l.Saw(history.Sighting{Place: tape, Token: token, Hop: hop, Holder: who, At: at(when)})
	}
	saw(self, one, 1, -3700)
	saw(self, one, 2, 30)
	saw(m2, one, 3, 50)
	saw(self, one, 7, 70) // three turns that nobody told of
	saw(m2, one, 7+1e6, 80)
	saw(m3, other, 0, 130)
	l.Waited(history.Wait{Resource: "tape", Asked: at(10), Answered: at(30), Outcome: "granted"})
	l.Waited(history.Wait{Resource: "tape", Asked: at(20), Answered: at(50), Outcome: "timeout"})
	list := l.Summaries(at(170), slots)
	require.Len(t, list, 1)
	s := list[0]
	require.Len(t, s.Members, 4)
	turns := make(map[ident.Member][]uint16)
	for _, m := range s.Members {
		turns[m.Member] = m.Turns[57:]
	}
	assert.Equal(t, map[ident.Member][]uint16{{}: {0, 3, 0}, self: {1, 1, 0}, m2: {1, 1, 0}, m3: {0, 0, 1}}, turns)
	assert.Equal(t, 3, s.Members[0].Total, "most first")
	assert.Equal(t, history.WaitSum{Count: 2, Sum: 50 * time.Second, Longest: 30 * time.Second}, s.Waits[57])
	assert.Zero(t, s.Overlap)

	require.Len(t, l.Summaries(at(3700), slots)[0].Members, 1, "what is older than an hour is gone")
	assert.Zero(t, l.Summaries(at(9000), slots)[0].Waits)
	assert.Empty(t, l.Since(0, at(9000)).Sightings)
}

func TestOverlaps_TwoAtOnce_Found(t *testing.T) {
	op := func(who ident.Member, from, to float64) history.Operation {
		o := history.Operation{Place: tape, Member: who, Begun: at(from)}
		if to > 0 {
			o.Ended = at(to)
		}
		return o
	}
	list := []history.Operation{op(self, 0, 10), op(m2, 10, 20), op(m3, 15, 0), op(self, 18, 30), {Place: history.Place{Resource: "b"}, Begun: at(0)}}
	assert.Equal(t, []history.Stretch{{From: at(15), To: at(30)}}, history.Overlaps(list, "tape", 1, at(40)))
	assert.Equal(t, []history.Stretch{{From: at(18), To: at(20)}}, history.Overlaps(list, "tape", 2, at(40)))
	assert.Empty(t, history.Overlaps(list, "tape", 3, at(40)))
}

// What peers say cannot make the history grow: neither tokens, nor members, nor resources.
func TestLog_Flood_Bounded(t *testing.T) {
	l := history.New(self)
	for i := range 3 * history.MaxSightings {
		who := ident.Member{byte(i), byte(i >> 8), 9}
		place := history.Place{Resource: string(rune('a' + i%100)), Slot: uint64(i % 3)}
		o := policy.Observation{Holder: who, By: who, Token: ident.Token{byte(i), byte(i >> 8)}, Hop: uint64(i), At: at(float64(i) / 1000), Ends: at(1000)}
		l.Heard(place, o, api.Said, o.At)
		l.Heard(tape, o, api.Said, o.At)
		l.Waited(history.Wait{Resource: "tape", Asked: o.At, Answered: o.At})
	}
	n := l.Since(0, at(100))
	assert.Len(t, n.Sightings, history.MaxSightings)
	assert.LessOrEqual(t, len(n.Operations), history.MaxOperations+16*history.MaxPlaces)
	assert.Len(t, n.Waits, history.MaxWaits)
	assert.Less(t, n.Sightings[0].Seq, n.Sightings[1].Seq, "oldest first")
	list := l.Summaries(at(100), slots)
	assert.LessOrEqual(t, len(list), history.MaxPlaces)
	for _, s := range list {
		assert.LessOrEqual(t, len(s.Members), history.MaxMembers+1)
	}
}

// A token that goes round costs nothing that shows beside a handoff, which takes two signatures.
func BenchmarkLog_Hop(b *testing.B) {
	l := history.New(self)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		now := at(float64(i) / 100)
		l.Saw(history.Sighting{Place: tape, Token: one, Hop: uint64(2 * i), Holder: self, How: api.Here, By: self, At: now})
		l.Began(history.Operation{Place: tape, Token: one, Hop: uint64(2 * i), Member: self, How: api.Here, By: self, Begun: now, EndsBy: now + 10})
		l.Ended(tape, one, now+5)
		l.Saw(history.Sighting{Place: tape, Token: one, Hop: uint64(2*i + 1), Holder: m2, How: api.Proved, By: self, At: now + 6})
	}
}
