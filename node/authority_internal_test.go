package node

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/protocol/directory"
)

// A member with a sample takes the group for as large as its sample is meant for.
func TestGroupSize(t *testing.T) {
	for _, c := range []struct{ known, sample, most, want int }{
		{17, 0, 1000, 17},
		{2, 5, 1000, 2}, // more are known
		{300, directory.SampleSize(1000), 100_000, 1000}, // about
		{57, directory.SampleSize(100_000), 1000, 1000},  // nobody keeps more
		{111, directory.SampleSize(1_000_000), 1 << 20, 1_000_000},
	} {
		got := groupSize(c.known, c.sample, c.most)
		assert.InEpsilon(t, c.want, got, 0.15, "%+v", c)
		assert.LessOrEqual(t, got, c.most)
	}
}
