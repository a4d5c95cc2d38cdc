package cluster

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/journal"
)

// disk is a member's journal on a virtual disk, together with its history:
// what an auditor would find in all segments that ever were.
type disk struct {
	live    [][]byte // encoded records: a checkpoint's and those since
	carried int      // how many of live are the checkpoint's

	written  [][]byte      // what an auditor would find in all segments that ever were
	history  []audit.Entry // the same, with what was lost and when processes ended
	pending  int           // how many of history, at its end, are not durable
	faithful bool          // what a crash takes disappears from history, too
	torn     []byte        // of a record that was being written when power failed
	slow     time.Duration // the longest that a sync takes, while the disk is slow
	failure  fault         // faultSyncFails or faultDiskFull: what the next sync comes to; else none
	lean     bool          // history is without what a member knows of the group
}

// append writes a record behind those that are there.
func (d *disk) append(at uint64, r journal.Record, order uint64) error {
	body, err := journal.Encode(at, r)
	if err != nil {
		return err
	}
	d.live = append(d.live, body)
	if !d.lean {
		d.written = append(d.written, body)
	}
	d.history = append(d.history, audit.Entry{At: order, Record: r})
	d.pending++
	return nil
}

// sync makes everything durable, and returns the records that it did so for.
func (d *disk) sync(order uint64) []audit.Entry {
	before := len(d.history) - d.pending
	fresh := d.history[before:]
	for i := range fresh {
		fresh[i].Durable = order
	}
	d.pending = 0
	if d.lean {
		fresh = slices.DeleteFunc(fresh, func(e audit.Entry) bool { return e.Record != nil && e.Record.Kind() == journal.KindKnown })
		d.history = d.history[:before+len(fresh)]
	}
	return fresh
}

// crash takes what was not synced, but for the first records, as many as keep
// says, which it returns. The history of a volatile member keeps what was lost:
// its custody was real while it lasted.
func (d *disk) crash(keep int, order uint64) (kept []audit.Entry, lost int) {
	lost = d.pending - keep
	fresh := d.history[len(d.history)-d.pending:]
	for i := range fresh {
		fresh[i].Durable = order
	}
	kept = fresh[:keep]
	if d.faithful {
		d.history = d.history[:len(d.history)-lost]
	}
	d.lose(lost)
	d.pending = 0
	d.history = append(d.history, audit.Entry{At: order})
	return kept, lost
}

// tear leaves a part of a frame at the end of the journal, as a write does that did
// not come to its end: some of its bytes, with nothing or zeros behind them.
func (d *disk) tear(body []byte, rng *rand.Rand) {
	frame := journal.Frame{Type: journal.FrameRecord, Seq: d.next(), Body: body}.Append(nil)
	there := rng.IntN(len(frame))
	if rng.IntN(2) == 0 {
		clear(frame[there:])
	} else {
		frame = frame[:there]
	}
	d.torn = frame
}

// next is the sequence number of the next frame: those of the checkpoint and its
// two marks come first.
func (d *disk) next() uint64 { return uint64(len(d.live)) + 3 }

// shorten takes records that only the memory of a machine held: a volatile
// member writes without syncing. The checkpoint is never among them.
func (d *disk) shorten(rng *rand.Rand) {
	d.lose(len(d.live) - d.carried - rng.IntN(len(d.live)-d.carried+1))
}

// lose takes the last records.
func (d *disk) lose(n int) {
	d.live = d.live[:len(d.live)-n]
	d.written = d.written[:max(0, len(d.written)-n)]
}

// checkpoint puts records in the place of all earlier ones, as a whole.
func (d *disk) checkpoint(at uint64, records []journal.Record) error {
	live := make([][]byte, 0, len(records))
	for _, r := range records {
		body, err := journal.Encode(at, r)
		if err != nil {
			return err
		}
		live = append(live, body)
	}
	d.live, d.carried, d.torn = live, len(live), nil
	return nil
}

// image is the journal as the bytes of one segment, a torn end included.
func (d *disk) image() []byte {
	data := journal.SegmentHeader{Number: 1, FirstSeq: 1}.Append(nil)
	seq := uint64(0)
	frame := func(t journal.FrameType, body []byte) {
		seq++
		data = journal.Frame{Type: t, Seq: seq, Body: body}.Append(data)
	}
	frame(journal.FrameCheckpointBegin, nil)
	for _, body := range d.live[:d.carried] {
		frame(journal.FrameRecord, body)
	}
	frame(journal.FrameCheckpointEnd, nil)
	for _, body := range d.live[d.carried:] {
		frame(journal.FrameRecord, body)
	}
	return append(data, d.torn...)
}

// frames reads the journal's bytes, up to a torn end.
func (d *disk) frames(take func(journal.Frame) error) error {
	r, err := journal.NewReader("virtual", d.image())
	for err == nil {
		var f journal.Frame
		if f, err = r.Next(); err == nil {
			err = take(f)
		}
	}
	var torn *journal.TornError
	if errors.As(err, &torn) && len(d.torn) > 0 || errors.Is(err, io.EOF) && len(d.torn) == 0 {
		return nil
	}
	return err
}

// read is what a restart finds. It cuts a torn end off.
func (d *disk) read() ([]journal.Stamped, error) {
	past := make([]journal.Stamped, 0, len(d.live))
	err := d.frames(func(f journal.Frame) error {
		if f.Type != journal.FrameRecord {
			return nil
		}
		at, r, err := journal.Decode(f.Body)
		past = append(past, journal.Stamped{At: at, Record: r})
		return err
	})
	if err != nil {
		return nil, err
	}
	d.torn = nil
	if len(past) != len(d.live) {
		return nil, fmt.Errorf("%d records read, %d written", len(past), len(d.live))
	}
	return past, nil
}
