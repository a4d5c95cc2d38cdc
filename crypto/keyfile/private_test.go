package keyfile_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
)

// cheap is a work factor for tests.
const cheap = 2

func testKey(t testing.TB) *signature.PrivateKey {
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{0xa7}, signature.SeedSize))
	require.NoError(t, err)
	return key
}

func say(passphrase string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(passphrase), nil }
}

// never fails the test when anybody asks for a passphrase.
func never(t *testing.T) func() ([]byte, error) {
	return func() ([]byte, error) {
		t.Error("asked for a passphrase")
		return nil, errors.New("no passphrase")
	}
}

func TestPlainKey(t *testing.T) {
	text, err := keyfile.EncodePrivateKey(testKey(t))
	require.NoError(t, err)
	const want = "-----BEGIN WANDER PRIVATE KEY-----\n" +
		"pAEBAycgBiNYIKenp6enp6enp6enp6enp6enp6enp6enp6enp6enp6en\n" +
		"-----END WANDER PRIVATE KEY-----\n"
	assert.Equal(t, want, string(text), "the format stays: keys live longer than programs")
	key, err := keyfile.DecodePrivateKey(text, never(t))
	require.NoError(t, err)
	assert.Equal(t, testKey(t).Seed(), key.Seed())
	_, err = keyfile.DecodePrivateKey(text, nil)
	assert.NoError(t, err)
}

func TestEncryptedKey(t *testing.T) {
	text, err := keyfile.EncryptPrivateKey(testKey(t), []byte("correct horse"), cheap)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "p6enp6en", "the seed in base64")
	key, err := keyfile.DecodePrivateKey(text, say("correct horse"))
	require.NoError(t, err)
	assert.Equal(t, testKey(t).Seed(), key.Seed())

	_, err = keyfile.DecodePrivateKey(text, say("correct house"))
	assert.ErrorIs(t, err, keyfile.ErrPassphrase)
	assert.NotContains(t, err.Error(), "house")
	_, err = keyfile.DecodePrivateKey(text, say(""))
	assert.ErrorIs(t, err, keyfile.ErrPassphrase)
	_, err = keyfile.DecodePrivateKey(text, nil)
	assert.ErrorIs(t, err, keyfile.ErrPassphraseNeeded)
	interrupted := errors.New("interrupted")
	_, err = keyfile.DecodePrivateKey(text, func() ([]byte, error) { return nil, interrupted })
	assert.ErrorIs(t, err, interrupted)

	again, err := keyfile.EncryptPrivateKey(testKey(t), []byte("correct horse"), cheap)
	require.NoError(t, err)
	assert.NotEqual(t, text, again, "a new salt each time")
}

func TestEncrypt_Invalid_Refused(t *testing.T) {
	_, err := keyfile.EncryptPrivateKey(testKey(t), nil, cheap)
	assert.ErrorIs(t, err, keyfile.ErrPassphrase)
	for _, work := range []int{-1, 0, 21, 64} {
		_, err := keyfile.EncryptPrivateKey(testKey(t), []byte("correct horse"), work)
		assert.ErrorIs(t, err, keyfile.ErrWork, work)
	}
}

// encrypted is an age file with the given content in place of a key.
func encrypted(t *testing.T, content []byte, to age.Recipient) []byte {
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, to)
	require.NoError(t, err)
	_, err = w.Write(content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return armour(t, keyfile.EncryptedPrivateKey, sealed.Bytes())
}

func armour(t *testing.T, kind string, content []byte) []byte {
	text, err := keyfile.EncodeBlocks(keyfile.Block{Type: kind, Bytes: content})
	require.NoError(t, err)
	return text
}

func scrypt(t *testing.T, work int) *age.ScryptRecipient {
	to, err := age.NewScryptRecipient("pass")
	require.NoError(t, err)
	to.SetWorkFactor(work)
	return to
}

func TestDecodePrivateKey_Invalid_Refused(t *testing.T) {
	seed := strings.Repeat("a7", 32)
	other, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	plain, err := keyfile.EncodePrivateKey(testKey(t))
	require.NoError(t, err)
	good := unhex(t, "a4 01 01 03 27 20 06 23 58 20 "+seed)
	for name, c := range map[string]struct {
		text []byte
		want error
	}{
		"empty":               {nil, keyfile.ErrNoKey},
		"only a comment":      {[]byte("# nothing\n"), keyfile.ErrNoKey},
		"garbage":             {[]byte("seed"), keyfile.ErrFormat},
		"a certificate":       {armour(t, keyfile.Certificate, nil), keyfile.ErrType},
		"two keys":            {append(bytes.Clone(plain), plain...), keyfile.ErrTooMany},
		"no content":          {armour(t, keyfile.PrivateKey, nil), keyfile.ErrKey},
		"bare seed":           {armour(t, keyfile.PrivateKey, unhex(t, seed)), keyfile.ErrKey},
		"another type":        {armour(t, keyfile.PrivateKey, unhex(t, "a4 01 02 03 27 20 06 23 58 20 "+seed)), keyfile.ErrKey},
		"another algorithm":   {armour(t, keyfile.PrivateKey, unhex(t, "a4 01 01 03 26 20 06 23 58 20 "+seed)), keyfile.ErrKey},
		"another curve":       {armour(t, keyfile.PrivateKey, unhex(t, "a4 01 01 03 27 20 04 23 58 20 "+seed)), keyfile.ErrKey},
		"short seed":          {armour(t, keyfile.PrivateKey, unhex(t, "a4 01 01 03 27 20 06 23 58 1f "+seed[2:])), keyfile.ErrKey},
		"no seed":             {armour(t, keyfile.PrivateKey, unhex(t, "a3 01 01 03 27 20 06")), keyfile.ErrKey},
		"one field more":      {armour(t, keyfile.PrivateKey, unhex(t, "a5 01 01 03 27 04 40 20 06 23 58 20 "+seed)), keyfile.ErrKey},
		"trailing":            {armour(t, keyfile.PrivateKey, append(bytes.Clone(good), 0)), keyfile.ErrKey},
		"not age":             {armour(t, keyfile.EncryptedPrivateKey, good), keyfile.ErrKey},
		"age to a key":        {encrypted(t, good, other.Recipient()), keyfile.ErrPassphrase},
		"age with nonsense":   {encrypted(t, []byte("nonsense"), scrypt(t, cheap)), keyfile.ErrKey},
		"age with too much":   {encrypted(t, append(bytes.Clone(good), make([]byte, 1<<20)[:20000]...), scrypt(t, cheap)), keyfile.ErrKey},
		"age cut":             {armour(t, keyfile.EncryptedPrivateKey, cutAge(t, good)), keyfile.ErrKey},
		"age at an odd price": {tooExpensive(t, good), keyfile.ErrKey},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := keyfile.DecodePrivateKey(c.text, say("pass"))
			require.ErrorIs(t, err, c.want)
			for _, secret := range []string{"a7a7a7", "p6enp6", "\xa7\xa7", "167 167", "pass\""} {
				assert.NotContains(t, err.Error(), secret)
			}
		})
	}
	key, err := keyfile.DecodePrivateKey(encrypted(t, good, scrypt(t, cheap)), say("pass"))
	require.NoError(t, err, "what the cases above are variants of")
	assert.Equal(t, testKey(t).Seed(), key.Seed())
}

func unhex(t *testing.T, s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	require.NoError(t, err)
	return b
}

// cutAge is an age file without its last byte.
func cutAge(t *testing.T, content []byte) []byte {
	blocks, err := keyfile.DecodeBlocks(encrypted(t, content, scrypt(t, cheap)))
	require.NoError(t, err)
	return blocks[0].Bytes[:len(blocks[0].Bytes)-1]
}

// tooExpensive is an age file that claims a work factor of 21, which would take
// 2 GiB.
func tooExpensive(t *testing.T, content []byte) []byte {
	blocks, err := keyfile.DecodeBlocks(encrypted(t, content, scrypt(t, cheap)))
	require.NoError(t, err)
	salt := base64.RawStdEncoding.EncodedLen(16)
	sealed := blocks[0].Bytes
	at := bytes.Index(sealed, []byte("-> scrypt ")) + len("-> scrypt ") + salt + 1
	require.Equal(t, []byte("2\n"), sealed[at:at+2])
	return armour(t, keyfile.EncryptedPrivateKey, append(append(bytes.Clone(sealed[:at]), "21"...), sealed[at+1:]...))
}
