package wire

import (
	"encoding/binary"
	"fmt"
	"io"
)

const (
	// FrameHeader is the length prefix of a frame, in bytes.
	FrameHeader = 4

	// MaxFrame bounds the body of a frame, in bytes. The largest message is a
	// page of directory entries; a TRANSFER with every certificate it may need
	// is about 4 kB. Together with the limits of queues it bounds the memory
	// that one peer can make a member use.
	MaxFrame = 64 << 10
)

// AppendFrame appends the frame around body to dst. It panics when body is
// empty or larger than MaxFrame, which only a bug of the sender can cause:
// Encode never returns such a body.
func AppendFrame(dst, body []byte) []byte {
	if len(body) == 0 || len(body) > MaxFrame {
		panic(fmt.Sprintf("wire: frame body of %d bytes", len(body)))
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(body)))
	return append(dst, body...)
}

// ReadFrame reads one frame and returns its body, which stays valid until buf
// is used again. It allocates only when buf is too small, and never before the
// length has been checked. It returns io.EOF at the end of the stream between
// two frames, io.ErrUnexpectedEOF within one, and ErrFrameSize for a length
// that no frame has.
func ReadFrame(r io.Reader, buf []byte) ([]byte, error) {
	var header [FrameHeader]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(header[:])
	if n == 0 || n > MaxFrame {
		return nil, fmt.Errorf("%w: %d bytes, permitted are 1 to %d", ErrFrameSize, n, MaxFrame)
	}
	if uint32(cap(buf)) < n {
		buf = make([]byte, n)
	}
	body := buf[:n]
	if _, err := io.ReadFull(r, body); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return body, nil
}
