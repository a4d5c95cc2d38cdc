package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

var errNotEmpty = errors.New("the folder has files: name an empty or a new one, so that nothing old is released")

// options are what a release is to be.
type options struct {
	source, version, maintainer, out string
	targets                          []target
}

// release is one in the making.
type release struct {
	source
	out, maintainer string
	targets         []target
	scratch         string            // deleted in the end
	programs        map[target]string // the files
	manual          []file            // the pages, compressed
	completions     []file            // by shell
	documents       []file
	licences        map[string]string // of modules, as far as the README says
	made            []string          // what is in the folder
}

// file is one that goes into archives and packages.
type file struct {
	name string // in its folder
	data []byte
	mode fs.FileMode
}

func (o options) open(ctx context.Context) (*release, error) {
	s, err := openSource(ctx, o.source, o.version)
	if err != nil {
		return nil, err
	}
	r := &release{source: s, maintainer: o.maintainer, targets: o.targets, programs: make(map[target]string)}
	if r.out, err = filepath.Abs(o.out); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return nil, err
	}
	if there, err := os.ReadDir(r.out); err != nil || len(there) > 0 {
		return nil, errors.Join(fmt.Errorf("%s: %w", r.out, errNotEmpty), err)
	}
	r.scratch, err = os.MkdirTemp("", "wander-release-")
	return r, err
}

func (r *release) close() { _ = os.RemoveAll(r.scratch) }

func (r *release) make(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		r.build, r.writeManual, r.writeCompletions, r.readDocuments, r.archive, r.pack, r.writeImage, r.writeBills, r.sum,
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// named is the name of a file of this release.
func (r *release) named(form string, args ...any) string {
	return "wander_" + r.version + "_" + fmt.Sprintf(form, args...)
}

// put writes a file of the release.
func (r *release) put(name string, data []byte) error {
	path := filepath.Join(r.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	r.made = append(r.made, name)
	return os.WriteFile(path, data, 0o644)
}

// sum writes the checksums of all that was made, in the form that sha256sum -c reads.
func (r *release) sum(context.Context) error {
	slices.Sort(r.made)
	var text strings.Builder
	for _, name := range r.made {
		data, err := os.ReadFile(filepath.Join(r.out, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(data), name)
	}
	return r.put("SHA256SUMS", []byte(text.String()))
}
