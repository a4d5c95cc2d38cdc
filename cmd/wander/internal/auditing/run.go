package auditing

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/journal"
)

// Input is what is to be audited.
type Input struct {
	Paths   []string // folders and segment files
	Group   *group.Group
	Extra   group.Extra
	Options audit.Options // Trust, Parallel and Random are filled in
	// Progress is told how much of the whole was read; it may be nil.
	Progress func(done, total int64)
}

// Audit is a report on files.
type Audit struct {
	*audit.Report
	Group    *group.Group
	Trust    *audit.Trust
	Options  audit.Options
	Notes    []string // what an operator should know, and no finding
	journals []source // by audit.Place.Journal
}

// source is where the records of one journal stand.
type source struct {
	lineage
	first []uint64 // sequence number of the first frame of each segment that was read; 0: not read
}

// Run reads everything twice: for the certificates and what else is known of the
// group, and for the rest. Errors: those of Check, ErrGroup and ErrResource.
func Run(in Input) (*Audit, error) {
	list, err := find(in.Paths)
	if err != nil {
		return nil, err
	}
	a := &Audit{Group: in.Group, Trust: audit.NewTrust(in.Group, in.Extra), Options: in.Options}
	list, a.Notes = readableOnly(list)
	lineages, err := sort(in.Group.ID(), list)
	if err != nil {
		return nil, err
	}
	p := newProgress(in.Progress, lineages)
	for _, l := range lineages {
		for _, s := range l.segments {
			if err := survey(a.Trust, s); err != nil {
				return nil, err
			}
			p.add(s)
		}
	}
	a.Trust.Settle()
	a.Options.Trust, a.Options.Parallel, a.Options.Random = a.Trust, parallel, rand.Reader
	books := audit.New(in.Group.ID(), a.Options)
	var earlier *audit.Reader
	for i, l := range lineages {
		if resource, ok := a.Trust.GateOf(l.member); ok {
			earlier = books.Gate(l.member, resource)
		} else if i > 0 && lineages[i-1].member == l.member {
			earlier = earlier.Anew()
		} else {
			earlier = books.Journal(l.member)
		}
		if err := a.readJournal(earlier, l, p); err != nil {
			return nil, err
		}
	}
	a.Report = books.Report()
	if asked := a.Options.From > 0 || a.Options.To > 0; asked && !a.covered() {
		a.Notes = append(a.Notes, "no journal has a record of the requested time: this result does not cover it")
	}
	if wanted := in.Options.Resource; wanted != "" && len(a.Resources) == 0 && !a.Trust.HasResource(wanted) {
		return nil, fmt.Errorf("%w: %q", ErrResource, wanted)
	}
	return a, nil
}

// covered reports whether some journal has records around or within the time that
// was asked for.
func (a *Audit) covered() bool {
	for _, m := range a.Members {
		for _, s := range m.Spans {
			if s.To >= a.Options.From && (a.Options.To == 0 || s.From < a.Options.To) {
				return true
			}
		}
	}
	return false
}

// survey takes in what a segment says of the group.
func survey(t *audit.Trust, s *segment) error {
	if s.damage != nil {
		return nil // which the second reading reports
	}
	data, err := read(s.path)
	if err != nil {
		return err
	}
	r, err := journal.NewReader(s.path, data)
	if err != nil {
		return nil // the same
	}
	for {
		f, err := r.Next()
		if err != nil {
			return nil
		}
		t.Learn(f.Body)
	}
}

// readJournal reads one journal.
func (a *Audit) readJournal(to *audit.Reader, l lineage, p *progress) error {
	src := source{lineage: l}
	var before *journal.Reader // of the segment before, read to its end
	for i, s := range l.segments {
		if s.damage != nil {
			to.Segment(i == 0)
			to.Report(audit.Damaged, s.damage.Error())
			src.first, before = append(src.first, 0), nil
			continue
		}
		data, err := read(s.path)
		if err != nil {
			return err
		}
		r, err := journal.NewReader(s.path, data)
		if err != nil {
			return err // it was changed meanwhile
		}
		h := r.Header()
		follows := h.Number == 1
		if before != nil && h.Number == before.Header().Number+1 && h.FirstSeq == before.NextSeq() {
			follows = true
		}
		a.noteGap(follows, i, s, before)
		to.Segment(follows)
		src.first = append(src.first, h.FirstSeq)
		before = r
		if err := a.readSegment(to, r, i+1 < len(l.segments) && l.segments[i+1].header.Number == h.Number+1); err != nil {
			before = nil
		}
		if err := a.compare(to, s, data[:r.Offset()]); err != nil {
			return err
		}
		p.add(s)
	}
	a.journals = append(a.journals, src)
	return nil
}

// readSegment gives the frames of a segment to the audit, and returns what ended
// it other than its end.
func (a *Audit) readSegment(to *audit.Reader, r *journal.Reader, hasNext bool) error {
	for {
		f, err := r.Next()
		var torn *journal.TornError
		switch {
		case err == nil:
			to.Frame(f)
			continue
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &torn) && !hasNext:
			a.Notes = append(a.Notes, fmt.Sprintf("%v: an unfinished write, in progress or cut off by a crash; it was never acknowledged", torn))
			return err
		case errors.As(err, &torn):
			err = torn.Damage()
		}
		to.Report(audit.Damaged, err.Error())
		return err
	}
}

// noteGap tells of segments that are missing.
func (a *Audit) noteGap(follows bool, i int, s *segment, before *journal.Reader) {
	switch {
	case follows:
	case i == 0:
		a.Notes = append(a.Notes, fmt.Sprintf("%s: the journal begins with segment %d; earlier segments are missing", s.path, s.header.Number))
	case before != nil:
		a.Notes = append(a.Notes, fmt.Sprintf("%s: segments are missing between %d and %d",
			filepath.Dir(s.path), before.Header().Number, s.header.Number))
	}
}

// compare checks that copies of a segment are nothing but its beginning.
func (a *Audit) compare(to *audit.Reader, s *segment, whole []byte) error {
	for _, path := range s.copies {
		data, err := read(path)
		if err != nil {
			return err
		}
		r, err := journal.NewReader(path, data)
		for err == nil {
			_, err = r.Next()
		}
		if errors.Is(err, journal.ErrDamaged) {
			to.Report(audit.Damaged, err.Error())
		}
		if r != nil && !bytes.HasPrefix(whole, data[:r.Offset()]) {
			to.Report(audit.Diverged, s.path+" and "+path)
			continue
		}
		a.Notes = append(a.Notes, fmt.Sprintf("%s is a copy of %s, which was read", path, s.path))
	}
	return nil
}

// parallel runs tasks on all processors.
func parallel(n int, do func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// progress counts bytes that were read, each twice.
type progress struct {
	tell        func(done, total int64)
	done, total int64
}

func newProgress(tell func(done, total int64), lineages []lineage) *progress {
	p := &progress{tell: tell}
	for _, l := range lineages {
		for _, s := range l.segments {
			p.total += 2 * s.size
		}
	}
	return p
}

func (p *progress) add(s *segment) {
	p.done += s.size
	if p.tell != nil {
		p.tell(p.done, p.total)
	}
}
