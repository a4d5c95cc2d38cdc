package invite

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

const (
	// IDSize is the size of an invite's number, in bytes: enough that two
	// invites of a CA never have the same by accident.
	IDSize = 8
	// SecretSize is the size of the secret, in bytes: 128 random bits, which
	// nobody guesses however often he may try.
	SecretSize = 16
	// MaxAddresses bounds the addresses of the service in one invite: two
	// address families of two machines. More would make the line unwieldy.
	MaxAddresses = 4
	// MaxText bounds what Parse looks at, in bytes: the longest invite, wrapped
	// and indented by a terminal or a mail.
	MaxText = 4 << 10
)

// Prefix is what the text of an invite begins with; the digit is its version.
const Prefix = "wander1-"

// sumSize is how much of the hash the text has: of a billion mangled pastes one
// in four is not noticed, and refused by the CA.
const sumSize = 4

// maxSeconds is the last second of the year 9999, as for certificates.
const maxSeconds = 253402300799

// contentLimits bound an encoded invite: its fixed fields and its addresses.
var contentLimits = canonical.Limits{MaxBytes: 2 << 10, MaxDepth: 2, MaxItems: 8 + MaxAddresses}

// encoding is strict: bits that mean nothing must be zero.
var encoding = base64.RawURLEncoding.Strict()

// Invite is what one machine needs to become a member once. It holds a secret:
// only Format shows it, neither String nor a log line does.
type Invite struct {
	Group     ident.Group
	Authority [envelope.KeyIDSize]byte // the CA key in force, see certificate.AuthorityID
	Addresses []string                 // of the enrolment service, host:port, 1 to MaxAddresses, in order of preference
	ID        [IDSize]byte
	Secret    [SecretSize]byte
	Expires   time.Time // whole seconds; the CA's clock decides
	Name      string    // that the member gets, see certificate.CheckName
}

// form is the content.
type form struct {
	_         struct{} `cbor:",toarray"`
	Group     ident.Group
	Authority [envelope.KeyIDSize]byte
	Addresses []string
	ID        [IDSize]byte
	Secret    [SecretSize]byte
	Expires   uint64 // seconds since 1970
	Name      string
}

var (
	errAddresses = fmt.Errorf("1 to %d addresses are wanted", MaxAddresses)
	errExpires   = errors.New("it ends outside of 1970 to 9999")
)

func (i Invite) validate() error {
	if len(i.Addresses) == 0 || len(i.Addresses) > MaxAddresses {
		return fmt.Errorf("%w: %w", ErrMalformed, errAddresses)
	}
	for _, a := range i.Addresses {
		if err := certificate.CheckAddress(a); err != nil {
			return fmt.Errorf("%w: %w", ErrMalformed, err)
		}
	}
	if err := certificate.CheckName(i.Name); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if s := i.Expires.Unix(); s < 0 || s > maxSeconds {
		return fmt.Errorf("%w: %w", ErrMalformed, errExpires)
	}
	return nil
}

// Format is the invite as one word. The end loses what is below a second.
// Error: ErrMalformed, which wraps the reason.
func (i Invite) Format() (string, error) {
	if err := i.validate(); err != nil {
		return "", err
	}
	content, err := canonical.Marshal(&form{
		Group: i.Group, Authority: i.Authority, Addresses: i.Addresses, ID: i.ID, Secret: i.Secret,
		Expires: uint64(i.Expires.Unix()), Name: i.Name,
	})
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	sum := sha256.Sum256(content)
	return Prefix + encoding.EncodeToString(append(content, sum[:sumSize]...)), nil
}

// Parse reads what Format wrote. White space in it, as a terminal or a mail puts
// where it wraps a line, is left out. Whether the invite has ended is not looked
// at. Errors: ErrTooLong, ErrNotInvite, ErrVersion, ErrMangled, ErrMalformed.
// None of them shows a part of the text, which may be most of a secret.
func Parse(text string) (Invite, error) {
	if len(text) > MaxText {
		return Invite{}, fmt.Errorf("%w: %d characters", ErrTooLong, len(text))
	}
	word := strings.Join(strings.Fields(text), "")
	body, ok := strings.CutPrefix(word, Prefix)
	if !ok {
		return Invite{}, unknown(word)
	}
	raw, err := encoding.DecodeString(body)
	if err != nil || len(raw) < sumSize {
		return Invite{}, ErrMangled
	}
	content, sum := raw[:len(raw)-sumSize], sha256.Sum256(raw[:len(raw)-sumSize])
	if [sumSize]byte(raw[len(content):]) != [sumSize]byte(sum[:]) {
		return Invite{}, ErrMangled
	}
	return decode(content)
}

// unknown says why a word that does not begin with Prefix is refused.
func unknown(word string) error {
	rest, ok := strings.CutPrefix(word, "wander")
	digits, _, found := strings.Cut(rest, "-")
	if ok && found && digits != "" && strings.Trim(digits, "0123456789") == "" {
		return ErrVersion
	}
	return ErrNotInvite
}

func decode(content []byte) (Invite, error) {
	var f form
	if err := canonical.Unmarshal(content, &f, contentLimits); err != nil {
		return Invite{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if f.Expires > maxSeconds {
		return Invite{}, fmt.Errorf("%w: %w", ErrMalformed, errExpires)
	}
	i := Invite{
		Group: f.Group, Authority: f.Authority, Addresses: f.Addresses, ID: f.ID, Secret: f.Secret,
		Expires: time.Unix(int64(f.Expires), 0).UTC(), Name: f.Name,
	}
	if err := i.validate(); err != nil {
		return Invite{}, err
	}
	return i, nil
}

// String names the invite without its secret.
func (i Invite) String() string { return fmt.Sprintf("invite %x for %s", i.ID, i.Name) }

// GoString is String: no way of printing shows the secret.
func (i Invite) GoString() string { return i.String() }

// LogValue is String.
func (i Invite) LogValue() slog.Value { return slog.StringValue(i.String()) }
