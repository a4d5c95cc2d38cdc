package group_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/window"
)

// drawWindows are any windows.
func drawWindows(t *rapid.T) (list window.Windows) {
	for range rapid.IntRange(0, window.Max).Draw(t, "windows") {
		zone, err := window.ParseZone(rapid.SampledFrom([]string{"UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "<+0545>-5:45"}).Draw(t, "zone"))
		require.NoError(t, err)
		list = append(list, window.Window{
			Days: window.Days(rapid.IntRange(1, 127).Draw(t, "days")), Begin: rapid.IntRange(0, 1439).Draw(t, "begin"),
			End: rapid.IntRange(0, 1439).Draw(t, "end"), Zone: zone, Name: rapid.StringMatching(`[!-~]{1,64}`).Draw(t, "name"),
		})
	}
	return list
}

// TestWindows_Any_Travel: a configuration says the same once it was signed and read.
func TestWindows_Any_Travel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := resource("ftp")
		r.OperationTime, r.Windows = time.Second, drawWindows(t)
		s := group.Settings{Version: 1, Name: "test", Issued: day, Resources: []group.Resource{r.WithDefaults()}}.WithDefaults()
		c, err := s.Sign(id, firstKey)
		require.NoError(t, err)
		read, err := group.ParseConfig(id, c.Raw(), trusting(firstKey))
		require.NoError(t, err)
		assert.Equal(t, r.Windows, read.Settings().Resources[0].Windows)
	})
}

// TestWindows_Invalid_Refused: P-90.
func TestWindows_Invalid_Refused(t *testing.T) {
	w := window.Window{Days: 1, Begin: 60, End: 61, Name: "UTC"}
	for what, change := range map[string]func(*group.Resource){
		"nine":      func(r *group.Resource) { r.Windows = make(window.Windows, window.Max+1) },
		"no day":    func(r *group.Resource) { r.Windows = window.Windows{{Name: "UTC"}} },
		"too short": func(r *group.Resource) { r.OperationTime, r.Windows = time.Minute+1e6, window.Windows{w} },
	} {
		r := resource("ftp")
		change(&r)
		assert.ErrorIs(t, r.WithDefaults().Validate(), group.ErrWindows, what)
	}
	r := resource("ftp")
	r.OperationTime, r.Windows = time.Minute, window.Windows{w}
	assert.NoError(t, r.WithDefaults().Validate())
}
