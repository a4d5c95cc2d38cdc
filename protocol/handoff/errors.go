package handoff

import "errors"

// Why a message, or a journal, was not accepted.
var (
	ErrAddress = errors.New("transfer does not come from its sender, or is for another member")
	ErrReplay  = errors.New("journal does not fit together")
)
