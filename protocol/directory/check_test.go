package directory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/directory"
)

// Check finds each broken invariant, by what it says.
func TestCheck_Broken_Found(t *testing.T) {
	for want, breaks := range directory.Breaks {
		t.Run(want, func(t *testing.T) {
			ca := newAuthority(1)
			list := ca.members(4)
			d := directory.New(ca, list[0].id)
			introduce(t, d, list...)
			for _, s := range list[2:] {
				_, err := d.LearnFailure(s.failure(list[1], 1))
				require.NoError(t, err)
			}
			require.True(t, d.Failed(list[1].id))
			require.NoError(t, d.Check())
			breaks(d, list[1].id, list[2].id)
			assert.ErrorContains(t, d.Check(), want)
		})
	}
}
