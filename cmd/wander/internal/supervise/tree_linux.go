package supervise

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// startLeader starts the gate in a process group of its own, and in a cgroup of
// its own where that is permitted. The system kills it when this guard dies.
func startLeader(path string, args []string, attr *syscall.ProcAttr) (pid int, cgroup string, err error) {
	attr.Sys = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	if dir := makeCgroup(); dir != nil {
		defer dir.Close()
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, int(dir.Fd())
		if pid, err = syscall.ForkExec(path, args, attr); err == nil {
			return pid, dir.Name(), nil
		}
		removeCgroup(dir.Name())
		attr.Sys.UseCgroupFD = false
	}
	pid, err = syscall.ForkExec(path, args, attr)
	return pid, "", err
}

// dieWithParent binds what this thread executes to the guard's life. startLeader
// has bound the first thread only, and the thread that executes a program takes
// the place of all others.
func dieWithParent() { _ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0) }

// becomeSubreaper makes this process the parent of every descendant that loses
// its own.
func becomeSubreaper() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// adopting says that Adopt has succeeded.
var adopting bool

// Adopt lets this process find what the command has started even when all its
// guards have been killed. It is for a program that starts no process but
// through this package: everything that descends from it is then taken for the
// command's. A process that has children already, or that is the init of its
// container, where strangers' orphans end up, adopts nothing.
func Adopt() {
	if os.Getpid() == 1 || len((&tree{roots: []identity{self()}}).members(false)) > 0 {
		return
	}
	becomeSubreaper()
	adopting = true
}

// adopter is this process if it adopts.
func adopter() []identity {
	if !adopting {
		return nil
	}
	return []identity{self()}
}

// reapAdopted reaps what has become this process's child and has ended.
func reapAdopted() {
	for adopting {
		if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err != nil || pid <= 0 {
			return
		}
	}
}

// open makes a descriptor of the leader, if it lives.
func (t *tree) open() {
	fd, err := unix.PidfdOpen(t.leader.PID, 0)
	if err != nil {
		return
	}
	if identityOf(t.leader.PID) != t.leader {
		unix.Close(fd)
		return
	}
	t.fd = fd
}

// leaderRuns reports whether the command's own process has not ended.
func (t *tree) leaderRuns() bool {
	s := statOf(strconv.Itoa(t.leader.PID))
	return s.start == t.leader.Start && !s.ended()
}

// signalGroup sends a signal to every process of the group that the leader
// leads, or asks with signal 0 whether there is one. Through a pidfd it cannot
// hit a stranger, even when the leader has been reaped and its number used again.
// Kernels before 6.9 do not know that way: there the group is found by its number
// only as long as the leader is not reaped.
func signalGroup(leader identity, fd int, s syscall.Signal) error {
	if fd >= 0 {
		err := unix.PidfdSendSignal(fd, s, nil, unix.PIDFD_SIGNAL_PROCESS_GROUP)
		if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
			return err
		}
	}
	if identityOf(leader.PID) != leader {
		return unix.ESRCH
	}
	return unix.Kill(-leader.PID, s)
}

// member is one process of a tree.
type member struct {
	identity
	group int
}

// signal sends to this very process, or to none when it has ended.
func (m member) signal(s syscall.Signal) {
	fd, err := unix.PidfdOpen(m.PID, 0)
	if err == nil {
		defer unix.Close(fd)
	}
	if identityOf(m.PID) != m.identity {
		return
	}
	if err == nil {
		_ = unix.PidfdSendSignal(fd, s, nil, 0)
	} else if errors.Is(err, unix.ENOSYS) { // kernels before 5.3
		_ = unix.Kill(m.PID, s)
	}
}

// members are the processes of the tree that have not ended, as one look at
// /proc shows them. With unsupervised those below the guards of a run within
// this run are left out: its own runner asks them to end.
func (t *tree) members(unsupervised bool) []member {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	all := make(map[int]stat)
	children := make(map[int][]int)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if s := statOf(e.Name()); s.state != 0 {
			all[pid] = s
			children[s.parent] = append(children[s.parent], pid)
		}
	}
	seen := make(map[int]bool)
	var pending []int
	for _, r := range t.roots {
		if s, alive := all[r.PID]; alive && s.start == r.Start {
			seen[r.PID] = true
			pending = append(pending, r.PID)
		}
	}
	var found []member
	for len(pending) > 0 {
		parent := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		for _, pid := range children[parent] {
			if seen[pid] {
				continue
			}
			seen[pid] = true
			s := all[pid]
			if !s.ended() {
				found = append(found, member{identity{pid, s.start}, s.group})
			}
			if !unsupervised || !isGuard(pid) {
				pending = append(pending, pid)
			}
		}
	}
	return found
}

// isGuard reports whether a process says that it is a guard.
func isGuard(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	args := bytes.Split(text, []byte{0})
	return err == nil && len(args) > 1 && string(args[1]) == guardArg
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
		if s := statOf(e.Name()); s.group == group && !s.ended() {
			return false
		}
	}
	return true
}

// parentOf is a process's parent, 0 when that is not known.
func parentOf(pid int) int { return statOf(strconv.Itoa(pid)).parent }

// identityOf is the process that has this number now.
func identityOf(pid int) identity { return identity{pid, statOf(strconv.Itoa(pid)).start} }

// stat is what /proc/pid/stat tells: proc(5).
type stat struct {
	state         byte
	parent, group int
	threads       int
	start         uint64
}

// ended reports whether the process only waits to be reaped. One whose first
// thread has ended looks like that too, while its others go on.
func (s stat) ended() bool {
	return s.state == 0 || (s.state == 'Z' || s.state == 'X') && s.threads < 2
}

// The places of the fields behind the program's name.
const (
	statParent  = 1
	statGroup   = 2
	statThreads = 17
	statStart   = 19
)

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
	if len(fields) <= statStart {
		return s
	}
	s.state = fields[0][0]
	s.parent, _ = strconv.Atoi(string(fields[statParent]))
	s.group, _ = strconv.Atoi(string(fields[statGroup]))
	s.threads, _ = strconv.Atoi(string(fields[statThreads]))
	s.start, _ = strconv.ParseUint(string(fields[statStart]), 10, 64)
	return s
}

// selfPath is this very program, even when its file has been replaced since.
func selfPath() (string, error) { return "/proc/self/exe", nil }

func dup(from, to int) error { return unix.Dup3(from, to, 0) }

// alive reports whether a process has not ended.
func alive(id identity) bool {
	s := statOf(strconv.Itoa(id.PID))
	return s.start == id.Start && !s.ended()
}
