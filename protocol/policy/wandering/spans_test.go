package wandering

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

// lightSpans are those of 300 members with operations of 4 s: a window of 240 s.
func lightSpans() spans {
	p := table1
	p.Preset = Light
	return deriveSpans(p, false)
}

// Whatever the pattern of silences, a member has heard of a token within its window
// in half of the time, unless it has in more of it with the window that the
// configuration gives.
func TestWindowFollowsTheSilences(t *testing.T) {
	burst := func(rng *rand.Rand) time.Duration { // four tokens at once, then none for long
		if rng.IntN(4) > 0 {
			return time.Duration(rng.Int64N(int64(time.Second)))
		}
		return time.Duration(rng.ExpFloat64() * float64(20*time.Minute))
	}
	memoryless := func(mean time.Duration) func(*rand.Rand) time.Duration {
		return func(rng *rand.Rand) time.Duration { return time.Duration(rng.ExpFloat64() * float64(mean)) }
	}
	for name, c := range map[string]struct {
		next       func(*rand.Rand) time.Duration
		heard      float64 // share of the time
		tolerance  float64
		staysLeast bool
	}{
		"far more members than configured": {memoryless(time.Hour), 0.5, 0.05, false},
		"a fifth more":                     {memoryless(15 * time.Minute), 0.5, 0.05, false},
		"in bursts":                        {burst, 0.5, 0.05, false},
		"in turn":                          {func(*rand.Rand) time.Duration { return 20 * time.Minute }, 0.5, 0.05, false},
		"as often as ever":                 {memoryless(time.Second), 1, 0.01, true},
	} {
		s, rng := lightSpans(), rand.New(rand.NewPCG(1, 1))
		assert.Equal(t, 240*time.Second, s.window)
		var all, within time.Duration
		for i := range 20_000 {
			silence := c.next(rng)
			if i > 100 {
				all += silence
				within += min(silence, s.window)
			}
			s.heard(silence)
		}
		assert.InDelta(t, c.heard, float64(within)/float64(all), c.tolerance, name)
		assert.Equal(t, c.staysLeast, s.window == s.least, name)
	}
}

// No silence, however long, puts a window out of reach, and it is never shorter than
// the configuration says.
func TestWindowIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := lightSpans()
		for _, silence := range rapid.SliceOf(rapid.Int64Range(0, 1<<63-1)).Draw(t, "silences") {
			before := s.window
			s.heard(time.Duration(silence))
			if s.window < s.least || s.window > before+before*3/4 {
				t.Fatal(before, time.Duration(silence), s.window)
			}
		}
	})
	s := lightSpans()
	s.heard(24 * time.Hour)
	assert.Equal(t, s.least*7/4, s.window, "a night")
	for range 3 {
		s.heard(10 * time.Minute)
	}
	assert.Less(t, s.window, s.least*7/4, fmt.Sprint(s.window))
}
