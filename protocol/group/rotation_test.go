package group_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
)

// vouched is the statement about a key that configurations list from a version
// on.
func vouched(t testing.TB, key, by *signature.PrivateKey, version uint64) []byte {
	s := statement(key)
	s.Version = version
	a, err := s.Sign(by)
	require.NoError(t, err)
	return a.Raw()
}

func signed(t testing.TB, by *signature.PrivateKey, s group.Settings) group.Config {
	c, err := s.Sign(id, by)
	require.NoError(t, err)
	return c
}

// young is a group with its first key, under configuration 1.
func young(t testing.TB) *group.Group {
	g, err := group.New([]group.Authority{authority(t, firstKey, firstKey)}, signed(t, firstKey, listing(1, firstKey)))
	require.NoError(t, err)
	return g
}

func inForce(g *group.Group) (list []*signature.PrivateKey) {
	for _, k := range []*signature.PrivateKey{firstKey, secondKey, thirdKey} {
		if g.Key(certificate.AuthorityID(k.Public())) != nil {
			list = append(list, k)
		}
	}
	return list
}

type keys = []*signature.PrivateKey

// rotated is a group after a whole rotation to the second key, by the three
// steps of a CA.
func rotated(t *testing.T) *group.Group {
	t.Helper()
	g, err := young(t).WithAuthority(vouched(t, secondKey, firstKey, 2))
	require.NoError(t, err)
	assert.Equal(t, keys{firstKey, secondKey}, inForce(g), "before there is a configuration that lists it")
	for version, step := range []group.Config{
		signed(t, firstKey, listing(2, firstKey, secondKey)),
		signed(t, secondKey, listing(3, firstKey, secondKey)),
	} {
		g, err = g.WithConfig(step)
		require.NoError(t, err, version)
		assert.Equal(t, keys{firstKey, secondKey}, inForce(g))
	}
	g, err = g.WithConfig(signed(t, secondKey, listing(4, secondKey)))
	require.NoError(t, err)
	return g
}

func TestRotation(t *testing.T) {
	g := rotated(t)
	assert.Equal(t, keys{secondKey}, inForce(g))
	assert.Equal(t, id, g.ID(), "it is the same group")
	assert.Equal(t, [][]byte{vouched(t, secondKey, firstKey, 2)}, g.Vouchers())
	assert.Len(t, g.Authorities(), 2)
	again, _, err := group.Load(g.Blocks())
	require.NoError(t, err)
	assert.Equal(t, keys{secondKey}, inForce(again))
	assert.Equal(t, g.Vouchers(), again.Vouchers())
}

// TestSecondRotation: the chain grows, and members that know any of its keys
// follow.
func TestSecondRotation(t *testing.T) {
	g := rotated(t)
	g, err := g.WithAuthority(vouched(t, thirdKey, secondKey, 5))
	require.NoError(t, err)
	last := signed(t, thirdKey, listing(7, thirdKey))
	g, err = g.WithConfig(last)
	require.NoError(t, err)
	assert.Equal(t, keys{thirdKey}, inForce(g))
	require.Len(t, g.Vouchers(), 2)

	for name, behind := range map[string]*group.Group{"since the beginning": young(t), "since the first rotation": rotated(t)} {
		t.Run(name, func(t *testing.T) {
			_, err := behind.WithConfig(last)
			assert.ErrorIs(t, err, certificate.ErrUnknownCA)
			for _, raw := range g.Vouchers() {
				behind, err = behind.WithAuthority(raw)
				require.NoError(t, err)
			}
			behind, err = behind.WithConfig(last)
			require.NoError(t, err)
			assert.Equal(t, keys{thirdKey}, inForce(behind))
			assert.Equal(t, g.Vouchers(), behind.Vouchers())
		})
	}
}

func TestHistory(t *testing.T) {
	g := rotated(t)
	old := signed(t, firstKey, listing(1, firstKey)).Raw()
	_, err := group.ParseConfig(id, old, g)
	assert.ErrorIs(t, err, certificate.ErrUnknownCA)
	_, err = group.ParseConfig(id, old, g.History())
	assert.NoError(t, err)
	assert.Nil(t, g.History().Key(ids(thirdKey)[0]))
	assert.NotNil(t, g.History().Key(ids(secondKey)[0]))
}

func TestAuthorities_KeyRetired_CountsNoMore(t *testing.T) {
	g := rotated(t)
	_, err := g.WithConfig(signed(t, firstKey, listing(9, firstKey)))
	assert.ErrorIs(t, err, certificate.ErrUnknownCA)
	_, err = group.ParseConfig(id, signed(t, firstKey, listing(9, firstKey)).Raw(), g)
	assert.ErrorIs(t, err, certificate.ErrUnknownCA)
	_, err = g.WithAuthority(vouched(t, thirdKey, firstKey, 9))
	assert.ErrorIs(t, err, certificate.ErrUnknownCA)
	_, err = g.WithAuthority(authority(t, firstKey, firstKey).Raw())
	assert.ErrorIs(t, err, group.ErrRetired, "not even the first vouches for itself again")
	back := signed(t, secondKey, listing(9, firstKey, secondKey))
	_, err = g.WithConfig(back)
	assert.ErrorIs(t, err, group.ErrMissingAuthority)
}

// TestAuthorities_KeyWithdrawn_NeverComesBack: a key that is lost or stolen before
// it is used can be left out again, and the statement about it is worth nothing,
// although the key that signed it is in force.
func TestAuthorities_KeyWithdrawn_NeverComesBack(t *testing.T) {
	raw := vouched(t, secondKey, firstKey, 2)
	g, err := young(t).WithAuthority(raw)
	require.NoError(t, err)
	g, err = g.WithConfig(signed(t, firstKey, listing(2, firstKey)))
	require.NoError(t, err)
	assert.Equal(t, keys{firstKey}, inForce(g))
	assert.Empty(t, g.Vouchers(), "nobody needs the statement any more")
	_, err = g.WithAuthority(raw)
	assert.ErrorIs(t, err, group.ErrRetired)

	g, err = young(t).WithConfig(signed(t, firstKey, listing(5, firstKey)))
	require.NoError(t, err)
	_, err = g.WithAuthority(raw)
	assert.ErrorIs(t, err, group.ErrRetired, "also for who never knew it")
}

func TestAuthorities_NewKeyBeforeOlderConfig_Accepted(t *testing.T) {
	g, err := young(t).WithAuthority(vouched(t, secondKey, firstKey, 5))
	require.NoError(t, err)
	g, err = g.WithConfig(signed(t, firstKey, listing(4, firstKey)))
	require.NoError(t, err)
	assert.Equal(t, keys{firstKey, secondKey}, inForce(g), "which could not list it")
}

func TestWithAuthority_Invalid_Refused(t *testing.T) {
	g := young(t)
	raw := vouched(t, secondKey, firstKey, 2)
	_, err := g.WithAuthority([]byte{1})
	assert.ErrorIs(t, err, group.ErrMalformed)
	_, err = g.WithAuthority(vouched(t, secondKey, thirdKey, 2))
	assert.ErrorIs(t, err, certificate.ErrUnknownCA)
	forged := bytes.Clone(raw)
	forged[len(forged)-1] ^= 1
	_, err = g.WithAuthority(forged)
	assert.ErrorIs(t, err, certificate.ErrSignature)
	other, err := group.Statement{
		Name: "other", Group: groupOf(thirdKey), Key: thirdKey.Public().Bytes(), NotBefore: day, NotAfter: day.AddDate(1, 0, 0),
	}.Sign(thirdKey)
	require.NoError(t, err)
	_, err = g.WithAuthority(other.Raw())
	assert.Error(t, err)

	same, err := g.WithAuthority(authority(t, firstKey, firstKey).Raw())
	require.NoError(t, err)
	assert.Same(t, g, same)
	for seed := range byte(group.MaxAuthorities - 1) {
		g, err = g.WithAuthority(vouched(t, newKey(10+seed), firstKey, 2))
		require.NoError(t, err)
	}
	_, err = g.WithAuthority(raw)
	assert.ErrorIs(t, err, group.ErrTooManyAuthorities)
}

func TestMissingAuthority(t *testing.T) {
	_, err := young(t).WithConfig(signed(t, firstKey, listing(2, firstKey, secondKey)))
	assert.ErrorIs(t, err, group.ErrMissingAuthority)
	blocks := file(t)
	_, _, err = group.Load(append(blocks[:1:1], blocks[2:]...))
	assert.ErrorIs(t, err, group.ErrMissingAuthority)
	_, err = group.New([]group.Authority{authority(t, firstKey, firstKey), authority(t, secondKey, thirdKey)}, config(t, settings()))
	assert.ErrorIs(t, err, certificate.ErrUnknownCA)
}

// TestUpdate: what a peer sends along with a configuration, as a whole.
func TestUpdate(t *testing.T) {
	newest := rotated(t)
	g, err := young(t).Update(newest.Config().Raw(), newest.Vouchers())
	require.NoError(t, err)
	assert.Equal(t, keys{secondKey}, inForce(g))
	same, err := g.Update(newest.Config().Raw(), newest.Vouchers())
	assert.ErrorIs(t, err, group.ErrOlder)
	assert.Nil(t, same)
	_, err = newest.Update(young(t).Config().Raw(), nil)
	assert.ErrorIs(t, err, group.ErrOlder, "from a peer that has slept")
	_, err = newest.Update(signed(t, firstKey, listing(9, firstKey)).Raw(), nil)
	assert.ErrorIs(t, err, certificate.ErrUnknownCA, "from a thief")
	_, err = young(t).Update(newest.Config().Raw(), nil)
	assert.ErrorIs(t, err, certificate.ErrUnknownCA)
	_, err = young(t).Update(newest.Config().Raw(), [][]byte{{1}, nil})
	assert.ErrorIs(t, err, certificate.ErrUnknownCA)
	_, err = young(t).Update(signed(t, firstKey, listing(2, firstKey, secondKey)).Raw(), nil)
	assert.ErrorIs(t, err, group.ErrMissingAuthority)
}

// TestVouched: what is of no use is left out, and what is forged ends it.
func TestVouched(t *testing.T) {
	good, retired := vouched(t, secondKey, firstKey, 2), vouched(t, thirdKey, firstKey, 1)
	stray := vouched(t, newKey(9), newKey(8), 2)
	forged := bytes.Clone(vouched(t, thirdKey, firstKey, 2))
	forged[len(forged)-1] ^= 1
	tests := []struct {
		name       string
		statements [][]byte
		want       keys
	}{
		{"nothing", nil, keys{firstKey}},
		{"one", [][]byte{good}, keys{firstKey, secondKey}},
		{"behind useless ones", [][]byte{authority(t, firstKey, firstKey).Raw(), retired, stray, good}, keys{firstKey, secondKey}},
		{"behind a forged one", [][]byte{forged, good}, keys{firstKey}},
		{"before a forged one", [][]byte{good, forged}, keys{firstKey, secondKey}},
		{"behind a malformed one", [][]byte{{1}, good}, keys{firstKey}},
		{"behind too many", append(slices.Repeat([][]byte{stray}, group.MaxAuthorities), good), keys{firstKey}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, inForce(young(t).Vouched(tt.statements)))
		})
	}
}
