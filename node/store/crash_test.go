package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/node/store/faultfs"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

const testDir = "state/journal"

// world is a journal on a failing disk and what has to be true of it.
type world struct {
	fs     *faultfs.FS
	now    time.Time
	retain int64
	keep   int // how many of the newest records are the live state
	next   int // numbers the records, so that each is unlike all others

	certain []string // live state that Sync or Checkpoint has acknowledged
	tail    []string // appended since
	changed []string // live state of the checkpoint in progress, or nil
	history []string // every acknowledged record ever, whether still live or not
}

func newWorld(seed uint64) *world {
	return &world{fs: faultfs.New(seed), now: time.UnixMilli(1_700_000_000_000), retain: 1 << 30, keep: 3}
}

func (w *world) options() store.Options {
	return store.Options{
		Member: ident.Member{1}, SegmentSize: store.MinSegmentSize, RetainBytes: w.retain, FS: w.fs,
		Now: func() time.Time { w.now = w.now.Add(time.Second); return w.now },
	}
}

// record makes the next record, of about size bytes.
func (w *world) record(size int) []byte {
	w.next++
	return append(fmt.Appendf(nil, "record %d ", w.next), make([]byte, size)...)
}

func (w *world) append(st *store.Store, sizes ...int) error {
	var bodies [][]byte
	for _, size := range sizes {
		bodies = append(bodies, w.record(size))
	}
	if _, err := st.Append(bodies...); err != nil {
		return err
	}
	w.tail = append(w.tail, texts(bodies)...)
	return nil
}

func (w *world) sync(st *store.Store) error {
	err := st.Sync()
	if err == nil {
		w.acknowledge(len(w.tail))
	}
	return err
}

// acknowledge moves the first n records of the tail to what is certain.
func (w *world) acknowledge(n int) {
	w.certain = append(w.certain, w.tail[:n]...)
	w.history = append(w.history, w.tail[:n]...)
	w.tail = nil
}

func (w *world) checkpoint(st *store.Store) error {
	all := slices.Concat(w.certain, w.tail)
	w.changed = all[max(0, len(all)-w.keep):]
	var live [][]byte
	for _, text := range w.changed {
		live = append(live, []byte(text))
	}
	err := st.Checkpoint(live)
	if err == nil {
		w.acknowledge(len(w.tail))
		w.certain, w.changed = w.changed, nil
	}
	return err
}

// reopen opens the journal and checks all of it.
func (w *world) reopen(t require.TestingT) (*store.Store, error) {
	st, found, err := store.Open(testDir, w.options())
	if err != nil {
		return nil, err
	}
	got := texts(found.Records)
	if !w.permits(got) {
		require.Fail(t, "wrong live state", "certain %.12q\ntail %.12q\ncheckpoint %.12q\ngot %.12q\n%v",
			w.certain, w.tail, w.changed, got, found.Torn)
	}
	if w.fs.Crashed() { // while it removed old segments
		return nil, faultfs.ErrCrashed
	}
	whole := slices.Concat(w.history, w.tail)
	w.certain, w.history = got, w.checkHistory(t, whole)
	w.tail, w.changed = nil, nil
	return st, nil
}

// permits tells whether a crash may leave this live state.
func (w *world) permits(got []string) bool {
	if w.changed != nil && slices.Equal(got, w.changed) {
		return true
	}
	n := len(w.certain)
	whole := slices.Concat(w.certain, w.tail)
	return len(got) >= n && len(got) <= len(whole) && slices.Equal(got, whole[:len(got)])
}

// checkHistory reads the journal as an auditor does and returns the records in
// it: all that were acknowledged, some of those that were appended after them,
// none missing but the oldest, where segments were removed.
func (w *world) checkHistory(t require.TestingT, whole []string) []string {
	var got []string
	for f, err := range store.Frames(w.fs, testDir) {
		require.NoError(t, err)
		if f.Type == journal.FrameRecord && !f.FromCheckpoint {
			got = append(got, string(f.Body))
		}
	}
	if len(got) == 0 {
		require.True(t, w.retain < 1<<30 || len(w.history) == 0, "the history is gone")
		return nil
	}
	start := slices.Index(whole, got[0])
	require.GreaterOrEqual(t, start, 0, "invented: %.12q", got[0])
	if w.retain == 1<<30 {
		require.Zero(t, start, "history begins late")
	}
	end := start + len(got)
	require.LessOrEqual(t, end, len(whole))
	require.Equal(t, whole[start:end], got)
	require.GreaterOrEqual(t, end, len(w.history), "acknowledged records are missing")
	return got
}

func texts(bodies [][]byte) []string {
	got := make([]string, 0, len(bodies))
	for _, b := range bodies {
		got = append(got, string(b))
	}
	return got
}

// settle reopens until it succeeds, through crashes at the given operations.
func (w *world) settle(t require.TestingT, crashes []int, end func(*faultfs.FS) *faultfs.FS) *store.Store {
	for _, at := range crashes {
		w.fs.CrashAt(at)
		st, err := w.reopen(t)
		if err == nil {
			w.fs.CrashAt(0)
			return st
		}
		require.ErrorIs(t, err, faultfs.ErrCrashed)
		w.fs = end(w.fs)
	}
	w.fs.CrashAt(0)
	st, err := w.reopen(t)
	require.NoError(t, err)
	return st
}

// A fixed life with everything in it: batches, two rotations, a removal.
func (w *world) life(t require.TestingT) error {
	st, err := w.reopen(t)
	if err != nil {
		return err
	}
	for round := range 4 {
		steps := []func(*store.Store) error{
			func(st *store.Store) error { return w.append(st, 10, 1500) },
			w.sync,
			func(st *store.Store) error { return w.append(st, 3000) },
			func(st *store.Store) error { return w.append(st, 20) },
			w.sync,
			func(st *store.Store) error { return w.append(st, round) },
		}
		for _, step := range steps {
			if err := step(st); err != nil {
				return err
			}
		}
		if st.NeedsCheckpoint() {
			if err := w.checkpoint(st); err != nil {
				return err
			}
		}
	}
	if err := st.Close(); err != nil {
		return err
	}
	w.acknowledge(len(w.tail))
	return nil
}

// After a crash at any operation of a life, and at any operation of the
// restart after it, everything acknowledged is there.
func TestCrashAnywhere(t *testing.T) {
	ends := map[string]func(*faultfs.FS) *faultfs.FS{
		"power loss":            (*faultfs.FS).PowerLoss,
		"kill":                  (*faultfs.FS).Kill,
		"kill, then power loss": func(f *faultfs.FS) *faultfs.FS { return f.Kill().PowerLoss() },
	}
	const retain = 6000 // one old segment: the second rotation removes
	whole := newWorld(0)
	whole.retain = retain
	require.NoError(t, whole.life(t))
	t.Log(whole.fs.Ops(), "operations")
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(6) {
				for n := 1; n <= whole.fs.Ops(); n++ {
					w := newWorld(seed)
					w.retain = retain
					w.fs.CrashAt(n)
					if err := w.life(t); err != nil { // none when it crashed removing a segment
						require.ErrorIs(t, err, faultfs.ErrCrashed, "crash at %d", n)
					}
					require.True(t, w.fs.Crashed())
					w.fs = end(w.fs)
					for again := range 8 {
						w.fs.CrashAt(again + 1)
						if _, err := w.reopen(t); err == nil {
							break
						}
						w.fs = end(w.fs)
					}
					w.fs = end(w.fs)
					st := w.settle(t, nil, end)
					require.NoError(t, w.append(st, 5))
					require.NoError(t, w.sync(st))
					require.NoError(t, st.Close())
				}
			}
		})
	}
}

// Any history of appends, syncs and checkpoints, with crashes and restarts.
func TestCrashProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(rapid.Uint64().Draw(t, "seed"))
		w.retain = rapid.SampledFrom([]int64{1 << 30, 20_000, 1}).Draw(t, "retain")
		w.keep = rapid.SampledFrom([]int{0, 3, 100}).Draw(t, "keep")
		for range rapid.IntRange(1, 5).Draw(t, "lives") {
			end := drawEnd(t)
			crashes := rapid.SliceOfN(rapid.IntRange(1, 12), 0, 3).Draw(t, "crashes of the restart")
			st := w.settle(t, crashes, end)
			w.fs.CrashAt(w.fs.Ops() + rapid.IntRange(1, 40).Draw(t, "crash"))
			w.live(t, st)
			w.fs = end(w.fs)
		}
		w.settle(t, nil, (*faultfs.FS).PowerLoss)
	})
}

func drawEnd(t *rapid.T) func(*faultfs.FS) *faultfs.FS {
	if rapid.Bool().Draw(t, "power loss") {
		return (*faultfs.FS).PowerLoss
	}
	return (*faultfs.FS).Kill
}

// live does arbitrary things until the crash or until it has had enough.
func (w *world) live(t *rapid.T, st *store.Store) {
	for range rapid.IntRange(0, 30).Draw(t, "steps") {
		var err error
		switch rapid.SampledFrom([]string{"append", "append", "sync", "checkpoint", "prune"}).Draw(t, "step") {
		case "append":
			err = w.append(st, rapid.SliceOfN(rapid.IntRange(0, 2000), 1, 4).Draw(t, "sizes")...)
		case "sync":
			err = w.sync(st)
		case "checkpoint":
			err = w.checkpoint(st)
		case "prune":
			if err = st.Prune(); errors.Is(err, store.ErrPrune) {
				err = nil
			}
		}
		if err != nil {
			require.True(t, w.fs.Crashed(), "%v", err)
			return
		}
	}
}

// A failed operation that is no crash breaks the store for good, and costs
// nothing that was acknowledged; nor does a restart take for durable what the
// failed sync has lost.
func TestFailureProperty(t *testing.T) {
	broken := errors.New("input/output error")
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(rapid.Uint64().Draw(t, "seed"))
		st := w.settle(t, nil, nil)
		w.fs.FailAt(w.fs.Ops()+rapid.IntRange(1, 20).Draw(t, "fail"), broken)
		err := w.untilBroken(t, st)
		if err == nil {
			return
		}
		require.ErrorIs(t, err, broken)
		for range 2 {
			_, err := st.Append([]byte("x"))
			require.ErrorIs(t, err, store.ErrBroken)
			require.ErrorIs(t, st.Sync(), store.ErrBroken)
			require.ErrorIs(t, st.Checkpoint(nil), store.ErrBroken)
			require.ErrorIs(t, st.Prune(), store.ErrBroken)
		}
		require.ErrorIs(t, st.Close(), store.ErrBroken)
		w.fs = w.fs.Kill()
		w.settle(t, nil, nil)
		w.fs = w.fs.PowerLoss()
		w.settle(t, nil, nil)
	})
}

func (w *world) untilBroken(t *rapid.T, st *store.Store) error {
	for range 12 {
		if err := w.append(st, 30, rapid.IntRange(0, 2000).Draw(t, "size"), 1); err != nil {
			return err
		}
		if err := w.sync(st); err != nil {
			return err
		}
		if rapid.IntRange(0, 3).Draw(t, "rotate") == 0 {
			if err := w.checkpoint(st); err != nil {
				return err
			}
		}
	}
	return nil
}

// One flipped bit in what was synced, in the last record too, is refused and
// named.
func TestStore_AnyBitFlipped_Found(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(rapid.Uint64().Draw(t, "seed"))
		st := w.settle(t, nil, nil)
		for range rapid.IntRange(1, 6).Draw(t, "batches") {
			require.NoError(t, w.append(st, rapid.SliceOfN(rapid.IntRange(0, 60), 1, 4).Draw(t, "sizes")...))
			require.NoError(t, w.sync(st))
			if rapid.IntRange(0, 3).Draw(t, "rotate") == 0 {
				require.NoError(t, w.checkpoint(st))
			}
		}
		w.fs = w.fs.PowerLoss()
		frames := locate(t, w.fs)
		hit := rapid.SampledFrom(frames).Draw(t, "frame")
		if rapid.Bool().Draw(t, "last") {
			hit = frames[len(frames)-1]
		}
		size := int64(journal.FrameOverhead + len(hit.Body))
		require.NoError(t, w.fs.Flip(hit.File, hit.Offset*8+rapid.Int64Range(0, size*8-1).Draw(t, "bit")))

		expectDamage(t, scanError(w.fs), hit)
		if hit.Segment.Number == frames[len(frames)-1].Segment.Number {
			_, _, err := store.Open(testDir, w.options())
			expectDamage(t, err, hit)
		}
	})
}

func expectDamage(t *rapid.T, err error, hit store.Located) {
	var damage *journal.DamageError
	require.ErrorAs(t, err, &damage)
	require.Equal(t, hit.File, damage.File)
	require.Equal(t, hit.Offset, damage.Offset)
}

func locate(t require.TestingT, fs store.FS) (frames []store.Located) {
	for f, err := range store.Frames(fs, testDir) {
		require.NoError(t, err)
		frames = append(frames, f)
	}
	return frames
}

func scanError(fs store.FS) error {
	for _, err := range store.Frames(fs, testDir) {
		if err != nil {
			return err
		}
	}
	return nil
}
