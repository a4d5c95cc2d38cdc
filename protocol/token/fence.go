package token

import "math"

// fenceHopBits is how far the genesis time of a fence is above its hop: 2^21 hops within
// a millisecond are more than any token does, so a later token has the greater fences
// whatever the hop of an earlier one.
const fenceHopBits = 21

// MaxFenceTime is the last genesis time, in ms since 1970, that a fence tells from later
// ones: in May 2109. Up to it a fence fits a signed number of 64 bits.
const MaxFenceTime = 1<<(63-fenceHopBits) - 1

// Fence is the number by which a resource tells a late program from the present one: the
// genesis time of the program's token, in ms since 1970, times 2^21, and the token's hop.
// It grows with each hop of one token, and from a token to each later one. It never
// wraps: what is above the greatest signed number of 64 bits is that number.
func Fence(born, hop uint64) uint64 {
	base := min(born, MaxFenceTime) << fenceHopBits
	return base + min(hop, math.MaxInt64-base)
}
