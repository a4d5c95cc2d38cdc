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
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// csvLines are the lines of a table in docs/data, by the names of their columns.
func csvLines(t *testing.T, name string) (lines []map[string]string) {
	t.Helper()
	data, err := os.ReadFile("../../docs/data/" + name + ".csv")
	require.NoError(t, err)
	all, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	require.NoError(t, err)
	for _, cells := range all[1:] {
		line := map[string]string{}
		for i, column := range all[0] {
			line[column] = cells[i]
		}
		lines = append(lines, line)
	}
	return lines
}

// csvLine is the line that has these cells.
func csvLine(t *testing.T, lines []map[string]string, cells map[string]string) map[string]string {
	t.Helper()
	i := slices.IndexFunc(lines, func(line map[string]string) bool {
		for column, cell := range cells {
			if line[column] != cell {
				return false
			}
		}
		return true
	})
	require.GreaterOrEqual(t, i, 0, "%v", cells)
	return lines[i]
}

// shown is a cell in its unit; one without a number is a dash.
func shown(unit Unit, cell string) string {
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil {
		return "–"
	}
	return unit.Text(v)
}

// downColumn is a column of a table about one token: its heading, and what it shows.
type downColumn struct {
	heading, of string
	unit        Unit
}

// downTables are the tables about one token, with the cases that they show.
var downTables = []struct {
	name, under string
	members     int
	presets     []string
	columns     []downColumn
}{
	{"down-walk", "", fullLoad, []string{wandering.Paper, walkLight, walkFair}, []downColumn{
		{"no operation runs", "idle", Share}, {"two run at once", "two", Share}, {"a loss is felt for, typically", "loss felt median s", Seconds},
		{"99 of 100 turns within, rounds", "p99 over ideal", Number}, {"999 of 1000", "p99.9 over ideal", Number},
		{"handoffs", "hops per operation", Number}, {"small messages", "small messages per operation", Number},
		{"passes in vain", "passes in vain per operation", Number}, {"bytes on the token", "bytes on the token", Number},
	}},
	{"down-spare", "time to spare", 75, []string{walkLight, walkFair}, []downColumn{
		{"a member waits and no operation runs", "idle though somebody is due", Share}, {"two run at once", "two", Share},
		{"99 of 100 turns within, rounds", "p99 over ideal", Number}, {"handoffs", "hops per operation", Number},
		{"small messages", "small messages per operation", Number},
	}},
	{"down-unstated", "not stated", fullLoad, []string{walkLight, walkFair}, []downColumn{
		{"no operation runs", "idle", Share}, {"two run at once", "two", Share}, {"a loss is felt for, typically", "loss felt median s", Seconds},
		{"99 of 100 turns within, rounds", "p99 over ideal", Number}, {"handoffs", "hops per operation", Number},
		{"small messages", "small messages per operation", Number}, {"passes in vain", "passes in vain per operation", Number},
	}},
}

// TestPoliciesPage_MembersDown_AsMeasured: the tables about members that are down have
// the numbers of the experiments. With -update they get them; then read whether the
// text around them still says what they say.
func TestPoliciesPage_MembersDown_AsMeasured(t *testing.T) {
	page, err := os.ReadFile(policiesPage)
	require.NoError(t, err)
	want := string(page)
	walk := csvLines(t, "beyond-down-walk")
	for _, table := range downTables {
		var out strings.Builder
		out.WriteString("| preset | down |")
		for _, c := range table.columns {
			out.WriteString(" " + c.heading + " |")
		}
		out.WriteString("\n| --- | ---: |" + strings.Repeat(" ---: |", len(table.columns)) + "\n")
		for _, preset := range table.presets {
			for _, share := range downShares {
				if share == 0 && table.under == "not stated" {
					continue
				}
				line := csvLine(t, walk, map[string]string{
					"preset": preset, "members": fmt.Sprint(table.members), "under": table.under, "down": cellOf(share),
				})
				fmt.Fprintf(&out, "| `%s` | %s |", preset, Share.Text(share))
				for _, c := range table.columns {
					out.WriteString(" " + shown(c.unit, line[c.of]) + " |")
				}
				out.WriteString("\n")
			}
		}
		want = replaceTable(t, want, table.name, out.String())
	}
	policies := csvLines(t, "beyond-down-policies")
	for _, s := range pageTables {
		want = replaceTable(t, want, "down-"+s.name, renderDown(t, policies, s))
	}
	golden.File(t, policiesPage, []byte(want))
}

// renderDown is a table of the policies in one situation.
func renderDown(t *testing.T, lines []map[string]string, s pageTable) string {
	var out strings.Builder
	out.WriteString("| policy | preset | down |")
	for _, n := range downSizes {
		fmt.Fprintf(&out, " %d: idle | overlap | wait p50 | p99 | messages | recovery |", n)
	}
	out.WriteString("\n|" + strings.Repeat(" --- |", 2) + " ---: |" + strings.Repeat(" ---: |", 6*len(downSizes)) + "\n")
	for _, c := range downChoices {
		for _, share := range downShares {
			fmt.Fprintf(&out, "| %s | %s | %s |", c.policy, c.preset, Share.Text(share))
			for _, n := range downSizes {
				line := csvLine(t, lines, map[string]string{
					"policy": c.policy, "preset": c.preset, "members": fmt.Sprint(n), "load": s.load, "faults": s.faults, "down": cellOf(share),
				})
				for i, column := range []string{"idle", "overlap", "wait p50", "wait p99", "messages", "recovery"} {
					out.WriteString(" " + shown([]Unit{Share, Share, Seconds, Seconds, Number, Seconds}[i], line[column]) + " |")
				}
			}
			out.WriteString("\n")
		}
	}
	return out.String()
}

// TestDown_FreshRun_AsPublished: one short run of the groups with the most members down
// comes to what docs/data has of them.
func TestDown_FreshRun_AsPublished(t *testing.T) {
	published := csvLines(t, "beyond-down-policies")
	for _, c := range downChoices[:3] {
		for _, load := range policiesLoads(nil)[1:] {
			cell := downCell{down: mostDown, cell: cell{choice: c, members: 50, load: load, faults: policiesFaults(nil)[0]}}
			line := csvLine(t, published, map[string]string{
				"preset": c.preset, "members": "50", "load": load.name, "faults": "none", "down": cellOf(mostDown),
			})
			trial, err := try(cell.config(2000*time.Second), 101, 2000*time.Second, 12_000*time.Second)
			require.NoError(t, err)
			near(t, line["idle"], idle(trial), 0.02, c, load.name)
			near(t, line["overlap"], overlap(trial), 0.001, c, load.name)
			near(t, line["wait p99"], trial.wait99, 0.25*trial.wait99, c, load.name)
			near(t, line["messages"], messages(trial), 0.15*messages(trial), c, load.name)
		}
	}
}

func near(t *testing.T, published string, fresh, tolerance float64, of ...any) {
	t.Helper()
	v, err := strconv.ParseFloat(published, 64)
	require.NoError(t, err)
	assert.InDelta(t, v, fresh, tolerance, "%v", of)
}

// TestDown_MostMembers_MeetGoals: what the goals ask of a whole group holds with the
// most members down. Where nobody states their failure, no two operate at once and a
// loss is found all the same.
func TestDown_MostMembers_MeetGoals(t *testing.T) {
	for _, preset := range ownPresets() {
		full := downSized(100)
		full.preset, full.length, full.rounds = preset, 15_000*time.Second, 1
		for _, c := range []downCase{downPlain(full, mostDown), downUnstated(full, mostDown)} {
			r, err := c.run(t.Context(), 1)
			require.NoError(t, err)
			assert.Len(t, r.down, 30)
			for _, q := range []walkQuantity{walkTwo, walkLongestGap, walkIdle, walkP99, walkP999} {
				if q.only != "" && q.only != preset || c.id == "unstated" && q.id != walkTwo.id && q.id != walkLongestGap.id {
					continue
				}
				assert.Equal(t, Reproduced, q.limit.verdict(q.value(r), q.value(r)), "%s, %s, %s: %v", preset, c.name, q.id, q.value(r))
			}
		}
	}
}

// Where nobody states the failures each member comes to know them, and the turns are in
// order again.
func TestDown_UnstatedForLong_InOrder(t *testing.T) {
	g := downSized(50)
	g.losses, g.warmRounds, g.rounds, g.length = nil, 60, 10, 0
	c := downUnstated(g, mostDown)
	r, err := c.run(t.Context(), 1)
	require.NoError(t, err)
	assert.LessOrEqual(t, r.share(0), 0.002)
	assert.LessOrEqual(t, r.stretched(0.99), 1.05)
}

// A liar's share is held against the living ones only.
func TestGainOfLiving_Down_LeftOut(t *testing.T) {
	assert.Equal(t, 2.0, gainOfLiving([]uint64{0, 20, 10, 0, 10}, []int{1, 3}, []int{0, 3}))
}

// Who is down is not waited for.
func TestDueWatch_Forgotten_NotDue(t *testing.T) {
	d := newDueWatch(2, 10*time.Second, at(0))
	d.OperationBegan(at(0), 0)
	d.OperationEnded(at(4), 0)
	d.forget([]int{1})
	d.Advanced(at(14))
	assert.Zero(t, d.waited)
	d.Advanced(at(15))
	assert.Equal(t, time.Second, d.waited)
}

// Every policy that is compared is a preset that there is.
func TestDownChoices_Each_Known(t *testing.T) {
	for _, c := range downChoices {
		_, err := catalog.Find(c.policy, c.preset)
		assert.NoError(t, err, c)
	}
}
