//go:build unix

package supervise

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// tree is everything that a command has started and that still runs: its process
// group, and on Linux whatever descends from it, in other groups and sessions
// too. The runner and each guard have one of their own.
type tree struct {
	leader identity // the command's process, which leads the group
	fd     int      // its pidfd, or -1
	cgroup string   // the command's own, or empty
	// roots are the processes whose descendants the tree is: the guards, which
	// the system makes the parents of orphans, and perhaps the runner. They are
	// no part of it.
	roots []identity
}

// self is this process.
func self() identity { return identityOf(os.Getpid()) }

// terminate asks everything to end, and wakes what is stopped, so that it can
// clean up.
func (t *tree) terminate() {
	reached := t.signalGroup(unix.SIGTERM) == nil
	_ = t.signalGroup(unix.SIGCONT)
	for _, m := range t.members(true) {
		if m.group != t.leader.PID || !reached {
			m.signal(unix.SIGTERM)
			m.signal(unix.SIGCONT)
		}
	}
}

// kill kills everything that it finds. A process that is born meanwhile takes another
// kill, unless there is a cgroup.
func (t *tree) kill() {
	killCgroup(t.cgroup)
	_ = t.signalGroup(unix.SIGKILL)
	for _, m := range t.members(false) {
		m.signal(unix.SIGKILL)
	}
}

// signalGroup sends a signal to the whole process group. The command may have
// ended by itself; so it is with every signal.
func (t *tree) signalGroup(s syscall.Signal) error {
	if t.leader.PID == 0 {
		return unix.ESRCH
	}
	return signalGroup(t.leader, t.fd, s)
}

// empty reports whether nothing is left but what waits to be reaped, as far as
// can be seen: a guard's word that everything is gone is exact, this is not.
func (t *tree) empty() bool {
	return len(t.members(false)) == 0 && !populated(t.cgroup) &&
		(t.signalGroup(0) != nil || allDead(t.leader.PID))
}

func (t *tree) close() {
	if t.fd >= 0 {
		unix.Close(t.fd)
		t.fd = -1
	}
}
