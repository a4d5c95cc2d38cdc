package group_test

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// gated is settings with a gate before the second resource.
func gated() group.Settings {
	s := settings()
	s.Resources[1].Gate = group.Gate{Member: ident.Member{1, 2, 3}, Address: "gate.example.org:4136"}
	return s.WithDefaults()
}

func TestGate_Absent_DefaultsAndBytesAsBefore(t *testing.T) {
	g := gated().Resources[1].Gate
	assert.Equal(t, group.Gate{
		Member: ident.Member{1, 2, 3}, Address: "gate.example.org:4136", Mode: group.Enforce, Settle: time.Second, Sessions: 1,
		Keep: 2 * time.Second, OpenTimeout: 5 * time.Second, CloseTimeout: 10 * time.Second,
	}, g)
	assert.False(t, g.IsZero())
	assert.True(t, gated().Resources[0].Gate.IsZero(), "defaults make no gate")

	// The resource without a gate is an array of ten items; that with one has an eleventh.
	raw := config(t, gated()).Raw()
	plain, with := append([]byte{0x8a, 0x66}, "backup"...), append([]byte{0x8b, 0x63}, "ftp"...)
	assert.Contains(t, string(raw), string(plain))
	assert.Contains(t, string(raw), string(with))
	assert.NotContains(t, string(config(t, settings()).Raw()), string(with))
}

func TestGate_Signed_RoundTrip(t *testing.T) {
	s := gated()
	parsed, err := group.ParseConfig(id, config(t, s).Raw(), trusting(firstKey))
	require.NoError(t, err)
	assert.Equal(t, s, parsed.Settings())
	r, ok := parsed.Resource("ftp")
	assert.True(t, ok)
	assert.Equal(t, s.Resources[1].Gate, r.Gate)
}

func TestGate_Anything_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := settings()
		r := &s.Resources[rapid.IntRange(0, 1).Draw(t, "resource")]
		r.Policy = catalog.Multitoken
		r.Gate = group.Gate{Address: rapid.SampledFrom([]string{"a:1", "[2001:db8::1]:65535"}).Draw(t, "address")}
		copy(r.Gate.Member[:], rapid.SliceOfN(rapid.ByteRange(1, 255), 16, 16).Draw(t, "gate"))
		r.Gate.Mode = rapid.SampledFrom([]group.GateMode{group.Enforce, group.Observe}).Draw(t, "mode")
		for _, c := range group.GateConstants {
			low, high := c.Range()
			if n := rapid.Uint64Range(low, high).Draw(t, c.Name); !c.Optional || n%2 == 0 {
				c.SetWire(&r.Gate, n)
			}
		}
		parsed, err := group.ParseConfig(id, config(t, s).Raw(), trusting(firstKey))
		require.NoError(t, err)
		assert.Equal(t, s, parsed.Settings())
	})
}

// Every bit of a configuration with a gate counts.
func TestGate_Altered_Refused(t *testing.T) {
	spoil(t, config(t, gated()).Raw(), func(raw []byte) error {
		_, err := group.ParseConfig(id, raw, trusting(firstKey))
		return err
	})
}

func TestGate_Invalid_Refused(t *testing.T) {
	tests := []struct {
		name   string
		change func(*group.Resource)
		want   error
		says   string
	}{
		{"uncoordinated", func(r *group.Resource) { r.Policy = catalog.Uncoordinated }, group.ErrGate,
			`resource "ftp": invalid gate of a resource: policy uncoordinated has no tokens that a gate could ask for; leave out gate`},
		{"no gate", func(r *group.Resource) { r.Gate.Member = ident.Member{} }, group.ErrGate, "gate is missing"},
		{"no address", func(r *group.Resource) { r.Gate.Address = "" }, certificate.ErrAddress, "gate_address: "},
		{"address", func(r *group.Resource) { r.Gate.Address = "gate" }, group.ErrGate, "gate_address: "},
		{"mode", func(r *group.Resource) { r.Gate.Mode = 2 }, group.ErrOutOfRange, "gate_mode is 2, permitted are enforce, observe"},
		{"slots", func(r *group.Resource) { r.Slots = 65 }, group.ErrGate, "slots is 65, permitted are 1 to 64 before a gate"},
		{"sessions", func(r *group.Resource) { r.Gate.Sessions = 2 }, group.ErrGate, "gate_sessions is 2, and policy wandering lets one program run at a slot"},
		{"sessions of a ring", func(r *group.Resource) { r.Policy, r.Gate.Sessions = catalog.Ring, 2 }, group.ErrGate, "policy ring"},
		{"sessions of many slots", func(r *group.Resource) { r.Policy, r.Slots, r.Gate.Sessions = catalog.Multitoken, 5, 13 }, group.ErrGate, "gate_sessions is 13 at each of 5 slots, permitted are 64 in all"},
		{"no session", func(r *group.Resource) { r.Gate.Sessions = 0 }, group.ErrOutOfRange, "gate_sessions is 0, permitted are 1 to 64"},
		{"many sessions", func(r *group.Resource) { r.Policy, r.Gate.Sessions = catalog.Multitoken, 65 }, group.ErrOutOfRange, "gate_sessions"},
		{"settle", func(r *group.Resource) { r.Gate.Settle = 0 }, group.ErrOutOfRange, "settle is 0s, permitted are 1ms to 10m"},
		{"keep", func(r *group.Resource) { r.Gate.Keep = 61 * time.Second }, group.ErrOutOfRange, "gate_keep is 1m1s, permitted are 1ms to 1m"},
		{"open", func(r *group.Resource) { r.Gate.OpenTimeout = -1 }, group.ErrOutOfRange, "gate_open_timeout"},
		{"close", func(r *group.Resource) { r.Gate.CloseTimeout = 2 * time.Hour }, group.ErrOutOfRange, "gate_close_timeout is 2h, permitted are 1ms to 1h"},
		{"interval", func(r *group.Resource) { r.Gate.MinInterval = -time.Second }, group.ErrOutOfRange, "gate_min_interval is -1s, permitted are 0 (none) and 1ms to 3650d"},
		{"age", func(r *group.Resource) { r.Gate.RevocationMaxAge = time.Minute }, group.ErrOutOfRange, "gate_revocation_max_age is 1m, permitted are 0 (none) and 2m to 3650d"},
		{"fraction", func(r *group.Resource) { r.Gate.Settle = 1500 * time.Microsecond }, group.ErrFraction, "settle"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := gated()
			tt.change(&s.Resources[1])
			_, err := s.Sign(id, firstKey)
			require.ErrorIs(t, err, tt.want)
			assert.ErrorContains(t, err, tt.says)
		})
	}
	s := gated()
	s.Resources[1].Policy, s.Resources[1].Gate.Sessions = catalog.Multitoken, 64
	assert.NoError(t, s.Validate(), "several programs run at once there by design")
	for _, name := range catalog.Names() {
		s := gated()
		s.Resources[1].Policy = name
		assert.Equal(t, name != catalog.Uncoordinated, s.Validate() == nil, name)
	}
}

// What an authority signs that this version would not: the gate of nobody, a number that is there and 0, one that is
// not known.
func TestGate_Malformed_Refused(t *testing.T) {
	id16 := bytes.Repeat([]byte{7}, 16)
	good := func() map[uint64]any {
		return map[uint64]any{2: uint64(1000), 3: uint64(1), 5: uint64(2000), 6: uint64(5000), 7: uint64(10000)}
	}
	with := func(key uint64, value any) map[uint64]any {
		m := good()
		m[key] = value
		return m
	}
	for name, tt := range map[string]struct {
		gate any
		want error
	}{
		"good":        {[]any{id16, "a:1", uint64(0), good()}, nil},
		"nobody":      {[]any{make([]byte, 16), "a:1", uint64(0), good()}, group.ErrMalformed},
		"short id":    {[]any{id16[:15], "a:1", uint64(0), good()}, group.ErrMalformed},
		"zero":        {[]any{id16, "a:1", uint64(0), with(1, uint64(0))}, group.ErrMalformed},
		"unknown":     {[]any{id16, "a:1", uint64(0), with(8, uint64(1))}, group.ErrGate},
		"no settle":   {[]any{id16, "a:1", uint64(0), map[uint64]any{}}, group.ErrOutOfRange},
		"huge":        {[]any{id16, "a:1", uint64(0), with(2, ^uint64(0))}, group.ErrOutOfRange},
		"huge mode":   {[]any{id16, "a:1", ^uint64(0), good()}, group.ErrOutOfRange},
		"huge number": {[]any{id16, "a:1", uint64(0), with(3, ^uint64(0))}, group.ErrOutOfRange},
		"nothing":     {nil, group.ErrMalformed},
		"empty":       {[]any{}, group.ErrMalformed},
		"one more":    {[]any{id16, "a:1", uint64(0), good(), uint64(0)}, group.ErrMalformed},
	} {
		payload := configList(func([]any, []any, []any, map[uint64]any) {})
		resources := payload[3].([]any)
		resources[0] = append(resources[0].([]any), tt.gate)
		_, err := group.ParseConfig(id, envelopeOf(t, envelope.Configuration, payload, firstKey), trusting(firstKey))
		if tt.want == nil {
			assert.NoError(t, err, name)
			continue
		}
		assert.ErrorIs(t, err, tt.want, name)
	}
}

// Each number of a Gate is one of the constants, with a key of its own and a default in its range.
func TestGateConstants_EveryNumber_Listed(t *testing.T) {
	numbers := 0
	for f := range reflect.TypeFor[group.Gate]().NumField() {
		if k := reflect.TypeFor[group.Gate]().Field(f).Type.Kind(); k == reflect.Int || k == reflect.Int64 {
			numbers++
		}
	}
	assert.Len(t, group.GateConstants, numbers)
	keys := map[uint64]bool{}
	g := group.Gate{}.WithDefaults()
	for _, c := range group.GateConstants {
		require.NotZero(t, c.Key, c.Name)
		require.False(t, keys[c.Key], c.Name)
		keys[c.Key] = true
		require.NoError(t, c.Check(&g, group.ErrOutOfRange))
		require.Equal(t, c.Optional, c.Wire(&g) == 0, c.Name)
	}
	assert.Equal(t, gate.MaxSlots, group.MaxGateSlots)
}

func TestGateMode_Text_RoundTrip(t *testing.T) {
	for _, mode := range []group.GateMode{group.Enforce, group.Observe} {
		var back group.GateMode
		require.NoError(t, back.UnmarshalText([]byte(mode.String())))
		assert.Equal(t, mode, back)
	}
	assert.ErrorIs(t, new(group.GateMode).UnmarshalText([]byte("off")), group.ErrOutOfRange)
	assert.Equal(t, "GateMode(9)", fmt.Sprint(group.GateMode(9)))
}
