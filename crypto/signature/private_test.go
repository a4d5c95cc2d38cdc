package signature_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
)

var secretSeed = bytes.Repeat([]byte{0xa7}, signature.SeedSize)

// TestPrivateKey_Printed_Secret prints a key in every way that a careless line might.
func TestPrivateKey_Printed_Secret(t *testing.T) {
	key, err := signature.NewPrivateKey(secretSeed)
	require.NoError(t, err)
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&out, verb, key)
		fmt.Fprintf(&out, verb, *key)
		fmt.Fprintf(&out, verb, struct{ Key *signature.PrivateKey }{key})
	}
	fmt.Fprintln(&out, key, fmt.Errorf("with %v", key))
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).Info("key", "key", key, "value", *key)
	}
	encoded, err := json.Marshal(map[string]any{"key": key, "value": *key})
	require.NoError(t, err)
	out.Write(encoded)
	text := strings.ToLower(out.String())
	for _, secret := range []string{hex.EncodeToString(secretSeed[:4]), "167 167", "0xa7", "\xa7\xa7", strings.ToLower(base64.StdEncoding.EncodeToString(secretSeed)[:8])} {
		assert.NotContains(t, text, secret)
	}
	assert.Contains(t, text, "not shown")
}

func TestPrivateKey_New_Signs(t *testing.T) {
	for _, size := range []int{0, 31, 33, 64} {
		_, err := signature.NewPrivateKey(make([]byte, size))
		assert.ErrorIs(t, err, signature.ErrSeed)
	}
	key, err := signature.NewPrivateKey(secretSeed)
	require.NoError(t, err)
	assert.Equal(t, secretSeed, key.Seed())
	assert.Equal(t, secretSeed, key.StdKey().Seed())
	public := key.Public().Bytes()
	assert.Equal(t, public[:], []byte(key.StdKey()[signature.SeedSize:]))
	assert.Equal(t, hex.EncodeToString(public[:]), key.Public().String())
}

func TestGenerate(t *testing.T) {
	key, err := signature.Generate(bytes.NewReader(secretSeed))
	require.NoError(t, err)
	assert.Equal(t, secretSeed, key.Seed(), "the random bytes are the seed")
	same, err := signature.NewPrivateKey(secretSeed)
	require.NoError(t, err)
	assert.True(t, key.Public().Equal(same.Public()))
	other, err := signature.NewPrivateKey(make([]byte, signature.SeedSize))
	require.NoError(t, err)
	assert.False(t, key.Public().Equal(other.Public()))

	broken := errors.New("no entropy")
	_, err = signature.Generate(iotest.ErrReader(broken))
	assert.ErrorIs(t, err, broken)
	_, err = signature.Generate(bytes.NewReader(secretSeed[:31]))
	assert.Error(t, err, "a short read must not leave zeros in the seed")
}

// TestConcurrentUse is for the race detector: the table is made while others
// verify.
func TestConcurrentUse(t *testing.T) {
	key, err := signature.NewPrivateKey(secretSeed)
	require.NoError(t, err)
	message := []byte("message")
	sig := key.Sign(message)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 4 {
				assert.NoError(t, key.Public().Verify(message, sig))
			}
		})
	}
	all.Wait()
}

// TestBatch_Done_KeepsNothing changes what was added before it is verified.
func TestBatch_Done_KeepsNothing(t *testing.T) {
	key, err := signature.NewPrivateKey(secretSeed)
	require.NoError(t, err)
	message := []byte("message")
	sig := key.Sign(message)
	var batch signature.Batch
	assert.Nil(t, batch.Verify(nil), "an empty batch has no bad signature")
	for range 5 {
		batch.Add(key.Public(), message, sig)
	}
	clear(message)
	clear(sig)
	assert.Equal(t, 5, batch.Len())
	assert.Nil(t, batch.Verify(nil))
	batch.Add(key.Public(), message, sig)
	errs := batch.Verify(iotest.ErrReader(errors.New("no entropy")))
	require.Len(t, errs, 6)
	for i, err := range errs[:5] {
		assert.NoError(t, err, i)
	}
	assert.ErrorIs(t, errs[5], signature.ErrMismatch)
}
