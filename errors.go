package wander

import (
	"errors"

	"github.com/wandertoken/wander/node/api"
)

// Reasons for which there is no grant, or no longer one: to be tested with [errors.Is].
var (
	// ErrNotGranted says that the wait ended before a token came.
	ErrNotGranted = api.ErrNotGranted
	// ErrNotDue says that the resource's operation ran more recently than [OncePer] asks for. It is ErrNotGranted too.
	ErrNotDue = api.ErrNotDue
	// ErrHeld says that this process itself runs under a grant of the resource: it would wait for its own end.
	ErrHeld = api.ErrHeld
	// ErrIsolated says that this machine is cut off from all others, and does not hold the token.
	ErrIsolated = api.ErrIsolated
	// ErrRevoked says that this machine's certificate is revoked or expired.
	ErrRevoked = api.ErrRevoked
	// ErrRefused says that the group's configuration does not permit what was asked for, as a resource that it does not have.
	ErrRefused = api.ErrRefused
	// ErrUnavailable says that no daemon answers on the socket, or that it cannot serve now.
	ErrUnavailable = api.ErrUnavailable
	// ErrEnvironment says that $WANDER_HELD, which `wander run` sets for its command, is damaged: unset it elsewhere.
	ErrEnvironment = errors.New("the environment names grants that cannot be read")
	// ErrLost says that the grant ended before its deadline without a release.
	ErrLost = api.ErrLost
	// ErrDeadline says that the deadline of the grant is so near that the resource may not be used any more.
	ErrDeadline = errors.New("the deadline of the grant has come")
	// ErrReleased says that the grant was given back.
	ErrReleased = errors.New("the grant was released")
)
