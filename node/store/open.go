package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wandertoken/wander/protocol/journal"
)

const (
	lockName  = "lock"
	newSuffix = ".new" // of a segment that is being created
)

// Recovery is what Open found.
type Recovery struct {
	// Records is the live state in order: the records of the newest checkpoint,
	// then those appended since. They are parts of one buffer as large as the
	// segment: copy what is kept for long.
	Records [][]byte
	// FromCheckpoint is how many of Records come from the checkpoint.
	FromCheckpoint int
	// Fresh says that there was no journal, and now is an empty one.
	Fresh bool
	// Torn names the tail that was cut off, or is nil.
	Torn *journal.TornError
}

// Open opens the journal in dir, creating both if need be, and holds dir
// against other processes until Close. What it returns is durable, whatever
// the process before was doing when it ended.
//
// Errors: ErrLocked, ErrOptions, *journal.DamageError (also for a journal of
// another member, journal.ErrForeign), and those of the file system.
func Open(dir string, o Options) (*Store, *Recovery, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, nil, err
	}
	if err := o.FS.MkdirAll(dir); err != nil {
		return nil, nil, fmt.Errorf("open journal: %w", err)
	}
	lock, err := o.FS.Lock(filepath.Join(dir, lockName))
	if err != nil {
		return nil, nil, fmt.Errorf("open journal: %w", err)
	}
	s := &Store{dir: dir, opts: o, lock: lock}
	s.idle.L = &s.mem
	found, err := s.recover()
	if err != nil {
		if s.file != nil {
			s.file.Close()
		}
		lock.Close()
		return nil, nil, fmt.Errorf("open journal: %w", err)
	}
	if err := s.prune(); err != nil {
		o.Log.Warn("journal", "error", err)
	}
	return s, found, nil
}

// recover finds out what is in the directory and opens the last segment.
func (s *Store) recover() (*Recovery, error) {
	entries, err := s.opts.FS.List(s.dir)
	if err != nil {
		return nil, err
	}
	if err := s.removeUnfinished(entries); err != nil {
		return nil, err
	}
	if err := s.findSegments(entries); err != nil {
		return nil, err
	}
	if len(s.segments) == 0 {
		s.next = 1 + checkpointFrames
		return &Recovery{Fresh: true}, s.begin(1, 1, nil)
	}
	return s.readLast()
}

// removeUnfinished removes the segments whose creation was cut short. They
// hold nothing that was acknowledged.
func (s *Store) removeUnfinished(entries []Entry) error {
	for _, e := range entries {
		name, found := strings.CutSuffix(e.Name, newSuffix)
		if _, ours := journal.ParseSegmentName(name); !found || !ours {
			continue
		}
		if err := s.opts.FS.Remove(s.path(e.Name)); err != nil {
			return err
		}
	}
	return nil
}

// findSegments fills s.segments from the names and headers of the files.
func (s *Store) findSegments(entries []Entry) error {
	for _, e := range entries {
		number, ok := journal.ParseSegmentName(e.Name)
		if !ok {
			continue
		}
		h, err := readHeader(s.opts.FS, s.dir, number)
		if err != nil {
			return err
		}
		if h.Group != s.opts.Group || h.Member != s.opts.Member {
			return foreign(s.path(e.Name))
		}
		s.segments = append(s.segments, segment{number: number, created: h.Created, size: e.Size})
	}
	slices.SortFunc(s.segments, func(a, b segment) int { return cmp.Compare(a.number, b.number) })
	return nil
}

// readHeader reads the header of a segment and checks that it is in the
// file with its number.
func readHeader(fs FS, dir string, number uint64) (journal.SegmentHeader, error) {
	path := filepath.Join(dir, journal.SegmentName(number))
	data, err := fs.ReadFile(path, journal.SegmentHeaderSize)
	if err != nil {
		return journal.SegmentHeader{}, err
	}
	h, err := journal.ParseSegmentHeader(path, data)
	if err == nil && h.Number != number {
		err = foreign(path)
	}
	return h, err
}

func foreign(path string) error {
	return &journal.DamageError{File: path, Reason: journal.ErrForeign}
}

// readLast reads the last segment, cuts its torn tail and opens it.
func (s *Store) readLast() (*Recovery, error) {
	path := s.path(journal.SegmentName(s.segments[len(s.segments)-1].number))
	data, err := s.opts.FS.ReadFile(path, -1)
	if err != nil {
		return nil, err
	}
	r, err := journal.NewReader(path, data)
	if err != nil {
		return nil, err
	}
	found, batch, err := s.replay(r)
	if err != nil {
		return nil, err
	}
	if s.file, err = s.opts.FS.Open(path); err != nil {
		return nil, err
	}
	s.next, s.synced, s.end = r.NextSeq(), r.NextSeq()-1, r.Offset()
	s.grown = s.end - s.checkpoint
	return found, s.settle(found.Torn, data[:s.end], batch)
}

// replay reads a segment to its end. It returns what was found and where the
// last batch begins.
func (s *Store) replay(r *journal.Reader) (found *Recovery, batch int64, err error) {
	found = new(Recovery)
	for {
		f, err := r.Next()
		if err != nil {
			return found, batch, found.end(err)
		}
		if f.OpensBatch {
			batch = f.Offset
		}
		switch f.Type {
		case journal.FrameRecord:
			found.Records = append(found.Records, f.Body)
		case journal.FrameCheckpointEnd:
			found.FromCheckpoint = len(found.Records)
			s.checkpoint = r.Offset()
			batch = r.Offset()
		}
	}
}

// end takes the error that ended reading: only damage remains one.
func (found *Recovery) end(err error) error {
	if errors.As(err, &found.Torn) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// settle makes what was read durable. The process before may have ended
// between a write and its sync, or because its sync failed; then the kernel
// has the last batch in memory, takes it for written, and a sync alone would
// not write it. So it is written again, over itself.
func (s *Store) settle(torn *journal.TornError, data []byte, batch int64) error {
	if torn != nil {
		s.opts.Log.Warn("journal: a torn tail was cut off", "file", torn.File, "offset", torn.Offset, "bytes", torn.Size)
		if err := s.file.Truncate(torn.Offset); err != nil {
			return err
		}
	}
	if rest := data[batch:]; len(rest) > 0 {
		if _, err := s.file.WriteAt(rest, batch); err != nil {
			return err
		}
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.segments[len(s.segments)-1].size = s.end
	return s.opts.FS.SyncDir(s.dir)
}
