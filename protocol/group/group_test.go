package group_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
)

func sorted(byName map[string]group.Resource) []group.Resource {
	var list []group.Resource
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		list = append(list, byName[name])
	}
	return list
}

func block(kind string, raw []byte) keyfile.Block { return keyfile.Block{Type: kind, Bytes: raw} }

func file(t *testing.T) []keyfile.Block {
	return []keyfile.Block{
		block(keyfile.CACertificate, authority(t, firstKey, firstKey).Raw()),
		block(keyfile.CACertificate, authority(t, secondKey, firstKey).Raw()),
		block(keyfile.GroupConfiguration, config(t, listing(3, firstKey, secondKey)).Raw()),
	}
}

func TestLoad(t *testing.T) {
	blocks := append(file(t),
		block(keyfile.Certificate, []byte("c1")), block(keyfile.Endpoint, []byte("e1")),
		block(keyfile.Revocation, []byte("r1")), block(keyfile.Certificate, []byte("c2")), block(keyfile.Leave, []byte("l1")))
	g, extra, err := group.Load(blocks)
	require.NoError(t, err)
	assert.Equal(t, id, g.ID())
	assert.Equal(t, "demo", g.Name())
	assert.Equal(t, listing(3, firstKey, secondKey), g.Config().Settings())
	assert.Len(t, g.Authorities(), 2)
	assert.True(t, g.Key(certificate.AuthorityID(firstKey.Public())).Equal(firstKey.Public()))
	assert.True(t, g.Key(certificate.AuthorityID(secondKey.Public())).Equal(secondKey.Public()))
	assert.Nil(t, g.Key(certificate.AuthorityID(thirdKey.Public())))
	assert.Equal(t, [][]byte{[]byte("c1"), []byte("c2")}, extra.Certificates)
	assert.Equal(t, [][]byte{[]byte("e1")}, extra.Endpoints)
	assert.Equal(t, [][]byte{[]byte("r1")}, extra.Revocations)
	assert.Equal(t, [][]byte{[]byte("l1")}, extra.Leaves)
	assert.Equal(t, blocks[:3], g.Blocks())
}

func TestLoad_Invalid_Refused(t *testing.T) {
	foreign := group.Statement{
		Name: "other", Group: groupOf(thirdKey), Key: thirdKey.Public().Bytes(), NotBefore: day, NotAfter: day.AddDate(1, 0, 0),
	}
	other, err := foreign.Sign(thirdKey)
	require.NoError(t, err)
	tests := []struct {
		name   string
		change func([]keyfile.Block) []keyfile.Block
		want   error
	}{
		{"empty", func([]keyfile.Block) []keyfile.Block { return nil }, group.ErrNoAuthority},
		{"no CA", func(b []keyfile.Block) []keyfile.Block { return b[2:] }, group.ErrNoAuthority},
		{"no configuration", func(b []keyfile.Block) []keyfile.Block { return b[:2] }, group.ErrNoConfiguration},
		{"configuration twice", func(b []keyfile.Block) []keyfile.Block { return append(b, b[2]) }, group.ErrTwice},
		{"CA twice", func(b []keyfile.Block) []keyfile.Block { return append(b, b[0]) }, group.ErrTwice},
		{"first CA missing", func(b []keyfile.Block) []keyfile.Block { return b[1:] }, certificate.ErrUnknownCA},
		{"CA of another group", func(b []keyfile.Block) []keyfile.Block {
			return append(b, block(keyfile.CACertificate, other.Raw()))
		}, group.ErrGroup},
		{"private key", func(b []keyfile.Block) []keyfile.Block {
			return append(b, block(keyfile.PrivateKey, nil))
		}, group.ErrBlock},
		{"malformed CA", func(b []keyfile.Block) []keyfile.Block { b[0].Bytes = nil; return b }, group.ErrMalformed},
		{"malformed configuration", func(b []keyfile.Block) []keyfile.Block { b[2].Bytes = []byte{1}; return b }, group.ErrMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := group.Load(tt.change(file(t)))
			assert.ErrorIs(t, err, tt.want)
		})
	}
}

func TestNewGroup(t *testing.T) {
	first, c := authority(t, firstKey, firstKey), config(t, listing(3, firstKey, secondKey))
	g, err := group.New([]group.Authority{first, authority(t, secondKey, firstKey)}, c)
	require.NoError(t, err)
	assert.Equal(t, file(t), g.Blocks())

	_, err = group.New(nil, c)
	assert.ErrorIs(t, err, group.ErrNoAuthority)
	_, err = group.New([]group.Authority{first}, group.Config{})
	assert.ErrorIs(t, err, group.ErrNoConfiguration)
	_, err = group.New([]group.Authority{first, first}, c)
	assert.ErrorIs(t, err, group.ErrTwice)

	many := []group.Authority{first}
	for seed := range byte(group.MaxAuthorities) {
		many = append(many, authority(t, newKey(seed+10), firstKey))
	}
	_, err = group.New(many, c)
	assert.ErrorIs(t, err, group.ErrTooManyAuthorities)
}

func TestConfig_Older_Refused(t *testing.T) {
	g, _, err := group.Load(file(t))
	require.NoError(t, err)
	s := listing(4, firstKey)
	s.Name = "renamed"
	newer, err := g.WithConfig(config(t, s))
	require.NoError(t, err)
	assert.Equal(t, "renamed", newer.Name())
	assert.Equal(t, "demo", g.Name())
	assert.Equal(t, g.ID(), newer.ID())
	for _, version := range []uint64{3, 4} {
		s.Version = version
		_, err = newer.WithConfig(config(t, s))
		assert.ErrorIs(t, err, group.ErrOlder)
	}
}
