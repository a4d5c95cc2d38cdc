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
		if state, g := statOf(e.Name()); g == group && state != 'Z' && state != 'X' {
			return false
		}
	}
	return true
}

// statOf is the state and the group of a process named by its number: proc(5),
// /proc/pid/stat. What is not a process has group 0.
func statOf(pid string) (state byte, group int) {
	if pid[0] < '0' || pid[0] > '9' {
		return 0, 0
	}
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, 0
	}
	// The program's name is in parentheses and may contain some.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 {
		return 0, 0
	}
	group, _ = strconv.Atoi(string(fields[2]))
	return fields[0][0], group
}

// selfPath is this very program, even when its file has been replaced since.
func selfPath() (string, error) { return "/proc/self/exe", nil }
