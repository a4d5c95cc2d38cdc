package version

import (
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestOf_BuildInfo_Read(t *testing.T) {
	b := &debug.BuildInfo{
		Main: debug.Module{Version: "v0.0.0-20261129140000-d427a8cb1234"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "d427a8cb"}, {Key: "vcs.time", Value: "2026-11-29T14:00:00Z"}, {Key: "vcs.modified", Value: "true"},
		},
	}
	want := Info{
		Version: "v0.0.0-20261129140000-d427a8cb1234", Commit: "d427a8cb", Date: time.Date(2026, 11, 29, 14, 0, 0, 0, time.UTC), Modified: true,
	}
	assert.Equal(t, want, of("", b))
	want.Version = "1.2.3"
	assert.Equal(t, want, of("1.2.3", b), "a release has its own version")
	assert.Equal(t, Info{Version: development}, of("", &debug.BuildInfo{}))
	assert.NotEmpty(t, Of().Version)
}
