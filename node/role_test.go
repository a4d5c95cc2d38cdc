package node_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/protocol/certificate"
)

// A gate's certificate starts no member, and does not take the place of a running member's.
func TestGateCertificate_Node_Refused(t *testing.T) {
	a := newAuthority(t, quick)
	gate := func(c *certificate.Claims) { c.Role = certificate.GateRole }
	_, err := node.Open(context.Background(), node.Config{Identity: a.issueAs(t, "gate", gate), StateDir: t.TempDir(), Listen: "127.0.0.1:0", Socket: "-"})
	assert.ErrorIs(t, err, node.ErrIdentity)
	assert.ErrorIs(t, err, certificate.ErrRole)

	id := a.issue(t, "m")
	id.GroupFile, id.CertificateFile = a.groupFile(t), filepath.Join(t.TempDir(), "member.crt")
	n, _ := openNode(t, id, nil)
	claims := id.Certificate.Body()
	gate(&claims)
	claims.NotAfter = claims.NotAfter.AddDate(0, 0, 1)
	signed, err := claims.Sign(a.key)
	require.NoError(t, err)
	text, err := keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Certificate, Bytes: signed.Raw()})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(id.CertificateFile, text, 0o600))
	assert.ErrorIs(t, n.Reload(), certificate.ErrRole)
}
