package conformance

import (
	"fmt"
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/stretchr/testify/assert"
)

// A check that loses its connection is made again, and one that finds a fault is not.
func TestTry_ConnectionLost_Again(t *testing.T) {
	for name, c := range map[string]struct {
		losses, tries int
		fails         bool
		want          Verdict
	}{
		"found at once":     {0, 1, true, Fail},
		"right at once":     {0, 1, false, Pass},
		"lost, then found":  {1, 2, true, Fail},
		"lost, then right":  {maxTries - 1, maxTries, false, Pass},
		"lost again, again": {maxTries, maxTries, false, Fail},
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			r := run{Options: Options{Timeout: DefaultTimeout}}
			result := r.try(t.Context(), Check{script: func(t *trial) {
				tries++
				t.lost = tries <= c.losses
				t.check(!t.lost && !c.fails, "in try %d", tries)
			}})
			assert.Equal(t, c.want, result.Verdict, result.Detail)
			assert.Equal(t, c.tries, tries)
		})
	}
}

func TestIsLoss(t *testing.T) {
	for err, want := range map[error]bool{
		nil:                           false,
		&quic.StatelessResetError{}:   true,
		&quic.IdleTimeoutError{}:      true,
		&quic.ApplicationError{}:      false,
		&quic.TransportError{}:        false,
		&quic.HandshakeTimeoutError{}: false,
	} {
		assert.Equal(t, want, isLoss(err), fmt.Sprint(err))
		assert.Equal(t, want, isLoss(fmt.Errorf("reading: %w", err)), fmt.Sprint(err))
	}
}
