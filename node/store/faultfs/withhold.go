package faultfs

import (
	"slices"
	"sync"

	"github.com/wandertoken/wander/node/store"
)

// Withhold returns base with one difference: what is written to a file stays
// in the process until Sync. So when a test kills a real process, the bytes
// that it had not synced are gone from a real disk, as after a power failure.
// Reading a file gives what was synced.
func Withhold(base store.FS) store.FS { return withholding{base} }

type withholding struct{ store.FS }

func (w withholding) Create(name string) (store.File, error) { return withhold(w.FS.Create(name)) }
func (w withholding) Open(name string) (store.File, error)   { return withhold(w.FS.Open(name)) }

func withhold(f store.File, err error) (store.File, error) {
	if err != nil {
		return nil, err
	}
	return &withheld{File: f}, nil
}

// withheld is a file whose edits wait for Sync.
type withheld struct {
	store.File
	mu    sync.Mutex
	edits []edit
}

// WriteAt keeps a copy of p for Sync.
func (w *withheld) WriteAt(p []byte, at int64) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(p) > 0 {
		w.edits = append(w.edits, edit{at: at, data: slices.Clone(p)})
	}
	return len(p), nil
}

// Truncate keeps the cut for Sync.
func (w *withheld) Truncate(size int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.edits = append(w.edits, edit{at: size})
	return nil
}

// Sync performs what was kept and syncs the file.
func (w *withheld) Sync() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.edits) > 0 {
		if err := w.perform(w.edits[0]); err != nil {
			return err
		}
		w.edits = w.edits[1:]
	}
	return w.File.Sync()
}

func (w *withheld) perform(e edit) error {
	if e.data == nil {
		return w.File.Truncate(e.at)
	}
	_, err := w.File.WriteAt(e.data, e.at)
	return err
}
