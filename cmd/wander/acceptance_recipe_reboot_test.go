//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/whole"
)

// rebootUnavailable is how release/try-reboot.sh ends where a computer cannot have its machines.
const rebootUnavailable = 69

// debianMade is the part of release/machine.sh that says what is in the machines at first.
var debianMade = regexp.MustCompile(`(?ms)^machine_debian\(\) \{$.*?^\}$`)

// debianKept is the file in which the minimal Debian is kept for the next time: making it takes longer than the test.
func debianKept(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../release/machine.sh")
	require.NoError(t, err)
	made := debianMade.Find(text)
	require.NotEmpty(t, made)
	dir, err := os.UserCacheDir()
	if err != nil {
		return "" // it is made each time
	}
	sum := sha256.Sum256(made)
	return filepath.Join(dir, "wander", fmt.Sprintf("debian-%x.tar", sum[:6]))
}

// packaged makes the package of the commit that is checked out, as a release does, and returns its folder.
func packaged(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	clone, out := filepath.Join(dir, "clone"), filepath.Join(dir, "out")
	run := func(dir, name string, args ...string) {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		text, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", cmd, text)
	}
	run(dir, "git", "clone", "--quiet", "--shared", root, clone) // a release takes no folder with changes
	run(filepath.Join(root, "release"), "go", "run", ".", "-source", clone, "-version", "0.0.1", "-only", "linux/"+runtime.GOARCH, out)
	return out
}

// TestRecipe_Reboot pastes docs/recipe-reboot.md into three machines with systemd, which do restart. release/try-reboot.sh judges by when the kernel
// ended process 1 of each, and when systemd let it release.
func TestRecipe_Reboot(t *testing.T) {
	whole.Only(t) // a minute and a half, a third of it for the package
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	if _, err := exec.LookPath("mmdebstrap"); err != nil {
		t.Skip("mmdebstrap is not installed")
	}
	if exec.Command("sh", "-c", recipeGroup).Run() != nil {
		t.Skip("no control groups of version 2 here")
	}
	t.Parallel()
	cmd := exec.Command("bash", "../../release/try-reboot.sh", packaged(t))
	if os.Getenv("BASE") == "" {
		cmd.Env = append(os.Environ(), "BASE="+debianKept(t))
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // the machines end with the script, also then
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	out := output.String()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == rebootUnavailable {
		lines := strings.Split(strings.TrimSpace(out), "\n")
		t.Skip(lines[len(lines)-1])
	}
	require.NoError(t, err, "%s", out)
	t.Log(out)
	wantLines(t, out, `reboot: [abc] is away while its machine restarts \(.*\), for .* more at most \[holder_away\]`,
		"verdict     clean.*", "resource    reboot: 3 operations,.*", "overlap     certain 0.00 s.*", "== three restarts, one at a time: passed .*")
	assert.Len(t, regexp.MustCompile(`(?m)^[0-9]{16} [0-9]{16} [abc]$`).FindAllString(out, -1), 3)
}
