package enrolment_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/node/enrolment"
)

const day = 24 * time.Hour

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func living(life time.Duration) enrolment.Schedule {
	return enrolment.Schedule{IssuedAt: start, NotAfter: start.Add(life)}
}

func TestNextTry(t *testing.T) {
	for name, c := range map[string]struct {
		life, now time.Duration // now since the beginning
		failures  int
		from, to  time.Duration // after the beginning
	}{
		"new":                     {90 * day, 0, 0, 60 * day, 61 * day},
		"just before":             {90 * day, 60*day - 1, 0, 60 * day, 61 * day},
		"within the spread":       {90 * day, 60*day + 12*time.Hour, 0, 60*day + 12*time.Hour, 61 * day},
		"long due":                {90 * day, 80 * day, 0, 80 * day, 80*day + time.Minute},
		"an hour's life":          {time.Hour, 0, 0, 40 * time.Minute, 40*time.Minute + 40*time.Second},
		"first failure":           {90 * day, 61 * day, 1, 61*day + 30*time.Second, 61*day + time.Minute},
		"third failure":           {90 * day, 61 * day, 3, 61*day + 2*time.Minute, 61*day + 4*time.Minute},
		"hundredth failure":       {90 * day, 70 * day, 100, 70*day + 3*time.Hour, 70*day + 6*time.Hour},
		"shortly before the end":  {90 * day, 90*day - time.Hour, 100, 90*day - 45*time.Minute, 90*day - 30*time.Minute},
		"very shortly":            {90 * day, 90*day - time.Second, 100, 90*day - 500*time.Millisecond, 90 * day},
		"after the end":           {90 * day, 91 * day, 100, 91*day + 3*time.Hour, 91*day + 6*time.Hour},
		"an hour's life, failed":  {time.Hour, 45 * time.Minute, 1, 45*time.Minute + 500*time.Millisecond, 45*time.Minute + time.Second},
		"an hour's life, at last": {time.Hour, 50 * time.Minute, 99, 50*time.Minute + 18*time.Second, 50*time.Minute + 36*time.Second},
		"no life":                 {0, 0, 0, 0, 0},
	} {
		random := rand.NewPCG(1, 2)
		earliest, latest := time.Duration(1<<62), time.Duration(0)
		for range 200 {
			at := living(c.life).Next(start.Add(c.now), c.failures, random).Sub(start)
			earliest, latest = min(earliest, at), max(latest, at)
		}
		assert.GreaterOrEqual(t, earliest, c.from, name)
		assert.LessOrEqual(t, latest, c.to, name)
		if span := c.to - c.from; span > 0 {
			assert.Greater(t, latest-earliest, span/2, "%s: tries are spread", name)
		}
	}
}

func TestWarnings(t *testing.T) {
	for name, c := range map[string]struct {
		life, left time.Duration
		want       enrolment.Warning
	}{
		"new":                        {90 * day, 90 * day, enrolment.NoWarning},
		"while it is being renewed":  {90 * day, 30*day - time.Hour, enrolment.NoWarning},
		"first":                      {90 * day, 29 * day, enrolment.FirstWarning},
		"before the second":          {90 * day, 7*day + 1, enrolment.FirstWarning},
		"second":                     {90 * day, 7 * day, enrolment.SecondWarning},
		"before the last":            {90 * day, day + 1, enrolment.SecondWarning},
		"last":                       {90 * day, day, enrolment.LastWarning},
		"last second":                {90 * day, time.Second, enrolment.LastWarning},
		"over":                       {90 * day, 0, enrolment.HasExpired},
		"long over":                  {90 * day, -90 * day, enrolment.HasExpired},
		"a year, due":                {360 * day, 119 * day, enrolment.NoWarning},
		"a year, 31 days":            {360 * day, 31 * day, enrolment.NoWarning},
		"a year, 30 days":            {360 * day, 30 * day, enrolment.FirstWarning},
		"nine days, new":             {9 * day, 9 * day, enrolment.NoWarning},
		"nine days, due for long":    {9 * day, 2 * day, enrolment.FirstWarning},
		"nine days, second":          {9 * day, 16 * time.Hour, enrolment.SecondWarning},
		"nine days, last":            {9 * day, 2 * time.Hour, enrolment.LastWarning},
		"a day, new":                 {day, day, enrolment.NoWarning},
		"a day, first":               {day, 7*time.Hour + 44*time.Minute, enrolment.FirstWarning},
		"a day, second":              {day, 112 * time.Minute, enrolment.SecondWarning},
		"a day, last":                {day, 16 * time.Minute, enrolment.LastWarning},
		"ninety seconds, sixty gone": {90 * time.Second, 29 * time.Second, enrolment.FirstWarning},
	} {
		assert.Equal(t, c.want, living(c.life).Warning(start.Add(c.life-c.left)), name)
	}
}

// Whoever looks again at each NextWarning sees every warning when it begins.
func TestNextWarning(t *testing.T) {
	for _, life := range []time.Duration{time.Minute, 9 * day, 90 * day, 360 * day, 3600 * day} {
		s, now := living(life), start
		seen := []enrolment.Warning{s.Warning(now)}
		for range 4 {
			next := s.NextWarning(now)
			require.True(t, next.After(now), life)
			assert.Equal(t, seen[len(seen)-1], s.Warning(next.Add(-1)), life)
			now = next
			seen = append(seen, s.Warning(now))
		}
		assert.Equal(t, []enrolment.Warning{0, 1, 2, 3, 4}, seen, life)
		assert.Zero(t, s.NextWarning(now))
	}
}

// Whatever the clock and the certificate say, the next try is not in the past,
// not at once again and again, and not later than six hours once it is due.
func TestNext_ManyFailures_Bounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := enrolment.Schedule{
			IssuedAt: start.Add(time.Duration(rapid.Int64Range(-1<<57, 1<<57).Draw(t, "begin"))),
			NotAfter: start.Add(time.Duration(rapid.Int64Range(-1<<57, 1<<57).Draw(t, "end"))),
		}
		failures := rapid.IntRange(0, 1<<40).Draw(t, "failures")
		next := s.Next(start, failures, rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		if next.Before(start) {
			t.Fatalf("%v is in the past", next)
		}
		if failures > 0 && next.Sub(start) < enrolment.MinPause/2 {
			t.Fatalf("a pause of %v", next.Sub(start))
		}
		if s.Due().Before(start) && s.Next(start, 1+failures, rand.NewPCG(1, 1)).Sub(start) > enrolment.MaxPause {
			t.Fatal("too long a pause")
		}
		if used := s.Used(start); used < 0 || used > 1 {
			t.Fatalf("%v of its life is used", used)
		}
	})
}
