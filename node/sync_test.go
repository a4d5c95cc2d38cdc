package node_test

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// slowDisk is a file system whose syncs wait while it is shut.
type slowDisk struct {
	store.FS

	mu    sync.Mutex
	open  chan struct{} // closed while syncs may pass
	syncs int           // begun
}

func newSlowDisk() *slowDisk {
	d := &slowDisk{FS: store.OS(), open: make(chan struct{})}
	close(d.open)
	return d
}

func (d *slowDisk) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = make(chan struct{})
}

func (d *slowDisk) begun() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.syncs
}

func (d *slowDisk) Create(name string) (store.File, error) { return d.file(d.FS.Create(name)) }
func (d *slowDisk) Open(name string) (store.File, error)   { return d.file(d.FS.Open(name)) }

func (d *slowDisk) file(f store.File, err error) (store.File, error) {
	return slowFile{f, d}, err
}

type slowFile struct {
	store.File
	disk *slowDisk
}

func (f slowFile) Sync() error {
	f.disk.mu.Lock()
	f.disk.syncs++
	open := f.disk.open
	f.disk.mu.Unlock()
	<-open
	return f.File.Sync()
}

// While the disk is waited for, a peer's next frames are taken in, and what
// they make durable shares one sync: the group commit.
func TestTransfers_OneBatch_ShareASync(t *testing.T) {
	const tokens = 20
	many := quick
	many.Slots = tokens
	a := newAuthority(t, many)
	disk := newSlowDisk()
	n, _ := openNode(t, a.issue(t, "node"), func(c *node.Config) { c.SetFS(disk) })
	p := a.openPeer(t, a.issue(t, "peer"))
	p.meet(n)
	var transfers [][]byte
	for slot := range uint64(tokens) {
		g, err := token.GenesisBody{
			Resource: resource, Slot: slot, Generator: p.Self(), Incarnation: p.incarnation,
			Sequence: slot + 1, Time: uint64(time.Now().UnixMilli()),
		}.Sign(a.group.ID(), p.id.Key)
		require.NoError(t, err)
		title := token.Title{Genesis: g}
		p.say(n, &wire.Offer{Token: title.Token(), Hop: 1, Genesis: g.Raw(), Signers: title.Signers()})
		accept := hear[*wire.Accept](p)
		transfer, err := title.Next(n.ID(), accept.Reservation()).Sign(a.group.ID(), p.id.Key)
		require.NoError(t, err)
		body, err := wire.Encode(&wire.Transfer{Transfer: transfer.Raw(), Genesis: g.Raw()})
		require.NoError(t, err)
		transfers = append(transfers, body)
	}
	before := disk.begun()
	disk.shut()
	defer func() {
		select {
		case <-disk.open:
		default:
			close(disk.open)
		}
	}()
	handed := make(chan struct{})
	go func() {
		defer close(handed)
		for _, body := range transfers {
			n.Frames(p.Self(), slices.Values([][]byte{body}))
		}
	}()
	await.Next(t, "the reader, which does not wait for the disk", handed)
	await.Until(t, "the first sync", func() bool { return disk.begun() == before+1 })
	for len(p.messages) > 0 { // there may be others, as those that keep the group together
		require.NotEqual(t, wire.TypeReceipt, (<-p.messages).Type(), "said before it is durable")
	}
	close(disk.open)
	for range tokens {
		hear[*wire.Receipt](p)
	}
	assert.LessOrEqual(t, disk.begun(), before+2, "one for the first transfer, one for all others")
}

// A slow disk makes a member late: what arrives meanwhile waits for it, and its sender seems silent.
func TestLateness_DiskIsSlow_MemberIsLate(t *testing.T) {
	a, disk := newAuthority(t, quick), newSlowDisk()
	n, _ := openNode(t, a.issue(t, "node"), func(c *node.Config) {
		c.SetFS(disk)
		c.Found = true
	})
	request := api.AcquireRequest{Resource: resource}
	held, err := n.Acquire(t.Context(), request)
	require.NoError(t, err)
	held.Release(true, 0)
	before := disk.begun()
	disk.shut()
	open := sync.OnceFunc(func() { close(disk.open) })
	defer open()
	granted := make(chan error, 1)
	go func() {
		_, err := n.Acquire(t.Context(), request)
		granted <- err
	}()
	await.Until(t, "a sync", func() bool { return disk.begun() > before })
	time.Sleep(2 * member.LateFrom) // at least, however slow this machine is
	open()
	require.NoError(t, await.Next(t, "the grant", granted))
	await.Until(t, "the member is late", func() bool { return n.Status().Membership.LateS >= member.LateFrom.Seconds() })
}

// fullDisk is a file system on which no write succeeds once it is full.
type fullDisk struct {
	store.FS
	full atomic.Bool
}

func (d *fullDisk) Open(name string) (store.File, error) {
	f, err := d.FS.Open(name)
	return &fullFile{f, d}, err
}

type fullFile struct {
	store.File
	disk *fullDisk
}

func (f *fullFile) WriteAt(b []byte, at int64) (int, error) {
	if f.disk.full.Load() {
		return 0, syscall.ENOSPC
	}
	return f.File.WriteAt(b, at)
}

// Whatever ends the daemon, a request that waits is told that it is not available, and
// not that it has a bug.
func TestAcquire_DaemonEnds_Unavailable(t *testing.T) {
	for name, fill := range map[string]bool{"closed": false, "disk full": true} {
		t.Run(name, func(t *testing.T) {
			a, disk, dir := newAuthority(t, quick), &fullDisk{FS: store.OS()}, ""
			n, _ := openNode(t, a.issue(t, "node"), func(c *node.Config) {
				c.SetFS(disk)
				c.Found, dir = true, c.StateDir
			})
			request := api.AcquireRequest{Resource: resource}
			held, err := n.Acquire(t.Context(), request)
			require.NoError(t, err)
			waits := make(chan error, 1)
			go func() {
				_, err := n.Acquire(t.Context(), request)
				waits <- err
			}()
			await.Until(t, "a second request waits", func() bool { return n.Status().Resources[0].Waiting > 0 })
			if disk.full.Store(fill); fill {
				held.Release(true, 0)
			} else {
				closeNow(n)
			}
			err = await.Next(t, "the end of the request", waits)
			assert.ErrorIs(t, err, api.ErrUnavailable)
			assert.Equal(t, fill, errors.Is(err, store.ErrBroken))
			word, ok := node.ReadLastWord(dir)
			assert.Equal(t, fill, ok, "a daemon that is told to end says nothing")
			assert.Equal(t, fill, word.Cause == explain.DiskFull)
		})
	}
}
