//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyReload delivers the signal that asks to read the group file again.
func notifyReload(c chan<- os.Signal) { signal.Notify(c, syscall.SIGHUP) }
