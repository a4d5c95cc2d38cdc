package experiment

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRingVerdicts: what of the ring paper does not hold, and nothing else.
func TestRingVerdicts(t *testing.T) {
	results, err := Run(t.Context(), ringExperiments(), Options{Seeds: Seeds(1, 2)})
	require.NoError(t, err)
	var wrong []string
	for _, r := range results {
		for _, row := range r.Rows {
			if row.Verdict == NotReproduced {
				wrong = append(wrong, row.ID)
			}
		}
	}
	assert.Equal(t, []string{
		"ring-q-serves/letter", "ring-d-serves/letter", "ring-d-bounded/letter",
		"ring-d-messages", "ring-q-traffic/sent", "ring-q-traffic/old", "ring-q-lax/old",
		"ring-d-traffic/old", "ring-e-traffic/delivered", "ring-links/request-first",
		"ring-d-dearest", "ring-q-longest/old", "ring-d-longest",
	}, wrong)
}
