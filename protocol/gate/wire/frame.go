package wire

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
)

// ALPN is the application protocol of QUIC's TLS handshake (RFC 7301).
const ALPN = "wander-gate/1"

// ExporterLabel and permit.ExporterSize give the exporter value of a connection: that of RFC 9266, with no context.
const ExporterLabel = "EXPORTER-Channel-Binding"

// Version is the version of this protocol.
const Version = 1

// Limits on frames.
const (
	// FrameHeader is the length prefix of a frame, in bytes.
	FrameHeader = 4

	// MaxFrame bounds the body of a frame, in bytes: a configuration of the largest size with the statements about CA keys,
	// or a page of revocations.
	MaxFrame = 304 << 10

	// smallFrame is what every other frame fits in, in bytes: SIGN-IN is the largest. Of larger ones a gate reads few at once.
	smallFrame = 64 << 10

	// maxConnect bounds a CONNECT or CONNECT-TO, in bytes: these have at most 12, and 14 and the name of a target.
	maxConnect = 16 + group.MaxName

	// MaxTargets bounds the names of a gate's targets: what one resource has are a few ports and sockets.
	MaxTargets = 16

	// MaxConfiguration bounds a signed configuration, in bytes: that of protocol/wire.
	MaxConfiguration = 257 << 10

	// MaxRevocations bounds the revocations of one UPDATE, of usually 250 bytes each.
	MaxRevocations = 64

	// maxObject bounds a revocation or a statement about a CA key, in bytes, as in protocol/wire.
	maxObject = 4 << 10

	// maxPermit and maxStatement bound a SIGN-IN, in bytes: the largest permit, and the largest payload of a statement with its envelope.
	maxPermit    = 39296
	maxStatement = 4<<10 + 256

	// maxAnswer bounds the envelope of an answer, in bytes: one has about 400, and room for extensions.
	maxAnswer = 4<<10 + 256

	// maxResource bounds the name of a resource, in bytes.
	maxResource = group.MaxName
)

// frameLimits bound a frame before it is decoded: the most items has an UPDATE.
var frameLimits = canonical.Limits{MaxBytes: MaxFrame, MaxDepth: 4, MaxItems: MaxRevocations + group.MaxAuthorities + 16}

// Frame is one thing that a side says.
type Frame interface {
	kind() uint64
	validate() error
}

// Hello (HELLO) is the first frame of each side on the control stream.
type Hello struct {
	_             struct{}  `cbor:",toarray"`
	Versions      [2]uint64 // lowest and highest version of this protocol that the side speaks
	Resource      string    // that the member wants, or that the gate has
	Configuration uint64    // version of the group configuration that it holds
	Revocations   uint64    // version of the revocation list that it holds
}

// Update (UPDATE) contains a newer configuration, with the statements that verify it, or revocations, or both.
type Update struct {
	_             struct{} `cbor:",toarray"`
	Configuration []byte   // signed; empty if there is none
	Authorities   [][]byte // statements about CA keys beyond the first, each behind the one that vouches for it
	Revocations   [][]byte // signed, ascending by version
}

// SignIn (SIGN-IN) asks for a session.
type SignIn struct {
	_         struct{} `cbor:",toarray"`
	Number    uint64   // that of the statement: the next one within the connection, from 1
	Permit    []byte
	Statement []byte
}

// SignOut (SIGN-OUT) ends the session or the waiting of a sign-in.
type SignOut struct {
	_      struct{} `cbor:",toarray"`
	Number uint64
}

// Answer (ANSWER) is what the gate says about a sign-in.
type Answer struct {
	_      struct{} `cbor:",toarray"`
	Number uint64
	Signed []byte // the envelope of an AnswerBody
}

// Connect (CONNECT) is the first frame of a data stream to the target that has no name.
type Connect struct {
	_      struct{} `cbor:",toarray"`
	Number uint64   // of the sign-in whose session is open
}

// ConnectTo (CONNECT-TO) is the first frame of a data stream to a target with a name.
type ConnectTo struct {
	_      struct{} `cbor:",toarray"`
	Number uint64   // of the sign-in whose session is open
	Target string
}

// Targets (TARGETS) follows the HELLO of a gate whose targets have names.
type Targets struct {
	_     struct{} `cbor:",toarray"`
	Names []string // ascending
}

func (*Hello) kind() uint64     { return 1 }
func (*Update) kind() uint64    { return 2 }
func (*SignIn) kind() uint64    { return 3 }
func (*SignOut) kind() uint64   { return 4 }
func (*Answer) kind() uint64    { return 5 }
func (*Connect) kind() uint64   { return 6 }
func (*ConnectTo) kind() uint64 { return 7 }
func (*Targets) kind() uint64   { return 8 }

// blank makes a frame to decode into, by kind.
var blank = map[uint64]func() Frame{
	1: func() Frame { return new(Hello) },
	2: func() Frame { return new(Update) },
	3: func() Frame { return new(SignIn) },
	4: func() Frame { return new(SignOut) },
	5: func() Frame { return new(Answer) },
	6: func() Frame { return new(Connect) },
	7: func() Frame { return new(ConnectTo) },
	8: func() Frame { return new(Targets) },
}

func (f *Hello) validate() error {
	switch {
	case f.Versions[0] == 0 || f.Versions[0] > f.Versions[1]:
		return fmt.Errorf("%w: versions %d to %d", ErrFrame, f.Versions[0], f.Versions[1])
	case f.Resource == "" || len(f.Resource) > maxResource:
		return fmt.Errorf("%w: resource name of %d bytes", ErrFrame, len(f.Resource))
	case f.Configuration == 0:
		return fmt.Errorf("%w: configuration version 0", ErrFrame)
	}
	return nil
}

func (f *Update) validate() error {
	switch {
	case len(f.Configuration) > MaxConfiguration:
		return fmt.Errorf("%w: configuration of %d bytes", ErrFrame, len(f.Configuration))
	case len(f.Authorities) > group.MaxAuthorities:
		return fmt.Errorf("%w: %d statements about CA keys", ErrFrame, len(f.Authorities))
	case len(f.Revocations) > MaxRevocations:
		return fmt.Errorf("%w: %d revocations", ErrFrame, len(f.Revocations))
	}
	for _, list := range [][][]byte{f.Authorities, f.Revocations} {
		for _, raw := range list {
			if err := sized("object", raw, maxObject); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *SignIn) validate() error {
	if err := numbered(f.Number); err != nil {
		return err
	}
	if err := sized("permit", f.Permit, maxPermit); err != nil {
		return err
	}
	return sized("statement", f.Statement, maxStatement)
}

func (f *SignOut) validate() error { return numbered(f.Number) }

func (f *Answer) validate() error {
	if err := numbered(f.Number); err != nil {
		return err
	}
	return sized("answer", f.Signed, maxAnswer)
}

func (f *Connect) validate() error { return numbered(f.Number) }

func (f *ConnectTo) validate() error { return cmp.Or(numbered(f.Number), named(f.Target)) }

func (f *Targets) validate() error {
	if n := len(f.Names); n == 0 || n > MaxTargets {
		return fmt.Errorf("%w: %d targets, permitted are 1 to %d", ErrFrame, n, MaxTargets)
	}
	for i, name := range f.Names {
		if err := named(name); err != nil {
			return err
		}
		if i > 0 && name <= f.Names[i-1] {
			return fmt.Errorf("%w: target %s behind %s", ErrFrame, name, f.Names[i-1])
		}
	}
	return nil
}

func named(target string) error {
	if err := group.CheckName(target); err != nil {
		return fmt.Errorf("%w: target: %w", ErrFrame, err)
	}
	return nil
}

func numbered(n uint64) error {
	if n == 0 || n > gate.MaxNumber {
		return fmt.Errorf("%w: sign-in number %d", ErrFrame, n)
	}
	return nil
}

func sized(what string, raw []byte, most int) error {
	if len(raw) == 0 || len(raw) > most {
		return fmt.Errorf("%w: %s of %d bytes, permitted are 1 to %d", ErrFrame, what, len(raw), most)
	}
	return nil
}

// body is a frame as it travels.
type body struct {
	_      struct{} `cbor:",toarray"`
	Kind   uint64
	Fields canonical.Raw
}

// Append appends a frame with its length to dst. Error: ErrFrame.
func Append(dst []byte, f Frame) ([]byte, error) {
	if err := f.validate(); err != nil {
		return dst, err
	}
	fields, err := canonical.Marshal(f)
	if err != nil {
		return dst, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	at := len(dst)
	out, err := canonical.AppendWithin(append(dst, 0, 0, 0, 0), &body{Kind: f.kind(), Fields: fields}, frameLimits)
	if err != nil {
		return dst, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	binary.BigEndian.PutUint32(out[at:], uint32(len(out)-at-FrameHeader))
	return out, nil
}

// Decode reads the body of a frame. Errors: ErrFrame, ErrFrameType.
func Decode(raw []byte) (Frame, error) {
	var b body
	if err := canonical.Unmarshal(raw, &b, frameLimits); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	fresh := blank[b.Kind]
	if fresh == nil {
		return nil, fmt.Errorf("%w: %d", ErrFrameType, b.Kind)
	}
	f := fresh()
	if err := canonical.Unmarshal(b.Fields, f, frameLimits); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	if err := f.validate(); err != nil {
		return nil, err
	}
	return f, nil
}

// Read reads one frame. For one of more than smallFrame bytes it first calls large, which may wait until there is room,
// and may be nil. It returns io.EOF at the end of the stream between two frames, io.ErrUnexpectedEOF within one, ErrFrameSize for a length
// that no frame has, and the errors of Decode.
func Read(r io.Reader, large func() (done func())) (Frame, error) { return read(r, MaxFrame, large) }

// ReadConnect reads the first frame of a data stream, of which one connection may open many at once. Errors are those of Read; any other frame
// is ErrFrameType. Of a CONNECT the target is empty.
func ReadConnect(r io.Reader) (*ConnectTo, error) {
	f, err := read(r, maxConnect, nil)
	if err != nil {
		return nil, err
	}
	switch f := f.(type) {
	case *Connect:
		return &ConnectTo{Number: f.Number}, nil
	case *ConnectTo:
		return f, nil
	}
	return nil, fmt.Errorf("%w: a data stream begins with CONNECT or CONNECT-TO", ErrFrameType)
}

func read(r io.Reader, most uint32, large func() (done func())) (Frame, error) {
	var header [FrameHeader]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(header[:])
	if n == 0 || n > most {
		return nil, fmt.Errorf("%w: %d bytes, permitted are 1 to %d", ErrFrameSize, n, most)
	}
	if n > smallFrame && large != nil {
		defer large()()
	}
	raw := make([]byte, n)
	if _, err := io.ReadFull(r, raw); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return Decode(raw)
}

// StreamCode is the QUIC application error code with which a gate resets a data stream.
type StreamCode uint64

// The codes.
const (
	StreamNotOpen StreamCode = 1 // no session of this number is open
	StreamTarget  StreamCode = 2 // the gate does not reach the target, or has lost it
	StreamCut     StreamCode = 3 // the session has ended
	StreamFull    StreamCode = 4 // the session has too many data streams
	StreamUnknown StreamCode = 5 // the gate has no target of this name
)
