package spec_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
)

// What the gate says and writes has the shapes of gate.cddl.
func TestGate_AnswersAndRecords_InTheCDDL(t *testing.T) {
	s := load(t, "gate.cddl")
	for rule, a := range map[string]gate.Answer{
		"open":   &gate.OpenAnswer{Session: 101, Until: millis, Hop: 3},
		"busy":   &gate.BusyAnswer{Session: 101, Until: millis, Hop: 3},
		"refuse": &gate.RefuseAnswer{Code: gate.NoLength, NotBefore: millis},
		"closed": &gate.ClosedAnswer{Session: 101, Reason: gate.ByRestart, Confirmed: true},
	} {
		raw, err := canonical.Marshal(a)
		require.NoError(t, err)
		assert.NoError(t, s.Check(rule, raw), "%s %x", rule, raw)
	}
	for _, r := range []gate.Record{
		&gate.BeginRecord{Floor: 5, Checkpoint: true},
		&gate.OpeningRecord{Session: 6, Moves: make([]gate.MoveRecord, 4)},
		&gate.ClosedRecord{Session: 6, Slot: gate.MaxSlots - 1, Reason: gate.BySuccessor},
		&gate.MemberRecord{Served: 6, Titles: make([]gate.TitleRecord, gate.MaxTitles)},
		&gate.GeneratorRecord{Tokens: make([]ident.Token, gate.MaxTokens)},
		&gate.ContinuedRecord{Session: 6},
		&gate.RevokedRecord{Members: make([]ident.Member, 128)},
		&gate.StuckRecord{Session: 6, Slot: gate.MaxSlots - 1},
		&gate.EndRecord{Records: 6},
	} {
		raw, err := gate.Encode(millis*1000, r)
		require.NoError(t, err)
		assert.NoError(t, s.Check("gate-record", raw), "%T %x", r, raw)
		_, _, err = gate.Decode(raw)
		assert.NoError(t, err, "%T", r)
	}
}

// The tables of states, codes and reasons in gate.md are those of the code.
func TestGate_Tables_ThoseOfTheCode(t *testing.T) {
	text := page(t, "gate.md")
	for _, row := range gate.Transitions {
		assert.Contains(t, text, fmt.Sprintf("| %v | %v | %v |", row.From, row.Event, row.To))
	}
	for c := gate.Stale; c <= gate.NoLength; c++ {
		assert.Contains(t, text, fmt.Sprintf("| %d | %v |", uint64(c), c))
	}
	for r := gate.BySignOut; r <= gate.ByRestart; r++ {
		assert.Contains(t, text, fmt.Sprintf("| %d | %v |", uint64(r), r))
	}
}
