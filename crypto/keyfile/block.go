package keyfile

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// The types of blocks, as they are in the BEGIN and END lines.
const (
	PrivateKey          = "WANDER PRIVATE KEY"
	EncryptedPrivateKey = "WANDER ENCRYPTED PRIVATE KEY"
	PublicKey           = "WANDER PUBLIC KEY"
	Certificate         = "WANDER CERTIFICATE"
	CACertificate       = "WANDER CA CERTIFICATE"
	GroupConfiguration  = "WANDER GROUP CONFIGURATION"
	Revocation          = "WANDER REVOCATION"
	Endpoint            = "WANDER ENDPOINT"
	Leave               = "WANDER LEAVE"
	CertificateRequest  = "WANDER CERTIFICATE REQUEST"
	Evidence            = "WANDER EVIDENCE"
	Permit              = "WANDER PERMIT"
)

var types = []string{
	PrivateKey, EncryptedPrivateKey, PublicKey, Certificate,
	CACertificate, GroupConfiguration, Revocation, Endpoint, Leave, CertificateRequest, Evidence, Permit,
}

const (
	// MaxBlock bounds one block's content: an envelope with the largest
	// payload fits, with room for a later form.
	MaxBlock = 320 << 10
	// MaxBlocks bounds the blocks of one text: certificates and endpoints of
	// some thousand members, with the dead ones' revocations.
	MaxBlocks = 16 << 10
	// MaxText bounds the text: MaxBlocks of the usual size, about 500 bytes.
	// It is what a reader of files should refuse to exceed.
	MaxText = 16 << 20
)

// lineLength is the length of a full base64 line (RFC 7468 §2).
const lineLength = 64

// Block is one armoured object.
type Block struct {
	Type  string // one of the constants above
	Bytes []byte
}

// EncodeBlocks is the text of some blocks. It returns ErrType, ErrTooLarge or
// ErrTooMany for what DecodeBlocks would refuse.
func EncodeBlocks(blocks ...Block) ([]byte, error) {
	if len(blocks) > MaxBlocks {
		return nil, fmt.Errorf("%w: %d, at most %d", ErrTooMany, len(blocks), MaxBlocks)
	}
	var text bytes.Buffer
	for _, b := range blocks {
		if err := b.validate(); err != nil {
			return nil, err
		}
		b.writeTo(&text)
	}
	if text.Len() > MaxText {
		return nil, fmt.Errorf("%w: %d bytes of text, at most %d", ErrTooLarge, text.Len(), MaxText)
	}
	return text.Bytes(), nil
}

func (b Block) validate() error {
	switch {
	case !slices.Contains(types, b.Type):
		return fmt.Errorf("%w: %q", ErrType, b.Type)
	case len(b.Bytes) > MaxBlock:
		return fmt.Errorf("%w: %d bytes in a block, at most %d", ErrTooLarge, len(b.Bytes), MaxBlock)
	}
	return nil
}

func (b Block) writeTo(text *bytes.Buffer) {
	fmt.Fprintf(text, "%s%s%s\n", begin, b.Type, dashes)
	for line := range slices.Chunk([]byte(base64.StdEncoding.EncodeToString(b.Bytes)), lineLength) {
		text.Write(line)
		text.WriteByte('\n')
	}
	fmt.Fprintf(text, "%s%s%s\n", end, b.Type, dashes)
}

const (
	begin  = "-----BEGIN "
	end    = "-----END "
	dashes = "-----"
)

// DecodeBlocks reads the blocks of a text. Between blocks there may be empty
// lines and lines that begin with #; anything else there, an unfinished block,
// PEM headers, or base64 that is not exact is refused with ErrFormat. Lines
// may end in CR LF. Other errors are ErrType, ErrTooLarge and ErrTooMany.
func DecodeBlocks(text []byte) ([]Block, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("%w: %d bytes of text, at most %d", ErrTooLarge, len(text), MaxText)
	}
	r := reader{rest: text}
	var blocks []Block
	for r.next() {
		if r.line == "" || r.line[0] == '#' {
			continue
		}
		if len(blocks) == MaxBlocks {
			return nil, fmt.Errorf("%w: more than %d", ErrTooMany, MaxBlocks)
		}
		b, err := r.block()
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// reader goes through a text line by line.
type reader struct {
	rest   []byte
	line   string
	number int
}

// next takes the next line, without its end; false if there is none.
func (r *reader) next() bool {
	if len(r.rest) == 0 {
		return false
	}
	line, rest, _ := bytes.Cut(r.rest, []byte("\n"))
	r.line, r.rest = string(bytes.TrimSuffix(line, []byte("\r"))), rest
	r.number++
	return true
}

// block reads a block whose BEGIN line is at hand.
func (r *reader) block() (Block, error) {
	first := r.number
	name, ok := strings.CutPrefix(r.line, begin)
	kind, closed := strings.CutSuffix(name, dashes)
	if !ok || !closed {
		return Block{}, r.malformed("not the beginning of a block")
	}
	content, err := r.content(end + kind + dashes)
	if err != nil {
		return Block{}, err
	}
	b := Block{Type: kind, Bytes: content}
	if err := b.validate(); err != nil {
		return Block{}, fmt.Errorf("%w (line %d)", err, first)
	}
	return b, nil
}

// content decodes lines up to the one that ends the block.
func (r *reader) content(last string) ([]byte, error) {
	var encoded strings.Builder
	for r.next() {
		if r.line == last {
			content, err := base64.StdEncoding.Strict().DecodeString(encoded.String())
			if err != nil {
				return nil, r.malformed("not base64")
			}
			return content, nil
		}
		if len(r.line) == 0 || len(r.line) > lineLength || strings.Contains(r.line, "\r") {
			return nil, r.malformed("not a line of base64")
		}
		if encoded.Len() > base64.StdEncoding.EncodedLen(MaxBlock) {
			return nil, fmt.Errorf("%w: block above %d bytes (line %d)", ErrTooLarge, MaxBlock, r.number)
		}
		encoded.WriteString(r.line)
	}
	return nil, r.malformed("block without an end")
}

func (r *reader) malformed(what string) error {
	return fmt.Errorf("%w: line %d: %s", ErrFormat, r.number, what)
}

// CheckMode refuses, with ErrMode, a file mode that is looser than 0600. To be
// asked of the open file before a secret is read from it.
func CheckMode(mode fs.FileMode) error {
	if perm := mode.Perm(); perm&^0o600 != 0 {
		return fmt.Errorf("%w: mode %04o, want 0600", ErrMode, perm)
	}
	return nil
}
