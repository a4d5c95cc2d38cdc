//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// passedSignals go to the command. SIGTSTP and SIGCONT are the terminal's
// business, which package supervise sees to.
var passedSignals = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2,
}

// catchSignals catches what is to end the wait or go to the command. A signal that the
// caller ignores (nohup) stays ignored, for the command too.
func catchSignals() (<-chan os.Signal, func()) {
	c := make(chan os.Signal, 16)
	for _, s := range passedSignals {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
	return c, func() { signal.Stop(c) }
}

func keepFromChildren(f *os.File) { syscall.CloseOnExec(int(f.Fd())) }
