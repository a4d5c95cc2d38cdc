package store

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

const (
	// defaultSegmentSize bounds what a restart reads besides the live state, in
	// bytes; a full one takes about 30 ms.
	defaultSegmentSize = 16 << 20

	// MinSegmentSize is the smallest permitted Options.SegmentSize, in bytes.
	// Rotation costs three syncs: it has to be rare compared to them.
	MinSegmentSize = 4 << 10

	// defaultRetention is how long segments without live state are kept.
	// Auditors meet monthly.
	defaultRetention = 30 * 24 * time.Hour

	// defaultRetainBytes bounds the same segments in bytes, because time does
	// not: a busy member writes a megabyte a second.
	defaultRetainBytes = 1 << 30

	// MaxBacklog bounds the records that wait for a Sync, in bytes with their
	// framing. It is far above what a member writes between two syncs; reaching
	// it means that the disk has stopped.
	MaxBacklog = 32 << 20

	// maxIdleBuffer is how large a buffer is kept for the next batch, in bytes.
	maxIdleBuffer = 1 << 20
)

// Mode says what Sync promises.
type Mode uint8

const (
	// Durable: when Sync returns, the records are on disk.
	Durable Mode = iota
	// Volatile: when Sync returns, the operating system has the records. They
	// survive the end of the process, not that of the machine, and are kept as
	// evidence. Rotation and Close sync all the same, so that a machine failure
	// costs the end of the journal and nothing else. It may leave a hole there,
	// because many writes were in progress; Open refuses that as damage.
	Volatile
)

func (m Mode) String() string {
	switch m {
	case Durable:
		return "durable"
	case Volatile:
		return "volatile"
	}
	return fmt.Sprintf("mode %d", uint8(m))
}

// Options configure a store. The zero value of every field but Group and
// Member means its default.
type Options struct {
	// Group and Member say whose journal it is. A directory that holds another
	// member's is refused.
	Group  ident.Group
	Member ident.Member

	// Mode says what Sync promises; default Durable.
	Mode Mode

	// SegmentSize is how much is appended before NeedsCheckpoint asks for the
	// next segment, in bytes, at least MinSegmentSize; default
	// 16 MiB. Smaller restarts faster and copies the live state
	// more often. A live state larger than it takes its place, so that copying
	// never exceeds what is appended.
	SegmentSize int64

	// Retention is how long a segment is kept for auditors after its successor
	// was begun; default 30 days. Auditors cannot verify what is gone.
	Retention time.Duration

	// RetainBytes bounds the segments kept for auditors; the oldest go first,
	// before their Retention if need be. Default 1 GiB.
	RetainBytes int64

	// FS is the file system; default OS().
	FS FS

	// Now reads the wall clock, which decides nothing but Retention; default
	// time.Now.
	Now func() time.Time

	// Log is told of tails that were cut and of old segments that cannot be
	// removed; default: nobody is.
	Log *slog.Logger

	// ObserveSync is called with the duration of every write and sync of a
	// batch, by the goroutine that called Sync or Checkpoint and before that
	// returns; it must not call the store. Default: nobody is called.
	ObserveSync func(time.Duration)
}

// withDefaults fills in the defaults and refuses what is out of range.
func (o Options) withDefaults() (Options, error) {
	setDefault(&o.SegmentSize, defaultSegmentSize)
	setDefault(&o.Retention, defaultRetention)
	setDefault(&o.RetainBytes, defaultRetainBytes)
	if o.FS == nil {
		o.FS = OS()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.ObserveSync == nil {
		o.ObserveSync = func(time.Duration) {}
	}
	switch {
	case o.Mode > Volatile:
		return o, fmt.Errorf("%w: %v", ErrOptions, o.Mode)
	case o.SegmentSize < MinSegmentSize:
		return o, fmt.Errorf("%w: segment size %d, permitted are %d bytes and more", ErrOptions, o.SegmentSize, MinSegmentSize)
	case o.Retention < 0:
		return o, fmt.Errorf("%w: negative retention %v", ErrOptions, o.Retention)
	case o.RetainBytes < 0:
		return o, fmt.Errorf("%w: negative size to retain %d", ErrOptions, o.RetainBytes)
	}
	return o, nil
}

func setDefault[T int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// header is the header of the segment with this number, begun now.
func (o *Options) header(number, firstSeq uint64) journal.SegmentHeader {
	return journal.SegmentHeader{
		Number:   number,
		FirstSeq: firstSeq,
		Created:  uint64(max(0, o.Now().UnixMilli())),
		Group:    o.Group,
		Member:   o.Member,
	}
}
