package circulation

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

const (
	// levels is how many counts of operations or tokens at once a Meter tells
	// apart: more than any experiment has.
	levels = 1024

	// gapsKept bounds the list of gaps; a run with more has nothing but gaps.
	gapsKept = 1 << 16

	// seriesKept bounds the series; one with more points is no figure.
	seriesKept = 1 << 20
)

// MeterConfig says what a Meter measures.
type MeterConfig struct {
	// Start is the end of the warm-up: nothing before it counts. A span
	// between two events counts when it ends at or after it.
	Start clock.Instant
	// Bin and Limit shape the histograms: width of the bins, and where they
	// end. Zero is 1 s and 10,000 s.
	Bin, Limit time.Duration
	// Series is how often the number of tokens is sampled, from instant 0;
	// 0: never.
	Series time.Duration
}

// Gap is a span in which there was no token.
type Gap struct{ From, To clock.Instant }

// Length returns how long the gap was.
func (g Gap) Length() time.Duration { return g.To.Sub(g.From) }

// Meter is an Observer that measures the figures of the papers, from
// MeterConfig.Start to the last return of Simulation.Run. It allocates memory
// only for new members and for its lists.
type Meter struct {
	Ignore
	cfg MeterConfig
	now clock.Instant

	// Operations are the times between two operations of one member, from
	// begin to begin; Visits those between two arrivals of any token at one
	// member; Waits those from the demand to the begin of an operation.
	Operations, Visits, Waits *Histogram

	operations, tokens level
	members            []noted
	gaps               []Gap
	gapFrom            clock.Instant
	series             []int
}

// noted is what is noted about one member; times are never where nothing
// was yet.
type noted struct {
	began, visited, wanted clock.Instant
	operations             uint64
}

const never = clock.Instant(-1)

// level is a number that changes, and how long it had which value.
type level struct {
	value, peak int
	since       clock.Instant
	times       [levels]time.Duration
}

// advance books the time until now, but for what was before start.
func (l *level) advance(now, start clock.Instant) {
	if now > start {
		l.times[min(l.value, levels-1)] += now.Sub(max(l.since, start))
		l.peak = max(l.peak, l.value)
	}
	l.since = now
}

// share is which part of the time the value was k.
func (l *level) share(k int) float64 {
	if k < 0 || k >= levels {
		return 0
	}
	var all time.Duration
	for _, d := range l.times {
		all += d
	}
	if all == 0 {
		return 0
	}
	return float64(l.times[k]) / float64(all)
}

// NewMeter returns a Meter. Give it to Simulation.Observe before the first Run.
func NewMeter(cfg MeterConfig) *Meter {
	if cfg.Bin <= 0 {
		cfg.Bin = time.Second
	}
	if cfg.Limit <= 0 {
		cfg.Limit = 10_000 * time.Second
	}
	return &Meter{
		cfg: cfg, Operations: NewHistogram(cfg.Bin, cfg.Limit),
		Visits: NewHistogram(cfg.Bin, cfg.Limit), Waits: NewHistogram(cfg.Bin, cfg.Limit),
	}
}

// Restart forgets what was measured and makes now the MeterConfig.Start, for a
// warm-up whose end is found out while it lasts. Spans that began before now
// count when they end. The Series goes on.
func (m *Meter) Restart(now clock.Instant) {
	m.operations.advance(now, now)
	m.count(now)
	m.cfg.Start, m.now = now, now
	m.Operations, m.Visits, m.Waits = m.Operations.empty(), m.Visits.empty(), m.Waits.empty()
	m.operations = level{value: m.operations.value, since: now}
	m.tokens = level{value: m.tokens.value, since: now}
	m.gaps = nil
	for i := range m.members {
		m.members[i].operations = 0
	}
}

// Concurrency returns the share of time with exactly k operations at once. 1024
// and more count as 1023.
func (m *Meter) Concurrency(k int) float64 { return m.operations.share(k) }

// MostOperations returns the most operations that ran at once.
func (m *Meter) MostOperations() int { return m.operations.peak }

// TokensAlive returns the share of time with exactly k tokens. 1024 and more
// count as 1023.
func (m *Meter) TokensAlive(k int) float64 { return m.tokens.share(k) }

// MostTokens returns the most tokens that existed at once.
func (m *Meter) MostTokens() int { return m.tokens.peak }

// Gaps returns the spans without any token that ended after the Start, in their
// order, and at most the first 65,536. A gap that has not ended is not among
// them.
func (m *Meter) Gaps() []Gap { return m.gaps }

// openGap is since when there has been no token, if there is none.
func (m *Meter) openGap() (since clock.Instant, open bool) { return m.gapFrom, m.tokens.value == 0 }

// PerMember returns how many operations each member began.
func (m *Meter) PerMember() []uint64 {
	counts := make([]uint64, len(m.members))
	for i := range m.members {
		counts[i] = m.members[i].operations
	}
	return counts
}

// Series returns the number of tokens after each multiple of
// MeterConfig.Series, from instant 0 on, and at most the first million. The
// instant at which Run returned is not among them, as more may happen at it.
func (m *Meter) Series() []int { return m.series }

func (m *Meter) member(i int) *noted {
	for len(m.members) <= i {
		m.members = append(m.members, noted{never, never, never, 0})
	}
	return &m.members[i]
}

// span counts the time from an event to the next one of its kind, now.
func (m *Meter) span(h *Histogram, from *clock.Instant, now clock.Instant) {
	if *from != never && now >= m.cfg.Start {
		h.Add(now.Sub(*from))
	}
	*from = now
}

// Demanded implements Observer.
func (m *Meter) Demanded(now clock.Instant, member int) { m.member(member).wanted = now }

// OperationBegan implements Observer.
func (m *Meter) OperationBegan(now clock.Instant, member int) {
	m.operations.advance(now, m.cfg.Start)
	m.operations.value++
	s := m.member(member)
	m.span(m.Operations, &s.began, now)
	m.span(m.Waits, &s.wanted, now)
	s.wanted = never
	if now >= m.cfg.Start {
		s.operations++
	}
}

// OperationEnded implements Observer.
func (m *Meter) OperationEnded(now clock.Instant, _ int) {
	m.operations.advance(now, m.cfg.Start)
	m.operations.value--
}

// Visit implements Observer.
func (m *Meter) Visit(now clock.Instant, member int, _ ident.Token) {
	m.span(m.Visits, &m.member(member).visited, now)
}

// TokenBorn implements Observer.
func (m *Meter) TokenBorn(now clock.Instant, _ int, _ ident.Token) {
	m.count(now)
	if m.tokens.value == 0 && now > m.cfg.Start && now > m.gapFrom && len(m.gaps) < gapsKept {
		m.gaps = append(m.gaps, Gap{m.gapFrom, now})
	}
	m.tokens.value++
}

// TokenGone implements Observer.
func (m *Meter) TokenGone(now clock.Instant, _ ident.Token, _ End) {
	m.count(now)
	if m.tokens.value--; m.tokens.value == 0 {
		m.gapFrom = now
	}
}

// count books the number of tokens until now.
func (m *Meter) count(now clock.Instant) {
	m.tokens.advance(now, m.cfg.Start)
	if m.cfg.Series <= 0 {
		return
	}
	for len(m.series) < seriesKept && clock.Instant(m.cfg.Series)*clock.Instant(len(m.series)) < now {
		m.series = append(m.series, m.tokens.value)
	}
}

// MemberDown implements Observer: a member that is down does not count as
// waiting.
func (m *Meter) MemberDown(_ clock.Instant, member int) { m.member(member).wanted = never }

// Advanced implements Observer.
func (m *Meter) Advanced(now clock.Instant) {
	m.operations.advance(now, m.cfg.Start)
	m.count(now)
	m.now = now
}
