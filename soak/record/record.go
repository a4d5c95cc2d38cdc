// Package record is the independent log of a soak run: what the protected
// programs say of themselves, and what the observer saw of their ends, on one
// clock. Neither the members nor their journals have any part in it.
//
// A record is one line of fixed size, appended with one write, so that lines of
// many processes never mix, but for one whose writer is killed meanwhile:
//
//	start tape     m3       4711 1a2b…  17 17 812345678901 812345601234 …
package record

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/wandertoken/wander/protocol/clock"
)

// Size is the length of each record in bytes, with its line end. The longest
// possible fields fit.
const Size = 320

// Kind says what a record is about.
type Kind string

// The kinds of records. The program writes the first three, the observer the
// last one.
const (
	Start Kind = "start" // the program's first act
	Alive Kind = "alive" // the program still runs; repeated
	End   Kind = "end"   // the program's last act before it exits by itself
	Gone  Kind = "gone"  // the system has closed the program's connection to the observer
)

// Record is one line of the log.
type Record struct {
	Kind     Kind
	Resource string
	Member   string
	PID      int
	Token    string
	Hop      uint64
	Fence    uint64
	At       clock.Instant // when it was so; records are written a little later
	Born     clock.Instant // when the system made the program's process, rounded down
	Deadline clock.Instant // of the grant
}

// ErrFormat is a line that is no record.
var ErrFormat = errors.New("not a record of the log")

// Line encodes the record. It fails if a field does not fit.
func (r Record) Line() ([]byte, error) {
	text := fmt.Sprintf("%s %s %s %d %s %d %d %d %d %d",
		r.Kind, r.Resource, r.Member, r.PID, r.Token, r.Hop, r.Fence, int64(r.At), int64(r.Born), int64(r.Deadline))
	if len(text) >= Size || len(strings.Fields(text)) != 10 {
		return nil, fmt.Errorf("%w: %q", ErrFormat, text)
	}
	return []byte(text + strings.Repeat(" ", Size-1-len(text)) + "\n"), nil
}

// Parse decodes one line.
func Parse(line string) (r Record, err error) {
	n, err := fmt.Sscanf(line, "%s %s %s %d %s %d %d %d %d %d",
		&r.Kind, &r.Resource, &r.Member, &r.PID, &r.Token, &r.Hop, &r.Fence, &r.At, &r.Born, &r.Deadline)
	if err != nil || n != 10 {
		return Record{}, fmt.Errorf("%w: %q", ErrFormat, line)
	}
	switch r.Kind {
	case Start, Alive, End, Gone:
		return r, nil
	}
	return Record{}, fmt.Errorf("%w: %q", ErrFormat, line)
}

// Read decodes a log. A last line without its end is one that is being written,
// and is left out. So is the beginning of a line, in front of a whole one, whose writer was
// killed while it wrote: the kernel then ends the write at the end of a page.
func Read(in io.Reader) ([]Record, error) {
	var list []Record
	lines := bufio.NewReaderSize(in, 64*Size)
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		r, err := Parse(line[max(0, len(line)-Size):])
		if err != nil {
			return list, err
		}
		list = append(list, r)
	}
}
