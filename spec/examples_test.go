package spec

import (
	"encoding/hex"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/internal/cddl"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// lineDigits is how many hexadecimal digits stand in a line.
const lineDigits = 64

// example adds one value in a block of its own, under what it is.
func (t *table) example(what string, lines ...string) {
	t.lines = append(t.lines, what+":", "", "```")
	t.lines = append(t.lines, lines...)
	t.lines = append(t.lines, "```", "")
}

func hexLines(data []byte) []string {
	var lines []string
	for part := range slices.Chunk([]byte(hex.EncodeToString(data)), lineDigits) {
		lines = append(lines, string(part))
	}
	return lines
}

// examples are one signed object and one message, step by step.
func examples(t *testing.T) *table {
	out := &table{}
	out.example("Group id", hexLines(groupID[:])...)
	out.example("Ada's member id, and Ben's", append(hexLines(ada.id[:]), hexLines(ben.id[:])...)...)

	w := newWalk(t, nil, nil)
	genesis := of("signed-genesis", envelope.Genesis, w.genesis)
	e, err := cddl.Decode(genesis.raw)
	require.NoError(t, err)
	payload := e.Items[0].Items[2].Data
	shown, err := cddl.Decode(payload)
	require.NoError(t, err)
	out.example("A genesis by Ada: payload", append([]string{shown.String()}, hexLines(payload)...)...)
	out.example("Its Sig_structure", hexLines(sigStructure(t, genesis))...)
	out.example("H of it, the token id", hexLines(genesis.hash[:])...)
	out.example("The envelope", hexLines(genesis.raw)...)

	receipt := answer(t, w.first, token.Receipt, ben, nil)
	out.example("Ben's receipt for the first transfer of that token", hexLines(receipt.Raw())...)

	accept := &wire.Accept{Token: w.genesis.ID(), Hop: 1, Incarnation: incarnation, Accept: 1025, Lifetime: 30000}
	body, err := wire.Encode(accept)
	require.NoError(t, err)
	shown, err = cddl.Decode(body)
	require.NoError(t, err)
	out.example("The ACCEPT before it, and its frame",
		append([]string{shown.String()}, hexLines(wire.AppendFrame(nil, body))...)...)
	ringExamples(t, out)
	membershipExamples(t, out)
	out.lines = out.lines[:len(out.lines)-1]
	return out
}
