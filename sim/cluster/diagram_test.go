package cluster

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var drawFlag = flag.Bool("cluster.draw", false, "write spec/handoff-sequence.md anew")

const (
	sequenceFile = "../../spec/handoff-sequence.md"
	sequenceHead = `# A handoff, drawn

The scenario ` + "`sim/cluster/testdata/handoff.txt`" + ` as it ran, drawn from its trace (chapter 8 of
the [specification](protocol.md) has the rules). ` + "`go test ./sim/cluster -run Sequence -cluster.draw`" + `
writes this page; a test holds it to the run.

`
)

// TestHandoffSequence: the page in the spec is the handoff of the script.
func TestHandoffSequence(t *testing.T) {
	trace, err := os.ReadFile("testdata/handoff.txt")
	require.NoError(t, err)
	var b bytes.Buffer
	b.WriteString(sequenceHead + "```mermaid\n")
	require.NoError(t, Diagram(&b, bytes.NewReader(trace), View{Members: []string{"a", "b"}}))
	b.WriteString("```\n")
	if *drawFlag {
		require.NoError(t, os.WriteFile(sequenceFile, b.Bytes(), 0o644))
	}
	page, err := os.ReadFile(sequenceFile)
	require.NoError(t, err)
	assert.Equal(t, b.String(), string(page))
	assert.Contains(t, string(page), "a->>b: TRANSFER t1/1")
}

// TestDiagram_Filter_Shown: one token, one member, one time.
func TestDiagram_Filter_Shown(t *testing.T) {
	trace := "   1.000000 b   recv OFFER t1/1 from a\n   2.000000 c   recv OFFER t2/1 from a\n   3.000000 a   LOST RECEIPT to b\n   4.000000 b   sync\n"
	draw := func(v View) string {
		var b bytes.Buffer
		require.NoError(t, Diagram(&b, strings.NewReader(trace), v))
		return b.String()
	}
	assert.Equal(t, "sequenceDiagram\n    participant a\n    participant b\n    a->>b: OFFER t1/1\n", draw(View{Token: "t1"}))
	assert.Contains(t, draw(View{}), "a-xb: RECEIPT")
	assert.NotContains(t, draw(View{From: 2500e6}), "OFFER")
	assert.NotContains(t, draw(View{Members: []string{"a", "b"}}), "t2")
}
