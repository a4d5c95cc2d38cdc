package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// here is the target of this machine, or linux/amd64 where that is none.
func here() string {
	if runtime.GOOS == "linux" && runtime.GOARCH == "arm64" {
		return "linux/arm64"
	}
	return "linux/amd64"
}

// cloned is a clone of a clone, with the commit that is checked out there.
func cloned(t *testing.T, from, dir string) string {
	t.Helper()
	from, err := filepath.Abs(from)
	require.NoError(t, err)
	out, err := exec.Command("git", "clone", "--quiet", "--shared", from, dir).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}

func released(t *testing.T, source, out string) map[string][]byte {
	t.Helper()
	require.NoError(t, run(context.Background(), []string{"-source", source, "-only", here(), out}, io.Discard, io.Discard))
	files := make(map[string][]byte)
	require.NoError(t, filepath.WalkDir(out, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(out, path)
		require.NoError(t, err)
		files[name], err = os.ReadFile(path)
		return err
	}))
	return files
}

// TestRelease_TwoFolders_SameBytes releases one commit from two clones, whose paths differ in length.
func TestRelease_TwoFolders_SameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("links the program three times")
	}
	dir := t.TempDir()
	clone := cloned(t, "..", filepath.Join(dir, "a"))
	first := released(t, clone, filepath.Join(dir, "out"))
	second := released(t, cloned(t, clone, filepath.Join(dir, "deeper", "down", "b")), filepath.Join(dir, "out-2"))
	for name, data := range first {
		assert.True(t, bytes.Equal(data, second[name]), "%s differs", name)
	}
	assert.Len(t, second, len(first))
	for _, end := range []string{".deb", ".rpm", ".tar.gz", "_image.tar", ".cdx.json", "SHA256SUMS", "man/wander-run.1.gz", "completions/fish/wander.fish"} {
		found := false
		for name := range first {
			found = found || strings.HasSuffix(name, end)
		}
		assert.True(t, found, end)
	}
	sums := exec.Command("sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")
	sums.Dir = filepath.Join(dir, "out")
	out, err := sums.CombinedOutput()
	assert.NoError(t, err, "%s", out)
	runImage(t, dir, first)
}

func TestRelease_BadInput_Explained(t *testing.T) {
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	require.NoError(t, os.MkdirAll(full, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(full, "old.deb"), nil, 0o600))
	clone := cloned(t, "..", filepath.Join(dir, "clone"))
	changed := cloned(t, "..", filepath.Join(dir, "changed"))
	require.NoError(t, os.WriteFile(filepath.Join(changed, "new.go"), nil, 0o600))
	for _, c := range []struct {
		args []string
		want error
		text string
	}{
		{nil, errUsage, "name one folder"},
		{[]string{"a", "b"}, errUsage, "name one folder"},
		{[]string{"-frobnicate", "a"}, errUsage, "frobnicate"},
		{[]string{"-only", "plan9/amd64", "a"}, errUsage, "linux/amd64"},
		{[]string{"-only", "linux/amd64,linux/amd64", "a"}, errUsage, "named twice"},
		{[]string{"-source", dir, filepath.Join(dir, "out")}, nil, "not a clone"},
		{[]string{"-source", changed, filepath.Join(dir, "out")}, errChanged, "commit them"},
		{[]string{"-source", clone, "-version", "v1.2-rc1", filepath.Join(dir, "out")}, errVersion, "1.2.3~rc1"},
		{[]string{"-source", clone, full}, errNotEmpty, "name an empty"},
	} {
		err := run(context.Background(), c.args, io.Discard, io.Discard)
		require.ErrorContains(t, err, c.text, "%v", c.args)
		if c.want != nil {
			assert.ErrorIs(t, err, c.want, "%v", c.args)
		}
	}
	assert.NoDirExists(t, filepath.Join(dir, "out"))
}

func TestVersionForm_Packages_TakeIt(t *testing.T) {
	for _, good := range []string{"1.2.3", "0.0.0+20261129142459.ec35d8be03c1", "1.2.3~rc1", "1.2.3~rc1+git.5"} {
		assert.Regexp(t, versionForm, good)
	}
	for _, bad := range []string{"", "v1", "1-2", "1.2.", "1 2", "1/2", "1.2;rm", "1.2\n"} {
		assert.NotRegexp(t, versionForm, bad)
	}
}
