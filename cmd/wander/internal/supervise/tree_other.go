//go:build unix && !linux

package supervise

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// startLeader starts the gate in a process group of its own.
func startLeader(path string, args []string, attr *syscall.ProcAttr) (pid int, cgroup string, err error) {
	pid, err = syscall.ForkExec(path, args, attr)
	return pid, "", err
}

func dieWithParent() {}

// becomeSubreaper does nothing here: orphans go to the system's first process.
func becomeSubreaper() {}

// Adopt does nothing here.
func Adopt() {}

func adopter() []identity { return nil }

func reapAdopted() {}

func (t *tree) open() {}

// leaderRuns reports whether the command's own process has not been reaped.
func (t *tree) leaderRuns() bool { return unix.Kill(t.leader.PID, 0) != unix.ESRCH }

// signalGroup sends a signal to every process of the group, or asks with signal
// 0 whether there is one.
func signalGroup(leader identity, _ int, s syscall.Signal) error { return unix.Kill(-leader.PID, s) }

// member is one process of a tree.
type member struct {
	identity
	group int
}

func (member) signal(syscall.Signal) {}

// members are not known here: only the group is.
func (t *tree) members(bool) []member { return nil }

// allDead does not know here: only what is reaped counts as gone.
func allDead(int) bool { return false }

// parentOf does not know here.
func parentOf(int) int { return 0 }

func identityOf(pid int) identity { return identity{PID: pid} }

func killCgroup(string) {}

func removeCgroup(string) {}

func populated(string) bool { return false }

func selfPath() (string, error) { return os.Executable() }

func dup(from, to int) error { return unix.Dup2(from, to) }

// alive reports whether there is a process of this number.
func alive(id identity) bool { return id.PID > 0 && unix.Kill(id.PID, 0) != unix.ESRCH }
