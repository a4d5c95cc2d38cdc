package enrolment

import (
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
)

// The shares of a certificate's life.
const (
	// renewNumerator and renewDenominator are the share of a certificate's life after which it is
	// renewed: a third of it is left for an authority that is away.
	renewNumerator, renewDenominator = 2, 3
	// spreadShare is over which share of a life the first tries are spread, so
	// that members of one day do not come in one minute: a day of 90.
	spreadShare = 90
	// firstPauseShare and longestPauseShare bound the pause after a failed try,
	// as shares of a life: with 90 days 13 minutes and 21.6 hours before the
	// absolute bounds.
	firstPauseShare   = 10_000
	longestPauseShare = 100
)

// Bounds of the pauses, whatever the life.
const (
	// MinPause keeps a member whose certificate lives for seconds from asking
	// without end.
	MinPause = time.Second
	// MaxFirstPause is the pause after the first failure at most: most
	// failures are an authority that restarts.
	MaxFirstPause = time.Minute
	// MaxPause is the longest pause: an authority that comes back is found
	// within so long.
	MaxPause = 6 * time.Hour
	// maxDoublings keeps the doubling of a pause in range.
	maxDoublings = 30
)

// Warning says how near the end of a certificate is.
type Warning int

// The warnings, each more urgent than the one before. With a life of 90 days or
// more they come at 30, 7 and 1 days before the end; with a shorter one at the
// same shares of it, a third, 7/90 and 1/90. The first waits until every member
// has tried to renew: with a life of 90 days or less it comes a ninetieth of it
// later, or with 90 days at 29 before the end.
const (
	NoWarning Warning = iota
	FirstWarning
	SecondWarning
	LastWarning
	HasExpired
)

const day = 24 * time.Hour

// warnings are the times before the end, least urgent first.
var warnings = []struct {
	level Warning
	days  time.Duration
}{{FirstWarning, 30}, {SecondWarning, 7}, {LastWarning, 1}}

// warnedLife is the life for which the warnings are made.
const warnedLife = 90 * day

// Schedule says when a certificate is renewed and when its end is warned of. It
// is a function of its arguments.
type Schedule struct {
	IssuedAt, NotAfter time.Time // of the certificate
	// Grace is for how long after the end the authority still renews it.
	Grace time.Duration
}

// ScheduleOf is that of a certificate in a group.
func ScheduleOf(c certificate.Certificate, g *group.Group) Schedule {
	b := c.Body()
	return Schedule{IssuedAt: b.IssuedAt, NotAfter: b.NotAfter, Grace: g.Config().Settings().RenewGrace}
}

// InGrace reports whether the certificate has ended, and the authority still renews it.
func (s Schedule) InGrace(now time.Time) bool {
	return !now.Before(s.NotAfter) && now.Before(s.NotAfter.Add(s.Grace))
}

// life is how long the certificate lives in all.
func (s Schedule) life() time.Duration { return max(s.NotAfter.Sub(s.IssuedAt), 0) }

// Due is when two thirds of the life are over: from then on the certificate is
// renewed.
func (s Schedule) Due() time.Time {
	return s.IssuedAt.Add(s.life() / renewDenominator * renewNumerator)
}

// Used is the share of the life that is over, 0 to 1.
func (s Schedule) Used(now time.Time) float64 {
	if s.life() == 0 {
		return 1
	}
	return min(1, max(0, float64(now.Sub(s.IssuedAt))/float64(s.life())))
}

// Next is when to try to renew next, not before now: after failures failed tries
// in a row, of which the last was just now. The first try is spread over a day
// or less behind Due, or over a minute when that is over already. Pauses between
// failed tries double, from a minute or less to six hours or less, each drawn
// between its half and the whole; before the end they are at most half of what
// is left, so that tries do not stop while there is a chance. They go on behind
// the end: only the caller knows whether somebody repairs it.
func (s Schedule) Next(now time.Time, failures int, random rand.Source) time.Time {
	r := rand.New(random)
	if failures > 0 {
		return now.Add(s.pause(now, failures, r))
	}
	spread := s.life() / spreadShare
	if start := s.Due(); start.Add(spread).After(now) {
		return later(now, start.Add(draw(r, spread)))
	}
	return now.Add(draw(r, min(spread, MaxFirstPause)))
}

func (s Schedule) pause(now time.Time, failures int, r *rand.Rand) time.Duration {
	least := min(max(s.life()/firstPauseShare, MinPause), MaxFirstPause)
	most := min(max(s.life()/longestPauseShare, MinPause), MaxPause)
	whole := least
	for range min(failures-1, maxDoublings) {
		whole = min(2*whole, most)
	}
	if left := s.NotAfter.Sub(now); left > 0 {
		whole = min(whole, max(left/2, MinPause))
	}
	return whole/2 + draw(r, whole-whole/2)
}

// draw is a span of 0 to most.
func draw(r *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(most) + 1))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Warning is the one that holds at a time. While the first tries to renew are
// still to come, and nothing is wrong, there is none.
func (s Schedule) Warning(now time.Time) Warning {
	left := s.NotAfter.Sub(now)
	switch {
	case left <= 0:
		return HasExpired
	case now.Before(s.Due().Add(s.life() / spreadShare)):
		return NoWarning
	}
	level := NoWarning
	for _, w := range warnings {
		if left <= s.before(w.days) {
			level = w.level
		}
	}
	return level
}

// before is how long before the end a warning comes that is meant for so many
// days before it.
func (s Schedule) before(days time.Duration) time.Duration {
	if life := s.life(); life < warnedLife {
		return time.Duration(float64(life) / float64(warnedLife) * float64(days*day))
	}
	return days * day
}

// NextWarning is when the warning rises next: when to look again. It is zero
// when the certificate has expired.
func (s Schedule) NextWarning(now time.Time) time.Time {
	at := []time.Time{s.NotAfter}
	for _, w := range warnings {
		at = append(at, later(s.NotAfter.Add(-s.before(w.days)), s.Due().Add(s.life()/spreadShare)))
	}
	var next time.Time
	for _, t := range at {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	return next
}
