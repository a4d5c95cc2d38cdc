package multitoken

import (
	"encoding/binary"
	"math/rand/v2"
)

// integral is the law of T3gj and S3gj: silences make tokens, and those that
// come soon after a use are dropped. How soon is what an integral control sets,
// whose state all members share by way of the tokens.
type integral struct {
	integralRule
	early float64 // a token that comes sooner after the member was open is dropped
}

// integralRule are the constants of a preset.
type integralRule struct {
	spacing float64 // least time between the begins of two uses
	start   float64 // early at first: balances the silences if intervals are those of a Poisson process
	gain    float64 // by how much early falls when an interval was longer than the target by itself
	jitter  float64 // by what share of itself a silence is varied to both sides
}

var (
	ruleT3gj = integralRule{start: 0.0511, gain: 0.004, jitter: 0.3}                    // -ln(1 - e⁻³)
	ruleS3gj = integralRule{spacing: 1.0 / 3, start: 0.01221, gain: 0.002, jitter: 0.2} // 2/3 · e⁻⁴
)

const (
	// silenceMean is how many targets without a use make a token.
	silenceMean = 3
	// earlyMost bounds early: what a liar writes on tokens has no effect beyond.
	earlyMost = 1.0 / 3
	// integralSize is the length of the state on a token.
	integralSize = 4
)

func newIntegral(rule integralRule) *integral { return &integral{rule, rule.start} }

func (l *integral) meet(v *visit, _ *rand.Rand) (use, split bool) {
	if v.used && v.open < l.early {
		return false, false
	}
	if len(v.field) == integralSize {
		told := float64(binary.BigEndian.Uint32(v.field)) / wireShare
		l.early = (l.early + min(told, earlyMost)) / 2
	}
	return true, false
}

func (l *integral) observe(interval, _ float64) {
	l.early = clip(l.early+l.gain*(1-interval), 0, earlyMost)
}

func (l *integral) write(to *[fieldSize]byte) int {
	binary.BigEndian.PutUint32(to[:], uint32(l.early*wireShare))
	return integralSize
}

func (l *integral) patience(rng *rand.Rand) float64 { return around(silenceMean, l.jitter, rng) }

func (l *integral) gap() float64 { return l.spacing }

func (*integral) pause() float64 { return 0 }

func (*integral) welcome(float64, *rand.Rand) bool { return false }
