package transport

import (
	"context"
	"fmt"
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWithdrawnConnections dials a member and closes the connection, before a
// preamble has been written, with each code: what a restart or a second
// connection brings is not counted, nor logged, among what was turned away.
func TestWithdrawnConnections(t *testing.T) {
	g := newGroup(t, "g")
	for code, orderly := range map[Code]bool{
		CodeNormal: true, CodeIdle: true, CodeReplaced: true, CodeShuttingDown: true,
		CodeProtocol: false, CodeRevoked: false, CodeOverload: false, CodeInternal: false, 99: false,
	} {
		t.Run(fmt.Sprint(uint64(code)), func(t *testing.T) {
			t.Parallel()
			a := g.open(t, newBook(), loopback(t), "a", nil)
			key, cert := g.member(t, "z", nil)
			r := newRaw(t, loopback(t), *must(tlsCertificate(key, cert, nil)))
			q, _, err := r.dial(a)
			require.NoError(t, err)
			require.NoError(t, q.CloseWithError(quic.ApplicationErrorCode(code), ""))
			// The end is seen while the handshake ends or after it.
			refused := func() uint64 {
				s := a.Stats()
				return s.Refused[ErrProtocol.Error()] + s.Refused[ErrHandshake.Error()]
			}
			until(t, "the end is counted", func() bool { return a.Stats().Withdrawn+refused() > 0 })
			require.NoError(t, a.Close())
			warned := a.log.lines(ErrProtocol.Error()) + a.log.lines(ErrHandshake.Error())
			if orderly {
				assert.Equal(t, uint64(1), a.Stats().Withdrawn)
				assert.Zero(t, refused())
				assert.Zero(t, warned)
			} else {
				assert.Zero(t, a.Stats().Withdrawn)
				assert.Positive(t, refused())
				assert.Positive(t, warned)
			}
		})
	}
}

func TestWithdrawn(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"by the application, within the handshake", &quic.TransportError{Remote: true, ErrorCode: quic.ApplicationErrorErrorCode}, true},
		{"by this side, within the handshake", &quic.TransportError{ErrorCode: quic.ApplicationErrorErrorCode}, false},
		{"refused", &quic.TransportError{Remote: true, ErrorCode: 0x12a}, false},
		{"replaced", &quic.ApplicationError{Remote: true, ErrorCode: quic.ApplicationErrorCode(CodeReplaced)}, true},
		{"replaced by this side", &quic.ApplicationError{ErrorCode: quic.ApplicationErrorCode(CodeReplaced)}, false},
		{"protocol violation", &quic.ApplicationError{Remote: true, ErrorCode: quic.ApplicationErrorCode(CodeProtocol)}, false},
		{"silence", context.DeadlineExceeded, false},
	} {
		assert.Equal(t, c.want, withdrawn(c.err), c.name)
		assert.Equal(t, c.want, withdrawn(fmt.Errorf("read: %w", c.err)), c.name)
	}
}
