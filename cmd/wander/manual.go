//go:build manual

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/version"
)

// With the build tag "manual" the program writes the manual's pages of its commands into a folder, and does nothing else: so the
// program that members run does not link what writes them.
func init() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run -tags manual ./cmd/wander FOLDER")
		os.Exit(cli.ExitUsage)
	}
	if err := writeManual(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(cli.ExitFailure)
	}
	os.Exit(cli.ExitOK)
}

func writeManual(dir string) error {
	env := &environment{Environment: cli.Process()}
	root := newRootCommand(env)
	root.DisableAutoGenTag = true
	each(root, func(cmd *cobra.Command) { cmd.Long = keepTables(cmd.Long) })
	date := time.Unix(0, 0).UTC()
	if s, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		date = time.Unix(s, 0).UTC()
	}
	return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &date, Source: "wander " + version.Of().Version, Manual: "wander"}, dir)
}

// keepTables makes lines that are indented, such as tables, ones that the manual shows as they are.
func keepTables(text string) string {
	var b strings.Builder
	within := false
	for line := range strings.Lines(text) {
		if is := strings.HasPrefix(line, "  "); is != within {
			within = is
			b.WriteString("\n")
		}
		if within {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}
