package directory

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/ident"
)

// strangers is a group in which everybody knows a sample of the others only.
// Each interval every member exchanges digests with one of its sample: they get to
// know each other, and the member is told of some of the other's sample. At
// first everybody holds what it would after having heard of all for long.
type strangers struct {
	random  *rand.Rand
	samples []*sample
	known   [][]int // what they hold, as numbers
	changed []bool  // that is no longer so
	fresh   bool    // samples are drawn anew
	told    int     // at most, of a peer's sample
	share   []float64
}

func newStrangers(n, k, told int, fresh bool) *strangers {
	g := &strangers{random: dice(uint64(n)), known: make([][]int, n), changed: make([]bool, n), fresh: fresh, told: told}
	for i := range n {
		s := newSample(k, g.random)
		s.least = 0
		for range 2 { // one to hold, and one to follow
			for range k {
				s.renew(g.random)
			}
			for j := range n {
				if i != j {
					s.show(number(j))
				}
			}
		}
		s.least, s.turn = enough(k), g.random.IntN(k)
		for i := range s.slots { // in its turn each has been shown enough
			s.slots[i].since = 0
		}
		s.shown = s.least
		g.samples, g.share = append(g.samples, s), append(g.share, 1)
	}
	for i := range n {
		g.look(i)
	}
	return g
}

// look notes whom i holds. The order of a map must not show.
func (g *strangers) look(i int) {
	g.known[i] = g.known[i][:0]
	for m := range g.samples[i].used {
		g.known[i] = append(g.known[i], numberOf(m))
	}
	slices.Sort(g.known[i])
}

func numberOf(m ident.Member) int {
	n := 0
	for _, b := range m[8:] {
		n = n<<8 | int(b)
	}
	return n - 1
}

func (g *strangers) hear(i, j int) {
	if i != j {
		g.samples[i].shown++
		g.changed[i] = len(g.samples[i].show(number(j))) > 0 || g.changed[i]
	}
}

// pass is one gossip interval.
func (g *strangers) pass() {
	if !g.fresh {
		return
	}
	for i, s := range g.samples {
		g.changed[i] = len(s.renew(g.random)) > 0 || g.changed[i]
		peer := g.draw(i)
		g.hear(i, peer)
		g.hear(peer, i)
		at := g.random.IntN(len(g.known[peer]))
		for range min(g.told, len(g.known[peer])) {
			at = (at + 1) % len(g.known[peer])
			g.hear(i, g.known[peer][at])
		}
	}
	for i := range g.samples {
		if g.changed[i] {
			g.look(i)
			g.changed[i] = false
		}
	}
}

func (g *strangers) draw(i int) int { return g.known[i][g.random.IntN(len(g.known[i]))] }

// evenOut moves the shares on to where they stay while nobody's sample changes.
func (g *strangers) evenOut() []float64 {
	for range 5 {
		next := make([]float64, len(g.share))
		for i, known := range g.known {
			for _, j := range known {
				next[j] += g.share[i] / float64(len(known))
			}
		}
		g.share = next
	}
	return g.share
}

// deviation is the standard deviation of shares, as a part of their mean.
func deviation(shares []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, x := range shares {
		mean += x / float64(len(shares))
	}
	for _, x := range shares {
		sum += (x/mean - 1) * (x/mean - 1)
	}
	return math.Sqrt(sum / float64(len(shares)))
}

var cycles = flag.Int("cycles", 1, "for how many lives of a sample the study of a thousand members runs")

// Each of 1000 members knows about 54 others. As long as nobody's sample
// changes, the shares of visits differ by 13 % (standard deviation), permanently.
// When samples are drawn anew the shares differ as much at any moment, but those
// of a longer time less and less: what docs/membership.md says was measured with
// -cycles 24.
func TestChoose_ThousandSamples_EqualShares(t *testing.T) {
	const n = 1000
	k := SampleSize(n)
	g := newStrangers(n, k, 64, true)
	if still := deviation(g.evenOut()); assert.InDelta(t, 0.133, still, 0.01) {
		t.Logf("without drawing anew: %.4f", still)
	}
	sums := [][]float64{make([]float64, n)} // of the shares, up to each interval
	for range *cycles * k {
		row := make([]float64, n)
		for i, x := range g.evenOut() {
			row[i] = sums[len(sums)-1][i] + x
		}
		sums = append(sums, row)
		g.pass()
	}
	for w := k; w < len(sums); w *= 2 {
		t.Logf("within %d intervals: %.4f", w, windows(sums, w))
	}
	assert.Less(t, deviation(g.evenOut()), 0.16, "no worse at the end")
	assert.Less(t, windows(sums, k), 0.125, "within one life of a sample")
	assert.Less(t, windows(sums, *cycles*k), 0.125*1.4/math.Sqrt(float64(*cycles)))
}

// windows is the deviation of the shares within a time of w intervals: the root
// of the mean square of all such times that fit.
func windows(sums [][]float64, w int) float64 {
	square, n := 0.0, 0
	for end := w; end < len(sums); end += w {
		row := make([]float64, len(sums[end]))
		for i := range row {
			row[i] = sums[end][i] - sums[end-w][i]
		}
		square += deviation(row) * deviation(row)
		n++
	}
	return math.Sqrt(square / float64(n))
}

// A walk among 100 members of whom each knows about 30 visits everybody equally
// often in the long run. While nobody's sample changes it does not: the same
// test tells the two apart. With 99 degrees of freedom chi squared exceeds 148
// once in a thousand times.
func TestWalk_AmongSamples_Fair(t *testing.T) {
	const n, hops = 100, 10 // in an interval
	for _, fresh := range []bool{true, false} {
		k := SampleSize(n)
		g := newStrangers(n, k, 64, fresh)
		visits, at, all := make([]float64, n), 0, 20*k
		for range all {
			for range hops {
				at = g.draw(at)
				visits[at]++
			}
			g.pass()
		}
		sum, share := 0.0, float64(all*hops)/n
		for _, v := range visits {
			sum += (v - share) * (v - share) / share
		}
		t.Logf("drawn anew %v: chi squared %.0f", fresh, sum)
		assert.Equal(t, fresh, sum < 148)
	}
}
