package handoff

import "errors"

// Why a message, or a journal, was not accepted.
var (
	ErrAddress = errors.New("transfer does not come from its sender, or is for another member")
	// ErrUnsettled says that a peer has left more transfers behind than it can
	// by the rules.
	ErrUnsettled = errors.New("too many transfers that the sender has not settled")
	ErrReplay    = errors.New("journal does not fit together")
)
