package faultfs

import (
	"io/fs"
	"slices"
)

// file is an open file. It keeps its inode, whatever becomes of the name.
type file struct {
	fs     *FS
	name   string
	node   *inode
	closed bool
}

func (f *file) alive(op string) error {
	if f.closed {
		return fail(op, f.name, fs.ErrClosed)
	}
	return nil
}

// WriteAt writes p. A write that crashes or fails leaves the first bytes of p,
// none or all of them possibly.
func (f *file) WriteAt(p []byte, at int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.alive("write"); err != nil {
		return 0, err
	}
	partly, err := f.fs.step("write", f.name)
	n := len(p)
	switch {
	case partly:
		n = f.fs.rng.IntN(len(p) + 1)
	case err != nil:
		n = 0
	}
	if n > 0 {
		f.node.do(edit{at: at, data: slices.Clone(p[:n])})
	}
	return n, err
}

// Truncate cuts the file. At a crash it is cut or not.
func (f *file) Truncate(size int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.alive("truncate"); err != nil {
		return err
	}
	partly, err := f.fs.step("truncate", f.name)
	if err == nil || partly && f.fs.crashed && f.fs.rng.IntN(2) == 0 {
		f.node.do(edit{at: size})
	}
	return err
}

// Sync makes the contents durable. When it fails they stay visible, are taken
// for durable, and are not.
func (f *file) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.alive("sync"); err != nil {
		return err
	}
	partly, err := f.fs.step("sync", f.name)
	switch {
	case err == nil:
		f.node.sync()
	case partly && !f.fs.crashed:
		f.node.pending = nil
	}
	return err
}

// Close closes the file; it syncs nothing.
func (f *file) Close() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.alive("close"); err != nil {
		return err
	}
	f.closed = true
	return nil
}
