package spec_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/spec/form"
)

// drawn are objects of one kind, in the shapes of the CDDL: each with as little and as much
// as it can have, and some between.
func drawn(rule string, objects []form.Object) (list []sample) {
	for _, o := range objects {
		list = append(list, sample{rule, o.Sample(form.Least())}, sample{rule, o.Sample(form.Full())})
		for n := range uint32(3) {
			list = append(list, sample{rule, o.Seeded(n)})
		}
	}
	return list
}

// evidenceFile is evidence that Ada gave one hop away twice.
func evidenceFile(t *testing.T) []byte {
	w := newWalk(t, nil, noExtension)
	again := w.first.Body()
	again.Accept++
	second, err := again.Sign(groupID, ada.key)
	require.NoError(t, err)
	e, err := evidence.New(groupID, [][]byte{statement(t, authority, authority, noExtension).Raw()}, memberCertificate(t, ada, noExtension).Raw(),
		evidence.Object{Kind: envelope.Transfer, Raw: w.first.Raw()}, evidence.Object{Kind: envelope.Transfer, Raw: second.Raw()})
	require.NoError(t, err)
	raw, err := e.Encode()
	require.NoError(t, err)
	return raw
}

// keyBlocks has the content of the two blocks for keys.
func keyBlocks(t *testing.T) (private, public []byte) {
	text, err := keyfile.EncodePrivateKey(ada.key)
	require.NoError(t, err)
	blocks, err := keyfile.DecodeBlocks(text)
	require.NoError(t, err)
	block, err := keyfile.EncodePublicKey(ada.key.Public())
	require.NoError(t, err)
	return blocks[0].Bytes, block.Bytes
}
