//go:build unix

package supervise

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// process is a running command with its group.
type process struct {
	pid    int // the group's too
	fd     int // a pidfd, or -1
	events chan event
	tty    *terminal // nil without one that may be shared
}

// event is a change of the command's state.
type event struct {
	ended  bool
	exit   int            // when ended
	signal syscall.Signal // that ended or stopped it; 0 when it exited
}

// launch starts the command when the group is known to whom it concerns.
func launch(c Command, known func(*process)) (*process, error) {
	g, err := startGate(c)
	if err != nil {
		return nil, err
	}
	p := &process{pid: g.pid, fd: g.fd, events: make(chan event, 1)}
	known(p)
	if c.Stdin != nil {
		p.tty = openTerminal(func() { _ = p.signal(unix.SIGTSTP) })
		if term.IsTerminal(int(c.Stdin.Fd())) {
			p.tty.give(p.pid)
		}
	}
	if err := g.open(c); err != nil {
		p.close()
		return nil, err
	}
	go p.watch()
	return p, nil
}

// watch reaps the command and reports when it stops.
func (p *process) watch() {
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(p.pid, &status, unix.WUNTRACED, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil: // somebody else has reaped it
			p.events <- event{ended: true, exit: -1}
			return
		case status.Stopped():
			p.events <- event{signal: status.StopSignal()}
		case status.Exited():
			p.events <- event{ended: true, exit: status.ExitStatus()}
			return
		case status.Signaled():
			p.events <- event{ended: true, exit: -1, signal: status.Signal()}
			return
		}
	}
}

// signal sends to the whole group.
func (p *process) signal(s syscall.Signal) error { return signalGroup(p.pid, p.fd, s) }

// terminate wakes what is stopped, so that it can clean up.
func (p *process) terminate() { terminateGroup(p.pid, p.fd) }

func terminateGroup(pid, fd int) {
	// The group may have ended by itself; so it is with every signal here.
	_ = signalGroup(pid, fd, unix.SIGTERM)
	_ = signalGroup(pid, fd, unix.SIGCONT)
}

func (p *process) kill() { _ = p.signal(unix.SIGKILL) }

func (p *process) forward(s os.Signal) {
	if s, ok := s.(syscall.Signal); ok {
		_ = p.signal(s)
	}
}

// empty reports whether the group has no process left, or none that may be
// signalled. It reaps those that have become this process's own children, which
// happens where this process is the init of a container.
func (p *process) empty() bool {
	for {
		pid, err := unix.Wait4(-p.pid, nil, unix.WNOHANG, nil)
		if err != nil || pid <= 0 {
			break
		}
	}
	return emptyGroup(p.pid, p.fd)
}

func emptyGroup(pid, fd int) bool { return signalGroup(pid, fd, 0) != nil || allDead(pid) }

// suspended is called when the command was stopped. Where there is a terminal,
// the shell must learn of it: so this process gives the terminal back and stops
// too, with its job, and wakes the command when it is woken.
func (p *process) suspended(by syscall.Signal) {
	if p.tty == nil {
		return
	}
	if (by == unix.SIGTTIN || by == unix.SIGTTOU) && p.tty.give(p.pid) {
		// It needed the terminal and has it now.
		_ = p.signal(unix.SIGCONT)
		return
	}
	had := p.tty.takeBack(p.pid)
	stopped := p.tty.stopJob()
	if had {
		p.tty.give(p.pid)
	}
	if stopped || by != unix.SIGSTOP {
		_ = p.signal(unix.SIGCONT)
	}
}

func (p *process) close() {
	if p.tty.takeBack(p.pid) {
		p.tty.restore()
	}
	p.tty.close()
	if p.fd >= 0 {
		unix.Close(p.fd)
	}
}
