package multitoken

import "math/rand/v2"

// integral is the law of T3gj and S3gj: silences make tokens, and those that
// come soon after a use are dropped. How soon is what an integral control sets,
// whose state all members share by way of the tokens.
type integral struct {
	integralRule
	// early is how soon after the member was open a token is dropped. Below 0
	// none is, and silences are shorter by hurry times as much.
	early float64
}

// integralRule are the constants of a preset.
type integralRule struct {
	spacing float64 // least time between the begins of two uses
	silence float64 // without a use that makes a token, in the middle
	jitter  float64 // by what share of itself a silence is varied to both sides
	start   float64 // early at first: balances the silences if intervals are those of a Poisson process
	gain    float64 // by how much early falls when an interval was longer than the target by itself
	least   float64 // early at the least: 0, or less where hurry has something to do
}

var (
	// start is -ln(1 - e⁻³).
	ruleT3gj = integralRule{silence: 3, jitter: 0.3, start: 0.0511, gain: 0.004}
	// start is 2/3 · exp(-3/2 · (silence - spacing)). With silences of 3, varied by
	// a fifth, small groups swing: many members fall silent together, and three
	// targets later make tokens together; with a number that varies it takes more
	// for the same mean interval. Longer silences make fewer tokens, and those
	// varied more do not make them together. They are shorter while tokens get lost.
	ruleS3gj = integralRule{spacing: 1.0 / 3, silence: 4.5, jitter: 0.4, start: 0.00129, gain: 0.001, least: -0.006}
)

const (
	// hurry is by how many times a negative early silences are shorter: losses of
	// 1 % of the hops take silences of about 3.5 instead of 4.5, and the integral
	// should find that within a minute or two. More overshoots.
	hurry = 300
	// earlyMost bounds early.
	earlyMost = 1.0 / 3
	// heed is how many times as far as by an interval of nothing a member's early
	// goes at most when a token's differs: what a liar writes counts for no more.
	heed = 4
	// integralSize is the length of the state on a token.
	integralSize = 4
)

func newIntegral(rule integralRule) *integral { return &integral{rule, rule.start} }

func (l *integral) meet(v *visit, _ *rand.Rand) (use, split bool) {
	if v.used && v.open < l.early {
		return false, false
	}
	if len(v.field) == integralSize {
		told := clip(readFine(v.field), l.least, earlyMost)
		l.early += clip((told-l.early)/2, -heed*l.gain, heed*l.gain)
	}
	return true, false
}

func (l *integral) observe(interval, _ float64) {
	l.early = clip(l.early+l.gain*(1-interval), l.least, earlyMost)
}

func (l *integral) write(to *[fieldSize]byte) int {
	writeFine(to[:], l.early)
	return integralSize
}

func (l *integral) patience(rng *rand.Rand) float64 {
	return around(l.silence+hurry*min(0, l.early), l.jitter, rng)
}

func (l *integral) gap() float64 { return l.spacing }

func (*integral) pause() float64 { return 0 }

func (*integral) welcome(float64, *rand.Rand) bool { return false }

// shortest is the least patience.
func (r *integralRule) shortest() float64 {
	return (r.silence + hurry*r.least) * (1 - r.jitter)
}
