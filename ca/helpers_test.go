package ca

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/store/faultfs"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
)

type osMode = fs.FileMode

var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clockAt is a clock that goes on by a second with every look at it.
type clockAt struct{ now time.Time }

func (c *clockAt) Now() time.Time {
	c.now = c.now.Add(time.Second)
	return c.now
}

// faultDisk is a file system that fails when it is told to.
type faultDisk struct{ *faultfs.FS }

func (d faultDisk) Mode(name string) (fs.FileMode, error) {
	_, err := d.ReadFile(name, 0)
	return 0o600, err
}

func (d faultDisk) MakePublic(string) error { return nil }

func (d faultDisk) ReadFrom(name string, offset int64) ([]byte, error) {
	data, err := d.ReadFile(name, -1)
	return data[min(offset, int64(len(data))):], err
}

// processes counts the authorities that were opened: no two have the same
// randomness.
var processes atomic.Uint64

// options are those of an authority on a disk.
func options(d disk) Options { return optionsOf(d, processes.Add(1)) }

// optionsOf are those of the process of that number, whatever was opened before.
func optionsOf(d disk, process uint64) Options {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], process)
	return Options{Now: (&clockAt{now: day}).Now, Rand: rand.NewChaCha8(seed), disk: d, WorkFactor: 4}
}

const testDir = "/ca"

func create(t testing.TB, d disk) *Authority {
	t.Helper()
	return createWith(t, options(d))
}

func createWith(t testing.TB, o Options) *Authority {
	t.Helper()
	a, err := Create(testDir, CreateOptions{Options: o, Name: "demo"})
	require.NoError(t, err)
	return a
}

// fresh is an authority with a configuration on a disk of its own.
func fresh(t testing.TB) (*Authority, faultDisk) {
	t.Helper()
	d := faultDisk{faultfs.New(1)}
	a := create(t, d)
	configure(t, a)
	return a, d
}

func configure(t testing.TB, a *Authority) {
	t.Helper()
	_, err := a.SetConfig(settings("ftp"))
	require.NoError(t, err)
}

func reopen(t testing.TB, d disk) *Authority {
	t.Helper()
	a, err := Open(testDir, options(d))
	require.NoError(t, err)
	return a
}

func settings(resources ...string) group.Settings {
	var s group.Settings
	for _, name := range resources {
		s.Resources = append(s.Resources, group.Resource{
			Name: name, Params: policy.Params{OperationTime: 4 * time.Second, MembersMax: 100},
		})
	}
	return s
}

func keyOf(seed byte) *signature.PublicKey {
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{seed}, signature.SeedSize))
	if err != nil {
		panic(err)
	}
	return key.Public()
}

func issue(t testing.TB, a *Authority, name string, seed byte) certificate.Certificate {
	t.Helper()
	c, err := a.Issue(Request{Name: name, Key: keyOf(seed)})
	require.NoError(t, err)
	return c
}

// blocks reads a file of the authority, nil if it does not exist.
func blocks(t testing.TB, d disk, file string) []keyfile.Block {
	t.Helper()
	text, err := d.ReadFile(filepath.Join(testDir, file), -1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	decoded, err := keyfile.DecodeBlocks(text)
	require.NoError(t, err)
	return decoded
}

// published is the group as its members get to know it.
func published(t testing.TB, d disk) (*group.Group, []certificate.SignedRevocation) {
	t.Helper()
	g, extra, err := group.Load(blocks(t, d, GroupFile))
	require.NoError(t, err)
	var revocations []certificate.SignedRevocation
	for _, raw := range extra.Revocations {
		r, err := certificate.ParseRevocation(g.ID(), raw, g)
		require.NoError(t, err)
		revocations = append(revocations, r)
	}
	return g, revocations
}
