package keyfile_test

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/crypto/keyfile"
)

var allTypes = []string{
	keyfile.PrivateKey, keyfile.EncryptedPrivateKey, keyfile.PublicKey, keyfile.Certificate,
	keyfile.CACertificate, keyfile.GroupConfiguration, keyfile.Revocation, keyfile.Endpoint, keyfile.Leave,
	keyfile.CertificateRequest, keyfile.Evidence,
}

func drawBlocks(t *rapid.T) []keyfile.Block {
	var blocks []keyfile.Block
	for range rapid.IntRange(0, 4).Draw(t, "blocks") {
		blocks = append(blocks, keyfile.Block{
			Type:  rapid.SampledFrom(allTypes).Draw(t, "type"),
			Bytes: rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "bytes"),
		})
	}
	return blocks
}

func TestBlocks_Any_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blocks := drawBlocks(t)
		text, err := keyfile.EncodeBlocks(blocks...)
		require.NoError(t, err)
		same := func(text string) {
			got, err := keyfile.DecodeBlocks([]byte(text))
			require.NoError(t, err)
			require.Len(t, got, len(blocks))
			for i := range blocks {
				assert.Equal(t, blocks[i].Type, got[i].Type)
				assert.True(t, bytes.Equal(blocks[i].Bytes, got[i].Bytes))
			}
		}
		same(string(text))
		same(strings.ReplaceAll(string(text), "\n", "\r\n"))
		same(strings.TrimSuffix(string(text), "\n"))
		same("# made for ftp-01\n\n" + strings.ReplaceAll(string(text), "-----BEGIN", "\n# next\n-----BEGIN") + "\n\n#end")
		for line := range strings.Lines(string(text)) {
			assert.LessOrEqual(t, len(line), 65)
		}
	})
}

// TestBlocks_Text_Exact: one character more, less or other is never read as the
// same blocks.
func TestBlocks_Text_Exact(t *testing.T) {
	text, err := keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Endpoint, Bytes: make([]byte, 61)})
	require.NoError(t, err)
	good, err := keyfile.DecodeBlocks(text)
	require.NoError(t, err)
	for i := range text[:len(text)-1] { // the last newline may be missing
		for _, damaged := range [][]byte{
			append(bytes.Clone(text[:i]), text[i+1:]...),
			append(append(bytes.Clone(text[:i]), '!'), text[i:]...),
			append(append(bytes.Clone(text[:i]), 'B'), text[i+1:]...),
		} {
			if bytes.Equal(damaged, text) {
				continue
			}
			got, err := keyfile.DecodeBlocks(damaged)
			if err == nil && !onlyNewlineMoved(text, damaged) {
				assert.NotEqual(t, good, got, "%q", damaged)
			}
		}
	}
}

// onlyNewlineMoved reports whether two texts differ only in line ends: where
// base64 is wrapped says nothing.
func onlyNewlineMoved(a, b []byte) bool {
	return bytes.Equal(bytes.ReplaceAll(a, []byte("\n"), nil), bytes.ReplaceAll(b, []byte("\n"), nil))
}

func TestDecodeBlocks_Invalid_Refused(t *testing.T) {
	const (
		first = "-----BEGIN WANDER ENDPOINT-----\n"
		last  = "-----END WANDER ENDPOINT-----\n"
	)
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"garbage":            {"hello", keyfile.ErrFormat},
		"garbage before":     {"x\n" + first + last, keyfile.ErrFormat},
		"garbage behind":     {first + "AAAA\n" + last + "x", keyfile.ErrFormat},
		"space before":       {" " + first + last, keyfile.ErrFormat},
		"space behind BEGIN": {strings.TrimSuffix(first, "\n") + " \n" + last, keyfile.ErrFormat},
		"no end":             {first + "AAAA\n", keyfile.ErrFormat},
		"nothing but begin":  {first, keyfile.ErrFormat},
		"another end":        {first + "AAAA\n-----END WANDER REVOCATION-----\n", keyfile.ErrFormat},
		"only end":           {last, keyfile.ErrFormat},
		"begin in block":     {first + first + "AAAA\n" + last, keyfile.ErrFormat},
		"header":             {first + "Proc-Type: 4,ENCRYPTED\n\nAAAA\n" + last, keyfile.ErrFormat},
		"comment in block":   {first + "# no\nAAAA\n" + last, keyfile.ErrFormat},
		"empty line":         {first + "\nAAAA\n" + last, keyfile.ErrFormat},
		"not base64":         {first + "A*AA\n" + last, keyfile.ErrFormat},
		"url base64":         {first + "A-_A\n" + last, keyfile.ErrFormat},
		"no padding":         {first + "AAA\n" + last, keyfile.ErrFormat},
		"stray bits":         {first + "AB==\n" + last, keyfile.ErrFormat},
		"carriage return":    {first + "AA\rAA\n" + last, keyfile.ErrFormat},
		"long line":          {first + strings.Repeat("A", 68) + "\n" + last, keyfile.ErrFormat},
		"unknown type":       {"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", keyfile.ErrType},
		"no type":            {"-----BEGIN -----\n-----END -----\n", keyfile.ErrType},
		"large block":        {first + strings.Repeat(strings.Repeat("A", 64)+"\n", keyfile.MaxBlock/48+1) + last, keyfile.ErrTooLarge},
		"endless block":      {first + strings.Repeat(strings.Repeat("A", 64)+"\n", keyfile.MaxBlock/24), keyfile.ErrTooLarge},
		"large text":         {strings.Repeat("\n", keyfile.MaxText+1), keyfile.ErrTooLarge},
		"many blocks":        {strings.Repeat(first+last, keyfile.MaxBlocks+1), keyfile.ErrTooMany},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := keyfile.DecodeBlocks([]byte(c.text))
			assert.ErrorIs(t, err, c.want)
		})
	}
}

func TestEncodeBlocks_Invalid_Refused(t *testing.T) {
	_, err := keyfile.EncodeBlocks(keyfile.Block{Type: "CERTIFICATE"})
	assert.ErrorIs(t, err, keyfile.ErrType)
	_, err = keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Endpoint, Bytes: make([]byte, keyfile.MaxBlock+1)})
	assert.ErrorIs(t, err, keyfile.ErrTooLarge)
	_, err = keyfile.EncodeBlocks(make([]keyfile.Block, keyfile.MaxBlocks+1)...)
	assert.ErrorIs(t, err, keyfile.ErrTooMany)
	large := keyfile.Block{Type: keyfile.Endpoint, Bytes: make([]byte, keyfile.MaxBlock)}
	blocks := make([]keyfile.Block, keyfile.MaxText/keyfile.MaxBlock)
	for i := range blocks {
		blocks[i] = large
	}
	_, err = keyfile.EncodeBlocks(blocks...)
	assert.ErrorIs(t, err, keyfile.ErrTooLarge)
	text, err := keyfile.EncodeBlocks(large)
	require.NoError(t, err)
	_, err = keyfile.DecodeBlocks(text)
	assert.NoError(t, err, "the largest block can be read again")
}

func TestCheckMode(t *testing.T) {
	for mode, want := range map[fs.FileMode]error{
		0o600: nil, 0o400: nil, 0o200: nil, 0: nil,
		0o640: keyfile.ErrMode, 0o604: keyfile.ErrMode, 0o610: keyfile.ErrMode, 0o601: keyfile.ErrMode,
		0o620: keyfile.ErrMode, 0o602: keyfile.ErrMode, 0o700: keyfile.ErrMode, 0o777: keyfile.ErrMode,
		fs.ModeSymlink | 0o600: nil,
	} {
		err := keyfile.CheckMode(mode)
		if want == nil {
			assert.NoError(t, err, mode)
		} else {
			assert.ErrorIs(t, err, want, mode)
		}
	}
}
