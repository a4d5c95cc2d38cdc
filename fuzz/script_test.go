package fuzz

import (
	"bytes"
	"time"
)

// script is an input of a machine's target: a sequence of events, a few bytes
// for each.
type script struct {
	*bytes.Reader
	bad bool // it ended too soon, or says what there is not
}

func newScript(data []byte) *script { return &script{Reader: bytes.NewReader(data)} }

func (s *script) byte() byte {
	b, err := s.ReadByte()
	s.bad = s.bad || err != nil
	return b
}

// below is a byte that has to be less than n.
func (s *script) below(n int) int {
	b := int(s.byte())
	s.bad = s.bad || b >= n
	return min(b, n-1)
}

// among is a byte that says which of n things is meant, whatever it is; 0 when
// there are none.
func (s *script) among(n int) int { return int(s.byte()) % max(n, 1) }

// pauses are the times that may pass between two events.
var pauses = []time.Duration{
	0, time.Millisecond, 100 * time.Millisecond, time.Second, 5 * time.Second, time.Minute, 10 * time.Minute, 2 * time.Hour,
}
