package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"

	"github.com/wandertoken/wander/node/api"
)

// grantVariables are what a command learns of its grant.
var grantVariables = []string{
	"WANDER_RESOURCE", "WANDER_MEMBER", "WANDER_TOKEN", "WANDER_HOP", "WANDER_FENCE", "WANDER_DEADLINE",
	"WANDER_PERMIT_FILE",
}

// forgetOuterGrant keeps a run within a run from passing on what belongs to the
// outer one.
func forgetOuterGrant() {
	for _, name := range grantVariables {
		os.Unsetenv(name)
	}
}

// permitFile is the grant's permit where the command can read it. The zero
// value is of a grant without one.
type permitFile struct{ path string }

func writePermit(g api.Grant) (permitFile, error) {
	if g.Permit == "" {
		return permitFile{}, nil
	}
	f, err := os.CreateTemp("", "wander-permit-*.pem") // 0600
	if err != nil {
		return permitFile{}, err
	}
	p := permitFile{f.Name()}
	_, err = f.WriteString(g.Permit)
	if err = errors.Join(err, f.Close()); err != nil {
		p.remove()
		return permitFile{}, err
	}
	return p, nil
}

func (p permitFile) environ() []string {
	if p.path == "" {
		return nil
	}
	return []string{"WANDER_PERMIT_FILE=" + p.path}
}

func (p permitFile) remove() {
	if p.path != "" {
		os.Remove(p.path)
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
