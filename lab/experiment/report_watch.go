package experiment

import (
	"math"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/sim/circulation"
)

// stabilised says when a group has recovered from a loss: when exactly one
// token exists, has been alone for a time, and has lived for another one.
type stabilised struct{ alone, age time.Duration }

// operationsTold is how many numbers of operations at once are told apart;
// more count as the last.
const operationsTold = 32

// recoveries follows a group through losses of all its tokens. Of the time from
// a loss until the group is stabilised it notes what it does of the whole run.
type recoveries struct {
	circulation.Ignore
	until    stabilised
	patience time.Duration // after which a recovery is given up

	now       clock.Instant
	tokens    map[ident.Token]clock.Instant // their births
	alone     clock.Instant                 // since when there is exactly one
	running   int                           // operations
	began     map[int]clock.Instant         // the last operation of each member
	armed     bool                          // the next loss of the last token counts
	lost      clock.Instant                 // the last loss
	recovered clock.Instant                 // and the end of its recovery; Never during one

	lengths   []time.Duration // of the recoveries
	vanished  int             // in how many of them no token was left again
	again     bool            // in this one
	first     ident.Token     // made in this one
	made      clock.Instant   // and when; Never before
	safe      int             // recoveries whose first token was made later than Δmin after the loss
	survived  int             // and remained the one token
	during    [operationsTold]time.Duration
	intervals *circulation.Histogram // between operations, those that end in a recovery
	touching  *circulation.Histogram // and all of which a part is in one
}

func newRecoveries(until stabilised, patience time.Duration) *recoveries {
	const width, limit = time.Second, 10_000 * time.Second
	return &recoveries{
		until: until, patience: patience, tokens: map[ident.Token]clock.Instant{}, began: map[int]clock.Instant{},
		intervals: circulation.NewHistogram(width, limit), touching: circulation.NewHistogram(width, limit),
	}
}

// recovering reports whether the group is between a loss and being stabilised.
func (r *recoveries) recovering() bool { return r.recovered == clock.Never }

// advance books the time until now; the recovery may have ended meanwhile.
func (r *recoveries) advance(now clock.Instant) {
	if r.recovering() {
		end := min(now, r.end())
		r.during[min(r.running, operationsTold-1)] += end.Sub(r.now)
		if end == r.end() {
			r.finish(end, end.Sub(r.lost))
		}
	}
	r.now = now
}

// finish ends a recovery.
func (r *recoveries) finish(now clock.Instant, length time.Duration) {
	r.recovered = now
	r.lengths = append(r.lengths, length)
	if r.again {
		r.vanished++
	}
	if r.made != clock.Never && r.made.Sub(r.lost) > reportMin {
		r.safe++
		if _, alive := r.tokens[r.first]; alive {
			r.survived++
		}
	}
}

// giveUp ends a recovery that has not ended in time.
func (r *recoveries) giveUp() {
	if r.recovering() {
		r.finish(r.now, max(r.patience, r.now.Sub(r.lost)))
	}
}

// end is when the recovery ends if nothing happens before.
func (r *recoveries) end() clock.Instant {
	if len(r.tokens) != 1 {
		return clock.Never
	}
	for _, born := range r.tokens {
		return max(r.now, r.alone.Add(r.until.alone), born.Add(r.until.age))
	}
	return clock.Never
}

// TokenBorn implements circulation.Observer.
func (r *recoveries) TokenBorn(now clock.Instant, _ int, token ident.Token) {
	r.advance(now)
	r.tokens[token] = now
	r.alone = now
	if r.recovering() && r.made == clock.Never {
		r.first, r.made = token, now
	}
}

// TokenGone implements circulation.Observer.
func (r *recoveries) TokenGone(now clock.Instant, token ident.Token, _ circulation.End) {
	r.advance(now)
	delete(r.tokens, token)
	r.alone = now
	switch {
	case len(r.tokens) > 0:
	case r.recovering():
		r.again = true
	case r.armed:
		r.armed, r.lost, r.recovered = false, now, clock.Never
		r.again, r.made = false, clock.Never
	}
}

// OperationBegan implements circulation.Observer.
func (r *recoveries) OperationBegan(now clock.Instant, member int) {
	r.advance(now)
	r.running++
	if last, ok := r.began[member]; ok {
		if r.recovering() {
			r.intervals.Add(now.Sub(last))
		}
		if last < r.recovered {
			r.touching.Add(now.Sub(last))
		}
	}
	r.began[member] = now
}

// OperationEnded implements circulation.Observer.
func (r *recoveries) OperationEnded(now clock.Instant, _ int) {
	r.advance(now)
	r.running--
}

// Advanced implements circulation.Observer.
func (r *recoveries) Advanced(now clock.Instant) { r.advance(now) }

// vanishing is the share of recoveries in which all tokens were gone again.
func (r *recoveries) vanishing() float64 { return float64(r.vanished) / float64(len(r.lengths)) }

// surviving is the share of the first tokens made later than Δmin after the
// loss that remained.
func (r *recoveries) surviving() float64 { return float64(r.survived) / float64(r.safe) }

// share is the part of the time of recovery in which more than k operations
// ran at once.
func (r *recoveries) share(k int) float64 {
	var more, all time.Duration
	for i, d := range r.during {
		all += d
		if i > k {
			more += d
		}
	}
	return float64(more) / float64(all)
}

// quantile is one of the recoveries' lengths, in seconds. Those that were given
// up are infinite.
func (r *recoveries) quantile(q float64) float64 {
	lengths := make([]float64, len(r.lengths))
	for i, d := range r.lengths {
		lengths[i] = d.Seconds()
		if d >= r.patience {
			lengths[i] = math.Inf(1)
		}
	}
	slices.Sort(lengths)
	return quantile(lengths, q)
}
