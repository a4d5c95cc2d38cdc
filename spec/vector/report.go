package vector

import (
	"bytes"
	"fmt"
)

// Report is what came of running a directory.
type Report struct {
	V         int       `json:"v"`
	Vectors   int       `json:"vectors"`   // that were run, with the scenarios
	Valid     int       `json:"valid"`     // of them those that are to be accepted
	Refused   int       `json:"refused"`   // and those that are to be refused
	Scenarios int       `json:"scenarios"` // and the scenarios
	Hashes    int       `json:"hashes"`    // that were compared
	Cases     int       `json:"cases"`     // behind each of them
	Failures  []Failure `json:"failures"`
}

// Failure is a vector that did not come out as it should.
type Failure struct {
	File string `json:"file"`
	Name string `json:"name"`
	Why  string `json:"why"` // for people
}

// Check runs all vectors and scenarios, and the short hashes, against this
// implementation. The error is one of the parties (ErrParties); what the vectors
// find is in the report.
func (s *Set) Check() (*Report, error) { return s.check(false) }

// CheckFull is Check with the full hashes, all cases of all objects. It takes
// some ten seconds.
func (s *Set) CheckFull() (*Report, error) { return s.check(true) }

func (s *Set) check(full bool) (*Report, error) {
	w, err := newWorld(s.Parties)
	if err != nil {
		return nil, err
	}
	r := &Report{V: Version, Failures: []Failure{}}
	for _, file := range s.names() {
		f := s.Files[file]
		for i := range f.Vectors {
			r.add(file, f.Vectors[i].Name, f.Vectors[i].check(w))
			if f.Vectors[i].Outcome == Valid {
				r.Valid++
			} else {
				r.Refused++
			}
		}
		for i := range f.Scenarios {
			r.add(file, f.Scenarios[i].Name, f.Scenarios[i].check(w))
			r.Scenarios++
		}
	}
	if s.Hashes != nil {
		r.checkHashes(w, s.Hashes, full)
	}
	return r, nil
}

func (r *Report) add(file, name string, err error) {
	r.Vectors++
	r.fail(file, name, err)
}

func (r *Report) fail(file, name string, err error) {
	if err != nil {
		r.Failures = append(r.Failures, Failure{File: file, Name: name, Why: err.Error()})
	}
}

// check runs one vector.
func (v *Vector) check(w *world) error {
	hash, err := readers[v.Object](w, v)
	is, cause := outcome(err)
	switch {
	case is != v.Outcome && err == nil:
		return fmt.Errorf("accepted, and should be refused with %s", v.Outcome)
	case is == "":
		return fmt.Errorf("refused with an error that has no name, and not with %s: %w", v.Outcome, err)
	case is != v.Outcome:
		return fmt.Errorf("refused with %s, and not with %s: %w", is, v.Outcome, err)
	case v.Cause != "" && cause != v.Cause:
		return fmt.Errorf("refused because of %q, and not of %s: %w", cause, v.Cause, err)
	case v.Signed != nil && hash != nil && !bytes.Equal(hash, v.Signed.Hash):
		return fmt.Errorf("its hash is %x, and not %x", hash, []byte(v.Signed.Hash))
	}
	return nil
}
