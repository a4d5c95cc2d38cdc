package cluster

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/wandertoken/wander/internal/golden"
)

// TestScripts runs the scenarios under testdata. Each is a list of commands
// with what they print:
//
//	# a comment
//	command arguments
//	----
//	what it prints, up to an empty line
//
// The commands are the methods of script whose names begin with cmd; see
// commands. What an expect command prints is "ok", or the test fails, whatever
// the file says.
func TestScripts(t *testing.T) {
	golden.Scripts(t, runScript)
}

// block is one command of a script.
type block struct {
	comment string // the lines before it, empty ones included
	command string
}

func parseScript(text string) []block {
	var list []block
	var b block
	output := false
	for line := range strings.Lines(text) {
		switch {
		case output:
			output = strings.TrimSpace(line) != ""
		case strings.TrimSpace(line) == "----":
			list = append(list, b)
			b, output = block{}, true
		case b.command == "" && (strings.HasPrefix(line, "#") || strings.TrimSpace(line) == ""):
			b.comment += line
		default:
			b.command += line
		}
	}
	return list
}

// runScript performs a script and returns it with what it prints now.
func runScript(t *testing.T, text string) string {
	var out strings.Builder
	s := &script{t: t, saved: make(map[string]*letter), disks: make(map[string]disk)}
	for _, b := range parseScript(text) {
		out.WriteString(b.comment)
		out.WriteString(b.command)
		out.WriteString("----\n")
		s.out.Reset()
		for line := range strings.Lines(b.command) {
			s.run(strings.Fields(line))
		}
		if s.c != nil {
			for _, v := range s.c.violations {
				t.Errorf("%s: %s", strings.TrimSpace(b.command), v)
			}
			s.c.violations = nil
		}
		out.Write(s.out.Bytes())
		out.WriteString("\n")
	}
	return out.String()
}

// script is a cluster in the hands of a file.
type script struct {
	t     *testing.T
	c     *cluster
	out   bytes.Buffer
	saved map[string]*letter // messages that were kept
	disks map[string]disk    // journals that were kept
	mark  map[string]int     // records of each member at the last mark
}

func (s *script) printf(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

// run performs one command line.
func (s *script) run(words []string) {
	if len(words) == 0 {
		return
	}
	command, known := commands[words[0]]
	if !known {
		s.t.Fatalf("unknown command %q", words[0])
	}
	command(s, words[1:])
}

// node is the member that a script calls by this name.
func (s *script) node(name string) *node {
	for _, n := range s.c.nodes {
		if n.label() == name {
			return n
		}
	}
	s.t.Fatalf("unknown member %q", name)
	return nil
}
