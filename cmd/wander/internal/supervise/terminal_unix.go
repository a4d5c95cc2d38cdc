//go:build unix

package supervise

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminal is the controlling terminal, shared with the command. The methods of
// a nil terminal do nothing.
type terminal struct {
	file  *os.File
	own   int         // this process's group
	modes *term.State // as they were before the command
	stops chan os.Signal
	quit  chan struct{}
	ended chan struct{} // closed when nothing calls stop any more
}

// openTerminal returns nil unless this process has a controlling terminal and
// is in its foreground: a terminal that somebody else uses is not to be taken
// away. It calls stop when somebody asks this process to stop (SIGTSTP), which
// the command, being in another group, does not hear.
func openTerminal(stop func()) *terminal {
	file, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	t := &terminal{
		file: file, own: unix.Getpgrp(),
		stops: make(chan os.Signal, 1), quit: make(chan struct{}), ended: make(chan struct{}),
	}
	if t.foreground() != t.own {
		file.Close()
		return nil
	}
	if modes, err := term.GetState(int(file.Fd())); err == nil {
		t.modes = modes
	}
	signal.Notify(t.stops, unix.SIGTSTP)
	go t.pass(stop)
	return t
}

func (t *terminal) pass(stop func()) {
	defer close(t.ended)
	for {
		select {
		case <-t.stops:
			stop()
		case <-t.quit:
			return
		}
	}
}

// foreground is the terminal's foreground group, -1 when there is none.
func (t *terminal) foreground() int {
	group, err := unix.IoctlGetInt(int(t.file.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return -1
	}
	return group
}

// give makes the group the terminal's foreground group, if the terminal is this
// process's to give, and reports whether the group has it now.
func (t *terminal) give(group int) bool {
	if t == nil {
		return false
	}
	switch t.foreground() {
	case group:
		return true
	case t.own:
		return unix.IoctlSetPointerInt(int(t.file.Fd()), unix.TIOCSPGRP, group) == nil
	default:
		return false
	}
}

// takeBack undoes give, and reports whether the group had the terminal.
func (t *terminal) takeBack(group int) bool {
	if t == nil || t.foreground() != group {
		return false
	}
	t.fromBackground(func() { _ = unix.IoctlSetPointerInt(int(t.file.Fd()), unix.TIOCSPGRP, t.own) })
	return true
}

// restore undoes the command's changes to the terminal's modes: a program that
// was killed does not do that itself.
func (t *terminal) restore() {
	if t.modes != nil {
		t.fromBackground(func() { _ = term.Restore(int(t.file.Fd()), t.modes) })
	}
}

// fromBackground lets f change the terminal, for which a process in the
// background is stopped unless it ignores this signal.
func (t *terminal) fromBackground(f func()) {
	signal.Ignore(unix.SIGTTOU)
	defer signal.Reset(unix.SIGTTOU)
	f()
}

// stopJob stops this process and the others of its job, and returns when they
// are woken. It reports false, and stops nothing, when nobody would wake them.
//
// It sends SIGSTOP: once a Go program has caught SIGTSTP, that does not stop it
// any more.
func (t *terminal) stopJob() bool {
	if !controlled(t.own) {
		return false
	}
	woken := make(chan os.Signal, 1)
	signal.Notify(woken, unix.SIGCONT)
	defer signal.Stop(woken)
	if unix.Kill(0, unix.SIGSTOP) != nil {
		return false
	}
	<-woken
	return true
}

// controlled reports whether a shell with job control looks after the group:
// whether an ancestor of this process has a parent in the same session that is
// not in the group (POSIX: the group is not orphaned).
func controlled(group int) bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	for pid := os.Getppid(); pid > 1; pid = parentOf(pid) {
		s, err := unix.Getsid(pid)
		if err != nil || s != session {
			return false
		}
		if g, err := unix.Getpgid(pid); err != nil || g != group {
			return err == nil
		}
	}
	return false
}

func (t *terminal) close() {
	if t == nil {
		return
	}
	signal.Stop(t.stops)
	close(t.quit)
	<-t.ended
	t.file.Close()
}
