package experiment

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/sim/circulation"
)

// tokenWatch follows the tokens of a run. A token is spurious when another one
// exists at its birth.
type tokenWatch struct {
	circulation.Ignore
	alive   map[ident.Token]birth
	made    []clock.Instant // births after the start
	lives   []time.Duration // of spurious tokens that a policy dropped
	crowds  []time.Duration // spans with more than one token
	crowded clock.Instant   // since when there is more than one
	gone    clock.Instant   // since when there is none; Never while there is one

	settling settling
}

type birth struct {
	at       clock.Instant
	spurious bool
}

func newTokenWatch() *tokenWatch {
	return &tokenWatch{alive: map[ident.Token]birth{}, gone: clock.Never, settling: settling{span: period}}
}

// TokenBorn implements circulation.Observer.
func (t *tokenWatch) TokenBorn(now clock.Instant, _ int, token ident.Token) {
	t.settling.tokens(now, len(t.alive))
	if now > 0 {
		t.made = append(t.made, now)
	}
	switch len(t.alive) {
	case 0:
		if t.gone != clock.Never {
			t.settling.begin(now)
		}
		t.gone = clock.Never
	case 1:
		t.crowded = now
	}
	t.alive[token] = birth{now, len(t.alive) > 0}
}

// TokenGone implements circulation.Observer.
func (t *tokenWatch) TokenGone(now clock.Instant, token ident.Token, how circulation.End) {
	t.settling.tokens(now, len(t.alive))
	if b := t.alive[token]; b.spurious && how == circulation.Dropped {
		t.lives = append(t.lives, now.Sub(b.at))
	}
	delete(t.alive, token)
	switch len(t.alive) {
	case 0:
		t.gone = now
	case 1:
		t.crowds = append(t.crowds, now.Sub(t.crowded))
	}
}

// Advanced implements circulation.Observer.
func (t *tokenWatch) Advanced(now clock.Instant) { t.settling.tokens(now, len(t.alive)) }

// settling compares the first span, 2·Δmin, after a token was lost and replaced with
// all other time in which there is a token.
type settling struct {
	span         time.Duration // how long the time after a recovery is
	since        clock.Instant // of the present number of tokens
	until        clock.Instant // end of the time after the last recovery
	after, other crowding
}

// crowding is how long there was a token, and how long more than one.
type crowding struct{ one, more time.Duration }

func (s *settling) begin(now clock.Instant) { s.until = now.Add(s.span) }

// tokens books the time until now, in which there were n tokens.
func (s *settling) tokens(now clock.Instant, n int) {
	edge := min(max(s.until, s.since), now)
	s.after.book(edge.Sub(s.since), n)
	s.other.book(now.Sub(edge), n)
	s.since = now
}

func (c *crowding) book(d time.Duration, n int) {
	if n > 0 {
		c.one += d
	}
	if n > 1 {
		c.more += d
	}
}

// share is the part of the time with a token in which there was more than one.
func (c crowding) share() float64 { return float64(c.more) / float64(c.one) }

// meanSeconds is NaN of nothing.
func meanSeconds(spans []time.Duration) float64 {
	var sum time.Duration
	for _, d := range spans {
		sum += d
	}
	return sum.Seconds() / float64(len(spans))
}
