package node_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/node/store/faultfs"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// point is a place in a member's life at which it kills itself with SIGKILL.
type point string

const (
	nowhere    point = ""
	operating  point = "the holder, while the operation runs"
	beforeSent point = "the sender, before SENT is durable"
	afterSent  point = "the sender, after SENT is durable and before TRANSFER leaves"
	atReceipt  point = "the sender, between TRANSFER and RECEIPT"
	beforeHeld point = "the receiver, before the sync of HELD"
	afterHeld  point = "the receiver, after the sync of HELD and before RECEIPT"
)

// life is what a member in a process of its own is told. The process is this
// test binary; what is not synced when it dies is not on the disk.
type life struct {
	Dir       string // member.crt, member.key, group.crt, state
	Listen    string
	Bootstrap []string
	Found     bool
	Idle      bool // wants no operation: the token only rests here
	Die       point
	After     int32 // how often it passes the point alive
}

// lifeVariable holds the file with a life: it makes the test binary a member.
const lifeVariable = "WANDER_TEST_LIFE"

const resource = "ftp"

func TestMain(m *testing.M) {
	file := os.Getenv(lifeVariable)
	if file == "" {
		flag.Parse()
		_ = flag.Set("test.parallel", "8") // they mostly wait
		os.Exit(m.Run())
	}
	if err := live(file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// live runs a member until its standard input ends.
func live(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var l life
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	in := func(name string) string { return filepath.Join(l.Dir, name) }
	id, err := node.LoadIdentity(in("member.crt"), in("member.key"), in("group.crt"))
	if err != nil {
		return err
	}
	f := &fate{at: l.Die, group: id.Group.ID()}
	f.left.Store(l.After)
	cfg := node.Config{
		Identity: id, StateDir: in("state"), Listen: l.Listen, Bootstrap: l.Bootstrap,
		Found: l.Found, Socket: "-", Tuning: brisk,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if !l.Idle {
		cfg.Operation = node.Operation{Resource: resource, Run: f.operate}
	}
	cfg.SetFS(mortalFS{FS: faultfs.Withhold(store.OS()), fate: f})
	cfg.SetHandler(func(h transport.Handler) transport.Handler { return mortalHandler{Handler: h, fate: f} })
	n, err := node.Open(context.Background(), cfg)
	if err != nil {
		return err
	}
	fmt.Println("up", n.Address())
	orphaned := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(orphaned)
	}()
	select {
	case <-orphaned:
		return nil
	case <-n.Done():
		return n.Err()
	}
}

// brisk is the default tuning with shorter pauses: peers that are down are
// asked again soon.
var brisk = func() handoff.Tuning {
	t := handoff.DefaultTuning
	t.OfferTimeout, t.NobodyPause = 100*time.Millisecond, 100*time.Millisecond
	t.RetransmitFirst, t.RetransmitMax = 100*time.Millisecond, 500*time.Millisecond
	return t
}()

// fate knows where a process has to die.
type fate struct {
	at    point
	left  atomic.Int32
	group ident.Group
}

// passes kills the process, with what it holds in memory, when its time at
// this point has come.
func (f *fate) passes(p point) {
	if f.at != p || f.left.Add(-1) >= 0 {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // not one instruction more of this goroutine
}

// operate is the protected operation.
func (f *fate) operate(context.Context, api.Grant) api.ReleaseRequest {
	f.passes(operating)
	return api.ReleaseRequest{Operated: true}
}

// mortalHandler dies at frames that come in.
type mortalHandler struct {
	transport.Handler
	*fate
}

func (h mortalHandler) Frames(peer ident.Member, bodies iter.Seq[[]byte]) {
	h.Handler.Frames(peer, func(yield func([]byte) bool) {
		for body := range bodies {
			if t, err := wire.PeekType(body); err == nil && t == wire.TypeReceipt {
				h.passes(atReceipt)
			}
			if !yield(body) {
				return
			}
		}
	})
}

// mortalFS dies around the syncs of a journal, depending on what they make
// durable.
type mortalFS struct {
	store.FS
	*fate
}

func (m mortalFS) Create(name string) (store.File, error) { return m.file(m.FS.Create(name)) }
func (m mortalFS) Open(name string) (store.File, error)   { return m.file(m.FS.Open(name)) }

func (m mortalFS) file(f store.File, err error) (store.File, error) {
	if err != nil {
		return nil, err
	}
	return &mortalFile{File: f, fate: m.fate}, nil
}

type mortalFile struct {
	store.File
	*fate
	mu      sync.Mutex
	waiting []journal.Record // written and not synced
}

func (f *mortalFile) WriteAt(p []byte, at int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = append(f.waiting, recordsIn(p, at)...)
	return f.File.WriteAt(p, at)
}

// Sync also tells the test which custody has become durable.
func (f *mortalFile) Sync() error {
	f.mu.Lock()
	waiting := f.waiting
	f.waiting = nil
	f.mu.Unlock()
	f.passesAny(waiting, beforeSent, beforeHeld)
	if err := f.File.Sync(); err != nil {
		return err
	}
	f.passesAny(waiting, afterSent, afterHeld)
	for _, r := range waiting {
		if held, ok := r.(*journal.Held); ok {
			b, _, err := token.PeekTransfer(f.group, held.Transfer)
			fmt.Println("held", b.Token, b.Hop, err)
		}
	}
	return nil
}

func (f *fate) passesAny(list []journal.Record, sent, held point) {
	for _, r := range list {
		switch r.Kind() {
		case journal.KindSent:
			f.passes(sent)
		case journal.KindHeld:
			f.passes(held)
		}
	}
}

// recordsIn are the records in p, whole frames that are written at an offset of
// a segment.
func recordsIn(p []byte, at int64) (list []journal.Record) {
	if at < journal.SegmentHeaderSize {
		p = p[journal.SegmentHeaderSize-at:]
	}
	const header = 16 // of a frame; its first word ends in the body's length
	for len(p) > 0 {
		body := int(binary.BigEndian.Uint32(p) & 0xffffff)
		if body > 0 {
			_, r, err := journal.Decode(p[header : header+body])
			if err != nil {
				panic(err)
			}
			list = append(list, r)
		}
		p = p[body+journal.FrameOverhead:]
	}
	return list
}
