package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/wandertoken/wander/soak/rig"
)

const (
	// folderPrefix begins the names of temporary folders, and lockFile in one is
	// locked while its run lasts: what a killed run has left is found by them.
	folderPrefix = "wander-soak-"
	lockFile     = "soak.lock"

	// maxFolder keeps the paths of sockets below what the system permits.
	maxFolder = 60
)

// runInner returns at once unless this process was started by another one of
// this program.
func runInner() { rig.Inner(inner) }

// outer makes the folder, builds the programs, and has the run done within
// namespaces.
func outer(o options) (int, error) {
	sweepFolders()
	temporary := o.Out == ""
	dir, err := makeFolder(o.Out)
	if err != nil {
		return exitUsage, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		defer lock.Close()
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err == nil {
		err = programs(o, dir)
	}
	if err != nil {
		if temporary {
			os.RemoveAll(dir)
		}
		return exitFailure, err
	}
	o.Out = dir
	code, err := rig.Outer(o)
	if temporary && !o.Keep && code != exitBroken && code != exitFailure {
		return code, errors.Join(err, os.RemoveAll(dir))
	}
	os.Remove(filepath.Join(dir, lockFile))
	fmt.Println("kept:", dir)
	return code, err
}

// makeFolder makes the folder of a run.
func makeFolder(name string) (string, error) {
	if name == "" {
		return os.MkdirTemp("", folderPrefix)
	}
	dir, err := filepath.Abs(name)
	if err == nil && len(dir) > maxFolder {
		err = fmt.Errorf("-out %s: longer than %d bytes, too long for the sockets in it", dir, maxFolder)
	}
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", err
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("-out %s: the folder is not empty", dir)
	}
	return dir, err
}

// sweepFolders removes this user's temporary folders of runs that were killed.
// Nothing else is left of these.
func sweepFolders() {
	found, _ := filepath.Glob(filepath.Join(os.TempDir(), folderPrefix+"*", lockFile))
	for _, name := range found {
		var folder unix.Stat_t
		if unix.Lstat(filepath.Dir(name), &folder) != nil || int(folder.Uid) != os.Geteuid() {
			continue
		}
		lock, err := os.OpenFile(name, os.O_WRONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
		if err != nil {
			continue
		}
		if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			os.RemoveAll(filepath.Dir(name))
		}
		lock.Close()
	}
}

// programs puts this program and wander into the folder: go run removes its own
// in the end, and processes are easier to tell apart by their paths.
func programs(o options, dir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := copyFile(self, filepath.Join(dir, "soak"), 0o700); err != nil {
		return err
	}
	target := filepath.Join(dir, "wander")
	if o.Wander != "" {
		return copyFile(o.Wander, target, 0o700)
	}
	return rig.Build(target, "cmd/wander", "run soak within the module, or name the program with -wander")
}

func copyFile(from, to string, mode os.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
