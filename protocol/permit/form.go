package permit

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

const (
	// objects are those of a permit that members sign: genesis, transfer, void, previous, previous void.
	objects = 5
	// maxSigners bounds the certificates of a permit: the generator, the two members between which the
	// transfer before went, and the one that the transfer names. Who signs a void is among these.
	maxSigners = 4
	// maxObject bounds an object of a permit, in bytes: the payload of a token's object, or of a certificate, has at most 4 KiB.
	maxObject = 4<<10 + 256
	// maxForm bounds an encoded permit, in bytes: its objects and certificates with the largest payloads, and room
	// for what is around them. A usual one has less than 3 kB.
	maxForm = (objects+maxSigners)*maxObject + 128
	// MaxText bounds the text of a file with a permit, in bytes: base64, line ends, and some lines of comment.
	MaxText = 2 * maxForm
)

// formLimits bound a permit before it is decoded: a list of byte strings with one more list in it.
var formLimits = canonical.Limits{MaxBytes: maxForm, MaxDepth: 2, MaxItems: 16}

// Form is a permit as it is on the wire and in files: nothing of it is verified.
type Form struct {
	_            struct{} `cbor:",toarray"`
	Group        ident.Group
	Genesis      []byte
	Transfer     []byte   // that names the holder, or that was declined: empty at hop 0
	Void         []byte   // of Transfer, by which the token came back: empty if it did not
	Previous     []byte   // the transfer before Transfer: empty at hops 0 and 1
	PreviousVoid []byte   // of Previous, which Transfer names: empty if Previous was taken
	Certificates [][]byte // of the signers (token.Title.SignersSince), in their order
}

// New is the permit of a title's holder. The title before it is the one from which its transfer follows, and
// the zero value at hop 0. The certificate of a member is empty if it is not known: then Verify refuses what
// New returns.
func New(group ident.Group, title, before token.Title, certificate func(ident.Member) []byte) Form {
	f := Form{
		Group: group, Genesis: title.Genesis.Raw(), Transfer: title.Transfer.Raw(), Void: title.Void.Raw(),
		Previous: before.Transfer.Raw(), PreviousVoid: before.Void.Raw(),
	}
	for _, m := range title.SignersSince(before) {
		f.Certificates = append(f.Certificates, certificate(m))
	}
	return f
}

// validate says what the shape alone shows.
func (f Form) validate() error {
	switch {
	case len(f.Genesis) == 0:
		return fmt.Errorf("%w: no genesis", ErrMalformed)
	case len(f.Transfer) == 0 && len(f.Void)+len(f.Previous) > 0:
		return fmt.Errorf("%w: no transfer, and what belongs to one", ErrMalformed)
	case len(f.Previous) == 0 && len(f.PreviousVoid) > 0:
		return fmt.Errorf("%w: void of no transfer", ErrMalformed)
	case len(f.Certificates) == 0 || len(f.Certificates) > maxSigners:
		return fmt.Errorf("%w: %d certificates, permitted are 1 to %d", ErrMalformed, len(f.Certificates), maxSigners)
	}
	for _, raw := range append([][]byte{f.Genesis, f.Transfer, f.Void, f.Previous, f.PreviousVoid}, f.Certificates...) {
		if len(raw) > maxObject {
			return fmt.Errorf("%w: an object of %d bytes, permitted are %d", ErrMalformed, len(raw), maxObject)
		}
	}
	return nil
}

// Encode is what Decode reads. Error: ErrMalformed.
func (f Form) Encode() ([]byte, error) {
	if err := f.validate(); err != nil {
		return nil, err
	}
	raw, err := canonical.AppendWithin(nil, &f, formLimits)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return raw, nil
}

// Decode reads an encoded permit. Nothing of it is verified. Error: ErrMalformed.
func Decode(raw []byte) (Form, error) {
	var f Form
	if err := canonical.Unmarshal(raw, &f, formLimits); err != nil {
		return Form{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if err := f.validate(); err != nil {
		return Form{}, err
	}
	return f, nil
}

// Text is the file of a permit. Error: ErrMalformed.
func (f Form) Text() ([]byte, error) {
	raw, err := f.Encode()
	if err != nil {
		return nil, err
	}
	return keyfile.EncodeBlocks(keyfile.Block{Type: keyfile.Permit, Bytes: raw})
}

// ParseText reads the file of a permit: one block, with comments around it as one likes. Errors: ErrText, ErrMalformed.
func ParseText(text []byte) (Form, error) {
	if len(text) > MaxText {
		return Form{}, fmt.Errorf("%w: %d bytes, permitted are %d", ErrText, len(text), MaxText)
	}
	blocks, err := keyfile.DecodeBlocks(text)
	if err != nil {
		return Form{}, fmt.Errorf("%w: %w", ErrText, err)
	}
	if len(blocks) != 1 {
		return Form{}, fmt.Errorf("%w: %d blocks, expected one", ErrText, len(blocks))
	}
	if blocks[0].Type != keyfile.Permit {
		return Form{}, fmt.Errorf("%w: a block %q", ErrText, blocks[0].Type)
	}
	return Decode(blocks[0].Bytes)
}
