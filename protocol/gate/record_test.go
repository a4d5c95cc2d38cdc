package gate_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
)

func TestRecord_OutOfRange_Refused(t *testing.T) {
	for name, r := range map[string]gate.Record{
		"session": &gate.OpeningRecord{}, "slot": &gate.ClosedRecord{Slot: gate.MaxSlots, Reason: 1},
		"moves": &gate.OpeningRecord{Session: 1, Moves: make([]gate.MoveRecord, 5)}, "hop": &gate.OpeningRecord{Session: 1, Hop: ident.MaxHop + 1},
		"reason": &gate.ClosedRecord{}, "floor": &gate.BeginRecord{Floor: gate.MaxNumber + 1},
		"opening": &gate.OpeningRecord{Session: gate.MaxNumber + 1}, "continued": &gate.ContinuedRecord{Session: gate.MaxNumber + 1},
		"ended": &gate.ClosedRecord{Session: gate.MaxNumber + 1, Reason: 1}, "served": &gate.MemberRecord{Served: gate.MaxNumber + 1},
		"title":          &gate.MemberRecord{Titles: []gate.TitleRecord{{Session: gate.MaxNumber + 1}}},
		"nobody revoked": &gate.RevokedRecord{}, "many revoked": &gate.RevokedRecord{Members: make([]ident.Member, 129)},
		"stuck": &gate.StuckRecord{Session: gate.MaxNumber + 1}, "stuck slot": &gate.StuckRecord{Slot: gate.MaxSlots},
		"tokens": &gate.GeneratorRecord{Tokens: make([]ident.Token, gate.MaxTokens+1)},
	} {
		body, err := gate.Encode(0, r)
		require.NoError(t, err, name)
		_, _, err = gate.Decode(body)
		assert.ErrorIs(t, err, gate.ErrRecord, name)
	}
	_, err := gate.Encode(0, &gate.MemberRecord{Titles: make([]gate.TitleRecord, 200)})
	assert.ErrorIs(t, err, gate.ErrRecord)
	_, _, err = gate.Decode([]byte{0x83, 0x17, 0, 0x80})
	assert.ErrorIs(t, err, gate.ErrRecordKind)
	_, _, err = gate.Decode(nil)
	assert.ErrorIs(t, err, gate.ErrRecord)
}
