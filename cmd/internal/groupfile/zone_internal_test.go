package groupfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLookupZone_ChangesWithoutARule_Refused: the rule at the end of a zone's file holds only after the changes that the file lists.
func TestLookupZone_ChangesWithoutARule_Refused(t *testing.T) {
	for name, good := range map[string]bool{"Europe/Rome": true, "America/New_York": true, "Asia/Kolkata": true, "Africa/Casablanca": false} {
		if _, err := os.Stat(filepath.Join(zoneFolders[0], name)); err != nil {
			t.Skipf("this machine has no %s: %v", name, err)
		}
		_, err := lookupZone(name)
		if good {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, ErrNoZone, name)
		assert.ErrorContains(t, err, "which no rule says")
	}
}
