package conformance

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var rewrite = flag.Bool("update", false, "render the table of checks in docs/conformance.md anew")

// The table of docs/conformance.md is the list of checks.
func TestChecks_Each_Documented(t *testing.T) {
	const file, begin, end = "../../docs/conformance.md", "<!-- begin checks -->\n", "<!-- end checks -->"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	require.True(t, found)
	_, after, found := strings.Cut(rest, end)
	require.True(t, found)
	var table strings.Builder
	table.WriteString("| check | requirements | what is done, and what has to follow |\n| --- | --- | --- |\n")
	for _, c := range Checks() {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", c.Name, strings.Join(c.Requirements, ", "), c.Does)
	}
	want := before + begin + table.String() + end + after
	if *rewrite {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
	}
	assert.Equal(t, want, string(text), "go test ./spec/conformance -run Documented -update renders it")
}
