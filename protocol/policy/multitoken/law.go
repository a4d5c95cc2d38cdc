package multitoken

import (
	"encoding/binary"
	"math/rand/v2"
	"time"
)

// law is the control of a steered agent: how many tokens there should be is
// decided by what it makes of the visits of tokens at this member. Spans are
// shares of target_interval wherever they are numbers.
type law interface {
	// meet takes over the state that a token carries, learns from its coming,
	// and decides whether it is used or dropped. It may ask for another token,
	// to be made once this one has been passed on.
	meet(v *visit, rng *rand.Rand) (use, split bool)
	// observe learns from the interval that a use ends.
	observe(interval, hop float64)
	// welcome decides whether a member makes a token because it is new.
	welcome(hop float64, rng *rand.Rand) bool
	// patience draws for how long no use may begin before a token is made.
	patience(rng *rand.Rand) float64
	// gap is the least time between the begins of two uses, and pause how long a
	// token stays from the begin of its use at least.
	gap() float64
	pause() float64
	// write puts the state onto a token, and returns its length.
	write(to *[fieldSize]byte) int
}

// visit is the coming of a token to a member that could use it.
type visit struct {
	field []byte
	// open is since when the member could have used a token: since it passed on
	// the last one and the gap was over, or since it began its work.
	open float64
	// used says that there was a use before.
	used bool
	// same says that the token of that use was this one, and outranked that it
	// was another one with the smaller id.
	same, outranked bool
	// hop is how long a token takes from the begin of a use here to its arrival
	// elsewhere; 0 as long as that is unknown.
	hop float64
}

// silenceLongest is how many targets the longest silence of a law lasts. Twice as
// much is the most that an interval counts: who could not make a token was away.
const silenceLongest = calm * (1 + calmJitter)

// fieldSize is the most that a law writes on a token.
const fieldSize = 12

// wireFine is one, in the numbers on tokens: signed big-endian integers, for
// numbers between -8 and 8.
const wireFine = 1 << 28

func readFine(from []byte) float64 { return float64(int32(binary.BigEndian.Uint32(from))) / wireFine }

func writeFine(to []byte, x float64) { binary.BigEndian.PutUint32(to, uint32(int32(x*wireFine))) }

// clip is x, or the nearer end of the range.
func clip(x, low, high float64) float64 { return max(low, min(high, x)) }

// around draws from within a share of x to both sides, evenly.
func around(x, share float64, rng *rand.Rand) float64 {
	return x * (1 - share + 2*share*rng.Float64())
}

// of is a share of a span.
func of(span time.Duration, share float64) time.Duration {
	return time.Duration(share * float64(span))
}
