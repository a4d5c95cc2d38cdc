//go:build unix

package main

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// notifyReload delivers the signal that asks to read the group file again.
func notifyReload(c chan<- os.Signal) { signal.Notify(c, syscall.SIGHUP) }

// isProcess reports whether there is a process with this number, as far as this one sees.
func isProcess(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
