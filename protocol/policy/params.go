package policy

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Params are the constants of a resource, under the papers' meaning. They come
// from the group configuration, so all members share them. Zero asks for the
// policy's default wherever a default is named.
type Params struct {
	// Preset names one of the policy's documented sets of rules. Empty is the
	// policy's first.
	Preset string
	// OperationTime (Δop) is how long one protected operation takes at most.
	OperationTime time.Duration
	// MaxHold is how long a program may run at most under one token. Zero, or less than
	// OperationTime, is OperationTime. No policy makes it a limit.
	MaxHold time.Duration
	// Silence is after what time without an answer a member counts as dead: a setting
	// of the group. Zero means the policy's default.
	Silence time.Duration
	// OnIsolated is what a member does that is cut off from others.
	OnIsolated OnIsolated
	// MembersMax (Nmax) is the number of members that saturates the resource.
	MembersMax int
	// SkipDelay (Δskip) is how long a member that does not run the operation
	// keeps the token. Too short spends messages on an idle group; too long
	// wastes the resource while members with demand wait.
	SkipDelay time.Duration
	// MinInterval (Δmin) is the shortest time between two operations of one
	// member. Zero means the formula of the policy's paper.
	MinInterval time.Duration
	// MaxInterval (Δmax) is the time without a token after which a member of
	// the report paper makes one. Zero means its 3·Δmin.
	MaxInterval time.Duration
	// RegenerationMean (γ) is the mean of the exponential delay that follows
	// the time for which a member waits for a token in any case, before it
	// makes one. Zero means the formula of the policy.
	RegenerationMean time.Duration
	// TargetInterval (t_wait) is the time between two tokens at one member
	// that a policy with many tokens aims at. It has no default.
	TargetInterval time.Duration
	// IntervalFactor (k_max) is how much longer or shorter than TargetInterval
	// an interval has to be for a policy with many tokens to act. Zero is the
	// paper's 3.
	IntervalFactor Ratio
	// QueueCapacity (c) is how many early tokens may wait at one member. One
	// more is dropped. Zero is the policy's default.
	QueueCapacity int
	// GrowthFactor (K1loss) is by what the timeout of the report paper is
	// multiplied at each token made. Zero is its 1.5.
	GrowthFactor Ratio
	// DecayFactor (K2loss) is the share of the distance from Δmax that the
	// timeout of the report paper loses at each token received. Zero is its
	// 0.05.
	DecayFactor Ratio
	// GeneratorRests makes a member that has made a token let it rest and walk
	// on, instead of running the operation under it. The report paper does not
	// say which.
	GeneratorRests bool
	// RequestTimeout is after what time a member of a ring repeats a request
	// that was not answered by a token. Zero derives it from OperationTime,
	// SkipDelay and MembersMax.
	RequestTimeout time.Duration
	// Timekeepers is how many members keep in mind when one was served, under the preset
	// fair. Fewer send fewer messages, and turns are further from a round robin. Zero is MaxTimekeepers.
	Timekeepers int
	// Weights are those of the classes of members. A member of weight w is served w times as often as
	// a member of weight 1. Zero is that all have the same.
	Weights Weights
	// OnSilentHolder is what a keeper does about a holder that has fallen silent and whose
	// program may run still.
	OnSilentHolder SilentHolder
}

// SilentHolder is what happens when a holder falls silent whose program may run still: a
// program outlives its daemon, and runs on where a network is cut.
type SilentHolder uint8

// The values of SilentHolder.
const (
	// WaitForProgram replaces the token when no program can run any more under it.
	WaitForProgram SilentHolder = iota
	// Replace replaces it at once: the next operation begins sooner, beside the program.
	Replace
)

// silentHolderWords are the values as people write them.
var silentHolderWords = []string{"wait", "replace"}

// UnmarshalText reads what people write.
func (s *SilentHolder) UnmarshalText(text []byte) error {
	i := slices.Index(silentHolderWords, string(text))
	if i < 0 {
		return fmt.Errorf("%q: must be one of %s", text, strings.Join(silentHolderWords, ", "))
	}
	*s = SilentHolder(i)
	return nil
}

// Ratio is a number in thousandths, which is how the group configuration
// carries it.
type Ratio int64

// ratioDecimals is how many decimals a Ratio has.
const ratioDecimals = 3

// UnmarshalText reads a decimal number such as 3 or 2.5, digit by digit, so that nothing
// is rounded. Which are permitted, and that none is negative, is the parameter's to say.
func (r *Ratio) UnmarshalText(text []byte) error {
	digits, negative := strings.CutPrefix(string(text), "-")
	whole, decimals, point := strings.Cut(digits, ".")
	if len(decimals) <= ratioDecimals && point == (decimals != "") {
		decimals += strings.Repeat("0", ratioDecimals-len(decimals))
		if n, err := strconv.ParseUint(whole+decimals, 10, 31); err == nil && whole != "" {
			if *r = Ratio(n); negative {
				*r = -*r
			}
			return nil
		}
	}
	return fmt.Errorf("%q: must be a number such as 3 or 2.5, with at most %d decimals", text, ratioDecimals)
}

// Float is the number itself.
func (r Ratio) Float() float64 { return float64(r) / 1000 }

// Of is the span multiplied by the ratio, neither of them negative, rounded
// down to nanoseconds. It saturates at the longest Duration.
func (r Ratio) Of(d time.Duration) time.Duration {
	high, low := bits.Mul64(uint64(d), uint64(r))
	if high >= 1000 {
		return math.MaxInt64
	}
	quotient, _ := bits.Div64(high, low, 1000)
	return time.Duration(min(quotient, math.MaxInt64))
}

// Or is the ratio, or a default where it is zero.
func (r Ratio) Or(otherwise Ratio) Ratio {
	if r == 0 {
		return otherwise
	}
	return r
}
