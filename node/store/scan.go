package store

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"

	"github.com/wandertoken/wander/protocol/journal"
)

// Located is a frame and where it stands.
type Located struct {
	journal.Frame
	File    string                // path of the segment; Frame.Offset is the place in it
	Segment journal.SegmentHeader // of the same segment
}

// Frames reads all segments of the journal in dir, oldest first, as an auditor
// does: without the lock, so also beside the member that writes it, and
// verifying every frame and that none is missing between the first and the
// last. Records of a checkpoint come as copies (Frame.FromCheckpoint). A nil fsys is
// OS().
//
// An error ends the sequence: *journal.TornError when the last segment ends in
// the middle of a write, which is no damage (beside a running member it may be
// the write in progress); *journal.DamageError; those of the file system.
func Frames(fsys FS, dir string) iter.Seq2[Located, error] {
	if fsys == nil {
		fsys = OS()
	}
	return func(yield func(Located, error) bool) {
		numbers, err := segmentNumbers(fsys, dir)
		if err != nil {
			yield(Located{}, err)
			return
		}
		sc := scan{fs: fsys, dir: dir, yield: yield}
		for i, n := range numbers {
			if more := sc.segment(n, i == len(numbers)-1); !more {
				return
			}
		}
	}
}

// segmentNumbers lists the segments in dir in ascending order.
func segmentNumbers(fsys FS, dir string) ([]uint64, error) {
	entries, err := fsys.List(dir)
	if err != nil {
		return nil, err
	}
	var numbers []uint64
	for _, e := range entries {
		if n, ok := journal.ParseSegmentName(e.Name); ok {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// scan is one walk through the segments of a journal.
type scan struct {
	fs    FS
	dir   string
	yield func(Located, error) bool
	prev  *journal.Reader // of the segment before, read to its end
}

// segment yields the frames of one segment and reports whether to go on.
func (sc *scan) segment(number uint64, last bool) bool {
	r, path, err := sc.open(number)
	if errors.Is(err, fs.ErrNotExist) && sc.prev == nil {
		return true // pruned since it was listed
	}
	for err == nil {
		var f journal.Frame
		if f, err = r.Next(); err != nil {
			break
		}
		if !sc.yield(Located{Frame: f, File: path, Segment: r.Header()}, nil) {
			return false
		}
	}
	if err == io.EOF {
		sc.prev = r
		return true
	}
	var torn *journal.TornError
	if errors.As(err, &torn) && !last {
		err = torn.Damage()
	}
	sc.yield(Located{}, err)
	return false
}

// open reads a segment and checks that it continues the one before.
func (sc *scan) open(number uint64) (*journal.Reader, string, error) {
	path := filepath.Join(sc.dir, journal.SegmentName(number))
	data, err := sc.fs.ReadFile(path, -1)
	if err != nil {
		return nil, path, err
	}
	r, err := journal.NewReader(path, data)
	if err != nil {
		return nil, path, err
	}
	return r, path, sc.continues(r.Header(), number, path)
}

// continues checks a header against the file's name and the segment before.
func (sc *scan) continues(h journal.SegmentHeader, number uint64, path string) error {
	if h.Number != number {
		return foreign(path)
	}
	if sc.prev == nil {
		return nil
	}
	before := sc.prev.Header()
	if h.Group != before.Group || h.Member != before.Member {
		return foreign(path)
	}
	if h.Number != before.Number+1 || h.FirstSeq != sc.prev.NextSeq() {
		return &journal.DamageError{File: path, Reason: journal.ErrSequence}
	}
	return nil
}
