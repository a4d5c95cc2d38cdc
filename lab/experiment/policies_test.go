package experiment

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/golden"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/sim/circulation"
)

const (
	policiesData = "../../docs/data/policies.csv"
	policiesPage = "../../docs/policies.md"
)

// TestPoliciesPage: the tables of the page that picks a policy have the numbers
// of the experiment. With -update they get them; then read whether the text
// around them still says what they say.
func TestPoliciesPage(t *testing.T) {
	data, err := os.ReadFile(policiesData)
	require.NoError(t, err)
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, policiesHeader, lines[0])
	require.Equal(t, len(choices())*len(policiesSizes)*len(policiesLoads(nil))*len(policiesFaults(nil)), len(lines[1:]),
		"each policy in each situation: wander-lab run policies --out docs, then this test with -update")

	page, err := os.ReadFile(policiesPage)
	require.NoError(t, err)
	want := string(page)
	for _, table := range pageTables {
		want = replaceTable(t, want, table.name, table.render(lines[1:]))
	}
	golden.File(t, policiesPage, []byte(want))
}

// pageTable is a table of the page: the lines of these situations, one for
// each policy.
type pageTable struct{ name, load, faults string }

var pageTables = []pageTable{
	{"rare", "rare", "none"}, {"half", "half", "none"}, {"full", "full", "none"}, {"crashes", "half", "hourly"}, {"busy", "full", "hourly"},
}

// render has one line for each policy, with the sizes side by side.
func (p pageTable) render(lines [][]string) string {
	var out strings.Builder
	out.WriteString("| policy | preset |")
	for _, n := range policiesSizes {
		fmt.Fprintf(&out, " %d: idle | overlap | wait p50 | p99 | messages | recovery |", n)
	}
	out.WriteString("\n|" + strings.Repeat(" --- |", 2) + strings.Repeat(" ---: |", 6*len(policiesSizes)) + "\n")
	for _, c := range choices() {
		fmt.Fprintf(&out, "| %s | %s |", c.policy, c.preset)
		for _, n := range policiesSizes {
			i := slices.IndexFunc(lines, func(l []string) bool {
				return slices.Equal(l[:5], []string{c.policy, c.preset, strconv.Itoa(n), p.load, p.faults})
			})
			for k, unit := range []Unit{Share, Share, Seconds, Seconds, Number, Seconds} {
				text := "–"
				if v, err := strconv.ParseFloat(lines[i][5+k], 64); err == nil {
					text = unit.Text(v)
				}
				fmt.Fprintf(&out, " %s |", text)
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}

// replaceTable puts a table between its marks.
func replaceTable(t *testing.T, page, name, table string) string {
	head, rest, ok := strings.Cut(page, "<!-- "+name+" -->\n")
	require.True(t, ok, name)
	_, tail, ok := strings.Cut(rest, "<!-- end -->\n")
	require.True(t, ok, name)
	return head + "<!-- " + name + " -->\n" + table + "<!-- end -->\n" + tail
}

// TestPage_EveryPolicy_Named: none is left without advice.
func TestPage_EveryPolicy_Named(t *testing.T) {
	page, err := os.ReadFile(policiesPage)
	require.NoError(t, err)
	text, _, ok := strings.Cut(string(page), "## The numbers")
	require.True(t, ok)
	for _, name := range catalog.Names() {
		for _, p := range catalog.Presets(name) {
			assert.True(t, strings.Contains(text, "`"+name+" "+p.Name+"`"), "%s says nothing of `%s %s`", policiesPage, name, p.Name)
		}
	}
}

// TestRecoveries_ByHand_Equal follows one loss with all that can happen in it.
func TestRecoveries_ByHand_Equal(t *testing.T) {
	const s = 1_000_000_000
	r := newRecoveries(stabilised{age: 10 * s}, 1000*s)
	a, b := [32]byte{1}, [32]byte{2}
	r.TokenBorn(0, 0, a)
	r.OperationBegan(1*s, 0)
	r.OperationEnded(3*s, 0)
	r.TokenGone(3*s, a, circulation.LostInTransit)
	require.False(t, r.recovering(), "not armed")

	r.TokenBorn(4*s, 0, a)
	r.armed = true
	r.TokenGone(5*s, a, circulation.LostInTransit)
	require.True(t, r.recovering())
	r.TokenBorn(7*s, 0, a)
	r.TokenGone(8*s, a, circulation.Dropped) // gone again
	r.TokenBorn(9*s, 0, a)
	r.OperationBegan(9*s, 0) // 8 s after the last
	r.TokenBorn(10*s, 1, b)
	r.OperationBegan(10*s, 1)
	r.OperationEnded(12*s, 1)
	r.OperationEnded(13*s, 0)
	r.Advanced(20 * s)
	require.True(t, r.recovering(), "two tokens")
	r.TokenGone(21*s, b, circulation.Dropped)
	r.OperationBegan(25*s, 0)
	require.False(t, r.recovering())
	assert.Equal(t, 16.0, r.quantile(0.5), "from 5 s to 21 s")
	assert.Equal(t, 2.0/16, r.share(1))
	assert.Equal(t, 4.0/16, r.share(0))
	assert.Equal(t, 1.0, r.vanishing())
	assert.Equal(t, uint64(1), r.intervals.Count())
	assert.Equal(t, uint64(2), r.touching.Count(), "and the one that began in it")
	assert.Equal(t, 0, r.safe, "the first token came early")
}

// TestPolicies_Each_Runs: every policy serves a small group in a short run of the
// comparison, with crashes.
func TestPolicies_Each_Runs(t *testing.T) {
	for _, c := range choices() {
		cfg := c.config(nil, 5, policiesLoads(nil)[1], policiesFaults(nil)[2])
		trial, err := try(cfg, 1, 6000*time.Second, 30_000*time.Second)
		require.NoError(t, err, c)
		assert.Greater(t, trial.stats.Operations, uint64(100), c)
		assert.Equal(t, c.policy == catalog.Uncoordinated, messages(trial) == 0, c)
		assert.Greater(t, trial.Waits.Count(), uint64(100), c)
	}
}
