package evidence

import (
	"crypto/sha256"
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// MaxSize bounds encoded evidence, in bytes: two objects and nine statements of the
// largest size that each may have.
// Usual evidence has 2 KiB: two objects of 400 bytes, a certificate and a CA
// statement of 300 each.
const MaxSize = 32 << 10

// objectCount is how many objects every kind of evidence has.
const objectCount = 2

// limits bound what is decoded: the array, its two lists and what is in them.
var limits = canonical.Limits{MaxBytes: MaxSize, MaxDepth: 2, MaxItems: 7 + group.MaxAuthorities + objectCount}

// Evidence is proof that a member broke the rules, verified or not.
type Evidence struct {
	Kind    Kind
	Group   ident.Group
	Accused ident.Member
	// Authorities are the encoded statements about CA keys: that of the group's
	// first key, then those vouched for, each behind its voucher. 1 to
	// group.MaxAuthorities.
	Authorities [][]byte
	Certificate []byte   // of the accused
	Objects     [][]byte // two; which they are, Kind says
}

// form is the encoding.
type form struct {
	_           struct{} `cbor:",toarray"`
	Kind        uint64
	Group       ident.Group
	Accused     ident.Member
	Authorities [][]byte
	Certificate []byte
	Objects     [][]byte
}

// New makes evidence of two objects, if they are any, and verifies it.
// authorities and certificate are as in Evidence. The slices are not copied.
// Errors: ErrNoProof, ErrTooLarge, and those of Verify.
func New(g ident.Group, authorities [][]byte, certificate []byte, a, b Object) (*Evidence, error) {
	kind, accused, objects, ok := compare(g, a, b)
	if !ok {
		return nil, ErrNoProof
	}
	if kind.AgainstGate() { // its answers do not name it
		c, err := kind.certificate(g, authorities, certificate)
		if err != nil {
			return nil, err
		}
		accused = c.Member()
	}
	e := &Evidence{
		Kind: kind, Group: g, Accused: accused, Authorities: authorities, Certificate: certificate, Objects: objects,
	}
	if _, err := e.Encode(); err != nil {
		return nil, err
	}
	if _, err := e.Verify(g); err != nil {
		return nil, err
	}
	return e, nil
}

// Encode is the one encoding. It does not verify. Errors: ErrKind, ErrMalformed,
// ErrTooLarge.
func (e *Evidence) Encode() ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	raw, err := canonical.Marshal(&form{
		Kind: uint64(e.Kind), Group: e.Group, Accused: e.Accused,
		Authorities: e.Authorities, Certificate: e.Certificate, Objects: e.Objects,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("%w: %d bytes, permitted are %d", ErrTooLarge, len(raw), MaxSize)
	}
	return raw, nil
}

// Parse reads evidence and verifies nothing. Errors: ErrMalformed, ErrKind.
func Parse(raw []byte) (*Evidence, error) {
	var f form
	if err := canonical.Unmarshal(raw, &f, limits); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if f.Kind >= uint64(kindEnd) {
		return nil, fmt.Errorf("%w: %d", ErrKind, f.Kind)
	}
	e := &Evidence{
		Kind: Kind(f.Kind), Group: f.Group, Accused: f.Accused,
		Authorities: f.Authorities, Certificate: f.Certificate, Objects: f.Objects,
	}
	return e, e.check()
}

// check looks at the counts.
func (e *Evidence) check() error {
	switch n := len(e.Authorities); {
	case !e.Kind.valid():
		return fmt.Errorf("%w: %d", ErrKind, e.Kind)
	case n == 0 || n > group.MaxAuthorities:
		return fmt.Errorf("%w: %d authorities, permitted are 1 to %d", ErrMalformed, n, group.MaxAuthorities)
	case len(e.Objects) != objectCount:
		return fmt.Errorf("%w: %d objects, there have to be %d", ErrMalformed, len(e.Objects), objectCount)
	}
	return nil
}

// ID names what is proved: the SHA-256 of the kind and the hashes of the two
// objects. Evidence of the same two objects has the same id, whoever made it,
// with whatever signature, certificate and CA statements. Of evidence that does
// not verify it means nothing.
func (e *Evidence) ID() ident.Hash {
	h := sha256.New()
	h.Write([]byte("wander evidence\x00"))
	h.Write([]byte{byte(e.Kind)})
	for _, s := range e.statements() {
		h.Write(s.Hash[:])
	}
	return ident.Hash(h.Sum(nil))
}

// Text is the evidence as a file: one block. Errors as for Encode.
func (e *Evidence) Text() ([]byte, error) {
	raw, err := e.Encode()
	if err != nil {
		return nil, err
	}
	return keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Evidence, Bytes: raw})
}

// MaxText bounds the text of evidence, in bytes: base64 of MaxSize, line ends,
// the two lines around it, and some comments.
const MaxText = MaxSize*4/3 + MaxSize*4/3/64 + 4<<10

// ParseText reads what Text has made. It verifies nothing. Errors: ErrText, which
// wraps the reason, and those of Parse.
func ParseText(text []byte) (*Evidence, error) {
	if len(text) > MaxText {
		return nil, fmt.Errorf("%w: %d bytes, permitted are %d", ErrText, len(text), MaxText)
	}
	blocks, err := keyfile.DecodeBlocks(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrText, err)
	}
	if len(blocks) != 1 || blocks[0].Type != keyfile.Evidence {
		return nil, ErrText
	}
	return Parse(blocks[0].Bytes)
}
