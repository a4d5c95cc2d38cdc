package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	iniBlock  = regexp.MustCompile("(?s)```ini\n(.*?)```")
	unitTitle = regexp.MustCompile(`(?m)^# (?:\S*/)?([^/\s]+\.(?:service|socket))\b.*\n`)
	unitStart = regexp.MustCompile(`(?m)^ExecStart=\S+`)
)

// units are the units of systemd in a page, by their names. A block that names none is a service.
func units(page string) map[string]string {
	found := make(map[string]string)
	for _, block := range iniBlock.FindAllStringSubmatch(page, -1) {
		text := block[1]
		if !unitTitle.MatchString(text) {
			text = "# page.service\n" + text
		}
		at := unitTitle.FindAllStringSubmatchIndex(text, -1)
		for i, m := range at {
			end := len(text)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			found[text[m[2]:m[3]]] = text[m[1]:end]
		}
	}
	return found
}

// TestUnits_OfThePages_SystemdReadsThem: systemd knows each key and value of the units that the pages show. Their programs need not be here.
func TestUnits_OfThePages_SystemdReadsThem(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	for _, page := range []string{"gate.md", "recipe-reboot.md", "recipe-ssh.md"} {
		text, err := os.ReadFile(filepath.Join("../../docs", page))
		require.NoError(t, err)
		found := units(string(text))
		require.NotEmpty(t, found, page)
		dir := t.TempDir()
		args := []string{"verify", "--man=no"}
		for name, unit := range found {
			name = filepath.Join(dir, name)
			require.NoError(t, os.WriteFile(name, []byte(unitStart.ReplaceAllString(unit, "ExecStart=/bin/true")), 0o600))
			args = append(args, name)
		}
		out, err := exec.Command(analyze, args...).CombinedOutput()
		require.NoError(t, err, "%s: %s", page, out)
		for line := range strings.Lines(string(out)) { // also about what it passes over
			assert.NotContains(t, line, dir, page)
		}
	}
}

// maxExposure limits what systemd finds that a unit could do beyond its work, times ten, of 100.
const maxExposure = "20"

// TestUnits_OfThePackage_Confined: systemd knows each line of the packages' units, and those that always run are confined.
func TestUnits_OfThePackage_Confined(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	files, err := filepath.Glob("../../release/systemd/wander*.[st]*")
	require.NoError(t, err)
	require.Len(t, files, 5)
	dir := t.TempDir()
	args := []string{"verify", "--man=no"}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		file = filepath.Join(dir, filepath.Base(file))
		require.NoError(t, os.WriteFile(file, unitStart.ReplaceAll(text, []byte("ExecStart=/bin/true")), 0o600))
		args = append(args, file)
	}
	out, err := exec.Command(analyze, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	for line := range strings.Lines(string(out)) {
		assert.NotContains(t, line, dir)
	}
	for _, name := range []string{"wander.service", "wander-ca.service", "wander-gate.service"} {
		out, err := exec.Command(analyze, "security", "--offline=true", "--threshold="+maxExposure, filepath.Join(dir, name)).CombinedOutput()
		if err != nil && strings.Contains(string(out), "unrecognized option") {
			t.Skip("this systemd-analyze reads no files")
		}
		assert.NoError(t, err, "%s", out)
	}
}
