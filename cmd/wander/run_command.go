package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
)

// grantVariables are what a command learns of its grant.
var grantVariables = []string{
	"WANDER_RESOURCE", "WANDER_MEMBER", "WANDER_TOKEN", "WANDER_HOP", "WANDER_FENCE", "WANDER_DEADLINE", permitVariable,
	gateFenceVariable, returnVariable, returnP95Variable,
}

// forgetOuterGrant keeps a run within a run from passing on what belongs to the
// outer one.
func forgetOuterGrant() {
	for _, name := range grantVariables {
		os.Unsetenv(name)
	}
}

// lookPath finds the command as a shell would, before anything is waited for.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) { // PATH says so, as in any shell
		return path, nil
	}
	return path, err
}

func isNotFound(err error) bool {
	return errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist)
}

// fileOf is the file behind a command's stream, or the process's own.
func fileOf(stream any, own *os.File) *os.File {
	if f, ok := stream.(*os.File); ok {
		return f
	}
	return own
}
