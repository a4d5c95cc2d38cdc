package node

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/metrics"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/member"
)

func TestAnswerOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want metrics.Request
	}{
		{nil, metrics.RequestGranted},
		{api.ErrNotGranted, metrics.RequestTimeout},
		{api.ErrIsolated, metrics.RequestIsolated},
		{apiError(member.ErrNotDue), metrics.RequestRefused},
		{apiError(member.ErrExpired), metrics.RequestRefused},
		{apiError(member.ErrRevoked), metrics.RequestRefused},
		{apiError(member.ErrResource), metrics.RequestRefused},
		{apiError(member.ErrWaiters), metrics.RequestRefused},
		{apiError(errors.New("unheard of")), metrics.RequestRefused},
		{context.Canceled, metrics.RequestWithdrawn},
		{errors.New("the program has ended"), metrics.RequestWithdrawn},
		{ErrClosed, metrics.RequestWithdrawn},
	} {
		assert.Equal(t, c.want, answerOf(c.err), "%v", c.err)
	}
}

func TestHowEnded(t *testing.T) {
	assert.Equal(t, metrics.OperationOK, howEnded(true, 0))
	assert.Equal(t, metrics.OperationFailed, howEnded(true, 1))
	assert.Equal(t, metrics.OperationUnused, howEnded(false, 0))
}

// What a member can be has the same words for people and, with _ for spaces, in
// metrics.
func TestStates_Each_Known(t *testing.T) {
	for _, ineligible := range []error{
		nil, directory.ErrRevoked, directory.ErrLeft, directory.ErrFailed, certificate.ErrExpired, fmt.Errorf("%w: 3 s", certificate.ErrNotYetValid),
	} {
		assert.Contains(t, metrics.States, stateLabel(ineligible))
	}
}
