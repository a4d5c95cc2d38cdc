package fuzz

import (
	"bytes"
	"io"
)

var errEOF, errCut = io.EOF, io.ErrUnexpectedEOF

// counter counts what is read from it.
type counter struct {
	from *bytes.Reader
	read int
}

func newCounter(data []byte) *counter { return &counter{from: bytes.NewReader(data)} }

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.read += n
	return n, err
}
