// Package windows reads windows for tests.
package windows

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/window"
)

// Of are the windows that the texts say, in zones that need no database.
func Of(t testing.TB, texts ...string) (list window.Windows) {
	t.Helper()
	for _, text := range texts {
		w, err := window.Parse(text, nil)
		require.NoError(t, err)
		list = append(list, w)
	}
	return list
}
