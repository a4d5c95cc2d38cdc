package transport

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestPreamble(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := preamble{Ordinal: rapid.Uint64().Draw(t, "ordinal"), Keep: rapid.Bool().Draw(t, "keep")}
		copy(p.Process[:], rapid.SliceOfN(rapid.Byte(), processSize, processSize).Draw(t, "process"))
		body, err := p.encode()
		require.NoError(t, err)
		require.LessOrEqual(t, len(body), maxPreamble)
		back, err := parsePreamble(body)
		require.NoError(t, err)
		require.Equal(t, p, back)

		i := rapid.IntRange(0, len(body)-1).Draw(t, "cut")
		_, err = parsePreamble(body[:i])
		require.ErrorIs(t, err, ErrProtocol)
	})
	body := must(preamble{Process: process{0xab}, Ordinal: 7, Keep: true}.encode())
	require.Equal(t, "82008350ab00000000000000000000000000000007f5", fmt.Sprintf("%x", body))
}

func TestBucket(t *testing.T) {
	b := newBucket(10, 2, 0)
	for _, c := range []struct {
		at   time.Duration
		want bool
	}{
		{0, true}, {0, true}, {0, false}, {99 * time.Millisecond, false}, {100 * time.Millisecond, true},
		{150 * time.Millisecond, false}, {time.Hour, true}, {time.Hour, true}, {time.Hour, false},
		{0, false}, // a clock that steps back gives nothing
	} {
		assert.Equal(t, c.want, b.take(c.at), "at %v", c.at)
	}
	b = newBucket(10, 2, 0)
	assert.Zero(t, b.debt(2, 0))
	assert.Equal(t, 100*time.Millisecond, b.debt(1, 0))
	assert.Equal(t, 200*time.Millisecond, b.debt(2, 100*time.Millisecond))
}

func TestNotices_Repeated_LoggedOncePerInterval(t *testing.T) {
	inBubble(t, 1, 0, func(t *testing.T, b *bubble) {
		a := b.node("a", nil)
		for range 100 {
			a.notices.note(ErrExpired, "remote", "somebody")
		}
		a.notices.note(ErrNoCertificate)
		assert.Equal(t, 1, a.log.lines(ErrExpired.Error()))
		assert.Equal(t, 1, a.log.lines(ErrNoCertificate.Error()))
		time.Sleep(noticeInterval)
		a.notices.note(ErrExpired)
		assert.Equal(t, 2, a.log.lines(ErrExpired.Error()))
		assert.Equal(t, 1, a.log.lines("unlogged=99"))
		assert.Equal(t, uint64(101), a.Stats().Refused[ErrExpired.Error()])
	})
}

func TestCodes(t *testing.T) {
	for code := range Code(len(codeErrors)) {
		err := &CloseError{Code: code, Remote: true}
		require.ErrorIs(t, err, code.err())
		require.NotErrorIs(t, err, ErrLost)
	}
	require.ErrorIs(t, &CloseError{Code: 99}, ErrLost)
	require.Equal(t, uint64(5), uint64(CodeRevoked), "on the wire")
}
