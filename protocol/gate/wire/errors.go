package wire

import "errors"

// Why bytes are not what a member or a gate says.
var (
	ErrFrameSize = errors.New("impossible size of a frame of the gate")
	ErrFrame     = errors.New("malformed frame of the gate")
	ErrFrameType = errors.New("frame of the gate of a type that this version does not know")
	ErrAnswer    = errors.New("malformed answer of a gate")
	ErrAnswerKey = errors.New("answer of another gate")
	ErrSignature = errors.New("signature of a gate's answer does not verify")
)
