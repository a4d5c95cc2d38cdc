package papers

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/host"
	"github.com/wandertoken/wander/protocol/policy/policytest"
)

// The preset report. Its scripts are in testdata/report-*.txt.

// reportSmall is the report paper's table 1 for 30 members: Δmin = 180 s,
// Δmax = 540 s.
var reportSmall = policy.Params{Preset: Report, OperationTime: 4 * time.Second, MembersMax: 30, SkipDelay: time.Second}

func TestReportConstants(t *testing.T) {
	nominal := policy.Params{OperationTime: 4 * time.Second, MembersMax: 150, SkipDelay: time.Second}
	r, err := newReporter(nominal)
	require.NoError(t, err)
	assert.Equal(t, 900*time.Second, r.(*reporter).min, "the table's formula; its number is 600")
	assert.Equal(t, 2700*time.Second, r.(*reporter).max)
	assert.Equal(t, []policy.Ratio{1500, 50}, []policy.Ratio{r.(*reporter).growth, r.(*reporter).decay})

	given := nominal
	given.MinInterval, given.GrowthFactor, given.DecayFactor = 600*time.Second, 2000, 1000
	r, err = newReporter(given)
	require.NoError(t, err)
	assert.Equal(t, 1800*time.Second, r.(*reporter).max)
	assert.Equal(t, []policy.Ratio{2000, 1000}, []policy.Ratio{r.(*reporter).growth, r.(*reporter).decay})
}

func TestReportRefusals(t *testing.T) {
	p := reportSmall
	p.MaxInterval = 179 * time.Second
	_, err := New(p, nil)
	require.ErrorIs(t, err, policy.ErrOutOfRange)
	assert.ErrorContains(t, err, "max_interval")
	p.MaxInterval++
	p.MinInterval = p.MaxInterval
	_, err = New(p, nil)
	require.NoError(t, err)

	p.Preset = "rapport"
	_, err = New(p, nil)
	require.ErrorIs(t, err, policy.ErrPreset)
	assert.ErrorContains(t, err, Paper)
	assert.ErrorContains(t, err, Report)
}

// TestDemand_GroupGrown_Repeated: Δgen stays within what the arithmetic of spans can bear,
// however long nobody answers.
func TestDemand_GroupGrown_Repeated(t *testing.T) {
	for _, growth := range []policy.Ratio{policy.MinRatio, 1001, 1500, policy.MaxRatio} {
		p := reportSmall
		p.GrowthFactor = growth
		made, err := newReporter(p)
		require.NoError(t, err)
		r := made.(*reporter)
		for range 20_000 {
			before := r.generation
			r.generation = r.grown()
			if r.generation < before || r.generation > policy.MaxInterval {
				require.Fail(t, "wrong", "%v after %v", r.generation, before)
			}
		}
		assert.Equal(t, growth > policy.MinRatio, r.generation == policy.MaxInterval, "%v", growth)
	}
}

// removal is the token removal rule of section 4 in its plainest form, from
// all that has enabled the operation, or would have but for missing demand.
type removal struct {
	*driver
	enabled []enabling
	early   clock.Instant // Δmin after the last operation
	untaken ident.Token   // the last one that nobody took, which was made here
}

type enabling struct {
	token policy.Token
	until clock.Instant
}

func (m *removal) last() enabling {
	last := enabling{until: host.LongAgo}
	for _, e := range m.enabled {
		if e.until >= last.until {
			last = e
		}
	}
	return last
}

// removes is whether a token that arrives now has to go.
func (m *removal) removes(t policy.Token) bool {
	last := m.last()
	return m.now <= last.until && older(last.token, t)
}

func (m *removal) runs() bool {
	for _, place := range m.places {
		if place == policytest.Used {
			return true
		}
	}
	return false
}

// TestReportRemoval: an agent drops exactly those that the rule says, whatever
// happens, and otherwise answers as the interface permits.
func TestReportRemoval(t *testing.T) {
	p := propertyParams
	p.Preset, p.MinInterval = Report, 100*time.Millisecond
	rapid.Check(t, func(t *rapid.T) {
		p.GeneratorRests = rapid.Bool().Draw(t, "rests")
		agent, err := New(p, nil)
		require.NoError(t, err)
		m := removal{early: host.LongAgo, driver: newDriver(t, agent, rapid.IntRange(1, historySize).Draw(t, "tokens"))}
		for _, e := range m.recall() {
			require.Empty(t, agent.Step(0, e, nil))
			if e.Operated {
				m.enabled = append(m.enabled, enabling{e.Token, min(e.At, 0).Add(p.MinInterval)})
				m.early = max(m.early, m.last().until)
			}
		}
		for range rapid.IntRange(1, 300).Draw(t, "events") {
			if e, possible := m.draw(); possible {
				m.check(e, p)
			}
		}
	})
}

func (m *removal) check(e policy.Event, p policy.Params) {
	removed := e.Kind == policy.Arrival && m.removes(e.Token)
	m.settle(e)
	ran, early := m.runs(), m.now <= max(m.last().until, m.early)
	actions := m.step(e)
	drops := len(actions) > 0 && actions[0].Kind == policy.Drop
	require.Equal(m, removed, drops, "%v: %+v", m.now, e)
	switch {
	case removed, e.Token.ID == m.untaken:
	case policytest.Receives(e) && !ran && !early && (e.Kind != policy.Generated || !p.GeneratorRests),
		e.Kind == policy.OperationEnded && e.Operated:
		m.enabled = append(m.enabled, enabling{e.Token, m.now.Add(p.MinInterval)})
	}
	if e.Kind == policy.OperationEnded && e.Operated {
		m.early = m.now.Add(p.MinInterval)
	}
	if e.Kind == policy.Timer && len(actions) > 0 && actions[0].Kind == policy.Generate {
		require.GreaterOrEqual(m, m.now.Sub(m.seen()), 3*p.MinInterval, "Δmax")
	}
	m.checkNothingForgotten()
}

// settle notes a token that nobody took, which removes no other until it has come
// back. All tokens of this test are at hop 0.
func (m *removal) settle(e policy.Event) {
	switch {
	case e.Kind == policy.Arrival && e.Token.ID == m.untaken:
		m.untaken = ident.Token{}
	case e.Kind == policy.PassEnded && e.Outcome == policy.Returned:
		m.untaken = e.Token.ID
		if m.last().token.ID == e.Token.ID {
			m.enabled = nil
		}
	}
}

// seen is when the last token that is still remembered came.
func (d *driver) seen() clock.Instant {
	last := clock.Instant(0)
	for _, at := range d.kept {
		last = max(last, at)
	}
	return last
}

// TestReportStable: one token stays one, and nobody runs twice within Δmin.
func TestReportStable(t *testing.T) {
	p := reportSmall
	p.MaxInterval = policy.MaxInterval
	w := newWorld(t, 1, 30, p)
	w.mint(0, policy.Arrival)
	w.run(end/4, nil)
	require.Empty(t, w.generated)
	require.Empty(t, w.dropped)
	assert.Equal(t, 0.25, share(w.alive, 1))
	assert.Zero(t, share(w.operating, 2))
	for _, s := range w.agents {
		for _, interval := range s.intervals {
			require.Greater(t, interval, 184*time.Second)
		}
	}
}

// TestReport_ColdStart_OneToken: where no member has seen a token all make one in the
// same moment, and one of them remains: within three times Δmax, here.
func TestReport_ColdStart_OneToken(t *testing.T) {
	for seed := range uint64(20) {
		w := newWorld(t, seed, 30, reportSmall)
		w.run(clock.Instant(541*time.Second), nil)
		require.Len(t, w.generated, 30)
		w.run(end, func() bool { return len(w.tokens) == 1 })
		assert.Less(t, w.now, clock.Instant(3*540*time.Second))
	}
}

// TestReport_Loss_Replaced: at the latest Δmax after the token was lost there
// is another one, as long as Δgen has not grown.
func TestReport_Loss_Replaced(t *testing.T) {
	w := newWorld(t, 3, 30, reportSmall)
	w.mint(0, policy.Arrival)
	for range 20 {
		w.run(w.now.Add(5000*time.Second), nil)
		w.run(clock.Never, func() bool { w.lose = len(w.tokens); return w.lose == 0 })
		lost, before := w.now, len(w.generated)
		w.run(clock.Never, func() bool { return len(w.generated) > before })
		assert.LessOrEqual(t, w.now.Sub(lost), 541*time.Second)
	}
}

// TestReport_SpuriousToken_Removed: nearly every member has a right to remove
// the younger of two tokens, so it is gone after a few hops: much sooner than
// with the sandwich rule, which needs it to return.
func TestReport_SpuriousToken_Removed(t *testing.T) {
	const runs = 100
	var sum time.Duration
	for seed := range uint64(runs) {
		p := reportSmall
		p.MaxInterval = policy.MaxInterval
		w := newWorld(t, seed, 30, p)
		old := w.mint(0, policy.Arrival)
		w.run(clock.Instant(1000*time.Second), nil)
		w.mint(1, policy.Generated)
		began := w.now
		w.run(end, func() bool { return len(w.tokens) == 1 })
		require.Contains(t, w.tokens, old.ID)
		sum += w.now.Sub(began)
	}
	t.Logf("mean %v", sum/runs)
	assert.Less(t, sum/runs, 30*time.Second)
}

// TestLiteral_Paper_Fails: the figure as it is printed idles most of the time.
func TestLiteral_Paper_Fails(t *testing.T) {
	w := newWorld(t, 1, 30, reportSmall)
	for i, s := range w.agents {
		var err error
		s.policy, err = NewLiteral(reportSmall)
		require.NoError(t, err, i)
	}
	w.run(end, nil)
	t.Logf("busy %.3f, %d made, %d dropped", share(w.operating, 1), len(w.generated), len(w.dropped))
	assert.Greater(t, share(w.operating, 1), 0.0)
	assert.Less(t, share(w.operating, 1), 0.2)
	assert.GreaterOrEqual(t, len(w.dropped), len(w.generated)-2, "they kill each other")
	assert.Greater(t, len(w.generated), 30, "more than at the start")
}

// TestReport_Steady_NoAllocations: an agent allocates nothing after New, whatever
// happens.
func TestReport_Steady_NoAllocations(t *testing.T) {
	for _, tokens := range []int{1, 3, 3 * historySize} {
		w := newWalk(t, 30, tokens, true)
		for i := range w.agents {
			made, err := New(reportSmall, nil)
			require.NoError(t, err)
			made.Step(0, policy.Event{Kind: policy.DemandChanged, Demand: true}, nil)
			w.agents[i] = made
		}
		assert.Zero(t, testing.AllocsPerRun(10_000, w.hop), "%d tokens", tokens)
	}
}

// TestPrecedence_Tie_GeneratorDecides: of two tokens of the same millisecond that of the
// smaller generator precedes, then that of the smaller id.
func TestPrecedence_Tie_GeneratorDecides(t *testing.T) {
	e := enabler{born: 5, generator: ident.Member{5}, id: ident.Token{5}}
	for _, c := range []struct {
		token    policy.Token
		precedes bool
	}{
		{policy.Token{Born: 6, Generator: ident.Member{4}, ID: ident.Token{4}}, true},
		{policy.Token{Born: 4, Generator: ident.Member{6}, ID: ident.Token{6}}, false},
		{policy.Token{Born: 5, Generator: ident.Member{6}, ID: ident.Token{4}}, true},
		{policy.Token{Born: 5, Generator: ident.Member{4}, ID: ident.Token{6}}, false},
		{policy.Token{Born: 5, Generator: ident.Member{5}, ID: ident.Token{6}}, true},
		{policy.Token{Born: 5, Generator: ident.Member{5}, ID: ident.Token{5}}, false},
	} {
		assert.Equal(t, c.precedes, e.precedes(&c.token), "%+v", c.token)
	}
}
