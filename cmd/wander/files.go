package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// unfinishedFiles matches files that a crash left half written: they were never
// used.
const unfinishedFiles = ".wander-*.tmp"

// putFile writes a file durably and in one step: after a crash there is the whole
// file, or what was there before. With over it replaces what is there; without,
// it never does: fs.ErrExist.
func putFile(name string, data []byte, mode fs.FileMode, over bool) error {
	dir := filepath.Dir(name)
	temporary, err := os.CreateTemp(dir, unfinishedFiles)
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(data)
	err = errors.Join(err, temporary.Chmod(mode), temporary.Sync(), temporary.Close())
	if err != nil {
		return err
	}
	if over {
		err = os.Rename(temporary.Name(), name)
	} else {
		err = linkNew(temporary.Name(), name)
	}
	if err != nil {
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

// sweepUnfinished removes what earlier crashes left half written.
func sweepUnfinished(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, unfinishedFiles))
	for _, name := range left {
		_ = os.Remove(name)
	}
}

// exists reports whether there is something with this name.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
