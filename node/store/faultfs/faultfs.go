package faultfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"

	"github.com/wandertoken/wander/node/store"
)

// ErrCrashed is what every call returns from the crash on.
var ErrCrashed = errors.New("faultfs: crashed")

// FS is a file system in memory. It is safe for concurrent use; only calls in
// a fixed order are deterministic.
type FS struct {
	mu      sync.Mutex
	rng     *rand.Rand
	cached  map[string]*inode // what processes see, by path
	disk    map[string]*inode // the names that power failure leaves for certain
	changes []rename          // of names since they were synced, in order
	locks   map[string]bool

	ops     int
	crashAt int
	failAt  map[int]error
	crashed bool
	trace   []string
}

var _ store.FS = (*FS)(nil)

// rename is a change of names: a creation has no from, a removal no to.
type rename struct {
	from, to string
	node     *inode
}

// touches reports whether the change is in dir.
func (r rename) touches(dir string) bool {
	return r.from != "" && filepath.Dir(r.from) == dir || r.to != "" && filepath.Dir(r.to) == dir
}

func (r rename) apply(names map[string]*inode) {
	delete(names, r.from)
	if r.to != "" {
		names[r.to] = r.node
	}
}

// New returns an empty file system.
func New(seed uint64) *FS {
	return &FS{
		rng:    rand.New(rand.NewPCG(seed, 0)),
		cached: make(map[string]*inode),
		disk:   make(map[string]*inode),
		locks:  make(map[string]bool),
		failAt: make(map[int]error),
	}
}

// CrashAt makes operation n crash, counted from 1 since New, PowerLoss or
// Kill: it is performed in part or not at all, returns ErrCrashed, and so does
// every call after it. 0 takes the crash back.
func (f *FS) CrashAt(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.crashAt = n
}

// FailAt makes operation n, counted like CrashAt's, fail with err. A write
// that fails is performed in part, a sync that fails forgets its data, any
// other operation does nothing.
func (f *FS) FailAt(n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failAt[n] = err
}

// Ops is how many operations there have been.
func (f *FS) Ops() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ops
}

// Crashed reports whether the crash has come.
func (f *FS) Crashed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.crashed
}

// Trace lists the operations, for the message of a failing test.
func (f *FS) Trace() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.trace)
}

// Flip flips one bit of a file, counted from its beginning, the most
// significant of a byte first; on disk and in memory.
func (f *FS) Flip(name string, bit int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, ok := f.cached[filepath.Clean(name)]
	if !ok {
		return fail("flip", name, fs.ErrNotExist)
	}
	if bit < 0 || bit/8 >= int64(len(n.cached)) {
		return fail("flip", name, fmt.Errorf("there is no bit %d in %d bytes", bit, len(n.cached)))
	}
	n.flip(bit)
	return nil
}

// step counts an operation. partly is true when it has to be performed in part
// and to return err.
func (f *FS) step(op, name string) (partly bool, err error) {
	if f.crashed {
		return false, ErrCrashed
	}
	f.ops++
	f.trace = append(f.trace, fmt.Sprintf("%d %s %s", f.ops, op, name))
	if f.ops == f.crashAt {
		f.crashed = true
		return true, ErrCrashed
	}
	if err := f.failAt[f.ops]; err != nil {
		return true, fail(op, name, err)
	}
	return false, nil
}

func fail(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// change performs a change of names. At a crash a coin decides whether it is
// performed.
func (f *FS) change(op, name string, r rename) error {
	partly, err := f.step(op, name)
	if err == nil || partly && f.crashed && f.rng.IntN(2) == 0 {
		r.apply(f.cached)
		f.changes = append(f.changes, r)
	}
	return err
}

// MkdirAll does nothing: every directory exists.
func (f *FS) MkdirAll(string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.alive()
}

func (f *FS) alive() error {
	if f.crashed {
		return ErrCrashed
	}
	return nil
}

// List returns the files in dir, by name.
func (f *FS) List(dir string) ([]store.Entry, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.alive(); err != nil {
		return nil, err
	}
	var entries []store.Entry
	for _, name := range slices.Sorted(maps.Keys(f.cached)) {
		if filepath.Dir(name) == filepath.Clean(dir) {
			entries = append(entries, store.Entry{Name: filepath.Base(name), Size: int64(len(f.cached[name].cached))})
		}
	}
	return entries, nil
}

// ReadFile returns what processes see of a file.
func (f *FS) ReadFile(name string, limit int64) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.alive(); err != nil {
		return nil, err
	}
	n, ok := f.cached[filepath.Clean(name)]
	if !ok {
		return nil, fail("read", name, fs.ErrNotExist)
	}
	data := n.cached
	if limit >= 0 && limit < int64(len(data)) {
		data = data[:limit]
	}
	return slices.Clone(data), nil
}

// Create creates a file that must not exist.
func (f *FS) Create(name string) (store.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	name = filepath.Clean(name)
	if _, exists := f.cached[name]; exists {
		return nil, fail("create", name, fs.ErrExist)
	}
	n := new(inode)
	if err := f.change("create", name, rename{to: name, node: n}); err != nil {
		return nil, err
	}
	return &file{fs: f, name: name, node: n}, nil
}

// Open opens an existing file.
func (f *FS) Open(name string) (store.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.alive(); err != nil {
		return nil, err
	}
	name = filepath.Clean(name)
	n, ok := f.cached[name]
	if !ok {
		return nil, fail("open", name, fs.ErrNotExist)
	}
	return &file{fs: f, name: name, node: n}, nil
}

// Rename renames a file.
func (f *FS) Rename(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	from, to = filepath.Clean(from), filepath.Clean(to)
	n, ok := f.cached[from]
	if !ok {
		return fail("rename", from, fs.ErrNotExist)
	}
	return f.change("rename", from+" "+to, rename{from: from, to: to, node: n})
}

// Remove removes a file.
func (f *FS) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	name = filepath.Clean(name)
	if _, ok := f.cached[name]; !ok {
		return fail("remove", name, fs.ErrNotExist)
	}
	return f.change("remove", name, rename{from: name})
}

// SyncDir makes the changes of names in dir durable. When it fails they stay
// as they were: the next one may succeed.
func (f *FS) SyncDir(dir string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir = filepath.Clean(dir)
	if _, err := f.step("syncdir", dir); err != nil {
		return err
	}
	var rest []rename
	for _, r := range f.changes {
		if r.touches(dir) {
			r.apply(f.disk)
		} else {
			rest = append(rest, r)
		}
	}
	f.changes = rest
	return nil
}

// Lock takes the lock called name.
func (f *FS) Lock(name string) (io.Closer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.alive(); err != nil {
		return nil, err
	}
	name = filepath.Clean(name)
	if f.locks[name] {
		return nil, fmt.Errorf("%w: %s", store.ErrLocked, name)
	}
	f.locks[name] = true
	return &held{fs: f, name: name}, nil
}

// held is a lock that somebody has.
type held struct {
	fs   *FS
	name string
}

// Close releases the lock.
func (l *held) Close() error {
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	delete(l.fs.locks, l.name)
	return nil
}
