package driver_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/store"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
)

// slowDisk is a file system whose syncs wait, from hold on, until it is let go.
type slowDisk struct {
	store.FS
	held  atomic.Bool
	gone  chan struct{} // closed: it is let go
	err   error         // of the syncs that waited
	syncs atomic.Int64  // since it was held
}

func newSlowDisk() *slowDisk { return &slowDisk{FS: store.OS(), gone: make(chan struct{})} }

func (d *slowDisk) hold() { d.held.Store(true) }

func (d *slowDisk) letGo(err error) { d.err = err; close(d.gone) }

func (d *slowDisk) Create(name string) (store.File, error) { return d.slow(d.FS.Create(name)) }

func (d *slowDisk) Open(name string) (store.File, error) { return d.slow(d.FS.Open(name)) }

func (d *slowDisk) slow(f store.File, err error) (store.File, error) {
	if err != nil {
		return nil, err
	}
	return &slowFile{f, d}, nil
}

type slowFile struct {
	store.File
	disk *slowDisk
}

func (f *slowFile) Sync() error {
	if f.disk.held.Load() {
		<-f.disk.gone
		if f.disk.err != nil {
			return f.disk.err
		}
		defer f.disk.syncs.Add(1)
	}
	return f.File.Sync()
}

// begun has a session begin and end, since the first one behind a start waits for the disk: it says which numbers were not passed over.
func begun(t *testing.T, s *station, member *client.Conn) {
	t.Helper()
	session := s.w.SignIn(member, s.w.Mint(0), lasts)
	gatetest.Opened(t, session)
	_, err := session.SignOut(t.Context())
	require.NoError(t, err)
	await.Until(t, "the slot is idle", func() bool {
		st, err := s.Status(t.Context())
		return err == nil && st.Slots[0].State == "IDLE"
	})
}

// early is how long a test waits for what must not happen before the disk is let go: a slow machine hides a fault, and makes none.
const early = 200 * time.Millisecond

// OPEN does not wait for the disk: the member has it before the record of its session is durable. The resource is reached only afterwards.
func TestOpen_DiskSlow_OnlyStreamsWait(t *testing.T) {
	disk := newSlowDisk()
	w := newWorld(t, 1, nil)
	s := open(w, func(c *driver.Config) { c.FS = disk })
	var first atomic.Int64 // syncs when the resource was first reached
	first.Store(-1)
	reached := func() { first.CompareAndSwap(-1, disk.syncs.Load()) }
	s.target.reached.Store(&reached)
	member := s.dial(0)
	begun(t, s, member)
	disk.hold()
	session := w.SignIn(member, w.Mint(0), lasts)
	gatetest.Opened(t, session) // while the sync waits
	assert.Zero(t, disk.syncs.Load())
	done := make(chan struct{})
	go func() { defer close(done); echoes(t, connect(t, session), "hello") }()
	select {
	case <-done:
		assert.Fail(t, "the resource is reached before the record is durable")
	case <-time.After(early):
	}
	disk.letGo(nil)
	<-done
	assert.Positive(t, first.Load())
}

// A record that OPEN did not wait for becomes durable though nothing else happens at the gate: the session lasts for longer than the test waits.
func TestOpen_NothingFollows_Durable(t *testing.T) {
	disk := newSlowDisk()
	w := newWorld(t, 1, func(r *group.Resource) { r.MaxHold = time.Hour })
	s := &station{w: w, dir: t.TempDir(), target: newTarget(t), log: &testLog{}}
	settled(t, w, s.dir+"/journal")
	s.start(func(c *driver.Config) { c.FS = disk })
	member := s.dial(0)
	begun(t, s, member)
	disk.hold()
	gatetest.Opened(t, w.SignIn(member, w.Mint(0), time.Hour))
	disk.letGo(nil)
	await.Until(t, "the record is durable", func() bool { return disk.syncs.Load() > 0 })
}

// A gate whose disk fails has said OPEN, and lets nothing through.
func TestOpen_DiskFails_NothingReachesTheResource(t *testing.T) {
	disk := newSlowDisk()
	w := newWorld(t, 1, nil)
	s := &station{w: w, dir: t.TempDir(), target: newTarget(t), log: &testLog{}}
	settled(t, w, s.dir+"/journal")
	s.start(func(c *driver.Config) { c.FS = disk })
	member := s.dial(0)
	begun(t, s, member)
	disk.hold()
	session := w.SignIn(member, w.Mint(0), lasts)
	gatetest.Opened(t, session)
	tried := make(chan error, 1)
	go func() {
		c, err := session.Connect(t.Context())
		if err == nil {
			if _, err = c.Write([]byte("hello")); err == nil {
				_, err = c.Read(make([]byte, 5))
			}
		}
		tried <- err
	}()
	time.Sleep(early)
	disk.letGo(errors.New("the disk is gone"))
	require.Error(t, <-tried)
	<-s.Done()
	require.ErrorIs(t, s.Err(), driver.ErrJournal)
	assert.Empty(t, s.target.received())
}

// An open hook does something at the resource: it runs once the record is durable.
func TestOpen_Hook_WaitsForTheDisk(t *testing.T) {
	disk := newSlowDisk()
	w := newWorld(t, 1, nil)
	at := make(chan int64, 2)
	s := open(w, func(c *driver.Config) {
		c.FS = disk
		c.OpenHook = func(context.Context, driver.Call) core.Result { at <- disk.syncs.Load(); return core.Succeeded }
	})
	member := s.dial(0)
	begun(t, s, member)
	<-at
	disk.hold()
	session := w.SignIn(member, w.Mint(0), lasts)
	select {
	case <-at:
		assert.Fail(t, "the hook runs before the record is durable")
	case <-time.After(early):
	}
	disk.letGo(nil)
	gatetest.Opened(t, session)
	assert.Positive(t, <-at)
}
