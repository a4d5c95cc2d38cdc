package audit_test

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/audit/audittest"
	"github.com/wandertoken/wander/protocol/journal"
)

// segmentOf is the journal of a member as a file.
func segmentOf(m *audittest.Author) []byte {
	seq := uint64(0)
	add := func(data []byte, t journal.FrameType, body []byte) []byte {
		seq++
		return journal.Frame{Type: t, Seq: seq, Body: body}.Append(data)
	}
	data := journal.SegmentHeader{Number: 1, FirstSeq: 1, Group: m.Group.ID(), Member: m.ID}.Append(nil)
	data = add(add(data, journal.FrameCheckpointBegin, nil), journal.FrameCheckpointEnd, nil)
	for _, f := range m.Frames {
		data = add(data, journal.FrameRecord, f.Body)
	}
	return data
}

// clean reports whether neither the journal format nor the audit object to a
// journal.
func clean(w *audittest.World, trust *audit.Trust, data []byte) bool {
	r, err := journal.NewReader("x", data)
	if err != nil || r.Header().Group != w.Group.ID() || r.Header().Member != w.List[0].ID {
		return false
	}
	a := audit.New(w.Group.ID(), audit.Options{Trust: trust})
	to := a.Journal(r.Header().Member)
	to.Segment(true)
	for {
		f, err := r.Next()
		if err != nil {
			return errors.Is(err, io.EOF) && len(a.Report().Findings) == 0
		}
		to.Frame(f)
	}
}

// A clean journal with any one bit flipped is not clean, the last record and the
// segment header included.
func TestJournal_AnyBitFlipped_Found(t *testing.T) {
	w := audittest.New("ann")
	ann := w.List[0]
	ann.Operate(ann.Generate(), 1, 2)
	trust, data := w.Trust(ann), segmentOf(ann)
	require.True(t, clean(w, trust, data))
	for i := range data {
		for bit := range 8 {
			data[i] ^= 1 << bit
			require.False(t, clean(w, trust, data), "byte %d of %d, bit %d", i, len(data), bit)
			data[i] ^= 1 << bit
		}
	}
}
