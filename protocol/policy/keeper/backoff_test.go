package keeper

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

func TestBackoffs_EachCause_TwiceAsLong(t *testing.T) {
	var b backoffs
	m, now := ident.Member{1}, clock.Instant(0)
	for _, span := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second} {
		assert.True(t, b.note(m, now, 10*time.Second))
		assert.False(t, b.note(m, now.Add(span/2), 10*time.Second), "the same cause")
		assert.True(t, b.from(m, now.Add(span-1)))
		now = now.Add(span)
		assert.False(t, b.from(m, now))
	}
	assert.False(t, b.from(ident.Member{2}, 0))
}

// TestBackoffs_LongerCause_Lengthens: a shorter one that runs does not hide it.
func TestBackoffs_LongerCause_Lengthens(t *testing.T) {
	var b backoffs
	m := ident.Member{1}
	assert.True(t, b.note(m, 0, 10*time.Second))
	assert.True(t, b.note(m, clock.Instant(time.Second), time.Minute))
	assert.Equal(t, time.Minute, b.left(m, clock.Instant(time.Second)))
	assert.False(t, b.note(m, clock.Instant(2*time.Second), 10*time.Second))
}

// TestBackoffs_LongCause_Capped: P-69, 6 and P-78, whether it is the first cause or comes during a back-off.
func TestBackoffs_LongCause_Capped(t *testing.T) {
	var b backoffs
	m := ident.Member{1}
	assert.True(t, b.note(m, 0, time.Minute))
	assert.True(t, b.note(m, 1, 2*maxBackoff))
	assert.Equal(t, maxBackoff, b.left(m, 1))
	assert.Equal(t, maxBackoff, b.last(m, 1))
	assert.False(t, b.note(m, 2, 3*maxBackoff), "it lasts as long as any may")
}

// TestBackoffs_LongerCauseAfterwards_LastsAsLong: a member that was given up before is struck for as long as others.
func TestBackoffs_LongerCauseAfterwards_LastsAsLong(t *testing.T) {
	var b backoffs
	m, now := ident.Member{1}, clock.Instant(time.Hour)
	assert.True(t, b.note(m, 0, time.Minute))
	assert.True(t, b.note(m, now, time.Hour))
	assert.Equal(t, time.Hour, b.left(m, now))
}

func TestBackoffs_Many_Bounded(t *testing.T) {
	var b backoffs
	for i := range 3 * maxBackoffs {
		b.note(ident.Member{byte(i), byte(i >> 8), 1}, clock.Instant(i), time.Second)
	}
	assert.Len(t, b.list, maxBackoffs)
	assert.True(t, b.from(ident.Member{byte(3*maxBackoffs - 1), 0, 1}, 3*maxBackoffs))
	for range 100 {
		b.note(ident.Member{9}, b.list[0].until.Add(maxBackoff), time.Hour)
	}
	assert.LessOrEqual(t, b.list[len(b.list)-1].span, maxBackoff)
}

// TestBackoffs_LongerCauseLater_LastsAsLong: a member that was given up for a while, and is struck afterwards, is struck
// for as long as any other.
func TestBackoffs_LongerCauseLater_LastsAsLong(t *testing.T) {
	var b backoffs
	m, now := ident.Member{1}, clock.Instant(0)
	assert.True(t, b.note(m, now, muteTime))
	now = now.Add(muteTime)
	assert.True(t, b.note(m, now, time.Hour))
	assert.Equal(t, time.Hour, b.left(m, now))
	now = now.Add(time.Hour)
	assert.True(t, b.note(m, now, muteTime))
	assert.Equal(t, 2*time.Hour, b.left(m, now))
}

// TestBackoffs_TakenUp_NoLongerThanBefore: P-84. One goes on to its end, at the latest as long after now as it was to
// last. The next one is twice as long.
func TestBackoffs_TakenUp_NoLongerThanBefore(t *testing.T) {
	m, now := ident.Member{1}, clock.Instant(-time.Minute) // another boot
	var b backoffs
	b.takeUp(m, now, now.Add(time.Minute), 2*time.Hour)
	assert.Equal(t, time.Minute, b.left(m, now))
	b.takeUp(m, now, now.Add(time.Second), time.Hour)
	assert.Equal(t, time.Minute, b.left(m, now), "one that ends sooner")
	assert.False(t, b.note(m, now, time.Hour), "the same cause")
	now = now.Add(time.Minute)
	assert.False(t, b.from(m, now))
	assert.True(t, b.note(m, now, time.Hour))
	assert.Equal(t, 4*time.Hour, b.left(m, now))

	b.takeUp(ident.Member{2}, now, clock.Never, time.Hour)
	assert.Equal(t, time.Hour, b.left(ident.Member{2}, now), "a wrong clock")
	b.takeUp(ident.Member{3}, now, clock.Never, clock.Never.Sub(0))
	assert.Equal(t, maxBackoff, b.left(ident.Member{3}, now))
	b.takeUp(ident.Member{4}, now, now.Add(-time.Hour), -1)
	assert.False(t, b.from(ident.Member{4}, now))
	for i := range 3 * maxBackoffs {
		b.takeUp(ident.Member{byte(i), byte(i >> 8), 1}, now, now.Add(time.Hour), time.Hour)
	}
	assert.Len(t, b.list, maxBackoffs)
}
