package ca

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/wandertoken/wander/node/store"
)

// The files of an authority.
const (
	KeyFile     = "ca.key"
	LogFile     = "log.jsonl"
	serialFile  = "serial"
	caFile      = "ca.crt"
	GroupFile   = "group.crt"
	issuedDir   = "issued"
	revokedDir  = "revoked"
	evidenceDir = "evidence"
	lockFile    = "lock"
	newKeyFile  = "ca.key.new" // the key of an authority that is being created
	unfinished  = ".tmp"       // ends the name of a file that is being written
	lockPause   = 20 * time.Millisecond
	lockTries   = 500 // ten seconds: operations take a few syncs each
	maxPlain    = 64  // bytes of the file serial: a number and a line end
	maxKeyBytes = 64 << 10
	publicMode  = 0o644 // of the files that are made to be copied to members
)

// disk is the file system under an authority: the seam at which tests make it
// fail.
type disk interface {
	store.FS
	// Mode is the mode of an existing file.
	Mode(name string) (fs.FileMode, error)
	// MakePublic lets everybody read an existing file.
	MakePublic(name string) error
	// ReadFrom returns what an existing file has from an offset on, nothing when
	// it is shorter.
	ReadFrom(name string, offset int64) ([]byte, error)
}

// osDisk is the operating system's.
type osDisk struct{ store.FS }

func (osDisk) Mode(name string) (fs.FileMode, error) {
	info, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	if runtime.GOOS == "windows" {
		return 0o600, nil // modes say nothing there about who may read
	}
	return info.Mode(), nil
}

func (osDisk) MakePublic(name string) error { return os.Chmod(name, publicMode) }

func (osDisk) ReadFrom(name string, offset int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, offset, math.MaxInt64-offset))
}

// folder is one directory on a disk.
type folder struct {
	disk disk
	path string
}

func (f folder) name(file string) string { return filepath.Join(f.path, file) }

// read returns a file of at most limit bytes, and nil if there is none.
func (f folder) read(file string, limit int64) ([]byte, error) {
	data, err := f.disk.ReadFile(f.name(file), limit+1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s: more than %d bytes", f.name(file), limit)
	}
	return data, err
}

// exists reports whether there is a file.
func (f folder) exists(file string) (bool, error) {
	_, err := f.disk.Mode(f.name(file))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// present reports which of some files there are.
func (f folder) present(files ...string) ([]bool, error) {
	there := make([]bool, len(files))
	for i, file := range files {
		var err error
		if there[i], err = f.exists(file); err != nil {
			return nil, err
		}
	}
	return there, nil
}

// size is that of a file, 0 if there is none.
func (f folder) size(file string) (int64, error) {
	entries, err := f.disk.List(f.path)
	for _, e := range entries {
		if e.Name == file {
			return e.Size, nil
		}
	}
	return 0, err
}

// write replaces a file in one step, durably: after a crash there is the old
// content or the new.
func (f folder) write(file string, data []byte) error {
	return f.writeAs(file, data, false)
}

func (f folder) writeAs(file string, data []byte, public bool) error {
	target := f.name(file)
	temporary := target + unfinished
	if err := f.disk.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := f.disk.Create(temporary)
	if err != nil {
		return err
	}
	if err := writeAt(out, data, 0); err != nil {
		return err
	}
	if public {
		if err := f.disk.MakePublic(temporary); err != nil {
			return err
		}
	}
	if err := f.disk.Rename(temporary, target); err != nil {
		return err
	}
	return f.disk.SyncDir(filepath.Dir(target))
}

// publish is write for a file that is made from the log and is public, if it is not as it
// should be already.
func (f folder) publish(file string, data []byte) error {
	there, err := f.disk.ReadFile(f.name(file), int64(len(data))+1)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && bytes.Equal(there, data) {
		return nil
	}
	return f.writeAs(file, data, true)
}

// append writes data at the end of a file, which is at offset, durably.
func (f folder) append(file string, data []byte, offset int64) error {
	out, err := f.disk.Open(f.name(file))
	if err != nil {
		return err
	}
	return writeAt(out, data, offset)
}

// settle cuts a file to size and makes it durable, also what another process
// wrote and did not live to sync.
func (f folder) settle(file string, size int64) error {
	out, err := f.disk.Open(f.name(file))
	if err != nil {
		return err
	}
	err = errors.Join(out.Truncate(size), out.Sync(), out.Close())
	if err != nil {
		return err
	}
	return f.disk.SyncDir(f.path)
}

// writeAt writes, syncs and closes.
func writeAt(out store.File, data []byte, offset int64) error {
	if _, err := out.WriteAt(data, offset); err != nil {
		return errors.Join(err, out.Close())
	}
	if err := out.Sync(); err != nil {
		return errors.Join(err, out.Close())
	}
	return out.Close()
}

// lock takes the lock, waiting a while for another process.
func (f folder) lock() (io.Closer, error) {
	for range lockTries {
		held, err := f.disk.Lock(f.name(lockFile))
		if err == nil || !errors.Is(err, store.ErrLocked) {
			return held, err
		}
		time.Sleep(lockPause)
	}
	return nil, fmt.Errorf("%w: %s", ErrLocked, f.name(lockFile))
}
