//go:build !linux

package store

import "os"

// syncData is fsync, or what the system has in its place (F_FULLFSYNC on
// Darwin, FlushFileBuffers on Windows).
func syncData(f *os.File) error { return f.Sync() }
