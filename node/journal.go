package node

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/wandertoken/wander/internal/takeover"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/metrics"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/journal"
)

const (
	// maxLazy bounds the records that wait for a sync that none of them needs, in
	// bytes: a member that hears of a large group may have no token meanwhile.
	maxLazy = 1 << 20

	// pruneEvery is how often old journal segments are looked for; their
	// retention is counted in days.
	pruneEvery = 24 * time.Hour
)

// journalKeeper writes the member's records to the store, and decides when to sync them.
type journalKeeper struct {
	store   *store.Store
	dir     string
	durable bool
	metrics *metrics.Metrics
	log     *slog.Logger
	syncs   atomic.Uint64

	// Only the goroutine that performs effects uses these.
	scratch []byte // for encodings, which the store copies
	lazy    int    // bytes appended since the last sync
}

// openJournal opens the journal in a folder, and returns what it holds. It waits for a
// process that is about to end.
func openJournal(ctx context.Context, dir string, o store.Options, m *metrics.Metrics) (*journalKeeper, []journal.Stamped, error) {
	if err := refuseLinks(dir); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	o.ObserveSync = m.Synced
	var found *store.Recovery
	st, err := takeover.Open(ctx, func() (st *store.Store, err error) {
		st, found, err = store.Open(dir, o)
		return st, err
	}, store.ErrLocked)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	past := make([]journal.Stamped, 0, len(found.Records))
	for _, body := range found.Records {
		at, r, err := journal.Decode(body)
		if err != nil {
			_ = st.Close()
			return nil, nil, fmt.Errorf("%w: %s: %w", ErrJournal, dir, err)
		}
		past = append(past, journal.Stamped{At: at, Record: r})
	}
	return &journalKeeper{store: st, dir: dir, durable: o.Mode == store.Durable, metrics: m, log: o.Log}, past, nil
}

// write appends the records among the effects, and syncs if one of them needs it.
func (k *journalKeeper) write(effects []effect.Effect) error {
	sync := false
	for _, e := range effects {
		p, ok := e.(effect.Persist)
		if !ok {
			continue
		}
		body, err := journal.Append(k.scratch[:0], p.At, p.Record)
		if err == nil {
			k.scratch = body
			_, err = k.store.Append(body)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrJournal, err)
		}
		if r, ok := p.Record.(*journal.Evidence); ok {
			k.metrics.Evidence(r.What, 1)
		}
		sync = sync || p.Sync
		if k.lazy += len(body); k.lazy >= maxLazy {
			if err := k.sync(); err != nil {
				return err
			}
		}
	}
	if !sync {
		return nil
	}
	return k.sync()
}

// sync makes everything written so far durable. Earlier than need be does no
// harm.
func (k *journalKeeper) sync() error {
	k.lazy = 0
	if err := k.store.Sync(); err != nil {
		return fmt.Errorf("%w: %w", ErrJournal, err)
	}
	k.syncs.Add(1)
	return nil
}

// waits reports whether write waits for the disk.
func (k *journalKeeper) waits(effects []effect.Effect) bool {
	if !k.durable {
		return false
	}
	for _, e := range effects {
		if p, ok := e.(effect.Persist); ok && p.Sync {
			return true
		}
	}
	return false
}

// checkpoint puts the live records in the place of all earlier ones.
func (k *journalKeeper) checkpoint(now clock.Reading, records []journal.Record) error {
	bodies := make([][]byte, 0, len(records))
	for _, r := range records {
		body, err := journal.Encode(now.Micros(), r)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrJournal, err)
		}
		bodies = append(bodies, body)
	}
	if err := k.store.Checkpoint(bodies); err != nil {
		return fmt.Errorf("%w: %w", ErrJournal, err)
	}
	k.log.Info("journal segment begun", "records", len(records))
	return nil
}

// prune removes old journal segments of a member that seldom begins new ones.
func (k *journalKeeper) prune(ctx context.Context) {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := k.store.Prune(); err != nil {
				k.log.Warn("cannot remove old journal segments", "error", err)
			}
		}
	}
}

// status measures the journal on disk.
func (k *journalKeeper) status() api.JournalStatus {
	st := api.JournalStatus{Fsyncs: k.syncs.Load()}
	entries, err := os.ReadDir(k.dir)
	if err != nil {
		return st
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Size() > 0 {
			st.Segments++
			st.Bytes += info.Size()
		}
	}
	return st
}
