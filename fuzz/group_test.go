package fuzz

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/fuzz/corpus"
	"github.com/wandertoken/wander/protocol/certificate"
	wandergroup "github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

func authority() wandergroup.Authority {
	return must(wandergroup.Statement{
		Name: "example", Group: group, Key: ca.Public().Bytes(), NotBefore: epoch, NotAfter: epoch.AddDate(10, 0, 0),
	}.Sign(ca))
}

func settings() wandergroup.Settings {
	return wandergroup.Settings{
		Version: 7, Name: "example", Issued: epoch,
		Resources: []wandergroup.Resource{
			{Name: "backup", Params: policy.Params{OperationTime: time.Hour, MembersMax: 20}},
			{Name: "ftp", Slots: 2, Extensions: later, Params: policy.Params{OperationTime: 4 * time.Second, MembersMax: 300}},
		},
	}.WithDefaults()
}

func configuration() wandergroup.Config { return must(settings().Sign(group, ca)) }

// everyParameter is a resource that has all of them, each as small as it may
// be.
func everyParameter() wandergroup.Resource {
	r := wandergroup.Resource{Name: "all", Policy: "of-later", Params: policy.Params{
		Preset: "paper", OperationTime: time.Second, MembersMax: 1, SkipDelay: time.Second,
	}}
	for _, p := range policy.Parameters[3:] {
		if p.SetWire(&r.Params, 1); r.Params.Validate() != nil {
			p.SetWire(&r.Params, policy.MinRatio)
		}
	}
	return r
}

// withParameters is the payload of a configuration whose only resource has
// these parameters, right or wrong.
func withParameters(parameters any) []byte {
	return withResource("ftp", "wandering", "", 1, parameters, 4000, 0, []any{}, map[string]int{}, map[int]int{})
}

// withGate is the payload of a configuration whose only resource has this gate, right or wrong.
func withGate(gate any) []byte {
	return withResource("ftp", "multitoken", "", 1, map[uint64]any{1: 4000, 2: 9, 3: 100}, 4000, 0, []any{}, map[string]int{}, map[int]int{}, gate)
}

func withWeights(weights any) []byte {
	return withResource("ftp", "wandering", "fair", 1, map[uint64]any{1: 4000, 2: 9, 3: 100}, 4000, 0, []any{}, weights, map[int]int{})
}

func withResource(resource ...any) []byte {
	none := map[int]int{}
	constants := []any{100, 10, 2, 60_000, 1000, 3_600_000, 30_000, 4000, 0}
	return must(canonical.Marshal([]any{7, "example", epoch.UnixMilli(), []any{resource}, constants, [][16]byte{caID}, 0, none}))
}

var groupRefusals = append([]error{
	wandergroup.ErrMalformed, wandergroup.ErrName, wandergroup.ErrValidity, wandergroup.ErrKey, wandergroup.ErrGroup,
	wandergroup.ErrVersion, wandergroup.ErrOutOfRange, wandergroup.ErrFraction, wandergroup.ErrResources,
	wandergroup.ErrParameter, wandergroup.ErrWindows, wandergroup.ErrGate, wandergroup.ErrAuthorities, policy.ErrOutOfRange, ident.ErrClass,
}, certificateRefusals...)

// FuzzConfiguration: the payload of a well signed group configuration.
//
//fuzz:of protocol/group protocol/policy/catalog crypto/envelope crypto/canonical
func FuzzConfiguration(f *testing.F) { targets["FuzzConfiguration"].Fuzz(f) }

func checkConfiguration(t require.TestingT, payload []byte) bool {
	raw, err := sealIf(envelope.Configuration, caID, payload, ca, func(raw []byte) error {
		_, err := wandergroup.ParseConfig(group, raw, authorities{})
		return err
	})
	if err != nil {
		isOneOf(t, err, groupRefusals...)
		return false
	}
	c, err := wandergroup.ParseConfig(group, raw, authorities{})
	require.NoError(t, err, "refused for its signature")
	again, err := c.Settings().Sign(group, ca)
	require.NoError(t, err)
	require.Equal(t, raw, again.Raw())
	for _, r := range c.Settings().Resources {
		if err := catalog.Check(r.Policy, r.PolicyParams()); err != nil {
			isOneOf(t, err, catalog.ErrUnknownPolicy, policy.ErrPreset, policy.ErrUnused, policy.ErrOutOfRange)
		}
	}
	return true
}

func configurationSeeds() map[string][]byte {
	full := settings()
	full.Resources = []wandergroup.Resource{everyParameter()}
	type parameters map[uint64]any
	id, gate := make([]byte, 16), parameters{1: 1000, 2: 1000, 3: 2, 4: 120_000, 5: 2000, 6: 5000, 7: 10_000}
	id[0] = 1
	tooShort := parameters{2: 1000, 3: 1, 4: 119_999, 5: 2000, 6: 5000, 7: 10_000}
	seeds := map[string][]byte{
		"good-usual":              payloadOf(envelope.Configuration, configuration().Raw()),
		"good-every-parameter":    payloadOf(envelope.Configuration, must(full.WithDefaults().Sign(group, ca)).Raw()),
		"good-parameters":         withParameters(parameters{1: 4000, 2: 9, 3: 100}),
		"good-presets":            withPresets(),
		"good-weights":            withWeights(map[string]any{"web": 2, "backup": 100}),
		"bad-weight-zero":         withWeights(map[string]any{"web": 0}),
		"bad-weight-huge":         withWeights(map[string]any{"web": uint64(1 << 63)}),
		"bad-weight-class":        withWeights(map[string]any{"a=1,b": 2}),
		"bad-weights-null":        withWeights(nil),
		"good-gate":               withGate([]any{id, "a:1", 1, gate}),
		"bad-gate-of-nobody":      withGate([]any{make([]byte, 16), "a:1", 0, gate}),
		"bad-gate-address":        withGate([]any{id, "a", 0, gate}),
		"bad-gate-mode":           withGate([]any{id, "a:1", 2, gate}),
		"bad-gate-constant":       withGate([]any{id, "a:1", 0, tooShort}),
		"bad-gate-zero":           withGate([]any{id, "a:1", 0, parameters{1: 0, 2: 1000, 3: 1, 5: 2000, 6: 5000, 7: 10_000}}),
		"bad-gate-unknown":        withGate([]any{id, "a:1", 0, parameters{2: 1000, 3: 1, 5: 2000, 6: 5000, 7: 10_000, 8: 1}}),
		"bad-gate-null":           withGate(nil),
		"bad-other-kind":          payloadOf(envelope.Authority, authority().Raw()),
		"bad-no-parameters":       withParameters(parameters{}),
		"bad-parameter-missing":   withParameters(parameters{1: 4000, 3: 100}),
		"bad-parameter-unknown":   withParameters(parameters{1: 4000, 2: 9, 3: 100, 1000: 1}),
		"bad-parameter-zero":      withParameters(parameters{1: 4000, 2: 9, 3: 100, 4: 0}),
		"bad-parameter-range":     withParameters(parameters{1: 4000, 2: 9, 3: 3_600_001}),
		"bad-parameter-overflows": withParameters(parameters{1: uint64(1) << 63, 2: 9, 3: 100}),
		"bad-parameter-flag":      withParameters(parameters{1: 4000, 2: 9, 3: 100, 12: 2}),
		"bad-parameter-negative":  withParameters(parameters{1: 4000, 2: -9, 3: 100}),
		"bad-parameters-null":     withParameters(nil),
		"bad-parameters-list":     withParameters([]int{4000, 9, 100}),
	}
	corpus.Spoil(seeds, "good-usual")
	return seeds
}

// withPresets is the payload of a configuration with some policies and presets.
func withPresets() []byte {
	s := settings()
	s.Resources = nil
	for _, of := range [][2]string{{"multitoken", "jittered"}, {"ring", "e"}, {"uncoordinated", "report"}, {"wandering", "paper"}} {
		s.Resources = append(s.Resources, wandergroup.Resource{
			Name: of[0], Policy: of[0], Params: policy.Params{Preset: of[1], OperationTime: time.Second, MembersMax: 10},
		})
	}
	return payloadOf(envelope.Configuration, must(s.WithDefaults().Sign(group, ca)).Raw())
}

// FuzzAuthority: the payload of what a CA says about its own key.
//
//fuzz:of protocol/group protocol/policy/catalog crypto/envelope crypto/canonical
func FuzzAuthority(f *testing.F) { targets["FuzzAuthority"].Fuzz(f) }

func checkAuthority(t require.TestingT, payload []byte) bool {
	raw, err := sealIf(envelope.Authority, caID, payload, ca, func(raw []byte) error {
		_, err := wandergroup.ParseAuthority(group, raw, authorities{})
		return err
	})
	if err != nil {
		isOneOf(t, err, groupRefusals...)
		return false
	}
	a, err := wandergroup.ParseAuthority(group, raw, authorities{})
	require.NoError(t, err, "refused for its signature")
	again, err := a.Body().Sign(ca)
	require.NoError(t, err)
	require.Equal(t, raw, again.Raw())
	return true
}

func authoritySeeds() map[string][]byte {
	rotated := wandergroup.Statement{
		Name: "example", Group: group, Key: ben.Public().Bytes(), NotBefore: epoch, NotAfter: epoch.AddDate(1, 0, 0), Version: 8, Extensions: later,
	}
	seeds := map[string][]byte{
		"good-first":     payloadOf(envelope.Authority, authority().Raw()),
		"good-rotated":   payloadOf(envelope.Authority, must(rotated.Sign(ca)).Raw()),
		"bad-other-kind": payloadOf(envelope.Configuration, configuration().Raw()),
	}
	corpus.Spoil(seeds, "good-first")
	return seeds
}

// FuzzGroupFile: the text of a group file.
//
//fuzz:of protocol/group protocol/policy/catalog crypto/envelope crypto/canonical
func FuzzGroupFile(f *testing.F) { targets["FuzzGroupFile"].Fuzz(f) }

func checkGroupFile(t require.TestingT, text []byte) bool {
	blocks, err := keyfile.DecodeBlocks(text)
	if err != nil {
		isOneOf(t, err, keyfileRefusals...)
		return false
	}
	g, _, err := wandergroup.Load(blocks)
	if err != nil {
		isOneOf(t, err, append([]error{
			wandergroup.ErrNoAuthority, wandergroup.ErrNoConfiguration, wandergroup.ErrTwice, wandergroup.ErrBlock,
			wandergroup.ErrTooManyAuthorities, wandergroup.ErrMissingAuthority, certificate.ErrUnknownCA, certificate.ErrSignature,
		}, groupRefusals...)...)
		return false
	}
	again, extra, err := wandergroup.Load(g.Blocks())
	require.NoError(t, err)
	require.Equal(t, g.ID(), again.ID())
	require.Equal(t, g.Config().Raw(), again.Config().Raw())
	require.Zero(t, extra)
	return true
}

func groupFileSeeds() map[string][]byte {
	first := keyfile.Block{Type: keyfile.CACertificate, Bytes: authority().Raw()}
	config := keyfile.Block{Type: keyfile.GroupConfiguration, Bytes: configuration().Raw()}
	all := []keyfile.Block{
		first, config,
		{Type: keyfile.Certificate, Bytes: certificateOf(ada, "ada").Raw()},
		{Type: keyfile.Endpoint, Bytes: endpoint().Raw()},
		{Type: keyfile.Revocation, Bytes: revocation().Raw()},
	}
	return map[string][]byte{
		"good-usual":           must(keyfile.EncodeBlocks(first, config)),
		"good-full":            must(keyfile.EncodeBlocks(all...)),
		"bad-nothing":          {},
		"bad-no-authority":     must(keyfile.EncodeBlocks(config)),
		"bad-no-configuration": must(keyfile.EncodeBlocks(first)),
		"bad-twice":            must(keyfile.EncodeBlocks(first, config, config)),
		"bad-no-text":          authority().Raw(),
	}
}
