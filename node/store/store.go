package store

import (
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/wandertoken/wander/protocol/journal"
)

// Store is an open journal. It is safe for concurrent use: while one goroutine
// is in Sync others may Append; what they append is in the next batch, and of
// several waiting in Sync the first writes for all.
type Store struct {
	dir  string
	opts Options
	lock io.Closer

	// What follows belongs to the goroutine that has made busy true.
	file     File      // the last segment
	end      int64     // its size, in bytes
	dirty    bool      // it has bytes that were written and not synced
	segments []segment // all that exist, oldest first, the last one included

	mem        sync.Mutex // guards what follows; never held during I/O
	busy       bool       // a goroutine is at the files
	idle       sync.Cond  // busy has become false
	pending    []byte     // frames of the next batch
	spare      []byte     // the buffer of the batch before, to be used again
	next       uint64     // sequence number of the next frame
	synced     uint64     // what Sync has acknowledged
	grown      int64      // bytes appended since the checkpoint
	checkpoint int64      // bytes of the checkpoint
	refusal    error      // why nothing is done any more: ErrBroken or ErrClosed
}

// segment is one file of the journal.
type segment struct {
	number  uint64
	created uint64 // ms since 1970 UTC
	size    int64  // bytes
}

// Append puts records behind those appended before, in memory: they are
// durable, and may be acted upon, once a Sync that began afterwards has
// returned nil. The bodies are copied. It returns the sequence number of the
// last one (compare Synced).
//
// Errors: ErrRecordSize when a body is empty or larger than journal.MaxRecord,
// ErrBacklog when MaxBacklog is reached, ErrBroken, ErrClosed. Then nothing
// was appended.
func (s *Store) Append(bodies ...[]byte) (last uint64, err error) {
	size, err := sizeOf(bodies)
	if err != nil {
		return 0, err
	}
	s.mem.Lock()
	defer s.mem.Unlock()
	if s.refusal != nil {
		return 0, s.refusal
	}
	if int64(len(s.pending))+size > MaxBacklog {
		return 0, fmt.Errorf("%w: %d bytes", ErrBacklog, len(s.pending))
	}
	for _, body := range bodies {
		f := journal.Frame{Type: journal.FrameRecord, OpensBatch: len(s.pending) == 0, Seq: s.next, Body: body}
		s.pending = f.Append(s.pending)
		s.next++
	}
	s.grown += size
	return s.next - 1, nil
}

// sizeOf is what the records take on disk, in bytes.
func sizeOf(bodies [][]byte) (size int64, err error) {
	for _, body := range bodies {
		if len(body) == 0 || len(body) > journal.MaxRecord {
			return 0, fmt.Errorf("%w: %d bytes, permitted are 1 to %d", ErrRecordSize, len(body), journal.MaxRecord)
		}
		size += int64(len(body)) + journal.FrameOverhead
	}
	return size, nil
}

// Sync makes everything appended before the call durable, with one write and
// one sync; in volatile mode with the write alone. It returns at once when
// another Sync has done so already.
//
// Errors: ErrBroken, ErrClosed.
func (s *Store) Sync() error {
	s.mem.Lock()
	target := s.next - 1
	for s.busy && s.synced < target && s.refusal == nil {
		s.idle.Wait()
	}
	if s.refusal != nil || s.synced >= target {
		defer s.mem.Unlock()
		return s.refusal
	}
	s.busy = true
	s.mem.Unlock()
	defer s.release()
	return s.flush(s.opts.Mode == Durable)
}

// acquire waits for the files and takes them; release gives them back.
func (s *Store) acquire() {
	s.mem.Lock()
	defer s.mem.Unlock()
	for s.busy {
		s.idle.Wait()
	}
	s.busy = true
}

func (s *Store) release() {
	s.mem.Lock()
	defer s.mem.Unlock()
	s.busy = false
	s.idle.Broadcast()
}

// Synced is the sequence number of the last record that a Sync has
// acknowledged.
func (s *Store) Synced() uint64 {
	s.mem.Lock()
	defer s.mem.Unlock()
	return s.synced
}

// flush writes the pending batch and, if sync is set, syncs the file.
func (s *Store) flush(sync bool) error {
	batch, last, err := s.take(0)
	if err != nil {
		return err
	}
	return s.write(batch, last, sync)
}

// take hands the pending batch over to the caller, who has to give it to
// write, and tells the sequence number of the last frame that is in it or was
// before it. The following numbers, as many as reserve says, go to the caller
// too, for a checkpoint: what is appended from now on stands behind it.
func (s *Store) take(reserve int) (batch []byte, last uint64, err error) {
	s.mem.Lock()
	defer s.mem.Unlock()
	if s.refusal != nil {
		return nil, 0, s.refusal
	}
	batch = s.pending
	s.pending, s.spare = s.spare[:0], nil
	last = s.next - 1
	if reserve > 0 {
		s.next += uint64(reserve)
		s.grown = 0
	}
	return batch, last, nil
}

// write appends the batch to the segment and, if sync is set, syncs it.
func (s *Store) write(batch []byte, last uint64, sync bool) error {
	start := time.Now()
	if len(batch) > 0 {
		s.dirty = true
		if _, err := s.file.WriteAt(batch, s.end); err != nil {
			return s.fail(err)
		}
		s.end += int64(len(batch))
	}
	if sync && s.dirty {
		if err := s.file.Sync(); err != nil {
			return s.fail(err)
		}
		s.dirty = false
	}
	if len(batch) > 0 {
		s.opts.ObserveSync(time.Since(start))
	}
	s.mem.Lock()
	defer s.mem.Unlock()
	s.synced = max(s.synced, last)
	if cap(batch) <= maxIdleBuffer {
		s.spare = batch
	}
	return nil
}

// fail ends the life of the store: after a write or a sync that failed nobody
// knows what is on the disk, and syncing again would not tell.
func (s *Store) fail(cause error) error {
	s.mem.Lock()
	defer s.mem.Unlock()
	if s.refusal == nil {
		s.refusal = fmt.Errorf("%w: %w", ErrBroken, cause)
	}
	return s.refusal
}

// Close writes and syncs what is pending, in volatile mode too, and releases
// the directory. It returns the error that broke the store, if any. A second
// Close returns ErrClosed.
func (s *Store) Close() error {
	s.acquire()
	defer s.release()
	err := s.flush(true)
	if err == ErrClosed {
		return err
	}
	s.mem.Lock()
	s.refusal = ErrClosed
	s.pending, s.spare = nil, nil
	s.mem.Unlock()
	if e := s.file.Close(); err == nil {
		err = e
	}
	if e := s.lock.Close(); err == nil {
		err = e
	}
	return err
}

// path is the name of a file of the journal.
func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }
