package permit

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// Conditions are what a permit is verified against: the group as the verifier knows it.
type Conditions struct {
	Group       ident.Group
	Authorities certificate.Authorities // the CA keys by which certificates count
	Settings    group.Settings          // of the configuration: which resources and slots there are
	At          time.Time               // the holder's certificate has to be valid at this time
	// Revoked reports whether the CA has revoked a member. Nil: nobody is.
	Revoked func(ident.Member) bool
	// Known reports whether a token was seen here before any signer of its permit was revoked: then signers that were
	// revoked since do not count against it (rule G-9). A holder that was revoked does all the same. Nil: none was.
	Known func(ident.Token) bool
	// Certificate reads and verifies a certificate, as certificate.Parse does, and may remember what it has verified by the same CA keys. Nil:
	// certificate.Parse.
	Certificate func(raw []byte) (certificate.Certificate, error)
	// Memory has the objects of the group that were verified before. Nil: none is remembered.
	Memory *token.Memory
}

// Permit is a verified permit: Title.Holder() is named the holder of Title.Token() at Title.Hop(), by those that
// signed it. The zero value is none.
type Permit struct {
	group  ident.Group
	title  token.Title
	before token.Title
	holder certificate.Certificate
	known  certificates // of all who signed
}

// Verify checks a permit against the conditions: the group, the certificates, all signatures, that each
// object follows from the one before it, that the group has the resource and its slot, that nobody concerned was
// revoked, and that the holder's certificate is valid. Errors, in this order: ErrMalformed, ErrGroup;
// those of certificate.Parse; those of token.Verifier; token.ErrChain; ErrCertificates; ErrResource, ErrSlot;
// ErrHolder, ErrSigner; certificate.ErrNotYetValid, certificate.ErrExpired.
func Verify(f Form, c Conditions) (Permit, error) {
	if err := f.validate(); err != nil {
		return Permit{}, err
	}
	if f.Group != c.Group {
		return Permit{}, fmt.Errorf("%w: %v", ErrGroup, f.Group)
	}
	known, err := f.certificates(c)
	if err != nil {
		return Permit{}, err
	}
	p := Permit{group: c.Group}
	if err := p.open(f, c.memory().Verifier(known)); err != nil {
		return Permit{}, err
	}
	signers := p.title.SignersSince(p.before)
	if !slices.EqualFunc(signers, known, func(m ident.Member, c certificate.Certificate) bool { return m == c.Member() }) {
		return Permit{}, ErrCertificates
	}
	p.known = known
	p.holder = known[slices.Index(signers, p.title.Holder())]
	if err := cmp.Or(c.checkSlot(p.title.Genesis.Body()), c.checkRevoked(p.title, signers), p.holder.ValidAt(c.At)); err != nil {
		return Permit{}, err
	}
	return p, nil
}

// certificates are those that came along. Each has verified.
func (f Form) certificates(c Conditions) (known certificates, err error) {
	parse := c.Certificate
	if parse == nil {
		parse = func(raw []byte) (certificate.Certificate, error) {
			return certificate.Parse(f.Group, raw, c.Authorities)
		}
	}
	for i, raw := range f.Certificates {
		one, err := parse(raw)
		if err != nil {
			return nil, fmt.Errorf("certificate %d of %d: %w", i+1, len(f.Certificates), err)
		}
		known = append(known, one)
	}
	return known, nil
}

// certificates are the keys that the objects of a permit verify with.
type certificates []certificate.Certificate

// Key is the key of a member whose certificate came along, or nil.
func (list certificates) Key(m ident.Member) *signature.PublicKey {
	for _, c := range list {
		if c.Member() == m {
			return c.Key()
		}
	}
	return nil
}

// open verifies the signatures, and that the parts belong together.
func (p *Permit) open(f Form, v *token.Verifier) (err error) {
	if p.title.Genesis, err = v.Genesis(f.Genesis); err != nil {
		return fmt.Errorf("genesis: %w", err)
	}
	if len(f.Transfer) == 0 {
		return nil
	}
	p.before.Genesis = p.title.Genesis
	if len(f.Previous) > 0 {
		if p.before.Transfer, err = v.Transfer(f.Previous); err != nil {
			return fmt.Errorf("previous transfer: %w", err)
		}
	}
	if len(f.PreviousVoid) > 0 {
		if p.before.Void, err = v.Answer(token.Void, f.PreviousVoid); err != nil {
			return fmt.Errorf("previous void: %w", err)
		}
	}
	if p.title.Transfer, err = v.Transfer(f.Transfer); err != nil {
		return fmt.Errorf("transfer: %w", err)
	}
	if len(f.Void) > 0 {
		if p.title.Void, err = v.Answer(token.Void, f.Void); err != nil {
			return fmt.Errorf("void: %w", err)
		}
	}
	return p.title.Since(p.before)
}

// memory is the one given, or a new one.
func (c Conditions) memory() *token.Memory {
	if c.Memory != nil {
		return c.Memory
	}
	return token.NewMemory(c.Group)
}

// checkSlot: the group has what the token is for.
func (c Conditions) checkSlot(g token.GenesisBody) error {
	i := slices.IndexFunc(c.Settings.Resources, func(r group.Resource) bool { return r.Name == g.Resource })
	if i < 0 {
		return fmt.Errorf("%w: %q", ErrResource, g.Resource)
	}
	if n := c.Settings.Resources[i].Slots; g.Slot >= uint64(n) {
		return fmt.Errorf("%w: slot %d of %q, which has %d", ErrSlot, g.Slot, g.Resource, n)
	}
	return nil
}

// checkRevoked: neither the holder was revoked, nor anybody by whose word it holds a token that is new here.
func (c Conditions) checkRevoked(title token.Title, signers []ident.Member) error {
	if c.Revoked == nil {
		return nil
	}
	if c.Revoked(title.Holder()) {
		return &RevokedError{Member: title.Holder(), Holder: true}
	}
	if c.Known != nil && c.Known(title.Token()) {
		return nil
	}
	if i := slices.IndexFunc(signers, c.Revoked); i >= 0 {
		return &RevokedError{Member: signers[i]}
	}
	return nil
}

// Title is what the permit proves: token, hop and holder, with the transfer that led there.
func (p Permit) Title() token.Title { return p.title }

// Before is the title from which the permit's transfer follows; the zero value at hop 0.
func (p Permit) Before() token.Title { return p.before }

// Holder is the holder's certificate.
func (p Permit) Holder() certificate.Certificate { return p.holder }

// Expires is when the certificate of a member ends that signed a part of the permit, in ms since 1970; 0 of others.
func (p Permit) Expires(m ident.Member) uint64 {
	for _, c := range p.known {
		if c.Member() == m {
			return uint64(max(0, c.Body().NotAfter.UnixMilli()))
		}
	}
	return 0
}

// Name is the name of a member that signed a part of the permit, for people; "" of others.
func (p Permit) Name(m ident.Member) string {
	for _, c := range p.known {
		if c.Member() == m {
			return c.Name()
		}
	}
	return ""
}

// Follows reports whether a transfer of this permit gives away the custody that a title proves: then the
// title's holder has signed that its turn is over. The title must be of a verified permit.
func (p Permit) Follows(t token.Title) bool {
	if t.Genesis.IsZero() {
		return false
	}
	for _, next := range []token.Transfer{p.title.Transfer, p.before.Transfer} {
		if !next.IsZero() && t.Admits(next) == nil {
			return true
		}
	}
	return false
}

// Declines reports whether this permit has a void of the transfer by which a title names its holder:
// then that holder has signed that it never took custody by it. The title must be of a verified permit.
func (p Permit) Declines(t token.Title) bool {
	if t.Transfer.IsZero() || !t.Void.IsZero() {
		return false
	}
	return p.title.Void.Answers(t.Transfer) || p.before.Void.Answers(t.Transfer)
}
