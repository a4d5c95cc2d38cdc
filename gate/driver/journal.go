package driver

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/wandertoken/wander/internal/takeover"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/clock"
	core "github.com/wandertoken/wander/protocol/gate"
)

// journal is what the machine writes down.
type journal struct{ *store.Store }

// append appends a record, which is durable after the next sync. Error: ErrJournal.
func (j journal) append(p core.Persist) error {
	body, err := core.Encode(p.At, p.Record)
	if err == nil {
		_, err = j.Append(body)
	}
	return failed(err)
}

// sync makes durable what was appended. Error: ErrJournal.
func (j journal) sync() error { return failed(j.Sync()) }

// begin begins a new segment with a checkpoint, which counts once it is whole. Error: ErrJournal.
func (j journal) begin(records []core.Record, now clock.Reading) error {
	var live [][]byte
	for _, r := range records {
		body, err := core.Encode(now.Micros(), r)
		if err != nil {
			return failed(err)
		}
		live = append(live, body)
	}
	return failed(j.Checkpoint(live))
}

// failed is ErrJournal with its cause, or nil.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrJournal, err)
}

// restored is what the journal gives.
type restored struct {
	journal journal
	machine *core.Gate
	effects []core.Effect  // of the start
	last    []core.RunOpen // the last session at each place, as far as the journal says
}

// openJournal opens the journal once nobody else has it, and restores the machine from it or begins anew.
func openJournal(ctx context.Context, cfg *Config, r rules, now func() clock.Reading) (*restored, error) {
	st, found, err := openStore(ctx, cfg)
	if err != nil {
		return nil, failed(err)
	}
	j := &restored{journal: journal{st}, last: make([]core.RunOpen, core.MaxSlots)}
	var records []core.Record
	for i, body := range found.Records {
		_, rec, err := core.Decode(body)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%w: record %d: %w", ErrJournal, i+1, err), st.Close())
		}
		records = append(records, rec)
		switch rec := rec.(type) {
		case *core.OpeningRecord:
			j.last[rec.Slot] = core.RunOpen{Slot: int(rec.Slot), Session: rec.Session, Title: core.Title{Token: rec.Token, Hop: rec.Hop, Holder: rec.Member, Hash: rec.Title}}
		case *core.ContinuedRecord:
			j.last[rec.Slot] = core.RunOpen{Slot: int(rec.Slot), Session: rec.Session, Title: core.Title{Token: rec.Token, Hop: rec.Hop, Holder: rec.Member, Hash: rec.Title}}
		}
	}
	if len(records) == 0 {
		j.machine, j.effects, err = core.Begin(r.settings, cfg.Floor, now())
	} else {
		j.machine, j.effects, err = core.Restore(r.settings, records, now())
	}
	if err != nil {
		return nil, errors.Join(failed(err), st.Close())
	}
	return j, nil
}

// openStore opens the files, and waits for the hooks of a gate that was killed.
func openStore(ctx context.Context, cfg *Config) (st *store.Store, found *store.Recovery, err error) {
	st, err = takeover.Open(ctx, func() (st *store.Store, err error) {
		st, found, err = store.Open(filepath.Join(cfg.Dir, journalFolder), store.Options{
			Group: cfg.Group.ID(), Member: cfg.Certificate.Member(), SegmentSize: segmentSize, FS: cfg.FS, Log: cfg.Log, Now: cfg.Now,
		})
		return st, err
	}, store.ErrLocked)
	if err != nil {
		return nil, nil, err
	}
	if err = cfg.Await(ctx); err != nil {
		return nil, nil, errors.Join(err, st.Close())
	}
	return st, found, nil
}
