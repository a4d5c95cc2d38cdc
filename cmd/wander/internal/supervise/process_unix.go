//go:build unix

package supervise

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// process is a running command.
type process struct {
	*tree
	guard  *Guard
	events <-chan event
	tty    *terminal // nil without one that may be shared
}

// launch makes the gate the command when its guards know of it.
func launch(c Command, g *Guard, known func(*process)) (*process, error) {
	p := &process{tree: &g.tree, guard: g, events: g.events}
	known(p)
	if g.stdin != nil {
		p.tty = openTerminal(func() { p.forward(unix.SIGTSTP) })
		if term.IsTerminal(int(g.stdin.Fd())) {
			p.tty.give(p.leader.PID)
		}
	}
	if err := openGate(g.gate, c, g.deadline); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// forward sends to the whole group.
func (p *process) forward(s os.Signal) {
	if s, ok := s.(syscall.Signal); ok {
		_ = p.signalGroup(s)
	}
}

// deserted is called when every guard has died. Orphans of the command are this
// process's children from then on, if it adopts any.
func (p *process) deserted() {
	p.guard.deserted = true
	p.roots = append(p.roots, adopter()...)
}

// suspended is called when the command was stopped. Where there is a terminal,
// the shell must learn of it: so this process gives the terminal back and stops
// too, with its job, and wakes the command when it is woken.
func (p *process) suspended(by syscall.Signal) {
	if p.tty == nil {
		return
	}
	if (by == unix.SIGTTIN || by == unix.SIGTTOU) && p.tty.give(p.leader.PID) {
		// It needed the terminal and has it now.
		p.forward(unix.SIGCONT)
		return
	}
	had := p.tty.takeBack(p.leader.PID)
	stopped := p.tty.stopJob()
	if had {
		p.tty.give(p.leader.PID)
	}
	if stopped || by != unix.SIGSTOP {
		p.forward(unix.SIGCONT)
	}
}

func (p *process) close() {
	if p.tty.takeBack(p.leader.PID) {
		p.tty.restore()
	}
	p.tty.close()
}
