package spec

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
// go.mod, with the modules' own licences and with what the command links.
func TestDependencies_Readme_ListsEachDirectModule(t *testing.T) {
	t.Parallel()
	rows := dependencyRows(t)
	linked := strings.Fields(goCommand(t, "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/wander"))
	for path, version := range directModules(t) {
		row, ok := rows[path]
		require.True(t, ok, "the README's table has no row for %s", path)
		delete(rows, path)
		require.Equal(t, version, row.version, path)
		require.Equal(t, licenceOf(t, path), row.licence, path)
		require.NotEmpty(t, row.purpose, path)
		testsOnly := strings.HasPrefix(row.purpose, "tests only: ")
		require.NotEqual(t, testsOnly, slices.Contains(linked, path), "%s: %s", path, row.purpose)
	}
	require.Empty(t, rows, "the README lists modules that go.mod does not require directly")
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
