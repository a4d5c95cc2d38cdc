package invite_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/invite"
)

func sample() invite.Invite {
	return invite.Invite{
		Group: ident.Group{1}, Authority: [16]byte{2}, Addresses: []string{"ca.example.org:4134", "[2001:db8::1]:4134"},
		ID: [8]byte{3}, Secret: [16]byte{0xfe, 0xed, 0xfa, 0xce, 0xca, 0xfe}, Name: "ftp-03",
		Expires: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	}
}

func format(t testing.TB, i invite.Invite) string {
	t.Helper()
	text, err := i.Format()
	require.NoError(t, err)
	return text
}

// wrap is the text of any content, right or wrong, with a sum that holds.
func wrap(content []byte) string {
	sum := sha256.Sum256(content)
	return invite.Prefix + base64.RawURLEncoding.EncodeToString(append(bytes.Clone(content), sum[:4]...))
}

func TestOneWord(t *testing.T) {
	text := format(t, sample())
	assert.Regexp(t, `^wander1-[A-Za-z0-9_-]+$`, text)
	assert.Less(t, len(text), 256)
	back, err := invite.Parse(text)
	require.NoError(t, err)
	assert.Equal(t, sample(), back)
}

func TestWrappedPaste(t *testing.T) {
	text := format(t, sample())
	back, err := invite.Parse("  " + text[:80] + "\r\n\t" + text[80:] + "\n")
	require.NoError(t, err)
	assert.Equal(t, sample(), back)
}

// Every mangled paste is told from a refused invite: a character lost, doubled
// or changed, anywhere.
func TestMangled(t *testing.T) {
	text := format(t, sample())
	for at := len(invite.Prefix); at < len(text); at++ {
		other := byte('A')
		if text[at] == other {
			other = 'B'
		}
		for what, bad := range map[string]string{
			"lost":    text[:at] + text[at+1:],
			"cut":     text[:at],
			"doubled": text[:at] + text[at:at+1] + text[at:],
			"changed": text[:at] + string(other) + text[at+1:],
			"quoted":  text[:at] + "”" + text[at:],
		} {
			_, err := invite.Parse(bad)
			assert.ErrorIs(t, err, invite.ErrMangled, "%s at %d", what, at)
		}
	}
}

// Bits that mean nothing are zero: there is one spelling.
func TestSpareBits(t *testing.T) {
	i, seen := sample(), 0
	for range 3 {
		i.Name += "x"
		text := format(t, i)
		if len(text[len(invite.Prefix):])%4 == 0 {
			continue // there are none
		}
		seen++
		_, err := invite.Parse(text[:len(text)-1] + string(text[len(text)-1]+1))
		assert.ErrorIs(t, err, invite.ErrMangled)
	}
	assert.Equal(t, 2, seen)
}

func TestRefused(t *testing.T) {
	text := format(t, sample())
	change := func(f func(*[]any)) string {
		fields := []any{
			make([]byte, 32), make([]byte, 16), []string{"a:1"}, make([]byte, 8), make([]byte, 16), 1, "a",
		}
		f(&fields)
		content, err := canonical.Marshal(fields)
		require.NoError(t, err)
		return wrap(content)
	}
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"as it is":         {change(func(*[]any) {}), nil},
		"empty":            {"", invite.ErrNotInvite},
		"something else":   {"ssh-ed25519 AAAA", invite.ErrNotInvite},
		"no digit":         {"wander-" + text[8:], invite.ErrNotInvite},
		"later version":    {"wander2-" + text[8:], invite.ErrVersion},
		"nothing in it":    {invite.Prefix, invite.ErrMangled},
		"too long":         {text + strings.Repeat(" ", invite.MaxText), invite.ErrTooLong},
		"empty content":    {wrap(nil), invite.ErrMalformed},
		"not CBOR":         {wrap([]byte("hello")), invite.ErrMalformed},
		"field too few":    {change(func(f *[]any) { *f = (*f)[:6] }), invite.ErrMalformed},
		"field too many":   {change(func(f *[]any) { *f = append(*f, 0) }), invite.ErrMalformed},
		"short secret":     {change(func(f *[]any) { (*f)[4] = make([]byte, 15) }), invite.ErrMalformed},
		"no address":       {change(func(f *[]any) { (*f)[2] = []string{} }), invite.ErrMalformed},
		"five addresses":   {change(func(f *[]any) { (*f)[2] = []string{"a:1", "a:1", "a:1", "a:1", "a:1"} }), invite.ErrMalformed},
		"no port":          {change(func(f *[]any) { (*f)[2] = []string{"a"} }), certificate.ErrAddress},
		"after 9999":       {change(func(f *[]any) { (*f)[5] = 253402300800 }), invite.ErrMalformed},
		"beyond any clock": {change(func(f *[]any) { (*f)[5] = uint64(1) << 63 }), invite.ErrMalformed},
		"bad name":         {change(func(f *[]any) { (*f)[6] = "A B" }), certificate.ErrName},
	} {
		_, err := invite.Parse(c.text)
		if c.want == nil {
			assert.NoError(t, err, name)
			continue
		}
		assert.ErrorIs(t, err, c.want, name)
	}
}

func TestNotWritten(t *testing.T) {
	for name, change := range map[string]func(*invite.Invite){
		"no address":     func(i *invite.Invite) { i.Addresses = nil },
		"many addresses": func(i *invite.Invite) { i.Addresses = []string{"a:1", "b:1", "c:1", "d:1", "e:1"} },
		"bad address":    func(i *invite.Invite) { i.Addresses = []string{"a:0"} },
		"no name":        func(i *invite.Invite) { i.Name = "" },
		"before 1970":    func(i *invite.Invite) { i.Expires = time.Time{} },
	} {
		i := sample()
		change(&i)
		_, err := i.Format()
		assert.ErrorIs(t, err, invite.ErrMalformed, name)
	}
}

// No way of printing shows the secret, and no error a part of the text.
func TestSecret_Printed_Hidden(t *testing.T) {
	i := sample()
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "invite", i)
	for _, shown := range []string{fmt.Sprint(i), fmt.Sprintf("%v %+v %#v %s", i, i, i, i), log.String()} {
		assert.NotContains(t, shown, hex.EncodeToString(i.Secret[:4]))
		assert.NotContains(t, shown, "254 237")
		assert.NotContains(t, shown, "0xfe")
		assert.Contains(t, shown, "ftp-03")
	}
	text := format(t, i)
	_, err := invite.Parse(text[:len(text)-1])
	require.Error(t, err)
	assert.NotContains(t, err.Error(), text[20:30])
}

// What is written is read again, and what is read is what would be written.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		array := func(n int) []byte { return rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "bytes") }
		i := invite.Invite{
			Group: ident.Group(array(32)), Authority: [16]byte(array(16)), ID: [8]byte(array(8)), Secret: [16]byte(array(16)),
			Addresses: rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,20}:[1-9][0-9]{0,3}`), 1, invite.MaxAddresses).Draw(t, "addresses"),
			Expires:   time.Unix(rapid.Int64Range(0, 253402300799).Draw(t, "expires"), 0).UTC(),
			Name:      rapid.StringMatching(`[a-z0-9]{1,64}`).Draw(t, "name"),
		}
		text, err := i.Format()
		require.NoError(t, err)
		back, err := invite.Parse(text)
		require.NoError(t, err)
		assert.Equal(t, i, back)
	})
}
