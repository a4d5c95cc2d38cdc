package fuzz

import (
	"encoding/binary"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/node/store/faultfs"
	"github.com/wandertoken/wander/protocol/journal"
)

// FuzzJournal: the directory of a journal as a restart finds it, with two segments
// of whatever content. It is refused as damaged, or opened; then it can be opened
// again, gives the same records, and is found whole by an auditor.
//
//fuzz:of protocol/journal node/store crypto/canonical
func FuzzJournal(f *testing.F) { targets["FuzzJournal"].Fuzz(f) }

const journalDir = "/j"

// checkJournal: the first two bytes are the length of the first segment.
func checkJournal(t require.TestingT, data []byte) bool {
	if len(data) < 2 {
		return false
	}
	cut := int(binary.BigEndian.Uint16(data))
	data = data[2:]
	first := data[:min(cut, len(data))]
	fs := faultfs.New(1)
	for i, segment := range [][]byte{first, data[len(first):]} {
		if i == 0 || len(segment) > 0 {
			put(t, fs, journal.SegmentName(uint64(3+i)), segment)
		}
	}
	once, err := openJournal(fs)
	if err != nil {
		isOneOf(t, err, journal.ErrDamaged, journal.ErrForeign)
		return false
	}
	again, err := openJournal(fs)
	require.NoError(t, err, "what was opened once")
	require.Equal(t, once.Records, again.Records)
	require.Nil(t, again.Torn, "a tail that was cut")
	audited := audits(t, fs)
	require.GreaterOrEqual(t, audited, len(once.Records))
	return true
}

func put(t require.TestingT, fs *faultfs.FS, name string, data []byte) {
	file, err := fs.Create(filepath.Join(journalDir, name))
	require.NoError(t, err)
	_, err = file.WriteAt(data, 0)
	require.NoError(t, err)
	require.NoError(t, file.Sync())
	require.NoError(t, file.Close())
}

// openJournal opens and closes it. What it returns is copied.
func openJournal(fs *faultfs.FS) (found store.Recovery, err error) {
	s, r, err := store.Open(journalDir, store.Options{FS: fs, Group: group, Member: adaID, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return found, err
	}
	found = *r
	for i, record := range found.Records {
		found.Records[i] = slices.Clone(record)
	}
	return found, s.Close()
}

// audits reads all frames, as an auditor does.
func audits(t require.TestingT, fs *faultfs.FS) (records int) {
	for located, err := range store.Frames(fs, journalDir) {
		if err != nil { // older segments are read by auditors only
			isOneOf(t, err, journal.ErrDamaged, journal.ErrTorn, journal.ErrForeign)
			return 1 << 30
		}
		if located.Frame.Type == journal.FrameRecord {
			records++
		}
	}
	return records
}

func journalSeeds() map[string][]byte {
	pair := func(first, second []byte) []byte {
		return slices.Concat(binary.BigEndian.AppendUint16(nil, uint16(len(first))), first, second)
	}
	segments := segmentSeeds()
	full, empty := segments["good-full"], segments["good-empty"]
	seeds := map[string][]byte{
		"bad-nothing":       {},
		"bad-no-header":     pair([]byte("journal"), nil),
		"good-one":          pair(full, nil),
		"good-empty":        pair(empty, nil),
		"good-torn":         pair(segments["bad-torn"], nil),
		"good-zero-filled":  pair(segments["bad-zero-filled"], nil),
		"bad-damaged":       pair(segments["bad-damaged"], nil),
		"bad-no-checkpoint": pair(segments["bad-no-checkpoint"], nil),
		"bad-end-mark":      pair(segments["bad-end-mark"], nil),
		"bad-one-twice":     pair(full, full),
	}
	seeds["good-two"] = pair(full, nextSegment(full))
	return seeds
}

// nextSegment is an empty segment that follows a full one.
func nextSegment(full []byte) []byte {
	seq := uint64(40)
	r := must(journal.NewReader("segment", full))
	for _, err := r.Next(); err == nil; _, err = r.Next() {
		seq++
	}
	data := journal.SegmentHeader{Number: 4, FirstSeq: seq, Created: millis, Group: group, Member: adaID}.Append(nil)
	data = journal.Frame{Type: journal.FrameCheckpointBegin, OpensBatch: true, Seq: seq}.Append(data)
	return journal.Frame{Type: journal.FrameCheckpointEnd, Seq: seq + 1}.Append(data)
}
