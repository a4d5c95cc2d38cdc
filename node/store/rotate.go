package store

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/wandertoken/wander/protocol/journal"
)

// checkpointFrames is how many frames a checkpoint has besides the records: its
// begin and its end.
const checkpointFrames = 2

// NeedsCheckpoint reports that the segment is full: that more has been
// appended to it than Options.SegmentSize and than its own checkpoint. The
// store goes on without, but restarts take longer and the disk fills.
func (s *Store) NeedsCheckpoint() bool {
	s.mem.Lock()
	defer s.mem.Unlock()
	return s.grown >= max(s.opts.SegmentSize, s.checkpoint)
}

// Checkpoint begins a new segment with the live state: the records, in order,
// from which a restart has to rebuild everything. From now on a restart reads
// these and what is appended later; so live has to contain the effect of every
// record whose Append has returned (call it where no other goroutine appends
// records of a newer state). What was appended and not yet synced is synced
// first. When Checkpoint returns nil the new segment is durable, in volatile
// mode too; a crash before leaves the journal as it was, or changed over as a
// whole.
//
// Segments that are no longer to be kept are removed then; if that fails it is
// logged and tried again at the next Checkpoint, Prune or Open.
//
// Errors: ErrRecordSize (then nothing was done), ErrBroken, ErrClosed.
func (s *Store) Checkpoint(live [][]byte) error {
	if _, err := sizeOf(live); err != nil {
		return err
	}
	s.acquire()
	defer s.release()
	batch, last, err := s.take(len(live) + checkpointFrames)
	if err != nil {
		return err
	}
	if err := s.write(batch, last, true); err != nil {
		return err
	}
	old := &s.segments[len(s.segments)-1]
	old.size = s.end
	if err := s.file.Close(); err != nil {
		return s.fail(err)
	}
	if err := s.begin(old.number+1, last+1, live); err != nil {
		return s.fail(err)
	}
	if err := s.prune(); err != nil {
		s.opts.Log.Warn("journal", "error", err)
	}
	return nil
}

// begin creates the segment with this number, which begins with a checkpoint
// of the live state, and makes it the last one. It gets its name when it is
// whole and durable.
func (s *Store) begin(number, firstSeq uint64, live [][]byte) error {
	h := s.opts.header(number, firstSeq)
	data := encodeSegment(h, live)
	path := s.path(journal.SegmentName(number))
	if err := s.create(path+newSuffix, data); err != nil {
		return err
	}
	if err := s.opts.FS.Rename(path+newSuffix, path); err != nil {
		return err
	}
	if err := s.opts.FS.SyncDir(s.dir); err != nil {
		return err
	}
	file, err := s.opts.FS.Open(path)
	if err != nil {
		return err
	}
	s.file, s.end, s.dirty = file, int64(len(data)), false
	s.segments = append(s.segments, segment{number: number, created: h.Created, size: s.end})
	s.mem.Lock()
	defer s.mem.Unlock()
	s.checkpoint = s.end
	s.synced = firstSeq + uint64(len(live)) + checkpointFrames - 1
	return nil
}

// encodeSegment is a new segment's contents: header and checkpoint.
func encodeSegment(h journal.SegmentHeader, live [][]byte) []byte {
	data := h.Append(nil)
	seq := h.FirstSeq
	add := func(t journal.FrameType, body []byte) {
		data = journal.Frame{Type: t, OpensBatch: seq == h.FirstSeq, Seq: seq, Body: body}.Append(data)
		seq++
	}
	add(journal.FrameCheckpointBegin, nil)
	for _, body := range live {
		add(journal.FrameRecord, body)
	}
	add(journal.FrameCheckpointEnd, nil)
	return data
}

// create writes a durable file; its name is not durable yet.
func (s *Store) create(path string, data []byte) error {
	file, err := s.opts.FS.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.WriteAt(data, 0); err != nil {
		return err
	}
	return file.Sync()
}

// Prune removes the segments that are no longer kept for auditors (see
// Options.Retention and RetainBytes). Checkpoint and Open do so by themselves;
// a member whose journal hardly grows calls it once a day.
//
// Errors: ErrPrune, after which the store goes on; ErrClosed.
func (s *Store) Prune() error {
	s.acquire()
	defer s.release()
	s.mem.Lock()
	refusal := s.refusal
	s.mem.Unlock()
	if refusal != nil {
		return refusal
	}
	return s.prune()
}

// prune removes oldest first, each removal durable before the next, so that
// what a crash leaves has no gaps.
func (s *Store) prune() error {
	for s.expired() {
		path := s.path(journal.SegmentName(s.segments[0].number))
		err := s.opts.FS.Remove(path)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			err = s.opts.FS.SyncDir(s.dir)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrPrune, err)
		}
		s.segments = s.segments[1:]
	}
	return nil
}

// expired reports whether the oldest segment is to be removed. The last one
// never is.
func (s *Store) expired() bool {
	old := s.segments[:len(s.segments)-1]
	if len(old) == 0 {
		return false
	}
	var bytes int64
	for _, seg := range old {
		bytes += seg.size
	}
	if bytes > s.opts.RetainBytes {
		return true
	}
	ended := time.UnixMilli(int64(s.segments[1].created))
	return s.opts.Now().Sub(ended) > s.opts.Retention
}
