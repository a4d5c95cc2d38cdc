// Command faults makes ten deliberate mistakes, one at a time in a scratch copy of
// the tree, and says which of the machines that beat the code catch each:
//
//	go run ./spec/faults                  # all of them, for docs/faults.md
//	go run ./spec/faults -fault tombstone # those whose name has this in it
//
// It is run from the top of the tree, and takes the files that git knows.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ErrFault says that a fault does not fit the tree any more.
var ErrFault = errors.New("the fault does not apply")

// patience is the longest that one detector may take, compiling included. A run
// that hangs counts as caught by nobody.
const patience = 10 * time.Minute

func main() {
	only := flag.String("fault", "", "only faults whose name contains this")
	with := flag.String("with", "", "only detectors whose name contains this")
	seeds := flag.Int("seeds", 40, "most seeds of the cluster simulation")
	first := flag.Int64("first", time.Now().Unix(), "the first of them")
	fuzztime := flag.String("fuzztime", "20s", "how long the fuzz target runs when the corpora find nothing")
	flag.Parse()
	missed, tried := 0, 0
	for _, f := range faults {
		if !strings.Contains(f.name, *only) {
			continue
		}
		tried++
		caught, err := try(f, f.detectors(*seeds, *first, *fuzztime), *with, os.Stdout)
		if err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
		if !caught {
			missed++
		}
	}
	if tried == 0 {
		fmt.Fprintf(os.Stderr, "error: no fault has %q in its name\n", *only)
		os.Exit(1)
	}
	if missed > 0 {
		fmt.Fprintf(os.Stderr, "error: %d faults are not caught\n", missed)
		os.Exit(1)
	}
}

// detector is a command that fails when it sees that something is wrong.
type detector struct {
	name    string
	command []string
	shows   []string // what a line says that shows why; the first such line is printed
}

func (f fault) detectors(seeds int, first int64, fuzztime string) []detector {
	list := []detector{
		{"simulation", []string{
			"go", "run", "./cmd/wander-lab", "cluster", "--seeds", fmt.Sprint(seeds), "--first", fmt.Sprint(first), "--no-shrink",
		}, []string{"  at ", "seed"}},
		{"simulation, scripts", []string{"go", "test", "./sim/cluster", "-run", "TestScripts"}, []string{"    --- FAIL", "--- FAIL"}},
		{"vectors", []string{"go", "test", "./spec/vector/..."}, []string{"    --- FAIL", "--- FAIL"}},
		{"fuzz corpora", []string{"go", "test", "./fuzz"}, []string{"    --- FAIL", "--- FAIL"}},
		{"fuzz " + f.fuzz + " " + fuzztime, []string{
			"go", "test", "./fuzz", "-run", "^$", "-fuzz", "^" + f.fuzz + "$", "-fuzztime", fuzztime, "-parallel", "2",
		}, []string{"--- FAIL", "panic"}},
		{"tests of the package", []string{"go", "test", "./" + filepath.Dir(f.file)}, []string{"--- FAIL"}},
	}
	for _, m := range f.models {
		list = append(list, detector{"model " + m, []string{"spec/model/check.sh", "--trail", m}, []string{"trail "}})
	}
	return list
}

// try puts a fault into a copy of the tree and asks the detectors. The model has a
// mistake of its own for it, and so does not count as having caught this one.
func try(f fault, detectors []detector, with string, out io.Writer) (caught bool, err error) {
	dir, err := os.MkdirTemp("", "fault")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := copyTree(dir); err != nil {
		return false, err
	}
	if err := f.apply(dir); err != nil {
		return false, err
	}
	fmt.Fprintf(out, "%s\n", f.name)
	for _, d := range detectors {
		if !strings.Contains(d.name, with) {
			continue
		}
		seen, line, took := d.run(dir)
		fmt.Fprintf(out, "  %-26s %-6v %6.1f s  %s\n", d.name, map[bool]string{true: "caught", false: "-"}[seen], took.Seconds(), line)
		caught = caught || seen && d.name != "tests of the package" && !d.isModel()
	}
	return caught, nil
}

func (d detector) isModel() bool { return strings.HasPrefix(d.name, "model ") }

// run asks one detector. The model's trails show the mistake and end well.
func (d detector) run(dir string) (caught bool, line string, took time.Duration) {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	c := exec.CommandContext(ctx, d.command[0], d.command[1:]...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-trimpath") // or nothing that was compiled elsewhere is of use
	begun := time.Now()
	text, err := c.CombinedOutput()
	took = time.Since(begun)
	for _, sign := range d.shows {
		for l := range strings.Lines(string(text)) {
			if line == "" && strings.HasPrefix(l, sign) {
				line = strings.TrimSpace(l)
			}
		}
	}
	if d.isModel() {
		return line != "" && !strings.Contains(line, "nothing"), line, took
	}
	if strings.HasPrefix(string(text), "# ") || strings.Contains(string(text), "\n# ") { // what go run and go test say
		return false, "the fault does not compile", took
	}
	return err != nil && ctx.Err() == nil, line, took
}

// apply makes the mistake in a tree.
func (f fault) apply(root string) error {
	name := filepath.Join(root, f.file)
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	wrong, err := f.in(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(wrong), 0o600)
}

// in is the text with the mistake.
func (f fault) in(text string) (string, error) {
	if n := strings.Count(text, f.old); n != 1 {
		return "", fmt.Errorf("%w: %s: its place occurs %d times in %s", ErrFault, f.name, n, f.file)
	}
	return strings.Replace(text, f.old, f.new, 1), nil
}

// copyTree copies what git knows of the tree here.
func copyTree(to string) error {
	list, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		return fmt.Errorf("git ls-files, at the top of the tree: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		if err := copyFile(name, filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, data, info.Mode().Perm())
}
