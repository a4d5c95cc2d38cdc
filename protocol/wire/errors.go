package wire

import "errors"

// Why a frame or a message was not accepted.
var (
	ErrFrameSize   = errors.New("frame size out of range")
	ErrMalformed   = errors.New("malformed message")
	ErrMessageType = errors.New("unknown message type")
	ErrLimit       = errors.New("message exceeds a limit")
)

// Why an OFFER was refused, one for each [Refusal].
var (
	ErrBusy      = errors.New("busy")             // no room for another reservation
	ErrStopping  = errors.New("stopping")         // the member is shutting down
	ErrResource  = errors.New("unknown resource") // or slot: the configurations differ
	ErrClock     = errors.New("genesis time")     // outside the clock allowance
	ErrSigner    = errors.New("signer not valid") // the offerer is not eligible
	ErrRecalling = errors.New("recalling")        // the receiver has restarted, and does not know yet whether its journal is whole
	ErrHop       = errors.New("hop too high")     // more hops than a token of that age can have made
	ErrNewborn   = errors.New("newborn token")    // the receiver backs off from its generator
	ErrTitle     = errors.New("bad title")        // the genesis does not verify, or is another token's
)
