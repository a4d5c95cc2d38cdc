package cluster

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
)

// Line is what is kept of a run: a line of JSON in a file to which each campaign
// appends.
type Line struct {
	V      int    `json:"v"` // of this format: 1
	Seed   uint64 `json:"seed"`
	Preset string `json:"preset"`
	Mix    string `json:"mix"`
	// Args are the flags that make the run again.
	Args  string `json:"args"`
	Tally Tally  `json:"tally"`
	// Violations are empty when every rule held. Shrunk are the flags of the
	// smallest run that breaks the first of them.
	Violations []string `json:"violations,omitempty"`
	Shrunk     string   `json:"shrunk,omitempty"`
}

// NewLine is the line of a run.
func NewLine(r *Result) Line {
	l := Line{
		V: 1, Seed: r.Setting.Seed, Preset: r.Setting.Preset.String(), Mix: r.Setting.Mix.String(),
		Args: r.Setting.Args(), Tally: r.tally(),
	}
	for _, v := range r.Violations {
		l.Violations = append(l.Violations, v.String())
	}
	return l
}

// ErrLine says that a file of lines holds something else.
var ErrLine = errors.New("not a line of a campaign")

// AppendLine writes a line.
func AppendLine(w io.Writer, l Line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// maxLine bounds a line, in bytes: a failing run may have many violations.
const maxLine = 16 << 20

// lineBegin is how every line begins.
const lineBegin = `{"v":1,"seed":`

// ReadLines reads the lines of a file, and says how many bytes they are. A last line
// that a campaign was ended in the middle of is left out: whoever appends to the file
// has to cut it off there. Errors match ErrLine, or are the reader's.
func ReadLines(r io.Reader) (list []Line, whole int64, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	in.Split(scanWithEnds)
	for number := 1; in.Scan(); number++ {
		text := in.Bytes()
		begin := text[:min(len(text), len(lineBegin))]
		if text[len(text)-1] != '\n' && strings.HasPrefix(lineBegin, string(begin)) {
			break
		}
		var l Line
		if err := json.Unmarshal(text, &l); err != nil || l.V != 1 {
			return nil, 0, fmt.Errorf("%w: line %d", ErrLine, number)
		}
		list, whole = append(list, l), whole+int64(len(text))
	}
	return list, whole, in.Err()
}

// scanWithEnds is bufio.ScanLines that leaves a line its end.
func scanWithEnds(data []byte, atEOF bool) (advance int, line []byte, err error) {
	n := bytes.IndexByte(data, '\n') + 1
	if n == 0 && atEOF {
		n = len(data)
	}
	if n == 0 {
		return 0, nil, nil
	}
	return n, data[:n], nil
}

// AddLine adds what a line says.
func (s *Summary) AddLine(l Line) error {
	mix, err := ParseMix(l.Mix)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLine, err)
	}
	if names := l.Tally.unknown(); len(names) > 0 {
		return fmt.Errorf("%w: it counts %q", ErrLine, names)
	}
	if s.mixes[mix] == nil {
		s.mixes[mix] = make(Tally)
	}
	s.mixes[mix].Add(l.Tally)
	if len(l.Violations) > 0 {
		s.Failed = append(s.Failed, l.Args)
	}
	return nil
}

// Campaign makes runs, several at once, until there are no more settings or the
// context ends; runs that have begun are finished. Done is called after each, never
// by two goroutines at once, in the order in which they end; its error ends the
// campaign and is returned.
func Campaign(ctx context.Context, settings iter.Seq[Setting], jobs int, done func(*Result) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next, end := iter.Pull(settings)
	defer end()
	var giving, taking sync.Mutex
	take := func() (Setting, bool) {
		giving.Lock()
		defer giving.Unlock()
		if ctx.Err() != nil {
			return Setting{}, false
		}
		return next()
	}
	var workers sync.WaitGroup
	var failure error
	for range jobs {
		workers.Go(func() {
			for s, ok := take(); ok; s, ok = take() {
				r := s.Run(nil)
				taking.Lock()
				if failure == nil {
					failure = done(r)
				}
				if failure != nil {
					stop(failure)
				}
				taking.Unlock()
			}
		})
	}
	workers.Wait()
	return failure
}
