package form_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/spec/form"
)

// Forms that are none are refused, however long they would go on.
func TestForms(t *testing.T) {
	named := map[string][]byte{"group": {1}}
	for text, good := range map[string]bool{
		"array number bool bytes 4 blob 0 9 name 5 address text x hex 00ff group null is 7 minus 7 range 2 3 end": true,
		"map is 1 maybe number text a list 0 3 array end end":                                                     true,
		"list 0 0 name 5":             true,
		"":                            false,
		"number number":               false,
		"lottery":                     false,
		"array number":                false,
		"bytes":                       false,
		"bytes 70000":                 false,
		"blob 3 2":                    false,
		"list 3 2 number":             false,
		"range 3 2":                   false,
		"hex 0":                       false,
		"map bytes 4 null end":        false,
		"map is 1 end":                false,
		strings.Repeat("array ", 600): false,
		strings.Repeat("list 60000 60000 ", 20) + "number":                   false,
		strings.Repeat("maybe ", 600) + "number" + strings.Repeat(" ", 4000): false,
		"list 60000 60000 bytes 60000":                                       false,
	} {
		_, err := form.Form(text).Draw(form.NewStream("x", 1), named)
		if good {
			assert.NoError(t, err, text)
		} else {
			assert.ErrorIs(t, err, form.ErrForm, text)
		}
	}
}
