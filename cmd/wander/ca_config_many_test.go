package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/group"
)

// groupFileOf is a group configuration file with so many resources.
func groupFileOf(resources int) []byte {
	var b strings.Builder
	for i := range resources {
		fmt.Fprintf(&b, "[[resource]]\nname = \"r%04d\"\noperation_time = \"2s\"\nmembers_max = 5\nmin_interval = \"1s\"\n", i)
	}
	return []byte(b.String())
}

// A file with a sixteenfold number of resources costs sixteen times as much to read,
// and not the square of that.
func TestParseGroupFile_ManyResources_LinearCost(t *testing.T) {
	cost := func(resources int) float64 {
		text := groupFileOf(resources)
		return testing.AllocsPerRun(1, func() {
			s, err := parseGroupFile("group.toml", text, "g")
			require.NoError(t, err)
			require.Len(t, s.Resources, resources)
		})
	}
	assert.Less(t, cost(256), 20*cost(16))
	_, err := parseGroupFile("group.toml", groupFileOf(group.MaxResources+1), "g")
	assert.ErrorContains(t, err, "permitted are 1 to 1024")
}
