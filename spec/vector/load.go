package vector

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

const (
	// maxFile bounds a file of vectors, in bytes: many times the largest of
	// spec/vectors.
	maxFile = 32 << 20
	// maxFiles bounds the files of a directory.
	maxFiles = 256
	// maxSteps bounds the steps of a scenario, and the records of its journal.
	maxSteps = 256
	// maxAfter bounds the wait before a step, in milliseconds: an hour, six times
	// the longest timer of a handoff.
	maxAfter = 3600 * 1000
	// maxTimers bounds the timers that fire in one wait: ten a second for an
	// hour. A member whose timer does not advance would never end.
	maxTimers = 10 * 3600
)

// The files of a directory that hold no vectors.
const (
	PartiesFile = "keys.json"
	HashesFile  = "hashes.json"
	IndexFile   = "index.json"
)

// Set is a directory of vectors.
type Set struct {
	Parties Parties
	Files   map[string]*File // by their names, without folder
	Hashes  *Hashes          // nil if there is no such file
	Index   *Index           // nil if there is no such file
}

// Load reads all JSON files of a directory, not those of its folders. If it has an
// index, everything that this lists has to be there, and nothing else. Errors:
// ErrNoVectors, ErrFile, ErrVersion, ErrIncomplete, ErrName, ErrObject, ErrClass,
// ErrOutcome, ErrBytes, with the file and the place in it.
func Load(dir fs.FS) (*Set, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if path.Ext(e.Name()) == ".json" {
			names = append(names, e.Name())
		}
	}
	if len(names) > maxFiles {
		return nil, fmt.Errorf("%w: %d files, at most %d", ErrFile, len(names), maxFiles)
	}
	if !slices.Contains(names, PartiesFile) {
		return nil, fmt.Errorf("%w: there is no %s", ErrNoVectors, PartiesFile)
	}
	set := &Set{Files: make(map[string]*File)}
	for _, name := range names {
		if err := set.read(dir, name); err != nil {
			return nil, fmt.Errorf("%s: %w", path.Base(name), err)
		}
	}
	if set.Index != nil {
		if err := set.Index.check(names, set.Files); err != nil {
			return nil, err
		}
	}
	return set, set.validate()
}

func (s *Set) read(dir fs.FS, name string) error {
	switch name {
	case PartiesFile:
		return readJSON(dir, name, &s.Parties, func() int { return s.Parties.V })
	case HashesFile:
		s.Hashes = new(Hashes)
		return readJSON(dir, name, s.Hashes, func() int { return s.Hashes.V })
	case IndexFile:
		s.Index = new(Index)
		return readJSON(dir, name, s.Index, func() int { return s.Index.V })
	}
	f := new(File)
	s.Files[name] = f
	return readJSON(dir, name, f, func() int { return f.V })
}

// readJSON reads one file strictly: an unknown key is a mistake of whoever
// wrote it.
func readJSON(dir fs.FS, name string, into any, version func() int) error {
	f, err := dir.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return err
	}
	if len(text) > maxFile {
		return fmt.Errorf("%w: more than %d bytes", ErrFile, maxFile)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", ErrFile, placed(text, err))
	}
	if dec.More() {
		return fmt.Errorf("%w: more than one value", ErrFile)
	}
	if v := version(); v != Version {
		return fmt.Errorf("%w: %d, this program knows %d", ErrVersion, v, Version)
	}
	return nil
}

// placed adds the line to an error, where JSON says where it is.
func placed(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	offset := int64(-1)
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	if offset < 0 {
		return err
	}
	line := 1 + bytes.Count(text[:min(offset, int64(len(text)))], []byte("\n"))
	return fmt.Errorf("line %d: %w", line, err)
}

func (s *Set) validate() error {
	if s.Hashes != nil {
		if err := s.Hashes.validate(); err != nil {
			return fmt.Errorf("%s: %w", HashesFile, err)
		}
	}
	seen, count := make(map[string]bool), 0
	named := func(file, name string) error {
		if name == "" || seen[name] {
			return fmt.Errorf("%s: %w: %q", file, ErrName, name)
		}
		seen[name] = true
		count++
		return nil
	}
	for _, file := range s.names() {
		for i := range s.Files[file].Vectors {
			v := &s.Files[file].Vectors[i]
			if err := errors.Join(named(file, v.Name), v.validate()); err != nil {
				return fmt.Errorf("%s: %q: %w", file, v.Name, err)
			}
		}
		for _, sc := range s.Files[file].Scenarios {
			if err := errors.Join(named(file, sc.Name), sc.validate()); err != nil {
				return fmt.Errorf("%s: %q: %w", file, sc.Name, err)
			}
		}
	}
	if count == 0 {
		return ErrNoVectors
	}
	return nil
}

func (v *Vector) validate() error {
	if readers[v.Object] == nil {
		return fmt.Errorf("%w: %q, known are %s", ErrObject, v.Object, strings.Join(Objects(), ", "))
	}
	for _, name := range []string{v.Outcome, v.Cause} {
		if names[name] == nil && name != Valid && (name != "" || v.Outcome == "") {
			return fmt.Errorf("%w: %q", ErrOutcome, name)
		}
	}
	switch v.Class {
	case ClassValid, ClassInvalid, ClassMalicious:
	default:
		return fmt.Errorf("%w: %q", ErrClass, v.Class)
	}
	if (v.Class == ClassValid) != (v.Outcome == Valid) {
		return fmt.Errorf("%w: %s with the outcome %q", ErrClass, v.Class, v.Outcome)
	}
	return nil
}

// names are the files' names in order.
func (s *Set) names() []string {
	var list []string
	for name := range s.Files {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// Inputs are the inputs of all vectors of an object, see Objects, each with
// its name: seeds for fuzzers. They are the same in every run, in order.
func (s *Set) Inputs(object string) []Input {
	var list []Input
	for _, file := range s.names() {
		for _, v := range s.Files[file].Vectors {
			if v.Object == object {
				list = append(list, Input{Name: v.Name, Data: v.Input, Valid: v.Outcome == Valid})
			}
		}
	}
	return list
}

// Input is the input of one vector.
type Input struct {
	Name  string
	Data  []byte
	Valid bool // it has to be accepted
}
