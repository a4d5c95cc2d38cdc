package auditing

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// maxSegment bounds one file, in bytes: far above the largest that a member
// writes, which is a segment of 16 MiB or its live state.
const maxSegment = 256 << 20

// Why there is nothing to audit.
var (
	ErrNoJournal = errors.New("no journal segments found")
	ErrGroup     = errors.New("journal belongs to another group")
	ErrTooLarge  = errors.New("file is too large for a journal segment")
	ErrNotFile   = errors.New("not a regular file")
	ErrNotOne    = errors.New("not a segment of a journal")
	ErrResource  = errors.New("neither a group configuration nor a token has this resource")
)

// segment is one file.
type segment struct {
	path   string
	size   int64
	header journal.SegmentHeader
	damage error    // of its header, which then says nothing, or why it was not read at all
	copies []string // other files that begin as this one, and are not longer
}

// lineage is one journal of one member: segments in their order, of which some may
// be missing.
type lineage struct {
	member   ident.Member
	segments []*segment
}

// Check is the error of Run about the paths themselves: ErrNoJournal, ErrNotFile,
// ErrNotOne, ErrTooLarge, journal.ErrVersion, or one of the file system.
func Check(paths []string) error {
	_, err := find(paths)
	return err
}

// find looks for segments: files that are given, and those in folders, and
// below. Somebody's journal may be meant to stop the audit: what has the name of a
// segment and cannot be one is damage, and an error only when it was given itself.
func find(paths []string) (list []*segment, err error) {
	seen := make(map[string]bool)
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			p += string(filepath.Separator) // a link to a folder is the folder
		}
		err := filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			_, named := journal.ParseSegmentName(filepath.Base(path))
			if path != p && !named || seen[path] {
				return nil
			}
			seen[path] = true
			s, err := look(path)
			if err == nil && path == p {
				err = unfit(s)
			}
			if err == nil {
				list = append(list, s)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: %s", ErrNoJournal, strings.Join(paths, ", "))
	}
	return list, readable(list)
}

// readable is an error if every segment is of another version.
func readable(list []*segment) error {
	for _, s := range list {
		if !errors.Is(s.damage, journal.ErrVersion) {
			return nil
		}
	}
	return list[0].damage
}

// readableOnly leaves out the segments of other versions, which are nobody's fault, and
// says for each folder and version what to do about them.
func readableOnly(list []*segment) (rest []*segment, notes []string) {
	type place struct {
		folder  string
		version uint32
	}
	counts := make(map[place]int)
	for _, s := range list {
		var other *journal.VersionError
		if !errors.As(s.damage, &other) {
			rest = append(rest, s)
			continue
		}
		counts[place{filepath.Dir(s.path), other.Version}]++
	}
	for p, n := range counts {
		notes = append(notes, fmt.Sprintf("%s: segments written by another version of wander, and not read: %d; they have journal version %d, this program "+
			"reads version %d: audit them with the version that wrote them", p.folder, n, p.version, journal.SegmentVersion))
	}
	slices.Sort(notes)
	return rest, notes
}

// unfit is why a file that was given cannot be audited: given by mistake, it seems.
func unfit(s *segment) error {
	_, named := journal.ParseSegmentName(filepath.Base(s.path))
	switch {
	case errors.Is(s.damage, ErrNotFile), errors.Is(s.damage, ErrTooLarge):
		return s.damage
	case !named && errors.Is(s.damage, journal.ErrMagic):
		return fmt.Errorf("%w: %s", ErrNotOne, s.path)
	}
	return nil
}

// look reads a segment's header. It opens regular files only: a pipe would
// wait for a writer, and a device may have no end.
func look(path string) (*segment, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	s := &segment{path: path}
	if !info.Mode().IsRegular() {
		s.damage = fmt.Errorf("%w: %s", ErrNotFile, path)
		return s, nil
	}
	if info.Size() > maxSegment {
		s.damage = fmt.Errorf("%w: %s, %d bytes", ErrTooLarge, path, info.Size())
		return s, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, journal.SegmentHeaderSize)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return nil, err
	}
	s.size = info.Size()
	s.header, s.damage = journal.ParseSegmentHeader(path, head[:n])
	return s, nil
}

// sort puts the segments of each member in order, and copies aside.
func sort(g ident.Group, list []*segment) ([]lineage, error) {
	owners(list)
	slices.SortStableFunc(list, func(x, y *segment) int {
		return cmp.Or(x.header.Member.Compare(y.header.Member), cmp.Compare(x.header.Created, y.header.Created),
			cmp.Compare(x.header.Number, y.header.Number), cmp.Compare(y.size, x.size), cmp.Compare(x.path, y.path))
	})
	var all []lineage
	for i, s := range list {
		if s.damage == nil && s.header.Group != g {
			return nil, fmt.Errorf("%w: %s, group %v", ErrGroup, s.path, s.header.Group)
		}
		if i > 0 && s.damage == nil && s.header == list[i-1].header && list[i-1].damage == nil {
			last := all[len(all)-1].segments
			last[len(last)-1].copies = append(last[len(last)-1].copies, s.path)
			list[i] = list[i-1] // so that a third copy is one of the first, too
			continue
		}
		if i == 0 || s.header.Member != list[i-1].header.Member || s.header.Number == 1 {
			all = append(all, lineage{member: s.header.Member})
		}
		of := &all[len(all)-1]
		of.segments = append(of.segments, s)
	}
	return all, nil
}

// owners guesses whose segments are that do not say so any more: in a folder they
// belong to whom the one before them belongs to. Their numbers are in their names.
func owners(list []*segment) {
	for _, s := range list {
		if s.damage == nil {
			continue
		}
		s.header.Number, _ = journal.ParseSegmentName(filepath.Base(s.path))
		var sibling *segment
		for _, other := range list {
			if other.damage != nil || filepath.Dir(other.path) != filepath.Dir(s.path) {
				continue
			}
			nearer := sibling == nil || other.header.Number > sibling.header.Number
			if nearer && (sibling == nil || other.header.Number < s.header.Number) {
				sibling = other
			}
		}
		if sibling != nil {
			s.header.Group, s.header.Member, s.header.Created = sibling.header.Group, sibling.header.Member, sibling.header.Created
		}
	}
}

// read reads a segment, and no more than it may hold.
func read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSegment+1))
	if err == nil && len(data) > maxSegment {
		err = fmt.Errorf("%w: %s", ErrTooLarge, path)
	}
	return data, err
}
