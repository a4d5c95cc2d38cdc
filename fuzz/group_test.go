package fuzz

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/fuzz/corpus"
	"github.com/wandertoken/wander/protocol/certificate"
	wandergroup "github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
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

var groupRefusals = append([]error{
	wandergroup.ErrMalformed, wandergroup.ErrName, wandergroup.ErrValidity, wandergroup.ErrKey, wandergroup.ErrGroup,
	wandergroup.ErrVersion, wandergroup.ErrOutOfRange, wandergroup.ErrFraction, wandergroup.ErrResources,
	policy.ErrOutOfRange,
}, certificateRefusals...)

// FuzzConfiguration: the payload of a well signed group configuration.
func FuzzConfiguration(f *testing.F) { targets["FuzzConfiguration"].Fuzz(f) }

func checkConfiguration(t require.TestingT, payload []byte) bool {
	raw := seal(envelope.Configuration, caID, payload, ca)
	c, err := wandergroup.ParseConfig(group, raw, authorities{})
	if err != nil {
		isOneOf(t, err, groupRefusals...)
		return false
	}
	again, err := c.Settings().Sign(group, ca)
	require.NoError(t, err)
	require.Equal(t, raw, again.Raw())
	return true
}

func configurationSeeds() map[string][]byte {
	seeds := map[string][]byte{
		"good-usual":     payloadOf(envelope.Configuration, configuration().Raw()),
		"bad-other-kind": payloadOf(envelope.Authority, authority().Raw()),
	}
	corpus.Spoil(seeds, "good-usual")
	return seeds
}

// FuzzAuthority: the payload of what a CA says about its own key.
func FuzzAuthority(f *testing.F) { targets["FuzzAuthority"].Fuzz(f) }

func checkAuthority(t require.TestingT, payload []byte) bool {
	raw := seal(envelope.Authority, caID, payload, ca)
	a, err := wandergroup.ParseAuthority(group, raw, authorities{})
	if err != nil {
		isOneOf(t, err, groupRefusals...)
		return false
	}
	again, err := a.Statement().Sign(ca)
	require.NoError(t, err)
	require.Equal(t, raw, again.Raw())
	return true
}

func authoritySeeds() map[string][]byte {
	rotated := wandergroup.Statement{
		Name: "example", Group: group, Key: ben.Public().Bytes(), NotBefore: epoch, NotAfter: epoch.AddDate(1, 0, 0), Extensions: later,
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
			wandergroup.ErrTooManyAuthorities, certificate.ErrUnknownCA, certificate.ErrSignature,
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
