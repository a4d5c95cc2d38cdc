package fuzz

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
)

// FuzzGateRecord: the decoder of the records of a gate, and a start from one of them.
//
//fuzz:of protocol/gate crypto/canonical
func FuzzGateRecord(f *testing.F) { targets["FuzzGateRecord"].Fuzz(f) }

func checkGateRecord(t require.TestingT, body []byte) bool {
	at, r, err := gate.Decode(body)
	if err != nil {
		isOneOf(t, err, gate.ErrRecord, gate.ErrRecordKind)
		return false
	}
	again, err := gate.Encode(at, r)
	require.NoError(t, err)
	require.Equal(t, body, again)
	settings := gate.Settings{Slots: 1, MaxHold: 1, OpenTimeout: 1, CloseTimeout: 1}
	closed := &gate.ClosedRecord{Reason: gate.ByRestart}
	for _, records := range [][]gate.Record{
		{&gate.BeginRecord{Floor: 9}, closed, r},
		{&gate.BeginRecord{Floor: 9, Checkpoint: true}, closed, r, &gate.EndRecord{Records: 3}},
	} {
		g, _, err := gate.Restore(settings, records, clock.Reading{})
		if err != nil {
			isOneOf(t, err, gate.ErrJournal)
			continue
		}
		require.NoError(t, g.Check())
		_, _, err = gate.Restore(settings, g.Checkpoint(), clock.Reading{})
		require.NoError(t, err)
	}
	return true
}

func gateRecordSeeds() map[string][]byte {
	seeds := map[string][]byte{"bad-empty": {}, "bad-kind": {0x83, 0x17, 0x00, 0x80}, "bad-no-list": {0x83, 0x02, 0x00, 0x00}}
	member, moves := ident.Member{1}, []gate.MoveRecord{{By: ident.Member{2}, Title: ident.Hash{3}}, {By: ident.Member{4}, Declined: true}}
	for name, r := range map[string]gate.Record{
		"good-begin": &gate.BeginRecord{Floor: 7, Checkpoint: true}, "good-ended": &gate.ClosedRecord{Session: 3, Reason: gate.ByWindows},
		"good-opening":    &gate.OpeningRecord{Session: 10, Member: member, Hop: 4, Moves: moves},
		"good-remembered": &gate.MemberRecord{Member: member, Served: 8, Titles: []gate.TitleRecord{{Title: ident.Hash{5}, Moved: true, Session: 8}}},
		"good-generator":  &gate.GeneratorRecord{Generator: member, Tokens: []ident.Token{{6}, {7}}},
		"good-continued":  &gate.ContinuedRecord{Session: 9, Member: member, Hop: 4},
		"bad-number":      &gate.OpeningRecord{Session: gate.MaxNumber + 1, Member: member},
		"good-revoked":    &gate.RevokedRecord{Members: []ident.Member{member, {8}}},
		"good-stuck":      &gate.StuckRecord{}, "good-end": &gate.EndRecord{Records: 2},
		"bad-revoked": &gate.RevokedRecord{}, "bad-stuck": &gate.StuckRecord{Slot: gate.MaxSlots}, "bad-reason": &gate.ClosedRecord{Reason: 10},
	} {
		seeds[name] = must(gate.Encode(millis, r))
	}
	return seeds
}
