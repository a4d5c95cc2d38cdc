package auditing

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/audit/audittest"
	"github.com/wandertoken/wander/protocol/journal"
)

// shelf is a folder with the journals of a world.
type shelf struct {
	*testing.T
	*audittest.World
	dir string
}

func newShelf(t *testing.T, names ...string) *shelf {
	return &shelf{T: t, World: audittest.New(names...), dir: t.TempDir()}
}

func (s *shelf) folder(m *audittest.Author) string { return filepath.Join(s.dir, m.Name, "journal") }

// part is one segment: what its checkpoint carries, and how many of the member's
// frames follow.
type part struct {
	carried [][]byte // encoded when it was made
	frames  int
}

// save writes the journal of a member in segments, the last of which holds all
// frames that are left.
func (s *shelf) save(m *audittest.Author, parts ...part) {
	s.Helper()
	require.NoError(s, os.MkdirAll(s.folder(m), 0o755))
	rest, seq := m.Frames, uint64(1)
	for i, p := range append(parts, part{frames: -1}) {
		h := journal.SegmentHeader{
			Number: uint64(i + 1), FirstSeq: seq, Created: uint64(audittest.Start.UnixMilli() + int64(i)), Group: s.Group.ID(), Member: m.ID,
		}
		data := h.Append(nil)
		add := func(t journal.FrameType, body []byte) {
			data = journal.Frame{Type: t, Seq: seq, Body: body}.Append(data)
			seq++
		}
		add(journal.FrameCheckpointBegin, nil)
		if i > 0 {
			for _, body := range parts[i-1].carried {
				add(journal.FrameRecord, body)
			}
		}
		add(journal.FrameCheckpointEnd, nil)
		n := p.frames
		if n < 0 {
			n = len(rest)
		}
		for _, f := range rest[:n] {
			add(journal.FrameRecord, f.Body)
		}
		rest = rest[n:]
		require.NoError(s, os.WriteFile(filepath.Join(s.folder(m), journal.SegmentName(h.Number)), data, 0o600))
	}
}

// checkpoint ends a part with so many frames.
func checkpoint(m *audittest.Author, frames int, live ...journal.Record) part {
	p := part{frames: frames}
	for _, r := range append(m.Preamble(), live...) {
		p.carried = append(p.carried, m.Encode(r))
	}
	return p
}

func (s *shelf) saveAll() {
	for _, m := range s.List {
		s.save(m)
	}
}

func (s *shelf) segment(m *audittest.Author, number uint64) string {
	return filepath.Join(s.folder(m), journal.SegmentName(number))
}

func (s *shelf) run(paths ...string) (*Audit, error) {
	if len(paths) == 0 {
		paths = []string{s.dir}
	}
	return Run(Input{Paths: paths, Group: s.Group, Options: audit.Options{}})
}

func (s *shelf) audit(paths ...string) *Audit {
	s.Helper()
	a, err := s.run(paths...)
	require.NoError(s, err)
	return a
}

// kinds are those of the findings.
func kinds(a *Audit) (list []audit.Kind) {
	for _, f := range a.Findings {
		list = append(list, f.Kind)
	}
	return list
}
