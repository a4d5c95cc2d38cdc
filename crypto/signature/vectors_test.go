package signature_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
)

// edgeCase is one of the public vectors that combine all points of small order,
// as parts of A and R or alone, in all their encodings. Each would satisfy some
// implementation's rule.
type edgeCase struct {
	A, R, S, M string
	Flags      []string
}

// expect is the verdict of our rule, from what the vector says about itself.
// Small-order components and residues are no ground for refusal: the equation
// has the cofactor.
func (e edgeCase) expect() error {
	switch {
	case slices.Contains(e.Flags, "NonCanonicalA"):
		return signature.ErrKeyEncoding
	case slices.Contains(e.Flags, "LowOrderA"):
		return signature.ErrSmallOrder
	case slices.Contains(e.Flags, "NonCanonicalR"):
		return signature.ErrEncoding
	}
	return nil
}

// loadEdgeCases reads the vectors from the module that publishes them. The
// module is in go.mod as a tool, because no Go code imports it.
func loadEdgeCases(t *testing.T) []edgeCase {
	t.Helper()
	const module = "filippo.io/mostly-harmless/ed25519vectors"
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	require.NoError(t, err, "go mod download %s: %s", module, out)
	var info struct{ Dir string }
	require.NoError(t, json.Unmarshal(out, &info))
	require.NotEmpty(t, info.Dir)
	data, err := os.ReadFile(filepath.Join(info.Dir, "ed25519vectors.json"))
	require.NoError(t, err)
	var cases []edgeCase
	require.NoError(t, json.Unmarshal(data, &cases))
	return cases
}

func TestEdgeCases(t *testing.T) {
	cases := loadEdgeCases(t)
	require.Len(t, cases, 768, "the vectors have changed")
	seen := map[error]int{}
	var batch signature.Batch
	for i, c := range cases {
		err := c.verify(t, &batch)
		assert.ErrorIs(t, err, c.expect(), "vector %d with %v", i, c.Flags)
		seen[c.expect()]++
	}
	assert.Nil(t, batch.Verify(nil), "all that is good alone is good together")
	assert.Equal(t, batch.Len(), seen[nil])
	for _, reason := range []error{nil, signature.ErrKeyEncoding, signature.ErrSmallOrder, signature.ErrEncoding} {
		assert.Greater(t, seen[reason], 20, "vectors for %v", reason)
	}
}

// verify verifies with a key fresh and with one that has its table, and puts
// what is good into the batch.
func (e edgeCase) verify(t *testing.T, batch *signature.Batch) error {
	key, err := signature.ParsePublicKey(unhex(t, e.A))
	if err != nil {
		return err
	}
	sig := append(unhex(t, e.R), unhex(t, e.S)...)
	err = key.Verify([]byte(e.M), sig)
	for range 4 {
		assert.Equal(t, err, key.Verify([]byte(e.M), sig))
	}
	assert.ErrorIs(t, key.Verify([]byte(e.M+"!"), sig), otherwise(err, signature.ErrMismatch))
	if err == nil {
		batch.Add(key, []byte(e.M), sig)
	}
	return err
}

func otherwise(err, fallback error) error {
	if err != nil {
		return err
	}
	return fallback
}
