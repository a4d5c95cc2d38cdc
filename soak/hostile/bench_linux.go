package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wandertoken/wander/soak/rig"
)

const (
	// spareTime is how much longer than its attack the run of one group may take before
	// all is given up: for starting, for ending, and for the audit.
	spareTime = 5 * time.Minute
)

func runInner() { rig.Inner(inner) }

// outer builds the programs, and has the measurement done within namespaces.
func outer(o options) (int, error) {
	dir, err := rig.Folder(o.Keep, "wh-")
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
			if err := rig.Build(*p.program, p.from, "run hostile within the module, or name the programs with -wander and -liar"); err != nil {
				return exitFailure, err
			}
		}
		if *p.program, err = filepath.Abs(*p.program); err != nil {
			return exitFailure, err
		}
	}
	return rig.Outer(o)
}

// errMissing says that the table lacks lines.
var errMissing = errors.New("not all kinds were measured")

// inner is the measurement within the namespaces. A group that does not come about leaves
// out its line, and those that are compared with it.
func inner(o options) (int, error) {
	missing, groups := false, 0
	try := func(k badKind, preset string, n int) (row, error) {
		groups++ // a kind that is named several times is measured as often
		return o.try(groups, k, preset, n)
	}
	failed := func(name, preset string, n int, err error) {
		fmt.Fprintf(os.Stderr, "error: %s, %s, %d: %v\n", name, preset, n, err)
		missing = true
	}
	fmt.Printf("| %s |\n|%s\n", strings.Join(heads, " | "), strings.Repeat(" --- |", len(heads)))
	for _, n := range o.Sizes {
		for _, preset := range o.Presets {
			control, err := try(badKind{name: "nothing"}, preset, n)
			if err != nil {
				failed("nothing", preset, n, err)
				continue
			}
			control.control = control.figures
			fmt.Println(control)
			for _, name := range o.Kinds {
				r, err := try(kindOf(name), preset, n)
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
		return exitFailure, errMissing
	}
	return exitOK, nil
}

// try runs one group, whose folder has a number.
func (o options) try(number int, k badKind, preset string, n int) (row, error) {
	guard := time.AfterFunc(o.For+spareTime, func() {
		fmt.Fprintln(os.Stderr, "error: the run does not come to its end")
		os.Exit(exitFailure) // everything else ends with it
	})
	defer guard.Stop()
	dir := filepath.Join(o.Dir, fmt.Sprintf("%d-%s-%s-%d", number, k.name, preset, n))
	b := &band{options: o, Group: &rig.Group{Program: o.Wander, Folder: dir}, kind: k, preset: preset, honest: n, notes: io.Discard}
	if o.Verbose {
		b.notes = os.Stderr
	}
	defer b.Close()
	if err := b.open(); err != nil {
		return row{}, err
	}
	return b.attack()
}
