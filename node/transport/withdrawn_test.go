package transport

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/await"
)

// TestWithdrawnConnections dials a member and closes the connection, before a
// preamble has been written, with each code: what a restart or a second
// connection brings is not counted, nor logged, among what was turned away.
func TestWithdrawnConnections(t *testing.T) {
	for code, orderly := range map[Code]bool{
		CodeNormal: true, CodeIdle: true, CodeReplaced: true, CodeShuttingDown: true,
		CodeProtocol: false, CodeRevoked: false, CodeOverload: false, CodeInternal: false, 99: false,
	} {
		t.Run(fmt.Sprint(uint64(code)), func(t *testing.T) {
			inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
				a := b.node("a", nil)
				dialAndClose(t, b, a, code, 100*time.Millisecond) // the handshake has ended on both sides
				warned := a.log.lines(ErrProtocol.Error()) + a.log.lines(ErrHandshake.Error())
				if orderly {
					assert.Equal(t, uint64(1), a.Stats().Withdrawn)
					assert.Zero(t, turnedAway(a))
					assert.Zero(t, warned)
				} else {
					assert.Zero(t, a.Stats().Withdrawn)
					assert.Equal(t, uint64(1), turnedAway(a))
					assert.Positive(t, warned)
				}
			})
		})
	}
}

// TestHandshake_Withdrawn_Refused closes when only the dialler's handshake has ended.
// Which code it gives may stay unknown to the other side (RFC 9000, section 10.2.3):
// an orderly end is told from others where it is seen, and each end counts once.
func TestHandshake_Withdrawn_Refused(t *testing.T) {
	for _, code := range []Code{CodeReplaced, CodeOverload} {
		inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
			a := b.node("a", nil)
			dialAndClose(t, b, a, code, 0)
			assert.Equal(t, uint64(1), a.Stats().Withdrawn+turnedAway(a))
			if code == CodeReplaced {
				assert.Zero(t, turnedAway(a))
			}
		})
	}
}

// TestRestart_BeforePreamble_NoViolation: a dialler is killed after the handshake and
// before its preamble, and its successor answers this side's packets with a stateless
// reset. That is a broken connection of a peer that has restarted, and not worth a
// warning.
func TestRestart_BeforePreamble_NoViolation(t *testing.T) {
	inBubble(t, 1, 10*time.Millisecond, func(t *testing.T, b *bubble) {
		a := b.node("a", nil)
		key, cert := b.member(t, "z", nil)
		certificate := *must(tlsCertificate(key, cert, nil))
		secret := quic.StatelessResetKey{1}
		socket := b.net.socket()
		z := newRaw(t, socket, certificate)
		z.quic.StatelessResetKey = &secret
		_, _, err := z.dial(a)
		require.NoError(t, err)
		time.Sleep(15 * time.Millisecond) // a has the handshake's end, and its next packets are in transit

		successor := newRaw(t, b.net.rebind(socket), certificate)
		successor.quic.StatelessResetKey = &secret
		_, err = successor.quic.WriteTo([]byte{0}, a.Addr()) // which makes it listen
		require.NoError(t, err)
		await.Until(t, "the end is counted", func() bool { return a.Stats().Withdrawn+turnedAway(a) > 0 })
		assert.Equal(t, uint64(1), a.Stats().Withdrawn)
		assert.Zero(t, turnedAway(a))
		assert.Zero(t, a.log.lines(ErrProtocol.Error()))
		require.NoError(t, a.Close())
	})
}

// dialAndClose is a member that connects, and closes the connection after a while.
func dialAndClose(t *testing.T, b *bubble, a *node, code Code, after time.Duration) {
	key, cert := b.member(t, "z", nil)
	r := newRaw(t, b.net.socket(), *must(tlsCertificate(key, cert, nil)))
	q, _, err := r.dial(a)
	require.NoError(t, err)
	time.Sleep(after)
	require.NoError(t, q.CloseWithError(quic.ApplicationErrorCode(code), ""))
	await.Until(t, "the end is counted", func() bool { return a.Stats().Withdrawn+turnedAway(a) > 0 })
	require.NoError(t, a.Close())
}

// turnedAway counts what was refused in a connection's beginning.
func turnedAway(a *node) uint64 {
	s := a.Stats()
	return s.Refused[ErrProtocol.Error()] + s.Refused[ErrHandshake.Error()]
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
		{"restarted", &quic.StatelessResetError{}, true},
		{"silence", context.DeadlineExceeded, false},
	} {
		assert.Equal(t, c.want, withdrawn(c.err), c.name)
		assert.Equal(t, c.want, withdrawn(fmt.Errorf("read: %w", c.err)), c.name)
	}
}
