package certificate_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
)

func TestFingerprint(t *testing.T) {
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{1}, signature.SeedSize))
	require.NoError(t, err)
	public := key.Public().Bytes()
	sum := sha256.Sum256(public[:])
	shown := certificate.Fingerprint(key.Public())
	assert.Regexp(t, `^SHA256:([0-9a-f]{4}-){7}[0-9a-f]{4}$`, shown)
	assert.Equal(t, hex.EncodeToString(sum[:16]), strings.ReplaceAll(strings.TrimPrefix(shown, "SHA256:"), "-", ""))
	assert.Equal(t, shown, certificate.FormatFingerprint(certificate.AuthorityID(key.Public())))
}
