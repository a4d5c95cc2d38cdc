package client

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// A gate that does not read what the member writes does not keep who signs out.
func TestSignOut_WriterBusy_EndsWithContext(t *testing.T) {
	s := &Session{conn: &Conn{}, ended: make(chan struct{})}
	s.conn.writing.Lock() // and nobody unlocks it
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := s.SignOut(ctx)
	require.ErrorIs(t, err, context.Canceled)
}
