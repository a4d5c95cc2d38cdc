//go:build unix

package auditing

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/audit/audittest"
	"github.com/wandertoken/wander/protocol/journal"
)

const (
	benchRecords = 1_000_000
	benchSegment = 20_000 // records of a segment; about 6 MB
)

// library writes long journals, segment by segment.
type library struct {
	dir   string
	world *audittest.World
	seq   []uint64 // of each member's next frame
	count []uint64 // of its segments
	total int
}

// flush puts what the members have written into segments.
func (l *library) flush(b *testing.B) {
	for i, m := range l.world.List {
		h := journal.SegmentHeader{
			Number: l.count[i] + 1, FirstSeq: l.seq[i], Created: uint64(l.world.Now.UnixMilli()), Group: l.world.Group.ID(), Member: m.ID,
		}
		data := h.Append(nil)
		add := func(t journal.FrameType, body []byte) {
			data = journal.Frame{Type: t, Seq: l.seq[i], Body: body}.Append(data)
			l.seq[i]++
		}
		add(journal.FrameCheckpointBegin, nil)
		add(journal.FrameCheckpointEnd, nil)
		for _, f := range m.Frames {
			add(journal.FrameRecord, f.Body)
		}
		l.count[i]++
		l.total += len(m.Frames)
		m.Frames = nil
		dir := filepath.Join(l.dir, m.Name)
		require.NoError(b, os.MkdirAll(dir, 0o755))
		require.NoError(b, os.WriteFile(filepath.Join(dir, journal.SegmentName(h.Number)), data, 0o600))
	}
}

// write makes journals of members who hand one token around; every second holder
// operates. That is four records and two signatures for each hop.
func writeLibrary(b *testing.B, dir string) *library {
	l := &library{dir: dir, world: audittest.New("ann", "ben", "cleo", "dan", "eve", "fay", "gus", "hal")}
	w := l.world
	w.Step = 5 * time.Millisecond
	l.seq, l.count = make([]uint64, len(w.List)), make([]uint64, len(w.List))
	for i := range l.seq {
		l.seq[i] = 1
	}
	title := w.List[0].Generate()
	for hop := 0; l.total < benchRecords; hop++ {
		at := w.List[hop%len(w.List)]
		if hop%2 == 0 {
			at.Operate(title, 1, 2)
		}
		title = at.Hand(title, w.List[(hop+1)%len(w.List)])
		if len(at.Frames) >= benchSegment {
			l.flush(b)
		}
	}
	l.flush(b)
	return l
}

// BenchmarkAudit is a million records from the disk to the report, with signatures
// verified in batches and one by one.
func BenchmarkAudit(b *testing.B) {
	l := writeLibrary(b, b.TempDir())
	for name, o := range map[string]audit.Options{"batches": {}, "one-by-one": {OneByOne: true}} {
		b.Run(name, func(b *testing.B) {
			var before, after runtime.MemStats
			begin := processorTime(b)
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				a, err := Run(Input{Paths: []string{l.dir}, Group: l.world.Group, Options: o})
				require.NoError(b, err)
				require.Empty(b, a.Findings)
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(a.Records), "records")
				b.ReportMetric(float64(a.Signatures), "signatures")
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB-kept")
				runtime.KeepAlive(a)
			}
			b.ReportMetric((processorTime(b)-begin)/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(l.total)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// processorTime is what this process has used, in seconds: the wall clock says
// little on a machine that others use, too.
func processorTime(b *testing.B) float64 {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
