//go:build unix

package inspect

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/audit/audittest"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/journal"
)

// segmentOfHops is a segment of a member that has taken part in so many hops of a token, and
// operated at every second turn.
func segmentOfHops(hops int) (*audittest.World, []byte) {
	w := audittest.New("ann", "ben", "cleo")
	w.Step = 5 * time.Millisecond
	title := w.List[0].Generate()
	for hop := range hops {
		at := w.List[hop%len(w.List)]
		if hop%2 == 0 {
			at.Operate(title, 1, 2)
		}
		title = at.Hand(title, w.List[(hop+1)%len(w.List)])
	}
	m := w.List[0]
	data := journal.SegmentHeader{Number: 1, FirstSeq: 1, Created: w.Millis(), Group: w.Group.ID(), Member: m.ID}.Append(nil)
	add := func(seq uint64, t journal.FrameType, body []byte) {
		data = journal.Frame{Type: t, Seq: seq, Body: body}.Append(data)
	}
	add(1, journal.FrameCheckpointBegin, nil)
	add(2, journal.FrameCheckpointEnd, nil)
	for i, f := range m.Frames {
		add(uint64(3+i), journal.FrameRecord, f.Body)
	}
	return w, data
}

// BenchmarkInspect is from a segment in memory to its text and its JSON, without a group file and with one, by which
// every signature is verified.
func BenchmarkInspect(b *testing.B) {
	w, data := segmentOfHops(3000)
	for name, g := range map[string]*group.Group{"unverified": nil, "verified": w.Group} {
		for _, output := range []string{"text", "json"} {
			b.Run(name+"/"+output, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				var text []byte
				began := processorTime(b)
				for b.Loop() {
					for o, err := range New(g).Objects(journal.SegmentName(1), data) {
						require.NoError(b, err)
						if output == "text" {
							text = o.AppendText(text[:0])
						} else {
							text = o.AppendJSON(text[:0])
						}
					}
				}
				b.ReportMetric(float64(len(data))*float64(b.N)/1e6/(processorTime(b)-began), "MB/cpu-s")
			})
		}
	}
}

// processorTime is what this process has used, in seconds.
func processorTime(b *testing.B) float64 {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
