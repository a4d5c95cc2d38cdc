package spec_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/handoff"
)

// row is one line of the model's table.
type row struct{ machine, from, event, to string }

// TestModel_Table_SameAsCode compares the transitions of spec/model with
// those of the code. The model's lines that change nothing say that a message
// is ignored or answered; the code has no rows for what it ignores.
func TestModel_Table_SameAsCode(t *testing.T) {
	model := readTransitions(t)
	code := make(map[row]bool)
	for _, tr := range handoff.Transitions {
		r := rowOf(tr)
		code[r] = true
		require.True(t, model[r], "in the code, not in the model: %v", r)
	}
	for r := range model {
		if r.from != r.to {
			require.True(t, code[r], "in the model, not in the code: %v", r)
		}
	}
}

func readTransitions(t *testing.T) map[row]bool {
	t.Helper()
	text, err := os.ReadFile("model/transitions.txt")
	require.NoError(t, err)
	rows := make(map[row]bool)
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		require.Len(t, f, 4, line)
		rows[row{f[0], f[1], f[2], f[3]}] = true
	}
	require.NotEmpty(t, rows)
	return rows
}

// rowOf writes a transition of the code in the model's words, where a receiver
// does not tell the states of custody apart.
func rowOf(tr handoff.Transition) row {
	machine, event, _ := strings.Cut(tr.Event.String(), " ")
	r := row{machine, tr.From.String(), event, tr.To.String()}
	if machine == "receiver" {
		r.from, r.to = taken(tr.From), taken(tr.To)
	}
	return r
}

func taken(s handoff.State) string {
	if s >= handoff.Hold {
		return "TAKEN"
	}
	return s.String()
}

// broken is what check.sh says of a switch: the property that it breaks.
var broken = regexp.MustCompile(`(?m)breaks ([a-z_]+) .*-D(BUG_[A-Z_]+)`)

// TestExclusion_EachSwitch_IsChecked: check.sh runs each switch that docs/exclusion.md names,
// and finds the property broken that the page names behind it.
func TestExclusion_EachSwitch_IsChecked(t *testing.T) {
	script, err := os.ReadFile("model/check.sh")
	require.NoError(t, err)
	breaks := make(map[string]bool)
	for _, m := range broken.FindAllStringSubmatch(string(script), -1) {
		breaks[m[2]+": "+m[1]] = true
	}
	page, err := os.ReadFile("../docs/exclusion.md")
	require.NoError(t, err)
	named := 0
	for line := range strings.Lines(string(page)) {
		if !strings.HasPrefix(line, "| X-") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		for group := range strings.SplitSeq(strings.ReplaceAll(cells[len(cells)-1], "`", ""), ";") {
			switches, property, _ := strings.Cut(strings.TrimSpace(group), ": ")
			for name := range strings.SplitSeq(switches, ", ") {
				if strings.HasPrefix(name, "BUG_") {
					named++
					assert.True(t, breaks[name+": "+strings.TrimSpace(property)], "check.sh does not break %s with %s", property, name)
				}
			}
		}
	}
	assert.Greater(t, named, 50)
}
