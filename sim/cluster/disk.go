package cluster

import (
	"math/rand/v2"
	"slices"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/journal"
)

// disk is a member's journal on a virtual disk, together with its history:
// what an auditor would find in all segments that ever were.
type disk struct {
	live    [][]byte // encoded records: a checkpoint's and those since
	carried int      // how many of live are the checkpoint's

	history  []audit.Entry
	pending  int  // how many of history, at its end, are not durable
	faithful bool // what a crash takes disappears from history, too
	lean     bool // history is without what a member knows of the group
}

// append writes a record behind those that are there.
func (d *disk) append(at uint64, r journal.Record, order uint64) error {
	body, err := journal.Encode(at, r)
	if err != nil {
		return err
	}
	d.live = append(d.live, body)
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
	d.live = d.live[:len(d.live)-lost]
	d.pending = 0
	d.history = append(d.history, audit.Entry{At: order})
	return kept, lost
}

// shorten takes records that only the memory of a machine held: a volatile
// member writes without syncing. The checkpoint is never among them.
func (d *disk) shorten(rng *rand.Rand) {
	d.live = d.live[:d.carried+rng.IntN(len(d.live)-d.carried+1)]
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
	d.live, d.carried = live, len(live)
	return nil
}

// read is what a restart finds.
func (d *disk) read() ([]journal.Stamped, error) {
	past := make([]journal.Stamped, 0, len(d.live))
	for _, body := range d.live {
		at, r, err := journal.Decode(body)
		if err != nil {
			return nil, err
		}
		past = append(past, journal.Stamped{At: at, Record: r})
	}
	return past, nil
}
