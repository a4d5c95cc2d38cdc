package supervise

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes puts the command into a group of its own and asks for a descriptor
// of the process in fd.
func attributes(fd *int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, PidFD: fd}
}

// signalGroup sends a signal to every process of the group that pid leads, or
// asks with signal 0 whether there is one. Through a pidfd it cannot hit a
// stranger, even when the leader has been reaped and its number used again;
// kernels before 6.9 do not know that way.
func signalGroup(pid, fd int, s syscall.Signal) error {
	if fd >= 0 {
		err := unix.PidfdSendSignal(fd, s, nil, unix.PIDFD_SIGNAL_PROCESS_GROUP)
		if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
			return err
		}
	}
	return unix.Kill(-pid, s)
}

// allDead reports whether what is left of the group waits only to be reaped by
// its parent, which may take its time: the init of some containers and virtual
// machines does.
func allDead(group int) bool {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, e := range entries {
		if s := statOf(e.Name()); s.group == group && s.state != 'Z' && s.state != 'X' {
			return false
		}
	}
	return true
}

// parentOf is a process's parent, 0 when that is not known.
func parentOf(pid int) int { return statOf(strconv.Itoa(pid)).parent }

// stat is the beginning of /proc/pid/stat: proc(5).
type stat struct {
	state         byte
	parent, group int
}

// statOf reads a process named by its number; of anything else it returns the
// zero value.
func statOf(pid string) (s stat) {
	if pid[0] < '0' || pid[0] > '9' {
		return s
	}
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return s
	}
	// The program's name is in parentheses and may contain some.
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 3 {
		return s
	}
	s.state = fields[0][0]
	s.parent, _ = strconv.Atoi(string(fields[1]))
	s.group, _ = strconv.Atoi(string(fields[2]))
	return s
}

// selfPath is this very program, even when its file has been replaced since.
func selfPath() (string, error) { return "/proc/self/exe", nil }
