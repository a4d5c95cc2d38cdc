package takeover

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	errTaken   = errors.New("taken")
	errLocked  = errors.New("locked")
	errInvalid = errors.New("invalid")
)

func TestOpen_Taken_WaitsUntilFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := time.Now().Add(maxWait - 2*pause)
		got, err := Open(t.Context(), func() (int, error) {
			if time.Now().Before(free) {
				return 0, fmt.Errorf("address: %w", errTaken)
			}
			return 7, nil
		}, errLocked, errTaken)
		require.NoError(t, err)
		require.Equal(t, 7, got)
	})
}

func TestOpen_TakenForGood_ReturnsTheErrorAfterMaxWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := Open(t.Context(), func() (int, error) { return 0, errTaken }, errTaken)
		require.ErrorIs(t, err, errTaken)
		require.Equal(t, maxWait, time.Since(began))
	})
}

func TestOpen_OtherError_ReturnedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := Open(t.Context(), func() (int, error) { return 0, errInvalid }, errTaken)
		require.ErrorIs(t, err, errInvalid)
		require.Zero(t, time.Since(began))
	})
}

func TestOpen_ContextEnded_NotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		_, err := Open(ctx, func() (int, error) { return 0, errTaken }, errTaken)
		require.ErrorIs(t, err, errTaken)
		require.LessOrEqual(t, time.Since(began), pause)
	})
}
