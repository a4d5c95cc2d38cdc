package evidence

import (
	"bytes"
	"fmt"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// Proof is what verified evidence says.
type Proof struct {
	ID      ident.Hash
	Kind    Kind
	Accused ident.Member
	Name    string // of the accused, in the certificate
	Serial  uint64 // of the certificate
	// Token and Hop are those of the first object; a genesis has hop 0.
	Token   ident.Token
	Hop     uint64
	Account string // what was signed, one line for people
}

// Verify checks everything, with nothing but the group id: the CA keys from the
// one that names the group on, the certificate, the signatures of the accused,
// and that the objects contradict each other. It does not look at the time:
// neither keys nor certificates are asked whether they are valid, and a retired
// CA key counts. That is no gap, since the id of a member is the hash of its key:
// whoever has that key has signed both. Errors: ErrGroup, ErrAuthority,
// ErrCertificate, ErrAccused, ErrObject, ErrOrder, ErrNoProof, ErrKind,
// ErrMalformed.
func (e *Evidence) Verify(g ident.Group) (Proof, error) {
	if err := e.check(); err != nil {
		return Proof{}, err
	}
	if e.Group != g {
		return Proof{}, fmt.Errorf("%w: %v", ErrGroup, e.Group)
	}
	cas, err := group.ParseChain(g, e.Authorities)
	if err != nil {
		return Proof{}, fmt.Errorf("%w: %w", ErrAuthority, err)
	}
	c, err := certificate.Parse(g, e.Certificate, cas)
	if err != nil {
		return Proof{}, fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	if c.Member() != e.Accused {
		return Proof{}, fmt.Errorf("%w: it is of %v", ErrAccused, c.Member())
	}
	if err := e.verifyObjects(c); err != nil {
		return Proof{}, err
	}
	return e.proof(c), nil
}

// only knows the key of one member.
type only struct{ certificate.Certificate }

// Key is nil for everybody else, so that nobody else's object verifies.
func (o only) Key(m ident.Member) *signature.PublicKey {
	if m != o.Member() {
		return nil
	}
	return o.Certificate.Key()
}

func (e *Evidence) verifyObjects(c certificate.Certificate) error {
	v := token.NewVerifier(e.Group, only{c})
	for i, kind := range objectKinds[e.Kind] {
		if kind == 0 {
			if !bytes.Equal(e.Objects[i], blank(e.Objects[i])) {
				return fmt.Errorf("%w: object %d has a signature", ErrObject, i+1)
			}
			continue
		}
		if err := verify(v, Object{Kind: kind, Raw: e.Objects[i]}); err != nil {
			return fmt.Errorf("%w: object %d: %w", ErrObject, i+1, err)
		}
	}
	s := e.statements()
	switch {
	case len(s) != objectCount:
		return fmt.Errorf("%w: it is not the one that the first names", ErrObject)
	case e.Kind.Convicts(s[0], s[1]):
		return nil
	case e.Kind.Convicts(s[1], s[0]):
		return ErrOrder
	}
	return ErrNoProof
}

// statements are what the objects say; fewer than two when one is none.
func (e *Evidence) statements() []Statement {
	var list []Statement
	for i, raw := range e.Objects {
		var s Statement
		var ok bool
		if kind := e.objectKind(i); kind != 0 {
			s, ok = peek(e.Group, Object{Kind: kind, Raw: raw})
		} else if len(list) > 0 {
			s, ok = named(e.Group, list[0], raw)
		}
		if !ok {
			return list
		}
		list = append(list, s)
	}
	return list
}

func (e *Evidence) objectKind(i int) envelope.Kind {
	if !e.Kind.valid() || i >= objectCount {
		return 0
	}
	return objectKinds[e.Kind][i]
}

// proof is what evidence says that has been verified.
func (e *Evidence) proof(c certificate.Certificate) Proof {
	s := e.statements()
	return Proof{
		ID: e.ID(), Kind: e.Kind, Accused: e.Accused, Name: c.Name(), Serial: c.Body().Serial,
		Token: s[0].Token, Hop: s[0].Hop, Account: account(e.Kind, s[0], s[1]),
	}
}

// account says in a line what was signed.
func account(k Kind, x, y Statement) string {
	switch k {
	case Fork:
		return fmt.Sprintf("gave hop %d of token %s to member %s and to member %s",
			x.Hop, x.Token.Short(), x.To.Short(), y.To.Short())
	case Contradiction:
		return fmt.Sprintf("declined and took the same transfer, to hop %d of token %s", x.Hop, x.Token.Short())
	case Reclaimed:
		return fmt.Sprintf("declined the transfer to hop %d of token %s and passed the token on to member %s",
			x.Hop, x.Token.Short(), y.To.Short())
	case DoubleMint:
		return fmt.Sprintf("made tokens %s and %s with the same number %d",
			x.Token.Short(), y.Token.Short(), x.Sequence)
	}
	return fmt.Sprintf("passed on token %s at hop %d to member %s by a transfer that does not follow from the %v it names",
		x.Token.Short(), x.Hop, x.To.Short(), y.Kind)
}
