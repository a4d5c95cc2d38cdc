package spec_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/permit"
)

// What the gate says and writes has the shapes of gate.cddl.
func TestGate_AnswersAndRecords_InTheCDDL(t *testing.T) {
	s := load(t, "gate.cddl")
	for rule, a := range map[string]gate.Answer{
		"open":   &gate.OpenAnswer{Session: 101, Until: millis, Hop: 3},
		"busy":   &gate.BusyAnswer{Session: 101, Until: millis, Hop: 3},
		"refuse": &gate.RefuseAnswer{Code: gate.Shut, NotBefore: millis},
		"closed": &gate.ClosedAnswer{Session: 101, Reason: gate.ByWindows, Confirmed: true},
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

// gateAnswer is the answer OPEN to Ada's statement.
func gateAnswer(t *testing.T, e canonical.Extensions) wire.SignedAnswer {
	title, _ := walked(t)
	a, err := wire.AnswerBody{
		Resource: "ftp", Member: ada.id, Title: title.Hash(), Exporter: [permit.ExporterSize]byte{9}, Number: 1, Time: millis,
		Answer: gate.OpenAnswer{Session: 101, Until: millis + 4000, Token: title.Token(), Hop: 3}, Extensions: e,
	}.Sign(groupID, cleo.key)
	require.NoError(t, err)
	return a
}

// What goes over a connection with a gate has the shapes of gate.cddl.
func TestGate_Frames_InTheCDDL(t *testing.T) {
	s := load(t, "gate.cddl")
	for _, f := range []wire.Frame{
		&wire.Hello{Versions: [2]uint64{1, 1}, Resource: "ftp", Configuration: 7, Revocations: 3},
		&wire.Update{}, &wire.Update{Configuration: []byte{1}, Authorities: [][]byte{{2}}, Revocations: [][]byte{{3}, {4}}},
		&wire.SignIn{Number: 1, Permit: permitOf(t), Statement: permitStatement(t, oneExtension).Raw()},
		&wire.SignOut{Number: gate.MaxNumber}, &wire.Answer{Number: 2, Signed: gateAnswer(t, oneExtension).Raw()}, &wire.Connect{Number: 3},
		&wire.ConnectTo{Number: 3, Target: "sql"}, &wire.Targets{Names: []string{"files", "sql"}},
	} {
		raw, err := wire.Append(nil, f)
		require.NoError(t, err)
		assert.NoError(t, s.Check("gate-frame", raw[wire.FrameHeader:]), "%T %x", f, raw)
		again, err := wire.Decode(raw[wire.FrameHeader:])
		require.NoError(t, err)
		assert.IsType(t, f, again)
	}
}

// The tables of states, codes and reasons in gate.md are those of the code.
func TestGate_Tables_ThoseOfTheCode(t *testing.T) {
	text := page(t, "gate.md")
	for _, row := range gate.Transitions {
		assert.Contains(t, text, fmt.Sprintf("| %v | %v | %v |", row.From, row.Event, row.To))
	}
	for c := gate.Stale; c <= gate.Shut; c++ {
		assert.Contains(t, text, fmt.Sprintf("| %d | %v |", uint64(c), c))
	}
	for r := gate.BySignOut; r <= gate.ByWindows; r++ {
		assert.Contains(t, text, fmt.Sprintf("| %d | %v |", uint64(r), r))
	}
}
