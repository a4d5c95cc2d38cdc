package auditing

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wandertoken/wander/internal/atomicfile"
	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/journal"
)

// evidenceSuffix is how the names of evidence files end.
const evidenceSuffix = ".evidence"

// WriteEvidence writes one file for each proof into a folder, which it makes if
// there is none, and returns their paths in the order of the findings. A file has
// the same name and contents whoever audits the same two objects; one that is
// there is replaced.
func (a *Audit) WriteEvidence(dir string) (files []string, err error) {
	proofs := a.proofs()
	if len(proofs) == 0 {
		return nil, nil
	}
	objects, err := a.exhibits(proofs)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	atomicfile.Sweep(dir) // of an audit that was ended in the middle
	for _, f := range proofs {
		certificate, authorities := a.Trust.Certificate(f.Accused)
		e, err := evidence.New(a.Group.ID(), authorities, certificate, objects[f.Exhibits[0]], objects[f.Exhibits[1]])
		if err != nil {
			return files, fmt.Errorf("%v: %w", f, err)
		}
		text, err := e.Text()
		if err != nil {
			return files, err
		}
		name := filepath.Join(dir, fileName(a.Trust.Name(f.Accused), e))
		if err := atomicfile.Replace(name, text, 0o644); err != nil {
			return files, err
		}
		files = append(files, name)
	}
	return files, nil
}

// fileName is readable, and the same for the same two objects.
func fileName(member string, e *evidence.Evidence) string {
	kind := strings.ReplaceAll(e.Kind.String(), " ", "-")
	return fmt.Sprintf("%s-%s-%s-%s%s", member, e.Accused.Short(), kind, e.ID().String()[:16], evidenceSuffix)
}

func (a *Audit) proofs() (list []audit.Finding) {
	for _, f := range a.Findings {
		if f.Proved() {
			list = append(list, f)
		}
	}
	return list
}

// exhibits reads the objects of some findings again.
func (a *Audit) exhibits(proofs []audit.Finding) (map[audit.Exhibit]evidence.Object, error) {
	wanted := make(map[audit.RecordRef][]audit.Exhibit)
	segments := make(map[*segment]int) // and whose they are
	for _, f := range proofs {
		for _, e := range f.Exhibits {
			wanted[e.RecordRef] = append(wanted[e.RecordRef], e)
			if s := a.segmentOf(e.RecordRef); s != nil {
				segments[s] = e.Journal
			}
		}
	}
	found := make(map[audit.Exhibit]evidence.Object)
	for s, index := range segments {
		if err := a.exhibitsIn(s, index, wanted, found); err != nil {
			return nil, err
		}
	}
	for _, list := range wanted {
		for _, e := range list {
			if _, ok := found[e]; !ok {
				return nil, fmt.Errorf("%w: record %d", audit.ErrGone, e.Seq)
			}
		}
	}
	return found, nil
}

// segmentOf is the file in which a record stands.
func (a *Audit) segmentOf(p audit.RecordRef) (in *segment) {
	src := a.journals[p.Journal]
	for i, first := range src.first {
		if first > 0 && first <= p.Seq {
			in = src.segments[i]
		}
	}
	return in
}

func (a *Audit) exhibitsIn(s *segment, index int, wanted map[audit.RecordRef][]audit.Exhibit, found map[audit.Exhibit]evidence.Object) error {
	data, err := read(s.path)
	if err != nil {
		return err
	}
	r, err := journal.NewReader(s.path, data)
	if err != nil {
		return err
	}
	for {
		f, err := r.Next()
		if err != nil {
			return nil // the whole frames were read; what is missing is told by who asked
		}
		for _, e := range wanted[audit.RecordRef{Journal: index, Seq: f.Seq}] {
			raw, err := audit.Extract(f.Body, e)
			if err != nil {
				return fmt.Errorf("%s, record %d: %w", s.path, f.Seq, err)
			}
			found[e] = evidence.Object{Kind: e.Kind, Raw: raw}
		}
	}
}
