package shard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/internal/atomicfile"
)

// version is that of the files.
const version = 1

// Job is what is split. The parts of one job have the same.
type Job struct {
	// Program is the program that does it, see Program.
	Program string `json:"program"`
	// Args are its arguments, without those that change no result.
	Args json.RawMessage `json:"args"`
}

// Record is what one run gave.
type Record struct {
	// Unit and Seed name the run within the job.
	Unit string `json:"unit"`
	Seed uint64 `json:"seed"`
	// Value is the result. Failure is there instead where the run failed.
	Value   []byte        `json:"value,omitempty"`
	Failure string        `json:"failure,omitempty"`
	Took    time.Duration `json:"took_ns"`
}

// Errors about a folder of parts.
var (
	ErrNone    = errors.New("contains no shard")
	ErrMissing = errors.New("missing")
	ErrOther   = errors.New("of another job")
	ErrDamaged = errors.New("not a whole shard")
)

// MissingError names the parts that a folder lacks.
type MissingError struct {
	Job   Job
	Parts []Part // one at least
}

// Error names the parts.
func (e *MissingError) Error() string {
	var numbers []string
	for i := 0; i < len(e.Parts); {
		from := e.Parts[i].Index
		to := from
		for i++; i < len(e.Parts) && e.Parts[i].Index == to+1; i++ {
			to++
		}
		if to > from {
			numbers = append(numbers, fmt.Sprintf("%d to %d", from, to))
		} else {
			numbers = append(numbers, fmt.Sprint(from))
		}
	}
	noun, verb := "shard", "is"
	if len(e.Parts) > 1 {
		noun, verb = "shards", "are"
	}
	return fmt.Sprintf("%s %s of %d %s missing", noun, strings.Join(numbers, ", "), e.Parts[0].Of, verb)
}

// Unwrap is ErrMissing.
func (e *MissingError) Unwrap() error { return ErrMissing }

// header is the first line of a file.
type header struct {
	V int `json:"v"` // version
	Job
	Part
}

// trailer is the last line of a file.
type trailer struct {
	Records *int `json:"records"`
}

// name is where the part's file is.
func name(dir string, p Part) string { return filepath.Join(dir, p.file()) }

// Write writes the file of a part, in the place of what is there. After a crash there is the whole file, or what was there
// before. It returns the file's name.
func Write(dir string, job Job, part Part, records []Record) (string, error) {
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	count := len(records)
	err := lines.Encode(header{version, job, part})
	for i := range records {
		err = errors.Join(err, lines.Encode(&records[i]))
	}
	err = errors.Join(err, lines.Encode(trailer{&count}))
	if err != nil {
		return "", err
	}
	atomicfile.Sweep(dir)
	return name(dir, part), atomicfile.Replace(name(dir, part), text.Bytes(), 0o644)
}

// Done reports whether the part's file is there, whole and of this job. Errors: ErrOther if it is of another job; ErrDamaged;
// those of files.
func Done(dir string, job Job, part Part) (bool, error) {
	h, _, err := readFile(name(dir, part))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	return true, h.matches(job, part, name(dir, part))
}

// matches is ErrOther for a file that is not of the job and the part.
func (h header) matches(job Job, part Part, file string) error {
	switch {
	case h.Program != job.Program:
		return fmt.Errorf("%w: another program made %s", ErrOther, file)
	case !bytes.Equal(h.Args, job.Args):
		return fmt.Errorf("%w: %s has other arguments: %s", ErrOther, file, h.Args)
	case h.Part != part:
		return fmt.Errorf("%w: %s is shard %v", ErrOther, file, h.Part)
	}
	return nil
}

// Set is what the runs of all parts gave.
type Set struct {
	Job     Job
	records map[run]Record
	used    map[run]bool
}

type run struct {
	unit string
	seed uint64
}

// Read reads the parts in a folder. Errors: ErrNone; ErrMissing, a MissingError, if a part is missing; ErrOther if two are of
// different jobs; ErrDamaged; those of files.
func Read(dir string) (*Set, error) {
	names, err := filepath.Glob(filepath.Join(dir, "shard-*-of-*.jsonl"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		if _, err := os.Stat(dir); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", dir, ErrNone)
	}
	slices.Sort(names)
	set := &Set{records: map[run]Record{}, used: map[run]bool{}}
	var first header
	there := map[int]bool{}
	for i, n := range names {
		h, records, err := readFile(n)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first, set.Job = h, h.Job
		}
		if err := h.matches(set.Job, Part{h.Index, first.Of}, n); err != nil {
			return nil, err
		}
		there[h.Index] = true
		for _, r := range records {
			key := run{r.Unit, r.Seed}
			if _, twice := set.records[key]; twice {
				return nil, fmt.Errorf("%w: %s has seed %d of %s, as another shard has", ErrDamaged, n, r.Seed, r.Unit)
			}
			set.records[key] = r
		}
	}
	var missing []Part
	for i := 1; i <= first.Of; i++ {
		if !there[i] {
			missing = append(missing, Part{i, first.Of})
		}
	}
	if len(missing) > 0 {
		return nil, &MissingError{set.Job, missing}
	}
	return set, nil
}

// Take is what a run gave. It counts as used. It may be called by several goroutines only one at a time.
func (s *Set) Take(unit string, seed uint64) (Record, bool) {
	r, ok := s.records[run{unit, seed}]
	s.used[run{unit, seed}] = ok
	return r, ok
}

// Unused is how many runs nobody has taken.
func (s *Set) Unused() (count int) {
	for key := range s.records {
		if !s.used[key] {
			count++
		}
	}
	return count
}

// maxLine bounds a line, in bytes: a run gives some kilobytes, and the largest some megabytes.
const maxLine = 256 << 20

// readFile reads a file. Errors: ErrDamaged; those of files.
func readFile(file string) (h header, records []Record, err error) {
	f, err := os.Open(file)
	if err != nil {
		return h, nil, err
	}
	defer f.Close()
	h, records, err = read(f)
	if err == nil && filepath.Base(file) != h.file() {
		err = fmt.Errorf("%w: it is shard %v", ErrDamaged, h.Part)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return h, records, err
}

// read reads the lines of a file.
func read(r io.Reader) (h header, records []Record, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	line := func(into any) error {
		if !in.Scan() {
			return errors.Join(ErrDamaged, in.Err())
		}
		d := json.NewDecoder(bytes.NewReader(in.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(into); err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return nil
	}
	if err := line(&h); err != nil {
		return h, nil, err
	}
	if h.V != version || h.Of < 1 || h.Of > maxParts || h.Index < 1 || h.Index > h.Of {
		return h, nil, fmt.Errorf("%w: version %d, shard %v", ErrDamaged, h.V, h.Part)
	}
	for {
		var l struct {
			Record
			trailer
		}
		if err := line(&l); err != nil {
			return h, nil, err
		}
		if l.Records == nil {
			records = append(records, l.Record)
			continue
		}
		if *l.Records != len(records) || in.Scan() {
			return h, nil, fmt.Errorf("%w: it counts %d runs and has %d", ErrDamaged, *l.Records, len(records))
		}
		return h, records, in.Err()
	}
}
