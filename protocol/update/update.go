package update

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/protocol/wire"
)

// Kind says what an update is about. The numbers are those on the wire.
type Kind uint64

// The kinds of update.
const (
	KindJoin       Kind = 1 // a member is there, or somewhere else than before
	KindLeave      Kind = 2 // a member has left for good
	KindFailure    Kind = 3 // a witness could not reach a member
	KindRevocation Kind = 4 // the CA has thrown a member out
)

func (k Kind) String() string {
	switch k {
	case KindJoin:
		return "join"
	case KindLeave:
		return "leave"
	case KindFailure:
		return "failure statement"
	case KindRevocation:
		return "revocation"
	}
	return fmt.Sprintf("update kind %d", uint64(k))
}

// Update is one membership notice. Its byte strings are signed objects; which
// of them there are follows from the kind.
type Update struct {
	Kind        Kind
	Certificate []byte // join: the subject's; leave: the leaver's; failure: the witness'
	Endpoint    []byte // join: the subject's endpoint record; empty when not known
	Leave       []byte
	Failure     []byte
	Revocation  []byte
}

// Join says that a member is there, and where. The endpoint record may be
// empty.
func Join(certificate, endpoint []byte) Update {
	return Update{Kind: KindJoin, Certificate: certificate, Endpoint: endpoint}
}

// Leave says that the certificate's member has left.
func Leave(leave, certificate []byte) Update {
	return Update{Kind: KindLeave, Leave: leave, Certificate: certificate}
}

// Failure says that the witness, whose certificate comes along, could not reach
// a member.
func Failure(failure, witness []byte) Update {
	return Update{Kind: KindFailure, Failure: failure, Certificate: witness}
}

// Revocation says that the CA has revoked a member.
func Revocation(revocation []byte) Update {
	return Update{Kind: KindRevocation, Revocation: revocation}
}

// MaxUpdate bounds an encoded update, in bytes: it is an object of a message. A
// certificate beside an endpoint record with eight of the longest addresses
// still fits.
const MaxUpdate = wire.MaxObject

// limits bound an update before it is decoded: an array of a number and at most
// two byte strings.
var limits = canonical.Limits{MaxBytes: MaxUpdate, MaxDepth: 1, MaxItems: 4}

// laterLimits bound an update of a kind that a later version may define. The
// kind says nothing as long as the bytes are no deterministic encoding.
var laterLimits = canonical.Limits{MaxBytes: MaxUpdate, MaxDepth: 16, MaxItems: 256}

// double and single are the encodings of updates of two objects and of one.
type double struct {
	_      struct{} `cbor:",toarray"`
	Kind   Kind
	First  []byte
	Second []byte
}

type single struct {
	_     struct{} `cbor:",toarray"`
	Kind  Kind
	First []byte
}

// parts are the objects of an update in their order on the wire.
func (u *Update) parts() []*[]byte {
	switch u.Kind {
	case KindJoin:
		return []*[]byte{&u.Certificate, &u.Endpoint}
	case KindLeave:
		return []*[]byte{&u.Leave, &u.Certificate}
	case KindFailure:
		return []*[]byte{&u.Failure, &u.Certificate}
	case KindRevocation:
		return []*[]byte{&u.Revocation}
	}
	return nil
}

// validate checks that every object is there that must be.
func (u *Update) validate() error {
	parts := u.parts()
	if parts == nil {
		return fmt.Errorf("%w: %d", ErrKind, uint64(u.Kind))
	}
	for i, p := range parts {
		if len(*p) == 0 && !(u.Kind == KindJoin && i == 1) {
			return fmt.Errorf("%w: %v lacks an object", ErrMalformed, u.Kind)
		}
	}
	return nil
}

// Encode is the update on the wire. Errors: ErrKind, ErrMalformed when an
// object is missing, ErrTooLarge.
func (u Update) Encode() ([]byte, error) {
	if err := u.validate(); err != nil {
		return nil, err
	}
	var body any
	if parts := u.parts(); len(parts) == 1 {
		body = &single{Kind: u.Kind, First: *parts[0]}
	} else {
		body = &double{Kind: u.Kind, First: *parts[0], Second: *parts[1]}
	}
	raw, err := canonical.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if len(raw) > MaxUpdate {
		return nil, fmt.Errorf("%w: %v of %d bytes, permitted are %d", ErrTooLarge, u.Kind, len(raw), MaxUpdate)
	}
	return raw, nil
}

// Parse reads an update. Nothing in it is verified, and it does not refer to
// raw. Errors: ErrTooLarge, ErrMalformed, ErrKind.
func Parse(raw []byte) (Update, error) {
	if len(raw) > MaxUpdate {
		return Update{}, fmt.Errorf("%w: %d bytes, permitted are %d", ErrTooLarge, len(raw), MaxUpdate)
	}
	if err := canonical.Check(raw, laterLimits); err != nil {
		return Update{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if isArray, isNumber := raw[0]>>5 == 4, len(raw) > 1 && raw[1]>>5 == 0; !isArray || !isNumber {
		return Update{}, ErrMalformed
	}
	u := Update{Kind: Kind(raw[1])} // numbers below 24 are one byte
	parts := u.parts()
	if parts == nil {
		return Update{}, fmt.Errorf("%w: %d", ErrKind, raw[1])
	}
	if err := decode(raw, parts); err != nil {
		return Update{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if err := u.validate(); err != nil {
		return Update{}, err
	}
	return u, nil
}

// decode fills in the objects of an update.
func decode(raw []byte, parts []*[]byte) error {
	if len(parts) == 1 {
		var body single
		err := canonical.Unmarshal(raw, &body, limits)
		*parts[0] = body.First
		return err
	}
	var body double
	err := canonical.Unmarshal(raw, &body, limits)
	*parts[0], *parts[1] = body.First, body.Second
	return err
}
