package fuzz

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/keyfile"
)

var keyfileRefusals = []error{
	keyfile.ErrFormat, keyfile.ErrTooLarge, keyfile.ErrTooMany, keyfile.ErrType,
	keyfile.ErrNoKey, keyfile.ErrKey, keyfile.ErrPassphraseNeeded,
}

// FuzzBlocks: PEM-armoured text. Comments, empty lines and line ends are free,
// so what is accepted has one meaning, not one spelling.
//
//fuzz:of crypto/keyfile
func FuzzBlocks(f *testing.F) { targets["FuzzBlocks"].Fuzz(f) }

func checkBlocks(t require.TestingT, text []byte) bool {
	blocks, err := keyfile.DecodeBlocks(text)
	if err != nil {
		isOneOf(t, err, keyfileRefusals...)
		return false
	}
	again, err := keyfile.EncodeBlocks(blocks...)
	require.NoError(t, err)
	reread, err := keyfile.DecodeBlocks(again)
	require.NoError(t, err)
	require.Equal(t, blocks, reread)
	return true
}

func blocksSeeds() map[string][]byte {
	text := groupFileSeeds()["good-full"]
	return map[string][]byte{
		"good-several":   text,
		"good-crlf":      bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")),
		"good-comments":  append([]byte("# a group\n\n"), text...),
		"good-nothing":   {},
		"good-empty":     []byte("-----BEGIN WANDER ENDPOINT-----\n-----END WANDER ENDPOINT-----\n"),
		"bad-cut":        text[:len(text)/2],
		"bad-type":       []byte("-----BEGIN PGP MESSAGE-----\n-----END PGP MESSAGE-----\n"),
		"bad-base64":     []byte("-----BEGIN WANDER ENDPOINT-----\nAB==\n-----END WANDER ENDPOINT-----\n"),
		"bad-other-end":  []byte("-----BEGIN WANDER ENDPOINT-----\nAA==\n-----END WANDER REVOCATION-----\n"),
		"bad-with-chaff": append([]byte("chaff\n"), text...),
	}
}

// FuzzPrivateKey: the text of a key, of which nobody knows a passphrase.
//
//fuzz:of crypto/keyfile
func FuzzPrivateKey(f *testing.F) { targets["FuzzPrivateKey"].Fuzz(f) }

func checkPrivateKey(t require.TestingT, text []byte) bool {
	key, err := keyfile.DecodePrivateKey(text, nil)
	if err != nil {
		isOneOf(t, err, keyfileRefusals...)
		return false
	}
	again, err := keyfile.EncodePrivateKey(key)
	require.NoError(t, err)
	reread, err := keyfile.DecodePrivateKey(again, nil)
	require.NoError(t, err)
	require.Equal(t, key.Seed(), reread.Seed())
	return true
}

func privateKeySeeds() map[string][]byte {
	text := must(keyfile.EncodePrivateKey(ada))
	encrypted := must(keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.EncryptedPrivateKey, Bytes: []byte("age-encryption.org/v1\n")}))
	return map[string][]byte{
		"good-plain":        text,
		"bad-two":           append(bytes.Clone(text), text...),
		"bad-encrypted":     encrypted,
		"bad-certificate":   must(keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Certificate, Bytes: certificateOf(ada, "ada").Raw()})),
		"bad-empty-content": must(keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.PrivateKey})),
		"bad-short-seed":    must(keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.PrivateKey, Bytes: []byte("\xa4\x01\x01\x03\x27\x20\x06\x23\x41\x00")})),
		"bad-nothing":       {},
	}
}
