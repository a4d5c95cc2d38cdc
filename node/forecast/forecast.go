// Package forecast predicts when a resource's token comes to a member that waits for it. It is pure:
// the daemon and the simulator predict alike, and the simulator compares with what came.
//
//	p, ok := forecast.Of(slot, now)                       // slot as member.Status shows it
//	p, ok := forecast.Next(member.Turns(m, resource))     // as a turn begins here: the one after it
//
// Under the preset fair, the member that has waited longest is served next, and each member hears from others when
// those were served. So a prediction counts the members that are before this one, and multiplies by the time
// that a turn has taken lately. Under every other policy a prediction is the distribution of this
// member's own last returns, given how long the token has been away.
//
// A prediction is not a promise: it knows of no program that will run longer than those before, of no member that
// begins to wait out of turn, and of no loss. While a turn takes much longer than those before, there is none: see LongOf.
package forecast

import (
	"math"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
)

// Basis is what a prediction rests on.
type Basis string

// What predictions rest on.
const (
	Order   Basis = "order"   // how many members are before this one, and how long turns took lately
	Returns Basis = "returns" // the times between this member's own last turns
)

// leastReturns is how many returns a prediction needs: of two times nobody knows how they vary.
const leastReturns = 3

// Prediction is after what time a token comes: in half of all cases, and in 19 of 20.
type Prediction struct {
	P50, P95 time.Duration
	Basis    Basis
	Before   int // members that have waited longer, of Order

	// Overdue is that the present turn has taken longer than 19 of 20 of late, of Order: when it ends nobody can say, and P50 and P95 count from then.
	Overdue bool
}

// leastOverdue is below what no turn is called overdue: where turns take milliseconds, half a second is a machine that was busy.
const leastOverdue = time.Second

// ret is one return of a token: how many hops it took, and how long.
type ret struct {
	hops float64
	took float64 // seconds
}

// Of predicts when the token of a slot comes at the instant now. It is false when too few returns
// are known, when the token is here, when it is lost (then nothing comes until it is replaced), while its holder's machine restarts, and while the
// present turn takes so long that those before say nothing of its end.
func Of(s *member.SlotStatus, now clock.Instant) (p Prediction, ok bool) {
	returns := returnsOf(s.Passages)
	if s.Held || s.Observed.Away > now || s.Observed.Search == policy.Lost || len(returns) < leastReturns {
		return p, false
	}
	if _, long := LongOf(s, 0, now); long {
		return p, false
	}
	if o := &s.Observed; o.Known > 0 {
		return ofOrder(s, returns, now), true
	}
	return ofReturns(returns, now.Sub(s.Passages[len(s.Passages)-1].At))
}

// returnsOf are the returns of one token, whose hops count.
func returnsOf(list []member.Passage) (returns []ret) {
	for i := range list {
		if i == 0 || list[i].Token != list[i-1].Token || list[i].Hop <= list[i-1].Hop {
			continue
		}
		returns = append(returns, ret{float64(list[i].Hop - list[i-1].Hop), list[i].At.Sub(list[i-1].At).Seconds()})
	}
	return returns
}

// ofOrder is the time of as many turns as there are members before this one, and the rest of the turn
// in progress.
func ofOrder(s *member.SlotStatus, returns []ret, now clock.Instant) Prediction {
	turn, spread := pace(returns)
	o := &s.Observed
	before := float64(o.Ahead) / o.Known
	turns := before + 1
	variance := turns*spread*spread + turn*turn*float64(o.Ahead+1)*(1-o.Known)/(o.Known*o.Known) // of the turns, and of the count: none in a part is no proof
	begun := s.Passages[len(s.Passages)-1].At
	if !o.Holder.IsZero() {
		begun = max(begun, o.First())
	}
	mean := turns*turn - min(now.Sub(begun).Seconds(), turn)
	p := Prediction{P50: seconds(mean), P95: seconds(mean + quantile95*math.Sqrt(variance)), Basis: Order, Before: int(math.Round(before))}
	if from, known, is := turnElsewhere(s, now); is {
		p.Overdue = now.Sub(from) > scaled(max(seconds(turn+quantile95*spread), leastOverdue), known)
	}
	return p
}

// quantile95 is that of the normal distribution.
const quantile95 = 1.645

// pace is how long a turn takes, and how much that varies. It is the median of the returns: one that had an
// idle group in it counts for little.
func pace(returns []ret) (turn, spread float64) {
	var each []float64
	for _, r := range returns {
		each = append(each, r.took/r.hops)
	}
	slices.Sort(each)
	turn = each[len(each)/2]
	var off []float64
	for _, r := range returns {
		off = append(off, math.Abs(r.took-turn*r.hops)/math.Sqrt(r.hops))
	}
	slices.Sort(off)
	return turn, normalMAD * off[len(off)/2]
}

// normalMAD is the standard deviation of a normal distribution, in median absolute deviations.
const normalMAD = 1.4826

// ofReturns is what is left of a return that has lasted for so long already, by those that lasted longer. If none did, the
// next one is as good as any.
func ofReturns(returns []ret, lasted time.Duration) (Prediction, bool) {
	var left []float64
	for _, r := range returns {
		if l := r.took - lasted.Seconds(); l > 0 {
			left = append(left, l)
		}
	}
	if len(left) == 0 {
		for _, r := range returns {
			left = append(left, r.took)
		}
	}
	slices.Sort(left)
	at := func(q float64) time.Duration { return seconds(left[min(len(left)-1, int(q*float64(len(left))))]) }
	return Prediction{P50: at(0.5), P95: at(0.95), Basis: Returns}, true
}

func seconds(s float64) time.Duration { return time.Duration(max(0, s) * float64(time.Second)) }
