package spec_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// dependency is a row of the README's table.
type dependency struct{ version, licence, purpose string }

// licences gives a phrase that only the text of the licence has. What has none of
// the others and may be redistributed is the licence with three clauses.
var licences = []struct{ name, phrase string }{
	{"Apache-2.0", "Apache License"},
	{"MPL-2.0", "Mozilla Public License"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"BSD-3-Clause", "Redistribution and use in source and binary forms"},
}

// TestDependencies_Readme_ListsEachDirectModule compares the README's table with
// go.mod, with the modules' own licences and with what the programs link.
func TestDependencies_Readme_ListsEachDirectModule(t *testing.T) {
	t.Parallel()
	rows := dependencyRows(t)
	linked := func(program string) []string {
		return strings.Fields(goCommand(t, "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", program))
	}
	product, study, site := linked("./cmd/wander"), linked("./cmd/wander-lab"), linked("./site")
	for path, version := range directModules(t) {
		row, ok := rows[path]
		require.True(t, ok, "the README's table has no row for %s", path)
		delete(rows, path)
		require.Equal(t, version, row.version, path)
		require.Equal(t, licenceOf(t, path), row.licence, path)
		require.NotEmpty(t, row.purpose, path)
		user := ""
		switch {
		case slices.Contains(product, path):
		case slices.Contains(study, path):
			user = "wander-lab only: "
		case slices.Contains(site, path):
			user = "site only: "
		default:
			user = "tests only: "
		}
		only := regexp.MustCompile(`^(?:[a-z-]+ only: )?`).FindString(row.purpose)
		require.Equal(t, user, only, "%s: %s", path, row.purpose)
	}
	require.Empty(t, rows, "the README lists modules that go.mod does not require directly")
}

// TestDependencies_Wander_LinksNoStudy holds the rings: the program that members run
// links nothing that only studies, draws or tests it.
func TestDependencies_Wander_LinksNoStudy(t *testing.T) {
	t.Parallel()
	study := regexp.MustCompile(`(^|/)(gonum\.org|go-latex|stretchr|pgregory\.net|lab|soak|fuzz|spec|sim/cluster|liars|policytest|audittest|faultfs)(/|$)`)
	for program, clean := range map[string]bool{"./cmd/wander": true, "./cmd/wander-lab": false} {
		linked := strings.Fields(goCommand(t, "list", "-deps", program))
		require.Greater(t, len(linked), 100, program)
		found := slices.DeleteFunc(linked, func(pkg string) bool { return !study.MatchString(pkg) })
		require.Equal(t, clean, len(found) == 0, "%s links %v", program, found)
	}
}

// maxClientPackages limits what a program links for package wander, the standard library included: net/http alone is 150.
const maxClientPackages = 200

func TestDependencies_Client_LinksLittle(t *testing.T) {
	t.Parallel()
	linked := strings.Fields(goCommand(t, "list", "-deps", "."))
	require.LessOrEqual(t, len(linked), maxClientPackages)
	for _, pkg := range linked {
		first, _, _ := strings.Cut(pkg, "/")
		foreign := strings.Contains(first, ".") && !strings.HasPrefix(pkg, "github.com/wandertoken/") && !strings.HasPrefix(pkg, "golang.org/x/sys/")
		require.False(t, foreign, pkg)
	}
}

// maxProgramBytes limits the program that members run, as built for release. One call that keeps the
// methods of all types in the binary costs 2.7 MB.
const maxProgramBytes = 20_000_000

// TestDependencies_Wander_StaysSmall builds wander for release, as CONTRIBUTING.md has it. Nothing in it speaks HTTP/2, which is half a megabyte.
func TestDependencies_Wander_StaysSmall(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "wander")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-tags", "nethttpomithttp2", "-ldflags=-s -w -buildid=",
		"-gcflags=google.golang.org/protobuf/...=-l", "-gcflags=github.com/prometheus/...=-l", "-gcflags=github.com/pelletier/...=-l",
		"-gcflags=github.com/spf13/...=-l", "-gcflags=github.com/wandertoken/wander/cmd/...=-l", "-o", program, "./cmd/wander")
	cmd.Dir, cmd.Env = "..", append(os.Environ(), "CGO_ENABLED=0") // as releases are built
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	info, err := os.Stat(program)
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(maxProgramBytes))
}

// dependencyRows reads the README's table.
func dependencyRows(t *testing.T) map[string]dependency {
	t.Helper()
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	rows := map[string]dependency{}
	row := regexp.MustCompile(`(?m)^\| \[([^]]+)\]\([^)]+\) \| (v[^ ]+) \| ([^|]+) \| ([^|]+) \|$`)
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		rows[m[1]] = dependency{version: m[2], licence: m[3], purpose: m[4]}
	}
	require.NotEmpty(t, rows)
	return rows
}

// directModules gives the versions of the modules that go.mod requires for the
// project's own packages and tools.
func directModules(t *testing.T) map[string]string {
	t.Helper()
	var mod struct {
		Require []struct {
			Path, Version string
			Indirect      bool
		}
		Tool []struct{ Path string }
	}
	require.NoError(t, json.Unmarshal([]byte(goCommand(t, "mod", "edit", "-json")), &mod))
	direct := map[string]string{}
	for _, m := range mod.Require {
		isTool := false
		for _, tool := range mod.Tool {
			isTool = isTool || tool.Path == m.Path || strings.HasPrefix(tool.Path, m.Path+"/")
		}
		if isTool || !m.Indirect {
			direct[m.Path] = m.Version
		}
	}
	return direct
}

// licenceOf reads the licence of a module. It downloads a module that is missing: no test
// needs the tools, so that a new module cache does not have them.
func licenceOf(t *testing.T, path string) string {
	t.Helper()
	var module struct{ Dir string }
	require.NoError(t, json.Unmarshal([]byte(goCommand(t, "mod", "download", "-json", path)), &module))
	files, err := filepath.Glob(filepath.Join(module.Dir, "LICENSE*"))
	require.NoError(t, err)
	require.NotEmpty(t, files, path)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	for _, l := range licences {
		if strings.Contains(string(text), l.phrase) {
			return l.name
		}
	}
	require.Fail(t, "unknown licence", path)
	return ""
}

func goCommand(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = ".."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err, "go %s", strings.Join(args, " "))
	return string(out)
}
