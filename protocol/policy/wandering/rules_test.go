package wandering

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/keeper"
)

// What follows holds light and fair to single rules of spec/policy/wandering.md.

// carrying is a token's field: hops without an operation, its age, and candidates by how
// long ago they were served.
func carrying(streak byte, age time.Duration, waiters ...waiter) []byte {
	field := binary.BigEndian.AppendUint32([]byte{baggageForm, streak}, millis(age))
	for _, w := range waiters {
		field = w.append(field)
	}
	return field
}

// arrivalWith is a token of an id that arrives with a field.
func arrivalWith(id byte, born uint64, field []byte) policy.Event {
	e := arrival(id, born)
	e.Token.Field = field
	return e
}

// P-60: however many tokens get lost behind a member, it makes one in a least wait.
func TestGeneration_LeastWait_OneToken(t *testing.T) {
	p := table1
	p.MaxHold = time.Second
	w := walkerAt(t, 1, Light, p)
	k := keeper.Around(w, p, policy.Surroundings{Self: ident.Member{1}}, true)
	now, made, id := 30*second, []clock.Instant(nil), byte(0)
	step := func(e policy.Event) {
		for _, a := range k.Step(now, e, nil) {
			if a.Kind == policy.Generate {
				made = append(made, now)
			}
		}
	}
	step(policy.Event{Kind: policy.DemandChanged, Demand: true})
	for range 400 {
		if len(made) > int(id) {
			id++
			t := policy.Token{ID: ident.Token{id}, Born: uint64(id)}
			step(policy.Event{Kind: policy.Generated, Token: t})
			now += second
			step(policy.Event{Kind: policy.OperationEnded, Operated: true, Token: t})
			step(policy.Event{Kind: policy.PassEnded, Outcome: policy.Delivered, From: ident.Member{2}, Token: t})
			step(policy.Event{Kind: policy.Silent, From: ident.Member{2}})
		}
		now += second / 4
		step(policy.Event{Kind: policy.Timer})
	}
	require.Greater(t, len(made), 2)
	for i := range made[1:] {
		assert.GreaterOrEqual(t, made[i+1].Sub(made[i]), keeper.LeastWait(p))
	}
}

// P-37: a token that was made here, and that nobody has taken, stays if it precedes.
func TestUntaken_Precedes_Stays(t *testing.T) {
	for _, preset := range []string{Light, Fair} {
		w := walkerAt(t, 1, preset, table1)
		w.Step(2*second, policy.Event{Kind: policy.Generated, Token: policy.Token{ID: ident.Token{9}, Born: 1001}}, nil)
		dropped := kinds(w.Step(3*second, arrivalWith(8, 1000, carrying(0, time.Minute)), nil), policy.Drop)
		require.Len(t, dropped, 1, preset)
		assert.Equal(t, ident.Token{8}, dropped[0].Token, preset)
		dropped = kinds(w.Step(4*second, arrivalWith(7, 1002, carrying(0, time.Minute)), nil), policy.Drop)
		require.Len(t, dropped, 1, preset)
		assert.Equal(t, ident.Token{9}, dropped[0].Token, preset)
	}
}

// P-37, P-39: three others have to say independently that a later token circulates; a word
// on one's own word is no news.
func TestLook_OwnName_Ignored(t *testing.T) {
	for word, dropped := range map[ident.Member]int{{}: 1, {7}: 1, {8}: 1, {1}: 0, {5}: 0} {
		w := walkerAt(t, 1, Fair, table1)
		w.Step(2*second, arrival(9, 1000), nil)
		later, drops := sight{id: ident.Token{8}, born: 1001}, 0
		for _, m := range []policy.Event{
			said(5, body{kind: heard, sight: later}), said(6, body{kind: heard, sight: later}),
			said(7, body{kind: heard, sight: later, member: word}),
		} {
			drops += len(kinds(w.Step(3*second, m, nil), policy.Drop))
		}
		assert.Equal(t, dropped, drops, "on the word of %v", word[0])
	}
}

// P-39: who tells that it holds a token is told of one that precedes it, if that was told
// of on the teller's own word.
func TestHearsay_Received_NotPassedOn(t *testing.T) {
	w := walkerAt(t, 1, Fair, table1)
	answered := func() []body {
		held := sight{id: ident.Token{10}, born: 1, age: 60_000}
		return told(w.Step(4*second, said(17, body{kind: look, sight: held}), nil), 17, heard)
	}
	require.Empty(t, answered())
	later := sight{id: ident.Token{9}, born: 7, hop: 5}
	w.Step(2*second, said(15, body{kind: heard, sight: later, member: ident.Member{16}}), nil)
	require.Empty(t, answered(), "15 says that 16 says so")
	w.Step(3*second, said(14, body{kind: look, sight: later}), nil)
	require.Equal(t, []body{{
		kind: heard, member: ident.Member{14}, sight: sight{id: ident.Token{9}, born: 7, hop: 5, age: 1000},
	}}, answered())
}

// P-40: how long a token stays where nobody operates.
func TestRest_Light_Grows(t *testing.T) {
	for _, c := range []struct {
		members int
		streak  byte
		skip    time.Duration
		rests   time.Duration
	}{
		{20, 0, 100 * time.Millisecond, 0},
		{20, 31, 100 * time.Millisecond, 0},
		{20, 32, 100 * time.Millisecond, 100 * time.Millisecond},
		{20, 33, 100 * time.Millisecond, 200 * time.Millisecond},
		{20, 37, 100 * time.Millisecond, 3200 * time.Millisecond},
		{20, 255, 100 * time.Millisecond, 3200 * time.Millisecond},
		{20, 34, time.Second, 4 * time.Second},
		{20, 35, time.Second, 4 * time.Second},
		{20, 40, 5 * time.Second, 5 * time.Second},
		{16, 255, 100 * time.Millisecond, 3200 * time.Millisecond},
		{10, 255, 100 * time.Millisecond, 5 * time.Second},
		{5, 31, 100 * time.Millisecond, 0},
		{5, 32, 100 * time.Millisecond, 100 * time.Millisecond},
		{5, 38, 100 * time.Millisecond, 6400 * time.Millisecond},
		{5, 39, 100 * time.Millisecond, 10 * time.Second},
		{5, 255, 10 * time.Millisecond, 10 * time.Second},
		{5, 255, 20 * time.Second, 20 * time.Second},
		{2, 255, 100 * time.Millisecond, 25 * time.Second},
	} {
		p := table1
		p.SkipDelay = c.skip
		w := walkerAt(t, 1, Light, p)
		w.roster = everybody{c.members, 1}
		w.Step(2*second, arrivalWith(9, 1000, carrying(c.streak, 0)), nil)
		assert.Equal(t, c.rests, w.Deadline().Sub(2*second), "%+v", c)
	}
}

// P-41, P-42: who holds a token asks for those who have waited longer than the eighth of
// the candidates.
func TestOlder_EighthCandidate_Sent(t *testing.T) {
	for n, older := range map[int]uint32{7: 0, 8: 111_750, 10: 131_750} {
		w := walkerAt(t, 20, Fair, table1)
		var waiters []waiter
		for i := range n {
			waiters = append(waiters, waiter{ident.Member{byte(1 + i)}, uint32(110+10*i) * 1000})
		}
		w.Step(2*second, arrivalWith(9, 1000, carrying(0, 0, waiters...)), nil)
		w.Step(3*second, policy.Event{Kind: policy.Timer}, nil) // nobody is due
		actions := w.Step(3*second+second*3/4, policy.Event{Kind: policy.Timer}, nil)
		looks := told(actions, 1, look)
		require.Len(t, looks, 1)
		assert.Equal(t, older, looks[0].older, "%d candidates", n)
	}
}

// P-41, P-42: a group that asks for few timekeepers sends few messages: a member that begins to want the token tells each of
// them, and a holder that finds nobody due asks one member at random in place of two.
func TestTimekeepers_Fewer_FewerTold(t *testing.T) {
	for n, asked := range map[int]int{0: readsAtOnce, 1: 1, fewTimekeepers - 1: 1, fewTimekeepers: readsAtOnce, policy.MaxTimekeepers: readsAtOnce} {
		p := table1
		p.Timekeepers = n
		w := walkerAt(t, 20, Fair, p)
		w.Step(2*second, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
		demands := kinds(w.Step(w.Deadline(), policy.Event{Kind: policy.Timer}, nil), policy.Tell)
		assert.Len(t, demands, Timekeepers(p), "timekeepers %d", n)

		w = walkerAt(t, 20, Fair, p)
		w.Step(2*second, arrival(9, 1000), nil)
		w.Step(3*second, policy.Event{Kind: policy.Timer}, nil) // nobody is due
		looks := kinds(w.Step(3*second+second*3/4, policy.Event{Kind: policy.Timer}, nil), policy.Tell)
		assert.Len(t, looks, asked, "timekeepers %d", n)
	}
	p := table1
	p.Preset, p.Timekeepers = Fair, policy.MaxTimekeepers+1
	_, err := New(p, policy.Surroundings{Random: rand.NewPCG(1, 1)})
	assert.ErrorIs(t, err, policy.ErrOutOfRange)
}

// P-42: a candidate is whom a witness of it reports, and not itself. Of twenty members 1 to
// 12 are everybody's witnesses, and 13 those of one of them.
func TestReport_NotATimekeeper_Ignored(t *testing.T) {
	for _, c := range []struct {
		from, about byte
		asked       int
	}{{4, 5, 1}, {12, 5, 1}, {18, 5, 0}, {5, 5, 0}, {4, 17, 1}, {13, 17, 0}} {
		w := walkerAt(t, 20, Fair, table1)
		w.Step(2*second, arrival(9, 1000), nil)
		m := body{kind: report, n: 1, records: [reportMost]waiter{{ident.Member{c.about}, 2_000_000}}}
		w.Step(2*second+1, said(c.from, m), nil)
		actions := w.Step(3*second, policy.Event{Kind: policy.Timer}, nil)
		assert.Len(t, told(actions, c.about, inquire), c.asked, "%+v", c)
	}
}

// inquiring has a member that holds a token, and operates if it wants, inquire about
// member 5, of which 4 says that it was served so long ago. It returns the witnesses
// that it asks.
func inquiring(t *testing.T, wants bool, claimed time.Duration) (w *walker, asked []byte) {
	w = walkerAt(t, 20, Fair, table1)
	w.Step(second, policy.Event{Kind: policy.DemandChanged, Demand: wants}, nil)
	w.Step(2*second, arrival(9, 1000), nil)
	m := body{kind: report, n: 1, records: [reportMost]waiter{{ident.Member{5}, millis(claimed)}}}
	w.Step(2*second, said(4, m), nil)
	actions := w.Step(2*second+second/2, policy.Event{Kind: policy.Timer}, nil)
	require.Len(t, told(actions, 5, inquire), 1)
	for witness := byte(1); witness < 20; witness++ {
		if witness != 5 && len(told(actions, witness, inquire)) == 1 {
			asked = append(asked, witness)
		}
	}
	require.Len(t, asked, confirmations)
	require.NotContains(t, asked, byte(4))
	return w, asked
}

// answering has the candidate and its two witnesses answer.
func answering(w *walker, asked []byte, itself, others time.Duration) (all []policy.Action) {
	for _, from := range append(asked, 5) {
		m := body{kind: answer, member: ident.Member{5}, what: willing, age: millis(others)}
		if from == 5 {
			m.age = millis(itself)
		}
		all = append(all, detached(w.Step(w.Now, said(from, m), nil))...)
	}
	return all
}

// P-43: the latest time counts at which a candidate is said to have been served, and who
// reported it with an earlier one is told.
func TestServed_Twice_LatestCounts(t *testing.T) {
	for _, c := range []struct {
		itself, others time.Duration
		taken          bool
	}{
		{time.Hour, time.Hour, true},
		{time.Hour, 10 * time.Second, false},
		{10 * time.Second, time.Hour, false},
	} {
		w, asked := inquiring(t, false, time.Hour)
		actions := answering(w, asked, c.itself, c.others)
		assert.Equal(t, c.taken, len(kinds(actions, policy.Pass)) == 1, "%+v", c)
		if looks := told(actions, 4, look); !c.taken {
			require.Len(t, looks, 1)
			assert.Equal(t, ident.Member{5}, looks[0].member)
			assert.EqualValues(t, 10_000, looks[0].age)
			assert.Equal(t, nothingOlder, looks[0].older)
		}
	}
}

// P-43: the token goes to a candidate when Δmin has passed since that was served.
func TestCandidate_NotReady_Waits(t *testing.T) {
	const served = 597 * time.Second // before 2 s; Δmin is 600 s, the operation takes 4
	w, asked := inquiring(t, true, served)
	actions := answering(w, asked, served+500*time.Millisecond, served+500*time.Millisecond)
	require.Len(t, kinds(actions, policy.Prepare), 1)
	require.Empty(t, kinds(actions, policy.Pass), "the operation runs")
	ended := policy.Event{Kind: policy.OperationEnded, Operated: true, Token: policy.Token{ID: ident.Token{9}}}
	require.Empty(t, kinds(w.Step(3*second, ended, nil), policy.Pass))
	require.Equal(t, 5*second, w.Deadline())
	require.Len(t, kinds(w.Step(5*second, policy.Event{Kind: policy.Timer}, nil), policy.Pass), 1)
}

// P-45: a member is believed against two others, not against three, and not against the
// witness that it tells.
func TestDenial_OneMember_BelievedAboutTwo(t *testing.T) {
	const witness = 9
	for _, c := range []struct {
		by       []byte
		believed bool
	}{{[]byte{2}, true}, {[]byte{2, 3}, true}, {[]byte{2, 3, 4}, false}, {[]byte{2, witness}, false}, {[]byte{witness}, false}} {
		var about turnRecord
		for _, by := range c.by {
			about.mark(ident.Member{by}, 100*second)
		}
		about.deny(50*second, ident.Member{witness}, denialsMost)
		assert.Equal(t, c.believed, about.served == 50*second, "%v", c.by)
		about.mark(ident.Member{2}, 200*second)
		assert.Equal(t, c.believed, about.served == 50*second, "%v, once more", c.by)
	}
}

// served has a witness hear of others that member 5 was served a second ago.
func served(t *testing.T, members int, by ...byte) *walker {
	w := walkerAt(t, 1, Fair, table1)
	w.roster = everybody{members, 1}
	for _, from := range by {
		m := body{kind: look, member: ident.Member{5}, age: 1000, older: nothingOlder}
		require.Empty(t, kinds(w.Step(1000*second, said(from, m), nil), policy.Tell))
	}
	return w
}

// P-41: a member that a witness knows by a look counts as wanting the token.
func TestServed_OnlyLook_CountsAsWanting(t *testing.T) {
	w := served(t, 20, 3)
	reports := told(w.Step(1100*second, said(6, body{kind: look}), nil), 6, report)
	require.Len(t, reports, 1)
	require.Equal(t, 1, reports[0].n)
	assert.Equal(t, waiter{ident.Member{5}, 101_000}, reports[0].records[0])
}

// P-45: where a member has fewer than twelve witnesses it is believed against one other.
func TestDenial_SmallGroup_Bounded(t *testing.T) {
	for _, c := range []struct {
		members  int
		by       []byte
		believed bool
	}{{20, []byte{3, 4}, true}, {6, []byte{3, 4}, false}, {6, []byte{3}, true}} {
		w := served(t, c.members, c.by...)
		w.Step(1100*second, said(5, body{kind: demand, what: willing, age: 900_000}), nil)
		answers := told(w.Step(1100*second, said(6, body{kind: inquire, member: ident.Member{5}}), nil), 6, answer)
		require.Len(t, answers, 1)
		assert.Equal(t, c.believed, answers[0].age > 800_000, "%+v: %d", c, answers[0].age)
	}
}

// P-39, P-41: who is named by a look is told of a token that precedes, unless the look
// asks for nothing.
func TestLook_GreatestOlder_NoReport(t *testing.T) {
	for older, answered := range map[uint32]int{0: 1, nothingOlder: 0} {
		w := walkerAt(t, 1, Fair, table1)
		w.observations.note(&sight{id: ident.Token{9}, born: 5}, ident.Member{}, 2*second)
		m := body{kind: look, sight: sight{id: ident.Token{66}, born: 1, age: 60_000}, member: ident.Member{5}, older: older}
		assert.Len(t, told(w.Step(3*second, said(3, m), nil), 5, heard), answered)
	}
}
