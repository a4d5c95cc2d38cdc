package node

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/wandertoken/wander/internal/atomicfile"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/evidence"
)

const (
	// maxEvidenceFiles bounds the files of evidence: usually 3 kB each, at most
	// 48 kB. Against one member there are few, so this is a group of liars.
	maxEvidenceFiles = 256
	evidenceDir      = "evidence"
	evidenceSuffix   = ".evidence"
	// sentDir and refusedDir are where a file goes when the CA has it, or does not want it: what is in
	// evidence itself is still to be brought.
	sentDir    = "sent"
	refusedDir = "refused"
)

var errEvidenceFull = errors.New("too many files of evidence")

// evidenceFolder is a member's files of evidence: evidence/ID.evidence, and below
// it sent/ and refused/. A file is moved in one step, so that it is never
// brought twice after a crash unless the CA was asked just then, which does no
// harm.
type evidenceFolder struct{ stateDir string }

func (f evidenceFolder) folder() string { return filepath.Join(f.stateDir, evidenceDir) }

// in lists the names of the files in a part of the folder. What is no file of
// evidence is somebody else's.
func (f evidenceFolder) in(part string) []string {
	entries, err := os.ReadDir(filepath.Join(f.folder(), part)) // sorted
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasSuffix(e.Name(), evidenceSuffix) {
			names = append(names, e.Name())
		}
	}
	return names
}

func (f evidenceFolder) count() (kept, unsent int) {
	unsent = len(f.in(""))
	return unsent + len(f.in(sentDir)) + len(f.in(refusedDir)), unsent
}

// keep writes a file, whole or not at all, unless there is one of this evidence
// already: then the path is empty. Errors: errEvidenceFull, and those of the
// disk.
func (f evidenceFolder) keep(e effect.Evidence) (path string, err error) {
	name := e.ID.String() + evidenceSuffix
	for _, part := range []string{"", sentDir, refusedDir} {
		if _, err := os.Lstat(filepath.Join(f.folder(), part, name)); err == nil {
			return "", nil
		}
	}
	if kept, _ := f.count(); kept >= maxEvidenceFiles {
		return "", errEvidenceFull
	}
	parsed, err := evidence.Parse(e.Encoded)
	if err != nil {
		return "", err
	}
	text, err := parsed.Text()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(f.folder(), 0o700); err != nil {
		return "", err
	}
	path = filepath.Join(f.folder(), name)
	return path, atomicfile.Create(path, text, 0o600)
}

// oldest is the first file, by its name, that is still to be brought, and what
// is in it. One that cannot be read is put aside.
func (f evidenceFolder) oldest() (name string, raw []byte) {
	for _, name := range f.in("") {
		raw, err := readEvidence(filepath.Join(f.folder(), name))
		if err == nil {
			return name, raw
		}
		_ = f.refused(name)
	}
	return "", nil
}

func readEvidence(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > evidence.MaxText {
		return nil, evidence.ErrText
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	e, err := evidence.ParseText(text)
	if err != nil {
		return nil, err
	}
	return e.Encode()
}

// sent notes that the CA has a file.
func (f evidenceFolder) sent(name string) error { return f.move(name, sentDir) }

// refused notes that the CA does not want it.
func (f evidenceFolder) refused(name string) error { return f.move(name, refusedDir) }

func (f evidenceFolder) move(name, part string) error {
	dir := filepath.Join(f.folder(), part)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Rename(filepath.Join(f.folder(), name), filepath.Join(dir, name))
}
