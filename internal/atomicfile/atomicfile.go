// Package atomicfile writes files durably and in one step: after a crash there is
// the whole file, or what was there before.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// unfinished matches files that a crash left half written: they were never used.
const unfinished = ".wander-*.tmp"

// Replace puts a file in the place of what has its name, if there is anything.
// Errors are those of the file system; then nothing has changed.
func Replace(name string, data []byte, mode fs.FileMode) error {
	return put(name, data, mode, os.Rename)
}

// Create writes a file with a name that nothing has, or fs.ErrExist.
func Create(name string, data []byte, mode fs.FileMode) error {
	return put(name, data, mode, linkNew)
}

// Rename gives a file that is whole a name in the same folder which nothing has, or
// returns fs.ErrExist. After a crash the file may have both names.
func Rename(old, name string) error {
	if err := linkNew(old, name); err != nil {
		return err
	}
	if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return syncDir(filepath.Dir(name))
}

func put(name string, data []byte, mode fs.FileMode, publish func(old, name string) error) error {
	dir := filepath.Dir(name)
	temporary, err := os.CreateTemp(dir, unfinished)
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // which is gone when all went well
	_, err = temporary.Write(data)
	err = errors.Join(err, temporary.Chmod(mode), temporary.Sync(), temporary.Close())
	if err != nil {
		return err
	}
	if err := publish(temporary.Name(), name); err != nil {
		return err
	}
	return syncDir(dir)
}

// linkNew gives a file a name that nothing has.
func linkNew(old, name string) error {
	err := os.Link(old, name)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// Some file systems have no links. Nobody else makes files here.
	if _, statErr := os.Lstat(name); !errors.Is(statErr, fs.ErrNotExist) {
		return errors.Join(err, statErr)
	}
	return os.Rename(old, name)
}

// syncDir makes the names in a folder durable, where the system can.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // Windows has no such thing, and needs none
	return d.Close()
}

// writing is far above the time that one of these files takes to be written.
const writing = time.Minute

// Sweep removes from a folder what crashes left half written, but for what
// another process may be writing just now.
func Sweep(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, unfinished))
	for _, name := range left {
		if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > writing {
			_ = os.Remove(name)
		}
	}
}
