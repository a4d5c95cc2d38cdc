package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

var (
	errChanged = errors.New("the work tree has changes: commit them, or put them aside with git stash -u, because a release says which commit it is")
	errVersion = errors.New("not a version")
)

// versionForm is what deb, rpm, file names and people all take. A hyphen would end the version of an rpm.
var versionForm = regexp.MustCompile(`^[0-9]+(\.[0-9]+)*([~+][0-9A-Za-z.]+)*$`)

// source is the commit that a release is made of.
type source struct {
	dir     string    // the root of the repository
	commit  string    // in hex
	date    time.Time // of the commit: the time of every file in a release
	version string
}

func openSource(ctx context.Context, dir, version string) (s source, err error) {
	if s.dir, err = filepath.Abs(dir); err != nil {
		return s, err
	}
	changes, err := s.git(ctx, "status", "--porcelain")
	if err != nil {
		return s, fmt.Errorf("%s is not a clone of the repository: %w", s.dir, err)
	}
	if changes != "" {
		return s, fmt.Errorf("%s: %w", s.dir, errChanged)
	}
	text, err := s.git(ctx, "log", "-1", "--format=%H %cI")
	if err != nil {
		return s, err
	}
	commit, date, _ := strings.Cut(text, " ")
	s.commit = commit
	if s.date, err = time.Parse(time.RFC3339, date); err != nil {
		return s, err
	}
	s.date = s.date.UTC()
	s.version = version
	if version == "" {
		s.version = s.ownVersion(ctx)
	}
	if !versionForm.MatchString(s.version) {
		return s, fmt.Errorf("%w: %q: write for example 1.2.3 or 1.2.3~rc1", errVersion, s.version)
	}
	return s, nil
}

// ownVersion is the commit's tag or, without one, below every tag to come and the greater the later the commit.
func (s source) ownVersion(ctx context.Context) string {
	if tag, err := s.git(ctx, "describe", "--exact-match", "--tags", "--match", "v[0-9]*"); err == nil {
		return strings.TrimPrefix(tag, "v")
	}
	return fmt.Sprintf("0.0.0+%s.%s", s.date.Format("20060102150405"), s.commit[:12])
}

func (s source) git(ctx context.Context, args ...string) (string, error) {
	return output(command(ctx, s.dir, "git", args...))
}

// command is one in a folder, whose clock and settings are those of a release and not of this machine.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "GOEXPERIMENT=", "CGO_ENABLED=0", "TZ=UTC", "LC_ALL=C")
	return c
}

func output(c *exec.Cmd) (string, error) {
	var failure bytes.Buffer
	c.Stderr = &failure
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(c.Args, " "), err, bytes.TrimSpace(failure.Bytes()))
	}
	return strings.TrimSpace(string(out)), nil
}
