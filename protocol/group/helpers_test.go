package group_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

var (
	firstKey  = newKey(1)
	secondKey = newKey(2)
	thirdKey  = newKey(3)
	id        = groupOf(firstKey)
	day       = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

func newKey(seed byte) *signature.PrivateKey {
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{seed}, signature.SeedSize))
	if err != nil {
		panic(err)
	}
	return key
}

func groupOf(ca *signature.PrivateKey) ident.Group {
	raw := ca.Public().Bytes()
	return ident.GroupOf(raw[:])
}

// authorities is a CA by its key ids.
type authorities map[[16]byte]*signature.PublicKey

func (a authorities) Key(id [16]byte) *signature.PublicKey { return a[id] }

func trusting(keys ...*signature.PrivateKey) authorities {
	a := authorities{}
	for _, k := range keys {
		a[certificate.AuthorityID(k.Public())] = k.Public()
	}
	return a
}

// statement is about a key that is listed from configuration 3 on, if it is not
// the first.
func statement(key *signature.PrivateKey) group.Statement {
	s := group.Statement{
		Name: "demo", Group: id, Key: key.Public().Bytes(), NotBefore: day, NotAfter: day.AddDate(10, 0, 0),
	}
	if key != firstKey {
		s.Version = 3
	}
	return s
}

// ids are those of some keys.
func ids(keys ...*signature.PrivateKey) (list [][16]byte) {
	for _, k := range keys {
		list = append(list, certificate.AuthorityID(k.Public()))
	}
	return list
}

// listing are the settings with some keys in force, in a version.
func listing(version uint64, keys ...*signature.PrivateKey) group.Settings {
	s := settings()
	s.Version, s.Authorities = version, ids(keys...)
	return s
}

func authority(t require.TestingT, key, by *signature.PrivateKey) group.Authority {
	a, err := statement(key).Sign(by)
	require.NoError(t, err)
	return a
}

func envelopeOf(t testing.TB, kind envelope.Kind, payload any, key *signature.PrivateKey) []byte {
	encoded, err := canonical.Marshal(payload)
	require.NoError(t, err)
	d := envelope.Domain{Version: certificate.Version, Group: id, Kind: kind}
	v, err := envelope.Sign(d, certificate.AuthorityID(key.Public()), encoded, key)
	require.NoError(t, err)
	return v.Raw()
}

// spoil calls parse with every version of raw that has one bit flipped, is cut
// short or has a byte behind it.
func spoil(t *testing.T, raw []byte, parse func([]byte) error) {
	t.Helper()
	require.NoError(t, parse(raw))
	for i := range raw {
		for bit := range 8 {
			bad := bytes.Clone(raw)
			bad[i] ^= 1 << bit
			require.Error(t, parse(bad), "bit %d of byte %d flipped", bit, i)
		}
		require.Error(t, parse(raw[:i]), "cut to %d bytes", i)
	}
	require.Error(t, parse(append(bytes.Clone(raw), 0)))
}
