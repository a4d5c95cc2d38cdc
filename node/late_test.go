package node_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/journal"
)

// lateFS takes too long over the first syncs of grants.
type lateFS struct {
	store.FS
	hold  time.Duration
	slow  *atomic.Int32 // how many are still slow
	begun *atomic.Int32
}

func (s lateFS) Create(name string) (store.File, error) { return s.file(s.FS.Create(name)) }
func (s lateFS) Open(name string) (store.File, error)   { return s.file(s.FS.Open(name)) }

func (s lateFS) file(f store.File, err error) (store.File, error) {
	return &lateFile{File: f, lateFS: s}, err
}

type lateFile struct {
	store.File
	lateFS
	grant atomic.Bool // is written and not synced
}

func (f *lateFile) WriteAt(p []byte, at int64) (int, error) {
	for _, r := range recordsIn(p, at) {
		if r.Kind() == journal.KindStarted {
			f.grant.Store(true)
		}
	}
	return f.File.WriteAt(p, at)
}

func (f *lateFile) Sync() error {
	if f.grant.Swap(false) {
		f.begun.Add(1)
		if f.slow.Add(-1) >= 0 {
			time.Sleep(f.hold)
		}
	}
	return f.File.Sync()
}

// TestGrant_DurableTooLate_Refused: it starts nothing, and the program that waits without end
// gets the next one.
func TestGrant_DurableTooLate_Refused(t *testing.T) {
	r := quick
	r.MaxHold = 50 * time.Millisecond
	a := newAuthority(t, r)
	var slow, begun atomic.Int32
	slow.Store(3)
	n, _ := openNode(t, a.issue(t, "slow"), func(c *node.Config) {
		c.Found = true
		c.SetFS(lateFS{FS: store.OS(), hold: r.MaxHold + 10*time.Millisecond, slow: &slow, begun: &begun})
	})
	g, err := n.Acquire(context.Background(), request(resource))
	require.NoError(t, err)
	g.Release(true, 0)
	require.GreaterOrEqual(t, begun.Load(), int32(4))
}
