package update_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/wandertoken/wander/protocol/update"
	"github.com/wandertoken/wander/protocol/wire"
)

// object is a byte string in the place of a signed object.
func object(n int) []byte { return bytes.Repeat([]byte{0xc5}, n) }

func samples() map[string]update.Update {
	return map[string]update.Update{
		"join":               update.Join(object(300), object(150)),
		"join, nowhere":      update.Join(object(300), []byte{}),
		"leave":              update.Leave(object(120), object(300)),
		"failure":            update.Failure(object(130), object(300)),
		"revocation":         update.Revocation(object(140)),
		"largest join":       update.Join(object(1000), object(update.MaxUpdate-1000-8)),
		"largest revocation": update.Revocation(object(update.MaxUpdate - 5)),
	}
}

func TestUpdate_Each_RoundTrip(t *testing.T) {
	for name, u := range samples() {
		raw, err := u.Encode()
		require.NoError(t, err, name)
		got, err := update.Parse(raw)
		require.NoError(t, err, name)
		assert.Equal(t, u, got, name)
		clear(raw)
		assert.Equal(t, u, got, "it does not refer to the bytes")
	}
	raw, err := update.Join(object(1), nil).Encode()
	require.NoError(t, err)
	assert.Equal(t, []byte{0x83, 1, 0x41, 0xc5, 0x40}, raw)
	assert.Equal(t, wire.MaxObject, update.MaxUpdate)
}

func TestUpdate_Invalid_NotEncoded(t *testing.T) {
	for name, c := range map[string]struct {
		want   error
		broken update.Update
	}{
		"nothing":                     {update.ErrKind, update.Update{}},
		"kind of a later version":     {update.ErrKind, update.Update{Kind: 5, Certificate: object(1)}},
		"join without certificate":    {update.ErrMalformed, update.Join(nil, object(1))},
		"leave of nothing":            {update.ErrMalformed, update.Leave(nil, object(1))},
		"leave without certificate":   {update.ErrMalformed, update.Leave(object(1), nil)},
		"failure of nothing":          {update.ErrMalformed, update.Failure(nil, object(1))},
		"failure without certificate": {update.ErrMalformed, update.Failure(object(1), nil)},
		"revocation of nothing":       {update.ErrMalformed, update.Revocation(nil)},
		"join too large":              {update.ErrTooLarge, update.Join(object(1000), object(update.MaxUpdate-1000-7))},
		"revocation too large":        {update.ErrTooLarge, update.Revocation(object(update.MaxUpdate - 4))},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.broken.Encode()
			assert.ErrorIs(t, err, c.want)
		})
	}
}

func TestUpdate_Invalid_Refused(t *testing.T) {
	for name, c := range map[string]struct {
		want error
		raw  string
	}{
		"nothing":                    {update.ErrMalformed, ""},
		"one byte":                   {update.ErrMalformed, "\x83"},
		"kind 0":                     {update.ErrKind, "\x83\x00\x41\x00\x41\x00"},
		"kind of a later version":    {update.ErrKind, "\x83\x05\x41\x00\x41\x00"},
		"a map":                      {update.ErrMalformed, "\xa1\x01\x41\x00"},
		"one object of two":          {update.ErrMalformed, "\x82\x01\x41\x00"},
		"two objects of one":         {update.ErrMalformed, "\x83\x04\x41\x00\x41\x00"},
		"join without certificate":   {update.ErrMalformed, "\x83\x01\x40\x41\x00"},
		"leave without certificate":  {update.ErrMalformed, "\x83\x02\x41\x00\x40"},
		"failure of nothing":         {update.ErrMalformed, "\x83\x03\x40\x41\x00"},
		"revocation of nothing":      {update.ErrMalformed, "\x82\x04\x40"},
		"null for an object":         {update.ErrMalformed, "\x82\x04\xf6"},
		"a list for an object":       {update.ErrMalformed, "\x82\x04\x81\x00"},
		"a tag":                      {update.ErrMalformed, "\xc0\x82\x04\x41\x00"},
		"a text as kind":             {update.ErrMalformed, "\x82\x61\x04\x41\x00"},
		"kind in two bytes":          {update.ErrMalformed, "\x82\x18\x04\x41\x00"},
		"length not the shortest":    {update.ErrMalformed, "\x82\x04\x58\x01\x00"},
		"something behind":           {update.ErrMalformed, "\x82\x04\x41\x00\x00"},
		"cut":                        {update.ErrMalformed, "\x82\x04\x42\x00"},
		"more than an object may be": {update.ErrTooLarge, "\x82\x04\x59\x10\x00" + string(object(4096))},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := update.Parse([]byte(c.raw))
			assert.ErrorIs(t, err, c.want)
		})
	}
}

// What Parse accepts is what Encode makes: no update has two spellings.
func TestUpdate_AnyBytes_OneSpelling(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := samples()
		names := []string{"join", "join, nowhere", "leave", "failure", "revocation"}
		raw, err := all[rapid.SampledFrom(names).Draw(t, "update")].Encode()
		require.NoError(t, err)
		at := rapid.IntRange(0, min(8, len(raw)-1)).Draw(t, "at")
		switch b := rapid.Byte().Draw(t, "byte"); rapid.IntRange(0, 2).Draw(t, "change") {
		case 0:
			raw[at] = b
		case 1:
			raw = slices.Insert(raw, at, b)
		case 2:
			raw = slices.Delete(raw, at, at+1)
		}
		u, err := update.Parse(raw)
		if err != nil {
			return
		}
		again, err := u.Encode()
		require.NoError(t, err)
		require.Equal(t, raw, again)
	})
}

func TestKindNames(t *testing.T) {
	for k := update.KindJoin; k <= update.KindRevocation; k++ {
		assert.NotContains(t, k.String(), "kind")
	}
	assert.Equal(t, "update kind 5", update.Kind(5).String())
}
