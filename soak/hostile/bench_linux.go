package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/wandertoken/wander/soak/probe"
	"github.com/wandertoken/wander/soak/world"
)

const (
	// runArg and probeArg, as the first argument, make this program the one within the
	// namespaces, and a protected program.
	runArg   = "__run"
	probeArg = "__probe"

	module = "github.com/wandertoken/wander/"

	// spareTime is how much longer than its attack the run of one group may take before
	// all is given up: for starting, for ending, and for the audit.
	spareTime = 5 * time.Minute
)

func runInner() {
	world.RunFirst()
	if len(os.Args) < 2 {
		return
	}
	var err error
	switch os.Args[1] {
	case probeArg:
		var o probe.Order
		if o, err = probe.Parse(os.Args[2:]); err == nil {
			err = o.Run()
		}
	case runArg:
		var o options
		if err = json.Unmarshal([]byte(os.Args[2]), &o); err == nil {
			err = inner(o)
		}
	default:
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(exitFailure)
	}
	os.Exit(exitOK)
}

// outer builds the programs, and has the measurement done within namespaces.
func outer(o options) (int, error) {
	dir, err := o.folder()
	if err != nil {
		return exitFailure, err
	}
	if o.Keep == "" {
		defer os.RemoveAll(dir)
	}
	o.Dir = dir
	for _, p := range []struct {
		program *string
		from    string
	}{{&o.Wander, "cmd/wander"}, {&o.Liar, "soak/liar"}} {
		if *p.program == "" {
			*p.program = filepath.Join(dir, filepath.Base(p.from)+"-program")
			out, err := exec.Command("go", "build", "-o", *p.program, module+p.from).CombinedOutput()
			if err != nil {
				return exitFailure, fmt.Errorf("building %s: %w: %s; run hostile within the module, or name the programs with -wander and -liar", p.from, err, strings.TrimSpace(string(out)))
			}
		}
		if *p.program, err = filepath.Abs(*p.program); err != nil {
			return exitFailure, err
		}
	}
	text, err := json.Marshal(o)
	if err != nil {
		return exitFailure, err
	}
	code, err := world.Enter([]string{runArg, string(text)})
	if errors.Is(err, world.ErrUnsupported) {
		code, err = exitUnsupported, fmt.Errorf("%w; root, or user namespaces and a /dev/net/tun that may be opened, are needed", err)
	}
	return code, err
}

// folder is an empty one for the files of the run.
func (o options) folder() (string, error) {
	if o.Keep == "" {
		return os.MkdirTemp("", "wh-")
	}
	dir, err := filepath.Abs(o.Keep)
	if err != nil {
		return "", err
	}
	if list, err := os.ReadDir(dir); err == nil && len(list) > 0 {
		return "", fmt.Errorf("-keep %s: the folder is not empty: name a new one", o.Keep)
	}
	return dir, os.MkdirAll(dir, 0o700)
}

// errMissing says that the table lacks lines.
var errMissing = errors.New("not all kinds were measured")

// inner is the measurement within the namespaces. A group that does not come about leaves
// out its line, and those that are compared with it.
func inner(o options) error {
	missing := false
	failed := func(name, preset string, n int, err error) {
		fmt.Fprintf(os.Stderr, "error: %s, %s, %d: %v\n", name, preset, n, err)
		missing = true
	}
	fmt.Printf("| %s |\n|%s\n", strings.Join(heads, " | "), strings.Repeat(" --- |", len(heads)))
	for _, n := range o.Sizes {
		for _, preset := range o.Presets {
			control, err := o.try(badKind{name: "nothing"}, preset, n)
			if err != nil {
				failed("nothing", preset, n, err)
				continue
			}
			control.control = control.figures
			fmt.Println(control)
			for _, name := range o.Kinds {
				r, err := o.try(kindOf(name), preset, n)
				if err != nil {
					failed(name, preset, n, err)
					continue
				}
				r.control = control.figures
				fmt.Println(r)
			}
		}
	}
	if missing {
		return errMissing
	}
	return nil
}

// try runs one group.
func (o options) try(k badKind, preset string, n int) (row, error) {
	guard := time.AfterFunc(o.For+spareTime, func() {
		fmt.Fprintln(os.Stderr, "error: the run does not come to its end")
		os.Exit(exitFailure) // everything else ends with it
	})
	defer guard.Stop()
	b := &band{options: o, kind: k, preset: preset, honest: n, dir: filepath.Join(o.Dir, fmt.Sprintf("%s-%s-%d", k.name, preset, n)), notes: io.Discard}
	if o.Verbose {
		b.notes = os.Stderr
	}
	defer b.close()
	if err := b.open(); err != nil {
		return row{}, err
	}
	return b.attack()
}
