package transport

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
)

// preambleType is the message type of the transport's own frame. The messages
// of protocol/wire begin at 1.
const preambleType = 0

const processSize = 16

// process tells one process of a member from the next: random bits drawn when
// the transport is opened.
type process [processSize]byte

// preamble is the first frame of a stream, each way.
type preamble struct {
	_       struct{} `cbor:",toarray"`
	Process process
	Ordinal uint64 // of this preamble among all that the process has written, from 1
	Keep    bool   // do not close this connection for idleness
}

type preambleFrame struct {
	_      struct{} `cbor:",toarray"`
	Type   uint64
	Fields preamble
}

var preambleLimits = canonical.Limits{MaxBytes: maxPreamble, MaxDepth: 3, MaxItems: 6}

// encode returns the frame body.
func (p preamble) encode() ([]byte, error) {
	return canonical.Marshal(preambleFrame{Type: preambleType, Fields: p})
}

// parsePreamble reads a frame body, or returns ErrProtocol.
func parsePreamble(body []byte) (preamble, error) {
	var f preambleFrame
	if err := canonical.Unmarshal(body, &f, preambleLimits); err != nil {
		return preamble{}, fmt.Errorf("%w: preamble: %w", ErrProtocol, err)
	}
	if f.Type != preambleType {
		return preamble{}, fmt.Errorf("%w: preamble has message type %d", ErrProtocol, f.Type)
	}
	return f.Fields, nil
}

// CheckPreamble reports whether a frame body is a preamble: nil or ErrProtocol,
// which wraps the reason.
func CheckPreamble(body []byte) error {
	_, err := parsePreamble(body)
	return err
}
