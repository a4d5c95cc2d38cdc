package experiment

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Losses of the plain reading are independent: the first one, which meets a group
// whose timeouts no loss has grown, takes as long as those after it. Losses that are
// close are not: members still wait for long from the last one.
func TestTransients_Spacing_FirstLikeTheOthers(t *testing.T) {
	lengths := func(reading transient) (first, later float64) {
		reading.members, reading.until = reportOverload, survivor
		if reading.spacing == 0 {
			reading.spacing = (*Lab)(nil).span(lossSpacing)
		}
		r, err := reading.recover(nil, reportStudy(reportOverload), 1)
		require.NoError(t, err)
		require.Len(t, r.lengths, losses)
		var seconds []float64
		for _, d := range r.lengths {
			seconds = append(seconds, d.Seconds())
		}
		return seconds[0], middle(seconds[1:])
	}
	first, later := lengths(transient{})
	assert.InEpsilon(t, first, later, 0.5)
	first, later = lengths(transient{spacing: closeSpacing})
	assert.Greater(t, first, 10*later)
}
