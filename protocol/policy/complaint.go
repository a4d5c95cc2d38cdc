package policy

import (
	"fmt"
	"time"
)

// LongestMeasure bounds how long a member acts against another one at a time, and is after what time
// without a cause the next measure is a first one again: causes that are days apart are accidents. A
// member that gives cause again as soon as one measure is over does so once a day in the end, and a
// logarithmic number of times before.
const LongestMeasure = 24 * time.Hour

// Measure is how a member acts against another one, for a while.
type Measure uint8

// The measures. Members that keep the rules take all but the first one against such members, too. The first one they take
// only where two others lie about that member together (P-76).
const (
	// Struck: it suspects the other one, passes it no token, and tells all others.
	Struck Measure = iota + 1
	// GivenUp: it does so, and tells nobody: the other one may be asleep, or its clock wrong.
	GivenUp
	// Barred: it passes the other one no token.
	Barred
	// BackedOff: it takes no token that the other one has just made.
	BackedOff

	measureEnd
)

var measureNames = [measureEnd]string{Struck: "struck", GivenUp: "given up", Barred: "barred", BackedOff: "backed off from"}

func (m Measure) String() string {
	if m == 0 || m >= measureEnd {
		return fmt.Sprintf("measure %d", uint8(m))
	}
	return measureNames[m]
}

// Measures are all measures, in the order of their numbers.
func Measures() (list []Measure) {
	for m := Measure(1); m < measureEnd; m++ {
		list = append(list, m)
	}
	return list
}

// Cause is why a member acts against another one: what it has concluded that the other one did.
type Cause uint8

// The causes.
const (
	// Kept: it kept a token, although it was told that somebody waits.
	Kept Cause = iota + 1
	// Unaccounted: it gave no account of a token that it had said it has.
	Unaccounted
	// Denied: it denied a token that it had said it has, or that the member itself passed to it.
	Denied
	// Receipted: it denied a token for which it has signed a receipt that it must remember.
	Receipted
	// Doubted: what it says of passes stands against the word of two others, or twice against that of one.
	Doubted
	// NeverCame: it said that it sent the member a token, which never came.
	NeverCame
	// Excused: it explained losses without a proof, more often than is excused.
	Excused
	// Unconfirmed: it said that it dropped a token for another one, which nobody confirms.
	Unconfirmed
	// Minted: it made a token while another one circulated.
	Minted

	causeEnd
)

var causeNames = [causeEnd]string{
	Kept: "kept a token", Unaccounted: "gave no account of a token", Denied: "denied a token", Receipted: "denied a token against its receipt",
	Doubted: "in doubt with others", NeverCame: "sent a token that never came", Excused: "explained losses without a proof",
	Unconfirmed: "dropped a token for one that nobody confirms", Minted: "made a token beside another one",
}

func (c Cause) String() string {
	if c == 0 || c >= causeEnd {
		return fmt.Sprintf("cause %d", uint8(c))
	}
	return causeNames[c]
}

// Causes are all causes, in the order of their numbers.
func Causes() (list []Cause) {
	for c := Cause(1); c < causeEnd; c++ {
		list = append(list, c)
	}
	return list
}
