package signature

import (
	"math/big"
	"testing"

	"filippo.io/edwards25519"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// extremes are scalars at which carries run through all digits.
func extremes(t require.TestingT) []*edwards25519.Scalar {
	zero, one := new(edwards25519.Scalar), smallScalar(t, 1)
	low := new(big.Int).Lsh(big.NewInt(1), 252)
	low.Sub(low, big.NewInt(1))
	allOnes, err := new(edwards25519.Scalar).SetCanonicalBytes(reversed(low.FillBytes(make([]byte, 32))))
	require.NoError(t, err)
	return []*edwards25519.Scalar{zero, one, new(edwards25519.Scalar).Subtract(zero, one), allOnes}
}

func drawScalar(t *rapid.T, label string) *edwards25519.Scalar {
	if rapid.Bool().Draw(t, label+" extreme") {
		return rapid.SampledFrom(extremes(t)).Draw(t, label)
	}
	return randomScalar(t, label)
}

// TestNonAdjacent wants the digits to add up to the scalar, to be odd and in
// range, and far enough apart.
func TestNonAdjacent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, width := drawScalar(t, "scalar"), rapid.UintRange(2, 8).Draw(t, "width")
		d := nonAdjacent(s, width)
		total, last := new(big.Int), -int(width)
		for i, digit := range d {
			total.Add(total, new(big.Int).Lsh(big.NewInt(int64(digit)), uint(i)))
			if digit == 0 {
				continue
			}
			assert.Equal(t, 1, int(digit)&1)
			assert.Less(t, max(int(digit), -int(digit)), 1<<(width-1))
			assert.GreaterOrEqual(t, i-last, int(width))
			last = i
		}
		assert.Zero(t, total.Cmp(new(big.Int).SetBytes(reversed(s.Bytes()))))
		assert.Zero(t, d[digits-1])
		assert.Zero(t, d[digits-2])
	})
}

// TestSum compares the equation by tables with the library's, for points with
// and without a component of small order.
func TestSum(t *testing.T) {
	small := torsion(t)
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawScalar(t, "a"), drawScalar(t, "b")
		point := new(edwards25519.Point).ScalarBaseMult(drawScalar(t, "point"))
		point.Add(point, rapid.SampledFrom(small[:]).Draw(t, "component"))
		ofPoint, ofBase := nonAdjacent(a, widthPoint), nonAdjacent(b, widthBase)
		terms := newSpread(point, widthPoint).appendTo(nil, &ofPoint)
		var got, want edwards25519.Point
		sum(&got, baseSpread().appendTo(terms, &ofBase))
		want.VarTimeDoubleScalarBaseMult(a, point, b)
		assert.Equal(t, 1, got.Equal(&want))
	})
}
