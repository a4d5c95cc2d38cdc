package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Modes of what the store creates: a journal names peers and resources, which
// is nobody else's business.
const (
	dirMode  = 0o700
	fileMode = 0o600
)

// OS returns the operating system's file system.
func OS() FS { return osFS{} }

type osFS struct{}

type osFile struct{ *os.File }

// MkdirAll syncs the parent of a directory that exists, too: a process before
// may have been killed between making and syncing it. That those further up
// are durable follows, because each was synced before the next was made.
func (o osFS) MkdirAll(dir string) error {
	parent := filepath.Dir(dir)
	_, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = o.MkdirAll(parent); err == nil {
			err = os.Mkdir(dir, dirMode)
		}
	}
	if err != nil {
		return err
	}
	if err := syncDir(parent); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil // somebody else made dir in a directory that is not ours to open
}

func (osFS) List(dir string) ([]Entry, error) {
	found, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, e := range found {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since: only possible for a reader beside a running member
		}
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() {
			entries = append(entries, Entry{Name: e.Name(), Size: info.Size()})
		}
	}
	return entries, nil
}

func (osFS) ReadFile(name string, limit int64) ([]byte, error) {
	if limit < 0 {
		return os.ReadFile(name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

func (osFS) Create(name string) (File, error) {
	return openFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
}

func (osFS) Open(name string) (File, error) { return openFile(name, os.O_WRONLY) }

func openFile(name string, flags int) (File, error) {
	f, err := os.OpenFile(name, flags, fileMode)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFS) Rename(from, to string) error { return rename(from, to) }
func (osFS) Remove(name string) error     { return os.Remove(name) }
func (osFS) SyncDir(dir string) error     { return syncDir(dir) }
func (f osFile) Sync() error              { return syncData(f.File) }

// Lock also writes the process id into the file, for the error that the next
// one gets; the lock itself is the operating system's and ends with the
// process, however it ends.
func (osFS) Lock(name string) (io.Closer, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		defer f.Close()
		if errors.Is(err, errHeld) {
			return nil, fmt.Errorf("%w%s: %s", ErrLocked, holder(f), name)
		}
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0) // only for people to read
	}
	return f, nil
}

// errHeld is what lock returns when somebody else has it.
var errHeld = errors.New("held")

// holder names the process that wrote its id into a lock file.
func holder(f *os.File) string {
	const longest = 20 // digits of a 64-bit number
	text, err := io.ReadAll(io.LimitReader(f, longest))
	pid, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || bad != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}
