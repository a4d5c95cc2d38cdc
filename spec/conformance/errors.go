package conformance

import "errors"

// Why a run could not begin, or, ErrGone, not go on.
var (
	// ErrUnreachable: nobody speaks this protocol at the address.
	ErrUnreachable = errors.New("no member answers")
	// ErrRefused: the member under test does not let this identity in.
	ErrRefused = errors.New("the member refuses this identity")
	// ErrOptions: the run was not asked for as it has to be.
	ErrOptions = errors.New("options of the conformance run")
	// ErrGone: the member under test was there, and answers no handshake any more.
	ErrGone = errors.New("the member answers no more")
)
