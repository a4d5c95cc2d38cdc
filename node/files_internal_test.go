package node

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// The group file gets what is newer, CA keys included, keeps what else it holds,
// and never goes back.
func TestGroupFile_Update_Applied(t *testing.T) {
	key := func() *signature.PrivateKey {
		k, err := signature.Generate(rand.Reader)
		require.NoError(t, err)
		return k
	}
	ca, next, now := key(), key(), time.Now()
	pub := ca.Public().Bytes()
	id := ident.GroupOf(pub[:])
	state := func(about, by *signature.PrivateKey, version uint64) group.Authority {
		a, err := group.Statement{
			Name: "g", Group: id, Key: about.Public().Bytes(), NotBefore: now, NotAfter: now.Add(time.Hour), Version: version,
		}.Sign(by)
		require.NoError(t, err)
		return a
	}
	configure := func(version uint64) group.Config {
		s := group.Settings{Version: version, Name: "g", Issued: now, Resources: []group.Resource{{
			Name: "ftp", Params: policy.Params{OperationTime: time.Second, MembersMax: 2},
		}}}
		c, err := s.WithDefaults().Sign(id, ca)
		require.NoError(t, err)
		return c
	}
	first, err := group.New([]group.Authority{state(ca, ca, 0)}, configure(1))
	require.NoError(t, err)
	second := state(next, ca, 3)
	vouched, err := first.WithAuthority(second.Raw())
	require.NoError(t, err)
	newer, err := vouched.WithConfig(configure(2))
	require.NoError(t, err)

	name := filepath.Join(t.TempDir(), "group.crt")
	extra := keyfile.Block{Type: keyfile.Revocation, Bytes: []byte("kept as it is")}
	require.NoError(t, replaceBlocks(name, append(first.Blocks(), extra)...))
	require.NoError(t, os.Chmod(name, 0o640))
	for _, step := range []struct{ write, holds *group.Group }{
		{first, first}, {vouched, vouched}, {first, vouched}, {newer, newer}, {vouched, newer}, {first, newer},
	} {
		require.NoError(t, updateGroupFile(name, step.write))
		blocks, err := readBlocks(name)
		require.NoError(t, err)
		assert.Equal(t, append(step.holds.Blocks(), extra), blocks)
	}
	info, err := os.Stat(name)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm())
}
