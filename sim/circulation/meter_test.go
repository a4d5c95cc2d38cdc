package circulation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

func sec(s float64) clock.Instant { return clock.Instant(s * 1e9) }

// TestMeter measures a run that is written down here.
func TestMeter(t *testing.T) {
	m := NewMeter(MeterConfig{Start: sec(10), Series: 5 * time.Second})
	var id ident.Token
	m.Demanded(0, 0)
	m.TokenBorn(sec(4), 0, id)
	m.OperationBegan(sec(4), 0) // in the warm-up
	m.OperationEnded(sec(12), 0)
	m.Demanded(sec(12), 0)
	m.Visit(sec(13), 1, id)
	m.Demanded(sec(13), 1)
	m.OperationBegan(sec(14), 1)
	m.TokenBorn(sec(15), 0, id)
	m.OperationBegan(sec(15), 0)
	m.OperationEnded(sec(16), 0)
	m.OperationEnded(sec(17), 1)
	m.Visit(sec(18), 1, id)
	m.TokenGone(sec(20), id, Dropped)
	m.TokenGone(sec(22), id, LostInTransit)
	since, open := m.openGap()
	assert.True(t, open)
	assert.Equal(t, sec(22), since)
	m.TokenBorn(sec(25), 2, id)
	m.Advanced(sec(30))

	assert.Equal(t, 20*time.Second, m.now.Sub(m.cfg.Start))
	assert.InDelta(t, 15.0/20, m.Concurrency(0), 1e-9)
	assert.InDelta(t, 4.0/20, m.Concurrency(1), 1e-9)
	assert.InDelta(t, 1.0/20, m.Concurrency(2), 1e-9)
	assert.Zero(t, m.Concurrency(3))
	assert.Zero(t, m.Concurrency(-1))
	assert.Equal(t, 2, m.MostOperations())
	assert.InDelta(t, 3.0/20, m.TokensAlive(0), 1e-9)
	assert.InDelta(t, 12.0/20, m.TokensAlive(1), 1e-9)
	assert.InDelta(t, 5.0/20, m.TokensAlive(2), 1e-9)
	assert.Equal(t, 2, m.MostTokens())
	assert.Equal(t, []Gap{{sec(22), sec(25)}}, m.Gaps(), "the cold start's ended before the Start")
	assert.Equal(t, 3*time.Second, m.Gaps()[0].Length())
	assert.Equal(t, []uint64{1, 1}, m.PerMember())
	assert.Equal(t, []int{0, 1, 1, 2, 1, 1}, m.Series())
	_, open = m.openGap()
	assert.False(t, open)

	assert.Equal(t, uint64(1), m.Operations.Count())
	assert.Equal(t, 11*time.Second, m.Operations.Max())
	assert.Equal(t, uint64(1), m.Visits.Count())
	assert.Equal(t, 5*time.Second, m.Visits.Max())
	assert.Equal(t, uint64(2), m.Waits.Count())
	assert.Equal(t, 3*time.Second, m.Waits.Max())
	assert.Equal(t, time.Second, m.Waits.Min())
}

// TestMeter_GapAtStart_Counted: a gap counts whole when it ends after the Start.
func TestMeter_GapAtStart_Counted(t *testing.T) {
	m := NewMeter(MeterConfig{Start: sec(10)})
	m.TokenBorn(sec(15), 0, ident.Token{})
	m.Advanced(sec(20))
	assert.Equal(t, []Gap{{0, sec(15)}}, m.Gaps())
	assert.InDelta(t, 0.5, m.TokensAlive(0), 1e-9)
}

// TestMeter_MemberAway_NotCounted: a member that is down does not wait.
func TestMeter_MemberAway_NotCounted(t *testing.T) {
	m := NewMeter(MeterConfig{})
	m.Demanded(0, 0)
	m.MemberDown(sec(1), 0)
	m.Demanded(sec(10), 0)
	m.OperationBegan(sec(12), 0)
	assert.Equal(t, 2*time.Second, m.Waits.Max())
}

// TestMeter_ManyLevels_Counted: very many at once are counted together.
func TestMeter_ManyLevels_Counted(t *testing.T) {
	m := NewMeter(MeterConfig{})
	for i := range 2000 {
		m.OperationBegan(0, i)
	}
	m.Advanced(sec(1))
	assert.InDelta(t, 1, m.Concurrency(levels-1), 0)
	assert.Equal(t, 2000, m.MostOperations())
}

// TestMeterRestart: a meter that is started again measures what one does that
// began to measure then.
func TestMeterRestart(t *testing.T) {
	play := func(m *Meter) {
		for i := range 100 {
			at := sec(float64(i))
			m.Demanded(at, i%3)
			if i%10 == 4 {
				m.TokenBorn(at, i%3, ident.Token{})
			}
			if i%7 != 0 {
				m.Visit(at+1, i%3, ident.Token{})
				m.OperationBegan(at+2, i%3)
				m.OperationEnded(at+3, i%3)
			}
			if i%10 == 8 {
				m.TokenGone(at+4, ident.Token{}, Dropped)
			}
			if i == 50 {
				m.Advanced(at + 5)
				if m.cfg.Start == 0 {
					m.Restart(at + 5)
				}
			}
		}
		m.Advanced(sec(100))
	}
	restarted, begun := NewMeter(MeterConfig{}), NewMeter(MeterConfig{Start: sec(50) + 5})
	play(restarted)
	play(begun)
	assert.Equal(t, begun, restarted)
	assert.Positive(t, begun.Waits.Count())
	assert.NotEmpty(t, begun.Gaps())
}
