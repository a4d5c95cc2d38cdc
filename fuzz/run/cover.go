package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// profile is which blocks of statements were reached, by their place in the form
// of go test -coverprofile.
type profile map[string]block

type block struct {
	statements int
	reached    bool
}

// underTest is what coverage is measured of, below the module's path.
var underTest = []string{"crypto", "protocol", "node", "ca", "internal"}

// coverage runs every input that there is, committed or found, once more, and
// prints which part of each package they reach.
func (s *search) coverage(ctx context.Context) error {
	all := make(profile)
	binaries := make(map[string]string)
	for _, t := range s.targets {
		if binaries[t.pkg.ImportPath] == "" {
			name, err := s.coverBinary(ctx, t.pkg)
			if err != nil {
				return err
			}
			binaries[t.pkg.ImportPath] = name
		}
		p, err := s.reach(ctx, t, binaries[t.pkg.ImportPath])
		if err != nil {
			return err
		}
		fmt.Fprintf(s.out, "%-34s %10d statements reached\n", t, p.reached())
		all.merge(p)
	}
	all.print(s.out)
	if s.options.out == "" {
		return nil
	}
	return all.save(s.options.out + ".cover")
}

func (s *search) coverBinary(ctx context.Context, p pack) (string, error) {
	var packages []string
	for _, folder := range underTest {
		packages = append(packages, p.Module.Path+"/"+folder+"/...")
	}
	name := filepath.Join(s.builder.scratch, strings.ReplaceAll(p.path(), "/", "-")+".cover.test")
	_, err := goCommand(ctx, p.Dir, "test", "-c", "-trimpath=false", "-cover", "-covermode=set", "-coverpkg="+strings.Join(packages, ","), "-o", name, ".")
	return name, err
}

// reach is what the inputs of one target reach.
func (s *search) reach(ctx context.Context, t target, binary string) (profile, error) {
	dir := filepath.Join(s.builder.scratch, "replay", t.name)
	corpus := filepath.Join(dir, "testdata", "fuzz", t.name)
	if err := os.MkdirAll(corpus, 0o777); err != nil {
		return nil, err
	}
	for _, from := range []string{
		filepath.Join(t.pkg.Dir, "testdata", "fuzz", t.name),
		filepath.Join(s.cache, filepath.FromSlash(t.pkg.ImportPath), t.name),
	} {
		if err := linkAll(from, corpus); err != nil {
			return nil, err
		}
	}
	out := filepath.Join(dir, "profile")
	cmd := exec.CommandContext(ctx, binary, "-test.run=^"+t.name+"$", "-test.coverprofile="+out)
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%v: replaying its inputs: %w\n%s", t, err, text)
	}
	return loadProfile(out)
}

// linkAll puts links to all files of one folder into another.
func linkAll(from, to string) error {
	entries, err := os.ReadDir(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		linked := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		if !errors.Is(linked, os.ErrExist) {
			err = errors.Join(err, linked)
		}
	}
	return err
}

var errProfile = errors.New("not a coverage profile")

// loadProfile reads what go test has written, or save.
func loadProfile(name string) (profile, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := make(profile)
	lines := bufio.NewScanner(file)
	lines.Scan() // the mode
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) != 3 {
			return nil, fmt.Errorf("%s: %w", name, errProfile)
		}
		statements, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, errProfile)
		}
		p.merge(profile{fields[0]: {statements, fields[2] != "0"}})
	}
	return p, lines.Err()
}

func (p profile) merge(q profile) {
	for place, b := range q {
		b.reached = b.reached || p[place].reached
		p[place] = b
	}
}

func (p profile) reached() (statements int) {
	for _, b := range p {
		if b.reached {
			statements += b.statements
		}
	}
	return statements
}

// print shows each package of which something was reached.
func (p profile) print(out io.Writer) {
	reached, all := make(map[string]int), make(map[string]int)
	for place, b := range p {
		folder := path.Dir(place)
		all[folder] += b.statements
		if b.reached {
			reached[folder] += b.statements
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nreached\tstatements\tshare\t package")
	for _, folder := range slices.Sorted(maps.Keys(reached)) {
		fmt.Fprintf(w, "%d\t%d\t%.0f %%\t %s\n", reached[folder], all[folder], 100*float64(reached[folder])/float64(all[folder]), folder)
	}
	w.Flush()
}

// save writes a profile that go tool cover reads.
func (p profile) save(name string) error {
	var text strings.Builder
	text.WriteString("mode: set\n")
	for _, place := range slices.Sorted(maps.Keys(p)) {
		count := 0
		if p[place].reached {
			count = 1
		}
		fmt.Fprintf(&text, "%s %d %d\n", place, p[place].statements, count)
	}
	return os.WriteFile(name, []byte(text.String()), 0o666)
}
