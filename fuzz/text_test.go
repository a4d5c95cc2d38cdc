package fuzz

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	authoritypkg "github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/duration"
	wandergroup "github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy/ring"
)

// FuzzText: the readers of short things, told by the first byte. What is accepted
// has one spelling.
//
//fuzz:of protocol/ident protocol/duration protocol/policy protocol/journal protocol/certificate protocol/group crypto/keyfile
func FuzzText(f *testing.F) { targets["FuzzText"].Fuzz(f) }

// texts read one short thing each and write it again.
var texts = []func(text []byte) (again []byte, err error){
	capitals(textOf[*ident.Grant]), capitals(textOf[*ident.Hash]), capitals(textOf[*ident.Token]), capitals(textOf[*ident.Group]),
	capitals(textOf[*ident.Member]), capitals(textOf[*ident.Incarnation]),
	textOf[*authoritypkg.InviteID],
	func(text []byte) ([]byte, error) { // any spelling of a duration, but one meaning
		d, err := duration.Parse(string(text))
		if err != nil {
			return nil, err
		}
		if again, err := duration.Parse(duration.Format(d)); err != nil || again != d {
			return nil, nil
		}
		return text, nil
	},
	func(text []byte) ([]byte, error) {
		n, ok := journal.ParseSegmentName(string(text))
		if !ok {
			return nil, journal.ErrDamaged
		}
		return []byte(journal.SegmentName(n)), nil
	},
	func(text []byte) ([]byte, error) {
		b, err := ring.ParseBaton(text)
		return ring.AppendBaton(nil, b), err
	},
	func(text []byte) ([]byte, error) {
		a, err := ring.ParseAlgorithm(string(text))
		return []byte(a.String()), err
	},
	func(text []byte) ([]byte, error) {
		key, err := keyfile.DecodePublicKey(keyfile.Block{Type: keyfile.PublicKey, Bytes: text})
		if err != nil {
			return nil, err
		}
		return must(keyfile.EncodePublicKey(key)).Bytes, nil
	},
	checkedText(certificate.CheckName), checkedText(certificate.CheckAddress), checkedText(certificate.CheckReason), checkedText(wandergroup.CheckName), checkedText(ident.CheckClass),
}

// capitals is for ids, which people may also write in capitals.
func capitals(read func([]byte) ([]byte, error)) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		again, err := read(text)
		if bytes.Equal(bytes.ToLower(text), again) {
			again = text
		}
		return again, err
	}
}

// textOf reads and writes what has a text form.
func textOf[P interface {
	*T
	UnmarshalText(text []byte) error
	MarshalText() ([]byte, error)
}, T any](text []byte) ([]byte, error) {
	var x T
	if err := P(&x).UnmarshalText(text); err != nil {
		return nil, err
	}
	return P(&x).MarshalText()
}

func checkedText(check func(string) error) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) { return text, check(string(text)) }
}

func checkText(t require.TestingT, data []byte) bool {
	if len(data) == 0 {
		return false
	}
	text := data[1:]
	again, err := texts[int(data[0])%len(texts)](text)
	if err != nil {
		require.NotEmpty(t, err.Error())
		require.LessOrEqual(t, len(err.Error()), 4*len(text)+400, "an error that repeats too much")
		return false
	}
	require.True(t, bytes.Equal(text, again), "%q is written %q again", text, again)
	return true
}

func textSeeds() map[string][]byte {
	is := func(which byte, text string) []byte { return append([]byte{which}, text...) }
	hex32 := "00112233445566778899aabbccddeeff"
	return map[string][]byte{
		"good-grant":     is(0, hex32),
		"good-hash":      is(1, hex32+hex32),
		"good-token":     is(2, hex32+hex32),
		"good-group":     is(3, hex32+hex32),
		"good-member":    is(4, hex32),
		"good-memory":    is(5, hex32),
		"good-invite":    is(6, "0011223344556677"),
		"good-duration":  is(7, "1h30m"),
		"good-segment":   is(8, journal.SegmentName(7)),
		"good-baton":     is(9, "\x01\x00\x00\x00\x01\x00\x00\x00\x02"),
		"good-algorithm": is(10, "e"),
		"good-key":       is(11, string(must(keyfile.EncodePublicKey(ada.Public())).Bytes)),
		"good-name":      is(12, "ftp-03"),
		"good-address":   is(13, "[2001:db8::7]:4133"),
		"good-host":      is(13, "ftp-03.example.org:4133"),
		"good-reason":    is(14, "key lost"),
		"good-group-2":   is(15, "example"),
		"bad-nothing":    {},
		"good-capitals":  is(4, "00112233445566778899AABBCCDDEEFF"),
		"bad-short":      is(1, "00"),
		"bad-invite":     is(6, "00112233445566FF"),
		"bad-duration":   is(7, "4"),
		"bad-segment":    is(8, "0"+journal.SegmentName(7)),
		"bad-field":      is(9, "\x02\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x03"),
		"bad-algorithm":  is(10, "X"),
		"bad-key":        is(11, "\xa0"),
		"bad-name":       is(12, "a\nb"),
		"bad-address":    is(13, "no-port"),
		"bad-reason":     is(14, "\x00"),
		"bad-group":      is(15, ""),
	}
}
