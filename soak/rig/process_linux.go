// Package rig is what the commands have in common that run real members on machines of
// their own: the process within the namespaces, and a group that the wander program itself
// makes.
package rig

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/wandertoken/wander/soak/probe"
	"github.com/wandertoken/wander/soak/world"
)

const (
	// runArg, as the first argument, makes a program the one within the namespaces.
	runArg = "__run"
	// ProbeArg, as the first argument, makes a program a protected one.
	ProbeArg = "__probe"

	exitFailure = 1
	module      = "github.com/wandertoken/wander/"
)

// Inner returns at once unless this process was started by another one of this program.
// Then it is a protected program, or does run, and ends with the code that run returns.
func Inner[O any](run func(O) (int, error)) {
	world.RunFirst()
	if len(os.Args) < 2 {
		return
	}
	var err error
	code := 0
	switch os.Args[1] {
	case ProbeArg:
		var o probe.Order
		if o, err = probe.Parse(os.Args[2:]); err == nil {
			err = o.Run()
		}
	case runArg:
		var o O
		if err = json.Unmarshal([]byte(os.Args[2]), &o); err == nil {
			code, err = run(o)
		}
	default:
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		code = max(code, exitFailure)
	}
	os.Exit(code)
}

// Outer has the run that Inner was given done within namespaces, and returns its exit code.
func Outer(options any) (int, error) {
	text, err := json.Marshal(options)
	if err != nil {
		return exitFailure, err
	}
	code, err := world.Enter([]string{runArg, string(text)})
	if errors.Is(err, world.ErrUnsupported) {
		code, err = world.UnsupportedCode, Unsupported(err)
	}
	return code, err
}

// Unsupported says what this machine lacks.
func Unsupported(err error) error {
	return fmt.Errorf("%w; root, or user namespaces and a /dev/net/tun that may be opened, are needed", err)
}

// Folder is an empty one for the files of a run: the one to keep, or a temporary one.
func Folder(keep, prefix string) (string, error) {
	if keep == "" {
		return os.MkdirTemp("", prefix)
	}
	dir, err := filepath.Abs(keep)
	if err != nil {
		return "", err
	}
	if list, err := os.ReadDir(dir); err == nil && len(list) > 0 {
		return "", fmt.Errorf("-keep %s: the folder is not empty: name a new one", keep)
	}
	return dir, os.MkdirAll(dir, 0o700)
}

// Build builds a program of this module. The hint says what to do where that fails.
func Build(target, from, hint string) error {
	out, err := exec.Command("go", "build", "-o", target, module+from).CombinedOutput()
	if err != nil {
		return fmt.Errorf("building %s: %w: %s; %s", from, err, strings.TrimSpace(string(out)), hint)
	}
	return nil
}
