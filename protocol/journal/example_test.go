package journal_test

import (
	"errors"
	"fmt"

	"github.com/wandertoken/wander/protocol/journal"
)

// A segment begins with a checkpoint, which is empty here. A write that a crash cut short is torn and
// not damaged.
func ExampleReader() {
	body, err := journal.Encode(1_000_000, &journal.Dropped{Hop: 7, Reason: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	data := journal.SegmentHeader{Number: 1, FirstSeq: 1}.Append(nil)
	for i, f := range []journal.Frame{
		{Type: journal.FrameCheckpointBegin}, {Type: journal.FrameCheckpointEnd},
		{Type: journal.FrameRecord, Body: body}, {Type: journal.FrameRecord, Body: body},
	} {
		f.Seq = uint64(i) + 1
		data = f.Append(data)
	}
	data = data[:len(data)-10] // of the last frame

	r, err := journal.NewReader(journal.SegmentName(1), data)
	for err == nil {
		var f journal.Frame
		if f, err = r.Next(); err != nil {
			break
		}
		fmt.Println(f.Seq, f.Type)
		if f.Type == journal.FrameRecord {
			at, record, err := journal.Decode(f.Body)
			fmt.Println(at, record.Kind(), err)
		}
	}
	fmt.Println(errors.Is(err, journal.ErrTorn), errors.Is(err, journal.ErrDamaged))
	// Output:
	// 1 checkpoint begin
	// 2 checkpoint end
	// 3 record
	// 1000000 dropped <nil>
	// true false
}
