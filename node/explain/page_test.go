package explain_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
)

// Each cause has its section in the page for people, in the order in which causes are named, and each section its cause.
func TestPage_Sections_AreCauses(t *testing.T) {
	text, err := os.ReadFile("../../" + explain.Page)
	require.NoError(t, err)
	var sections, causes []string
	for _, m := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(string(text), -1) {
		sections = append(sections, explain.Section(api.Cause(m[1])))
	}
	for _, list := range [][]explain.Row{explain.OfMember, explain.OfResource, explain.OfWarning} {
		for _, r := range list {
			causes = append(causes, explain.Section(r.Cause))
		}
	}
	assert.Equal(t, causes, sections)
}
