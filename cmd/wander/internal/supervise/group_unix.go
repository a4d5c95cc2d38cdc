//go:build unix && !linux

package supervise

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes puts the command into a group of its own.
func attributes(*int) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// signalGroup sends a signal to every process of the group, or asks with signal
// 0 whether there is one.
func signalGroup(pid, _ int, s syscall.Signal) error { return unix.Kill(-pid, s) }

// allDead does not know here: only what is reaped counts as gone.
func allDead(int) bool { return false }

// parentOf does not know here.
func parentOf(int) int { return 0 }

func selfPath() (string, error) { return os.Executable() }
