//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// apart puts a process into a group of its own, so that Ctrl-C reaches it only
// through stop, and its workers end with it.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// stop asks a process to end, or ends it with its workers at once.
func stop(cmd *exec.Cmd, atOnce bool) {
	if atOnce {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		return
	}
	_ = cmd.Process.Signal(syscall.SIGINT)
}
