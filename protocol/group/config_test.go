package group_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

func resource(name string) group.Resource {
	return group.Resource{
		Name: name, Params: policy.Params{OperationTime: 4 * time.Second, MembersMax: 100},
	}.WithDefaults()
}

func settings() group.Settings {
	return group.Settings{
		Version: 3, Name: "demo", Issued: day, Resources: []group.Resource{resource("backup"), resource("ftp")},
		Authorities: ids(firstKey),
	}.WithDefaults()
}

func config(t require.TestingT, s group.Settings) group.Config {
	c, err := s.Sign(id, firstKey)
	require.NoError(t, err)
	return c
}

func TestDefaults(t *testing.T) {
	s := settings()
	require.NoError(t, s.Validate())
	assert.Equal(t, 100_000, s.MembersMax)
	assert.Equal(t, 10, s.UpdateCapacity)
	assert.Equal(t, 2, s.FailureQuorum)
	assert.Equal(t, 90*24*time.Hour, s.CertificateLifetime)
	assert.Equal(t, 24*time.Hour, s.ClockAllowance)
	assert.Equal(t, 90*24*time.Hour, s.SettlementTime)
	assert.Equal(t, 30*time.Second, s.GossipInterval)
	assert.Equal(t, 4*time.Second, s.Silence)
	r := s.Resources[0]
	assert.Equal(t, "wandering", r.Policy)
	assert.Equal(t, 1, r.Slots)
	assert.Equal(t, 100*time.Millisecond, r.SkipDelay)
	assert.Equal(t, 4*time.Second, r.MaxHold)
	assert.Zero(t, r.MinInterval)
	assert.Zero(t, r.RegenerationMean)
	want := r.Params
	want.MaxHold = r.MaxHold
	assert.Equal(t, want, r.PolicyParams())
}

func TestConfig_Signed_RoundTrip(t *testing.T) {
	s := settings()
	c := config(t, s)
	parsed, err := group.ParseConfig(id, c.Raw(), trusting(firstKey))
	require.NoError(t, err)
	assert.Equal(t, s, parsed.Settings())
	assert.Equal(t, s, c.Settings())
	assert.Equal(t, c.Raw(), parsed.Raw())
	assert.Equal(t, c.Hash(), parsed.Hash())
	assert.Equal(t, uint64(3), parsed.Version())
	assert.False(t, parsed.IsZero())

	r, ok := parsed.Resource("ftp")
	assert.True(t, ok)
	assert.Equal(t, s.Resources[1], r)
	_, ok = parsed.Resource("none")
	assert.False(t, ok)
}

// drawParams draws every parameter of the table within its range, found by
// trial from the wire's numbers, and leaves out some that may be.
func drawParams(t *rapid.T) policy.Params {
	params := policy.Params{OperationTime: time.Millisecond, MembersMax: 1, SkipDelay: time.Millisecond}
	params.Preset = rapid.StringMatching(`([a-z][a-z0-9._-]{0,63})?`).Draw(t, "preset")
	for _, p := range policy.Parameters {
		before := params
		if p.SetWire(&params, rapid.Uint64Range(1, 100_000).Draw(t, p.Name)); params.Validate() != nil {
			params = before
			if p.SetWire(&params, 1); params.Validate() != nil {
				params = before
			}
		}
	}
	return params
}

// drawAuthorities draws a list with the signer's id at some place.
func drawAuthorities(t *rapid.T) [][16]byte {
	var list [][16]byte
	signer := ids(firstKey)[0]
	for _, seed := range rapid.SliceOfNDistinct(rapid.Uint64(), 0, group.MaxAuthorities-1, rapid.ID).Draw(t, "authorities") {
		var id [16]byte
		binary.BigEndian.PutUint64(id[:], seed)
		list = append(list, id)
	}
	return slices.Insert(list, rapid.IntRange(0, len(list)).Draw(t, "place"), signer)
}

func TestConfig_Anything_RoundTrip(t *testing.T) {
	span := func(t *rapid.T, label string, low, high time.Duration) time.Duration {
		ms := rapid.Int64Range(low.Milliseconds(), high.Milliseconds()).Draw(t, label)
		return time.Duration(ms) * time.Millisecond
	}
	draw := func(t *rapid.T) group.Resource {
		return group.Resource{
			Name:   rapid.StringMatching(`[a-z0-9][a-z0-9._-]{0,63}`).Draw(t, "resource"),
			Policy: rapid.StringMatching(`[a-z]{1,64}`).Draw(t, "policy"),
			Slots:  rapid.IntRange(1, group.MaxSlots).Draw(t, "slots"),
			Params: drawVoting(t), MaxHold: span(t, "hold", time.Millisecond, policy.MaxOperationTime),
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		byName := map[string]group.Resource{}
		for range rapid.IntRange(1, 4).Draw(t, "resources") {
			r := draw(t)
			byName[r.Name] = r
		}
		s := group.Settings{
			Version: rapid.Uint64Min(1).Draw(t, "version"), Name: "x", Issued: day,
			Authorities: drawAuthorities(t), RevocationFloor: rapid.Uint64().Draw(t, "floor"), Resources: sorted(byName),
		}
		for _, c := range group.Constants {
			low, high := c.Range()
			if c.Name == "renew_grace" {
				high = uint64(s.CertificateLifetime.Milliseconds())
			}
			c.SetWire(&s, rapid.Uint64Range(low, high).Draw(t, c.Name))
		}
		parsed, err := group.ParseConfig(id, config(t, s).Raw(), trusting(firstKey))
		require.NoError(t, err)
		assert.Equal(t, s, parsed.Settings())
	})
}

func TestSettings_Invalid_Refused(t *testing.T) {
	ftp := func(s *group.Settings) *group.Resource { return &s.Resources[1] }
	tests := []struct {
		name   string
		change func(*group.Settings)
		want   error
		says   string
	}{
		{"version", func(s *group.Settings) { s.Version = 0 }, group.ErrVersion, ""},
		{"name", func(s *group.Settings) { s.Name = "Demo" }, group.ErrName, ""},
		{"no issue time", func(s *group.Settings) { s.Issued = time.Time{} }, group.ErrOutOfRange, "issued"},
		{"members", func(s *group.Settings) { s.MembersMax = group.MaxMembers + 1 }, group.ErrOutOfRange, "members_max is 1048577, permitted are 1 to 1048576"},
		{"capacity", func(s *group.Settings) { s.UpdateCapacity = 33 }, group.ErrOutOfRange, "update_capacity"},
		{"quorum", func(s *group.Settings) { s.FailureQuorum = 1 }, group.ErrOutOfRange, "failure_quorum is 1, permitted are 2 to 16"},
		{"grace longer than a certificate's life", func(s *group.Settings) { s.CertificateLifetime, s.RenewGrace = time.Hour, time.Hour+time.Millisecond }, group.ErrOutOfRange, "renew_grace is 1h0m0.001s, permitted are 0s to 1h"},
		{"lifetime", func(s *group.Settings) { s.CertificateLifetime = time.Second }, group.ErrOutOfRange, "certificate_lifetime"},
		{"allowance", func(s *group.Settings) { s.ClockAllowance = 31 * 24 * time.Hour }, group.ErrOutOfRange, "clock_allowance"},
		{"settlement", func(s *group.Settings) { s.SettlementTime = time.Minute }, group.ErrOutOfRange, "settlement_time"},
		{"gossip", func(s *group.Settings) { s.GossipInterval = 2 * time.Hour }, group.ErrOutOfRange, "gossip_interval is 2h, permitted are 100ms to 1h"},
		{"silence", func(s *group.Settings) { s.Silence = 999 * time.Millisecond }, group.ErrOutOfRange, "silence is 999ms, permitted are 1s to 10m"},
		{"fraction", func(s *group.Settings) { s.GossipInterval = 1500500 * time.Microsecond }, group.ErrFraction, "gossip_interval"},
		{"another signer", func(s *group.Settings) { s.Authorities = ids(secondKey) }, group.ErrAuthorities, "is not among"},
		{"an authority twice", func(s *group.Settings) { s.Authorities = ids(firstKey, secondKey, secondKey) }, group.ErrAuthorities, "twice"},
		{"many authorities", func(s *group.Settings) { s.Authorities = make([][16]byte, group.MaxAuthorities+1) }, group.ErrAuthorities, "1 to 8"},
		{"no resources", func(s *group.Settings) { s.Resources = nil }, group.ErrResources, "1 to 1024"},
		{"twice", func(s *group.Settings) { s.Resources[0].Name = "ftp" }, group.ErrResources, ""},
		{"order", func(s *group.Settings) { s.Resources[0].Name = "z" }, group.ErrResources, ""},
		{"resource name", func(s *group.Settings) { ftp(s).Name = "f t p" }, group.ErrName, ""},
		{"policy name", func(s *group.Settings) { ftp(s).Policy = "" }, group.ErrName, "policy"},
		{"preset name", func(s *group.Settings) { ftp(s).Preset = "-" }, group.ErrName, "preset"},
		{"no slots", func(s *group.Settings) { ftp(s).Slots = 0 }, group.ErrOutOfRange, `resource "ftp": setting out of range: slots is 0, permitted are 1 to 1024`},
		{"slots", func(s *group.Settings) { ftp(s).Slots = 1025 }, group.ErrOutOfRange, "slots"},
		{"operation", func(s *group.Settings) { ftp(s).OperationTime = 0 }, policy.ErrOutOfRange, "operation_time"},
		{"fraction in a resource", func(s *group.Settings) { ftp(s).SkipDelay = 1500 * time.Microsecond }, group.ErrFraction, "skip_delay"},
		{"hold", func(s *group.Settings) { ftp(s).MaxHold = 8 * 24 * time.Hour }, group.ErrOutOfRange, "max_hold"},
		{"extension", func(s *group.Settings) { s.Extensions = canonical.Extensions{}.With(2, canonical.Raw{1}) }, canonical.ErrExtension, ""},
		{"resource extension", func(s *group.Settings) { ftp(s).Extensions = canonical.Extensions{}.With(2, canonical.Raw{1}) }, canonical.ErrExtension, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := settings()
			tt.change(&s)
			if tt.name != "another signer" {
				assert.ErrorIs(t, s.Validate(), tt.want)
			}
			_, err := s.Sign(id, firstKey)
			assert.ErrorIs(t, err, tt.want)
			assert.ErrorContains(t, err, tt.says)
		})
	}
}

// Every parameter of the table gets through, alone and beside others; what is
// zero is not there.
func TestConfig_EveryParameter_Travels(t *testing.T) {
	params := policy.Params{OperationTime: time.Second, MembersMax: 10, SkipDelay: time.Second}
	full := params
	for _, p := range policy.Parameters {
		alone := params
		for _, of := range []*policy.Params{&alone, &full} {
			if p.SetWire(of, 1); of.Validate() != nil {
				p.SetWire(of, 1000)
			}
			require.NotZero(t, p.Wire(of), p.Name)
		}
		assert.Equal(t, alone, afterParsing(t, alone), p.Name)
	}
	assert.Equal(t, full, afterParsing(t, full))

	s := settings()
	s.Resources[0].Params = params
	raw := config(t, s).Raw()
	least := []byte{0xa3, 1, 0x19, 0x03, 0xe8, 2, 10, 3, 0x19, 0x03, 0xe8}
	assert.Contains(t, string(raw), string(least), "only what is not zero, by ascending keys")
}

func afterParsing(t *testing.T, params policy.Params) policy.Params {
	s := settings()
	s.Resources[0].Params = params
	parsed, err := group.ParseConfig(id, config(t, s).Raw(), trusting(firstKey))
	require.NoError(t, err)
	return parsed.Settings().Resources[0].Params
}

// configList is a configuration's payload as arrays and maps, to be spoilt.
func configList(change func(top, resource, constants []any, params map[uint64]any)) []any {
	none := map[int]any{}
	params := map[uint64]any{1: uint64(4000), 2: uint64(9), 3: uint64(100)}
	r := []any{"ftp", "wandering", "", uint64(1), params, uint64(4000), uint64(0), []any{}, map[string]uint64{}, none}
	var c []any
	for _, one := range group.Constants {
		low, _ := one.Range()
		c = append(c, low)
	}
	top := []any{uint64(1), "demo", uint64(1000), []any{r}, c, ids(firstKey), uint64(7), none}
	change(top, r, c, params)
	return top
}

func TestConfig_SignedInvalid_Refused(t *testing.T) {
	const huge = uint64(1) << 63
	type params = map[uint64]any
	tests := []struct {
		name   string
		change func(top, resource, constants []any, p params)
		want   error
	}{
		{"as it should be", func(_, _, _ []any, _ params) {}, nil},
		{"every parameter", func(_, _, _ []any, p params) {
			for _, one := range policy.Parameters[3:] {
				low, high := one.Range()
				p[one.Key] = max(low, min(high, 1000))
			}
		}, nil},
		{"other extension", func(_, r, _ []any, _ params) { r[9] = map[int]any{3: "x"} }, nil},
		{"preset", func(_, r, _ []any, _ params) { r[2] = "of-later" }, nil},
		{"critical extension", func(top, _, _ []any, _ params) { top[7] = map[int]any{2: 1} }, canonical.ErrExtension},
		{"no authorities", func(top, _, _ []any, _ params) { top[5] = [][16]byte{} }, group.ErrAuthorities},
		{"null for authorities", func(top, _, _ []any, _ params) { top[5] = nil }, group.ErrMalformed},
		{"others' authorities", func(top, _, _ []any, _ params) { top[5] = ids(secondKey) }, group.ErrAuthorities},
		{"id of an authority", func(top, _, _ []any, _ params) { top[5] = []any{[]byte{1}} }, group.ErrMalformed},
		{"weights", func(_, r, _ []any, _ params) { r[8] = map[string]uint64{"backup": 100, "web": 1} }, nil},
		{"weight of nothing", func(_, r, _ []any, _ params) { r[8] = map[string]uint64{"backup": 0} }, policy.ErrOutOfRange},
		{"weight that overflows", func(_, r, _ []any, _ params) { r[8] = map[string]uint64{"backup": 1 << 63} }, policy.ErrOutOfRange},
		{"class with a comma", func(_, r, _ []any, _ params) { r[8] = map[string]uint64{"a=1,b": 2} }, ident.ErrClass},
		{"class of a number", func(_, r, _ []any, _ params) { r[8] = map[uint64]uint64{1: 2} }, group.ErrMalformed},
		{"null for weights", func(_, r, _ []any, _ params) { r[8] = nil }, group.ErrMalformed},
		{"critical in a resource", func(_, r, _ []any, _ params) { r[9] = map[int]any{2: 1} }, canonical.ErrExtension},
		{"version", func(top, _, _ []any, _ params) { top[0] = uint64(0) }, group.ErrVersion},
		{"name", func(top, _, _ []any, _ params) { top[1] = "" }, group.ErrName},
		{"name of a preset", func(_, r, _ []any, _ params) { r[2] = "Of Later" }, group.ErrName},
		{"long name of a preset", func(_, r, _ []any, _ params) { r[2] = strings.Repeat("p", 65) }, group.ErrName},
		{"issued", func(top, _, _ []any, _ params) { top[2] = huge }, group.ErrOutOfRange},
		{"resources", func(top, _, _ []any, _ params) { top[3] = []any{} }, group.ErrResources},
		{"same resource twice", func(top, r, _ []any, _ params) { top[3] = []any{r, r} }, group.ErrResources},
		{"slots", func(_, r, _ []any, _ params) { r[3] = huge }, group.ErrOutOfRange},
		{"hold that overflows", func(_, r, _ []any, _ params) { r[5] = huge }, group.ErrOutOfRange},
		{"votes of a majority", func(_, r, _ []any, _ params) { r[6] = uint64(2) }, nil},
		{"votes of a later version", func(_, r, _ []any, _ params) { r[6] = uint64(3) }, policy.ErrOutOfRange},
		{"votes that overflow", func(_, r, _ []any, _ params) { r[6] = uint64(256) }, policy.ErrOutOfRange},
		{"no parameters", func(_, r, _ []any, _ params) { r[4] = params{} }, policy.ErrOutOfRange},
		{"null for parameters", func(_, r, _ []any, _ params) { r[4] = nil }, group.ErrMalformed},
		{"one that is needed", func(_, _, _ []any, p params) { delete(p, 3) }, policy.ErrOutOfRange},
		{"one that nobody knows", func(_, _, _ []any, p params) { p[1<<40] = uint64(1) }, group.ErrParameter},
		{"key 0", func(_, _, _ []any, p params) { p[0] = uint64(1) }, group.ErrParameter},
		{"zero", func(_, _, _ []any, p params) { p[4] = uint64(0) }, group.ErrMalformed},
		{"zero of a flag", func(_, _, _ []any, p params) { p[12] = uint64(0) }, group.ErrMalformed},
		{"flag of 2", func(_, _, _ []any, p params) { p[12] = uint64(2) }, policy.ErrOutOfRange},
		{"operation time that overflows", func(_, _, _ []any, p params) { p[1] = huge }, policy.ErrOutOfRange},
		{"members that overflow", func(_, _, _ []any, p params) { p[2] = uint64(1)<<32 + 9 }, policy.ErrOutOfRange},
		{"factor that overflows", func(_, _, _ []any, p params) { p[8] = uint64(1)<<32 + 3000 }, policy.ErrOutOfRange},
		{"factor below 1", func(_, _, _ []any, p params) { p[8] = uint64(999) }, policy.ErrOutOfRange},
		{"negative", func(_, _, _ []any, p params) { p[2] = -9 }, group.ErrMalformed},
		{"text", func(_, _, _ []any, p params) { p[2] = "9" }, group.ErrMalformed},
		{"constant that overflows", func(_, _, c []any, _ params) { c[6] = huge }, group.ErrOutOfRange},
		{"silence that overflows", func(_, _, c []any, _ params) { c[7] = huge }, group.ErrOutOfRange},
		{"constants", func(top, _, c []any, _ params) { top[4] = c[:6] }, group.ErrMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			raw := envelopeOf(t, envelope.Configuration, configList(tt.change), firstKey)
			_, err := group.ParseConfig(id, raw, trusting(firstKey))
			assert.ErrorIs(t, err, tt.want)
		})
	}
}

func TestConfig_OfOthers_Refused(t *testing.T) {
	raw := config(t, settings()).Raw()
	_, err := group.ParseConfig(id, raw, trusting(secondKey))
	assert.ErrorIs(t, err, certificate.ErrUnknownCA)
	_, err = group.ParseConfig(groupOf(secondKey), raw, trusting(firstKey))
	assert.ErrorIs(t, err, certificate.ErrSignature)
	_, err = group.ParseConfig(id, raw[:9], trusting(firstKey))
	assert.ErrorIs(t, err, group.ErrMalformed)
}

// So many resources fit, with the longest names and the largest values of all
// that the preset with the most parameters uses.
func TestConfig_Largest_Fits(t *testing.T) {
	for _, name := range catalog.Names() {
		for _, preset := range catalog.Presets(name) {
			s := settings()
			s.Name = strings.Repeat("n", group.MaxName)
			s.Authorities, s.RevocationFloor = ids(firstKey), math.MaxUint64
			for seed := range byte(group.MaxAuthorities - 1) {
				s.Authorities = append(s.Authorities, ids(newKey(seed+10))...)
			}
			s.Resources = nil
			for i := range group.MaxResources {
				r := resource(fmt.Sprintf("%04d%s", i, strings.Repeat("r", group.MaxName-4)))
				r.Policy, r.Preset, r.Slots, r.MaxHold = name, preset.Name, group.MaxTokens/group.MaxResources, policy.MaxOperationTime
				r.MembersMax, r.SkipDelay = 100_000, policy.MaxSkipDelay
				for _, p := range policy.Parameters {
					if slices.Contains(preset.Uses, p.Name) {
						setLargest(t, p, &r.Params)
					}
				}
				s.Resources = append(s.Resources, r)
			}
			_, err := group.ParseConfig(id, config(t, s).Raw(), trusting(firstKey))
			assert.NoError(t, err, "%s, %s", name, preset.Name)
		}
	}
}

// setLargest sets the largest power of two of the wire's unit that a parameter
// may have.
func setLargest(t *testing.T, p policy.Parameter, params *policy.Params) {
	for bit := 40; bit >= 0; bit-- {
		if p.SetWire(params, 1<<bit); params.Validate() == nil {
			return
		}
	}
	require.Fail(t, "no value", p.Name)
}

func TestConfig_TooLarge_Refused(t *testing.T) {
	s := settings()
	s.Resources = nil
	for i := range group.MaxResources {
		r := resource(fmt.Sprintf("%04d%s", i, strings.Repeat("r", group.MaxName-4)))
		r.Policy, r.Preset = strings.Repeat("p", group.MaxName), strings.Repeat("p", group.MaxName)
		s.Resources = append(s.Resources, r)
	}
	for _, p := range policy.Parameters[3:] {
		for i := range s.Resources {
			setLargest(t, p, &s.Resources[i].Params)
		}
	}
	_, err := s.Sign(id, firstKey)
	assert.ErrorIs(t, err, envelope.ErrTooLarge)
}

func TestConfig_Settings_Copied(t *testing.T) {
	s := settings()
	c := config(t, s)
	s.Resources[0].Name = "changed"
	c.Settings().Resources[0].Name = "changed"
	s.Authorities[0], c.Settings().Authorities[0] = [16]byte{}, [16]byte{}
	assert.Equal(t, settings(), c.Settings())
}

func TestConfig_Altered_Refused(t *testing.T) {
	spoil(t, config(t, settings()).Raw(), func(raw []byte) error {
		_, err := group.ParseConfig(id, raw, trusting(firstKey))
		return err
	})
}

func TestSettings_TooManyTokens_Refused(t *testing.T) {
	s := settings()
	s.Resources = nil
	for i := range 65 {
		r := resource(fmt.Sprintf("r%02d", i))
		r.Slots = group.MaxSlots
		s.Resources = append(s.Resources, r)
	}
	assert.ErrorIs(t, s.Validate(), group.ErrResources)
	s.Resources[64].Slots = 1
	assert.ErrorIs(t, s.Validate(), group.ErrResources)
	s.Resources = s.Resources[:64]
	assert.NoError(t, s.Validate())
}

// drawVoting is any parameters, and whether programs need votes.
func drawVoting(t *rapid.T) policy.Params {
	p := drawParams(t)
	p.OnIsolated = rapid.SampledFrom([]policy.OnIsolated{policy.Continue, policy.Stop, policy.Majority}).Draw(t, "isolated")
	return p
}

// Each number of Settings is one of the Constants, and of a Resource one of its own, with a
// default in its range; and each is a field of its own.
func TestConstants_EveryNumber_Listed(t *testing.T) {
	numbers := func(of reflect.Type) (n int) {
		for f := range of.NumField() {
			if k := of.Field(f).Type.Kind(); k == reflect.Int || k == reflect.Int64 {
				n++
			}
		}
		return n
	}
	assert.Len(t, group.Constants, numbers(reflect.TypeFor[group.Settings]()))
	assert.Len(t, group.ResourceConstants, numbers(reflect.TypeFor[group.Resource]()))
	var s group.Settings
	for _, c := range group.Constants {
		require.Zero(t, c.Wire(&s), c.Name)
		c.WithDefault(&s)
		require.NoError(t, c.Check(&s, group.ErrOutOfRange))
		require.Equal(t, c.Name == "renew_grace", c.Wire(&s) == 0, c.Name) // that is never
	}
}
