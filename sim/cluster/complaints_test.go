package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

// TestBad_AuditNamesIt: some minutes later an audit of the honest members' journals names the bad one first, by the word of
// all others. Nobody else is struck. One that loses each token by a restart, or makes tokens, is not struck either: honest
// machines do that, too.
func TestBad_AuditNamesIt(t *testing.T) {
	skipUnderRaceDetector(t)
	for _, test := range []struct {
		kind   string
		struck bool
		cause  policy.Cause
	}{
		{"hoarder", true, policy.Kept},
		{"dropper", true, policy.Receipted},
		{"dropper-quiet", true, policy.Doubted},
		{"dropper-restart", false, policy.Excused},
		{"minter", false, policy.Minted},
	} {
		t.Run(test.kind, func(t *testing.T) {
			t.Parallel()
			g := newBad(t, 1, 5, lightTurns, badTimes, test.kind)
			g.want(g.nodes, 0)
			g.runFor(5 * time.Minute)
			require.Empty(t, g.violations)
			bad := g.nodes[len(g.nodes)-1].id
			report := judges{g.cluster}.trial()
			require.NotEmpty(t, report.Complaints)
			assert.Equal(t, bad, report.Complaints[0].About)
			assert.Len(t, report.Complaints[0].By, 4)
			assert.Positive(t, report.Complaints[0].Causes[test.cause])
			var struck []ident.Member
			for _, f := range report.Findings {
				if f.Kind == audit.Struck {
					struck = append(struck, f.Members[0])
				}
			}
			if test.struck {
				assert.Equal(t, []ident.Member{bad}, struck)
			} else {
				assert.Empty(t, struck)
			}
		})
	}
}

// TestJudgeComplaints_HonestStruckByHonest_Violation: what a liar says of an honest member, and an honest one of a liar, is
// no violation, and no more is a bar.
func TestJudgeComplaints_HonestStruckByHonest_Violation(t *testing.T) {
	const ann, ben, bad = 0, 1, 2
	for _, test := range []struct {
		name      string
		by, about int
		measure   policy.Measure
		is        bool
	}{
		{"an honest one strikes an honest one", ann, ben, policy.Struck, true},
		{"an honest one bars an honest one", ann, ben, policy.Barred, false},
		{"an honest one strikes a bad one", ann, bad, policy.Struck, false},
		{"a bad one strikes an honest one", bad, ann, policy.Struck, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := makeBad(t, 1, 3, lightTurns, badTimes, []string{"hoarder"})
			by := g.nodes[test.by]
			c, err := token.ComplaintBody{
				Resource: "r", Signer: by.id, Accused: g.nodes[test.about].id, Measure: uint64(test.measure), Cause: uint64(policy.Kept),
			}.Sign(g.group.ID(), by.key)
			require.NoError(t, err)
			by.disk.history = append(by.disk.history, audit.Entry{Record: &journal.Complained{Complaint: c.Raw()}})
			judges{g.cluster}.complaints(by)
			assert.Equal(t, test.is, len(g.violations) == 1, g.violations)
		})
	}
}
