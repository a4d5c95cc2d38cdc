package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// makeCgroup makes a cgroup (version 2) below this process's own, or returns nil
// where there is none that may be divided. The name is this process's identity,
// which no other has.
func makeCgroup() *os.File {
	own := ownCgroup()
	if own == "" || !mayDivide(own) {
		return nil
	}
	removeAbandoned(own)
	id := self()
	path := filepath.Join(own, fmt.Sprintf(cgroupName, id.PID, id.Start))
	if os.Mkdir(path, 0o755) != nil {
		return nil
	}
	dir, err := os.Open(path)
	if err == nil {
		if _, err = os.Stat(filepath.Join(path, "cgroup.kill")); err == nil { // from kernel 5.14 on
			return dir
		}
		dir.Close()
	}
	removeCgroup(path)
	return nil
}

// cgroupName has the number and the start of the guard that made it.
const cgroupName = "wander-%d-%d"

// removeAbandoned removes the empty cgroups that nobody was left to remove.
func removeAbandoned(own string) {
	entries, _ := os.ReadDir(own)
	for _, e := range entries {
		var maker identity
		if n, _ := fmt.Sscanf(e.Name(), cgroupName, &maker.PID, &maker.Start); n == 2 && identityOf(maker.PID) != maker {
			_ = removeCgroups(filepath.Join(own, e.Name()))
		}
	}
}

// ownCgroup is the folder of this process's cgroup, or empty.
func ownCgroup() string {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		path, found := strings.CutPrefix(line, "0::")
		path = strings.TrimSuffix(path, "\n")
		if found && !strings.HasPrefix(path, "/..") && !strings.HasSuffix(path, " (deleted)") {
			if mount := cgroupMount(); mount != "" {
				return filepath.Join(mount, path)
			}
		}
	}
	return ""
}

// cgroupMount is where the whole tree of cgroups is mounted, or empty:
// proc_pid_mountinfo(5).
func cgroupMount() string {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		before, after, _ := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if strings.HasPrefix(after, "cgroup2 ") && len(fields) > 4 && fields[3] == "/" {
			return fields[4]
		}
	}
	return ""
}

// mayDivide is delegated, but for tests of systems without cgroups.
var mayDivide = delegated

// delegated reports whether a cgroup is this process's to divide. An ordinary
// user may divide what is theirs. The superuser could divide any, but under
// systemd only what it says it has delegated: it alone writes to the others.
func delegated(dir string) bool {
	if uid := os.Geteuid(); uid != 0 {
		var s unix.Stat_t
		return unix.Stat(dir, &s) == nil && int(s.Uid) == uid
	}
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return true
	}
	value := make([]byte, 1)
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		if n, err := unix.Getxattr(dir, name, value); err == nil && string(value[:n]) == "1" {
			return true
		}
	}
	return false
}

// killCgroup kills everything in a cgroup and in those below it at one blow.
func killCgroup(path string) {
	if path != "" {
		_ = os.WriteFile(filepath.Join(path, "cgroup.kill"), []byte("1"), 0)
	}
}

// populated reports whether a process is in the cgroup or below it.
func populated(path string) bool {
	if path == "" {
		return false
	}
	text, err := os.ReadFile(filepath.Join(path, "cgroup.events"))
	return err == nil && bytes.Contains(text, []byte("populated 1"))
}

// removeCgroup removes an empty cgroup, with those that its processes made. What
// has been reaped may count as being there for another moment.
func removeCgroup(path string) {
	for range removeAttempts {
		if path == "" || removeCgroups(path) == nil {
			return
		}
		time.Sleep(sweepInterval)
	}
}

// removeAttempts bounds that moment: one second.
const removeAttempts = 100

func removeCgroups(path string) error {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() {
			_ = removeCgroups(filepath.Join(path, e.Name()))
		}
	}
	return unix.Rmdir(path)
}
