package store

import "io"

// FS is the file system under a store: the seam at which tests make it fail
// (package faultfs). Names are paths. Implementations are safe for concurrent
// use.
type FS interface {
	// MkdirAll creates dir and its parents, for the owner only and durable;
	// what exists stays as it is.
	MkdirAll(dir string) error
	// List returns the plain files in dir.
	List(dir string) ([]Entry, error)
	// ReadFile returns the first limit bytes of a file, or all of a shorter one;
	// a negative limit reads everything.
	ReadFile(name string, limit int64) ([]byte, error)
	// Create creates a file that must not exist, for the owner only.
	Create(name string) (File, error)
	// Open opens an existing file for writing.
	Open(name string) (File, error)
	// Rename gives a file a new name, replacing what had it, atomically.
	Rename(from, to string) error
	// Remove removes a file.
	Remove(name string) error
	// SyncDir makes creations, renames and removals in dir durable.
	SyncDir(dir string) error
	// Lock takes the exclusive lock that the file name stands for, creating the
	// file if need be, and returns what releases it. It does not wait: a lock
	// that another process or another store has is ErrLocked.
	Lock(name string) (io.Closer, error)
}

// File is a file open for writing.
type File interface {
	io.WriterAt
	// Truncate cuts the file to size bytes.
	Truncate(size int64) error
	// Sync makes the file's contents and size durable. It need not do the same
	// for the file's name (SyncDir) or times.
	Sync() error
	Close() error
}

// Entry is a file in a directory.
type Entry struct {
	Name string // without the directory
	Size int64  // bytes
}
