//go:build !unix

package main

import "os/exec"

func apart(*exec.Cmd) {}

// stop ends a process. Its workers end when they find it gone.
func stop(cmd *exec.Cmd, _ bool) { _ = cmd.Process.Kill() }
