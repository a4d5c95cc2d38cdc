package handoff

import "errors"

// Why a message, or a journal, was not accepted.
var (
	ErrAddress = errors.New("transfer does not come from its sender, or is for another member")
	// ErrUnsettled says that a peer has left more unsettled transfers behind
	// than the rules permit.
	ErrUnsettled = errors.New("too many transfers that the sender has not settled")
	// ErrPaused says that the sender has to send a transfer again later: the
	// member has restarted and does not know yet whether its journal is whole.
	ErrPaused = errors.New("not taken before peers have greeted this member")
	ErrReplay = errors.New("journal does not fit together")
)
