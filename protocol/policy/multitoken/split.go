package multitoken

import "math/rand/v2"

// splitting is the law of Split: each token measures, by the members that it
// comes to, whether there are too few tokens or too many, and then makes a
// member make another one or lets itself be dropped, rarely. Silences make
// tokens only where nearly all are gone.
type splitting struct {
	// shortage is how much longer than the target the intervals are that the
	// last token has met: 0 at the target, from -1 up to horizon.
	shortage float64
	// trend is how many tokens more are made than dropped for each hop of a token
	// at the target: it makes up for losses. It is an integral that all members
	// share by way of the tokens.
	trend float64
	// rest is how long a lone token stays at each member, where it would come
	// round too fast otherwise, and lone whether the last one was lone: the same
	// as the one before it.
	rest float64
	lone bool
}

const (
	// horizon is how far a token looks back at each member: what happened
	// before says less of how many tokens there are now. within is the share of
	// intervals of a Poisson process that are shorter.
	horizon = 0.3
	within  = 0.2592 // 1 - e^-horizon

	// memory is over how much time a token averages what it meets, and weightMost
	// the share of the latest member at most, where hops are long.
	memory     = 1.0 / 3
	weightMost = 0.125

	// response is how many times a shortage the number of tokens makes up for in
	// one target_interval. Less is slow where a group of two tokens shrinks, more
	// makes tokens for no reason. A surplus counts by how many times too many
	// there are, up to surplusMost.
	response    = 1.3
	surplusMost = 5

	// integration is by which share of what an interval is off the trend follows.
	integration = 0.03

	// trendMost bounds the trend: up to 2 % of all hops may lose their token.
	// trendFree is what it may have beyond for each target_interval of a hop.
	trendMost = 0.02
	trendFree = 2

	// follow is how many times as far as by its own intervals a member's trend
	// goes at most when a token's differs: what a liar writes counts for no more.
	follow = 4

	// calm is how many targets without a use make a token, and calmLeast how many
	// when losses take trendMost; in between it is in proportion. calmJitter
	// varies each.
	calm       = 8
	calmLeast  = 1.5
	calmPerHop = 500 // how much less for each token that is to be made in a hop
	calmJitter = 0.2

	// pace is how fast the rest of a lone token follows.
	pace = 0.01

	// splitSize is the length of the state on a token: shortage, trend, rest.
	splitSize = 12
)

func (l *splitting) meet(v *visit, rng *rand.Rand) (use, split bool) {
	l.hear(v)
	if v.hop == 0 {
		return true, false
	}
	l.look(v)
	balance := l.shortage / within
	if l.shortage < 0 {
		balance /= max(1/float64(surplusMost), 1+l.shortage)
	}
	balance = response*v.hop*balance + l.trend
	if v.same {
		l.rest = clip(l.rest-pace*balance, 0, 1)
	} else {
		l.rest /= 2
	}
	// Of two tokens only one goes, so twice as probably: they know as little of
	// each other's end as of how many there are.
	if v.outranked && rng.Float64() < -2*balance {
		return false, false
	}
	return true, rng.Float64() < balance
}

// hear takes over what the token carries; what is malformed is as absent.
func (l *splitting) hear(v *visit) {
	l.shortage, l.rest, l.lone = 0, 0, v.same
	if len(v.field) != splitSize {
		return
	}
	l.shortage = clip(readFine(v.field), -1, horizon)
	told := clip(readFine(v.field[4:]), -mostTrend(v.hop), mostTrend(v.hop))
	step := follow * integration * v.hop
	l.trend += clip((told-l.trend)/2, -step, step)
	l.rest = clip(readFine(v.field[8:]), 0, 1)
}

// look lets the token's average take in this member. Looking back for at most
// the horizon, the time without a use less the uses found, each counted as a
// target, is 0 on average at the target: it is the score of how often a Poisson
// process happens when it is watched for so long.
func (l *splitting) look(v *visit) {
	score := min(v.open, horizon)
	if v.used && v.open < horizon {
		score--
	}
	weight := min(weightMost, v.hop/(v.hop+memory))
	l.shortage += weight * (score - l.shortage)
}

func mostTrend(hop float64) float64 { return trendMost + trendFree*hop }

func (l *splitting) observe(interval, hop float64) {
	most := mostTrend(hop)
	l.trend = clip(l.trend+integration*hop*(interval-1), -most, most)
}

// welcome: a member more needs as many tokens more as it takes to visit it once
// in a target.
func (l *splitting) welcome(hop float64, rng *rand.Rand) bool { return rng.Float64() < hop }

func (l *splitting) patience(rng *rand.Rand) float64 {
	return around(clip(calm-calmPerHop*l.trend, calmLeast, calm), calmJitter, rng)
}

func (l *splitting) write(to *[fieldSize]byte) int {
	writeFine(to[:], l.shortage)
	writeFine(to[4:], l.trend)
	writeFine(to[8:], l.rest)
	return splitSize
}

func (*splitting) gap() float64 { return 0 }

func (l *splitting) pause() float64 {
	if !l.lone {
		return 0
	}
	return l.rest
}
