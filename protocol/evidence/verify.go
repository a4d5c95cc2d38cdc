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
	// Token and Hop are those of the first object that names a token, zero if none does; a genesis has hop 0.
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
	c, err := e.Kind.certificate(g, e.Authorities, e.Certificate)
	if err != nil {
		return Proof{}, err
	}
	if c.Member() != e.Accused {
		return Proof{}, fmt.Errorf("%w: it is of %v", ErrAccused, c.Member())
	}
	if err := e.verifyObjects(c); err != nil {
		return Proof{}, err
	}
	return e.proof(c), nil
}

// certificate reads the certificate of the accused: a gate's where the kind is against gates, and otherwise a member's.
func (k Kind) certificate(g ident.Group, authorities [][]byte, raw []byte) (c certificate.Certificate, err error) {
	cas, err := group.ParseChain(g, authorities)
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrAuthority, err)
	}
	parse := certificate.Parse
	if k.AgainstGate() {
		parse = certificate.ParseGate
	}
	if c, err = parse(g, raw, cas); err != nil {
		return c, fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	return c, nil
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
		o := Object{Kind: kind, Raw: e.Objects[i]}
		check := func() error { return verify(v, o) }
		if kind == envelope.GateAnswer {
			check = func() error { return verifyGate(e.Group, o, c.Key()) }
		}
		if err := check(); err != nil {
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
	about := s[0]
	if about.Token == (ident.Token{}) { // a refusal, or the end of a session
		about = s[1]
	}
	return Proof{
		ID: e.ID(), Kind: e.Kind, Accused: e.Accused, Name: c.Name(), Serial: c.Body().Serial,
		Token: about.Token, Hop: about.Hop, Account: account(e.Kind, s[0], s[1]),
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
	case TwoAnswers:
		return fmt.Sprintf("answered sign-in %d of member %s with %s and with %s", x.Gate.SignIn.Number, x.Gate.SignIn.Member.Short(), x.Gate.said(), y.Gate.said())
	case NumberTwice:
		return fmt.Sprintf("gave session %d to %s and to %s", x.Gate.Session, x.whose(), y.whose())
	}
	return fmt.Sprintf("passed on token %s at hop %d to member %s by a transfer that does not follow from the %v it names",
		x.Token.Short(), x.Hop, x.To.Short(), y.Kind)
}

// said is what a gate has answered to a sign-in.
func (a *GateAnswer) said() string {
	if a.Refused {
		return "a refusal"
	}
	return fmt.Sprintf("session %d", a.Session)
}

// whose is whose session a gate has named.
func (s Statement) whose() string {
	if s.Gate.Holder == (ident.Member{}) {
		return fmt.Sprintf("sign-in %d of member %s", s.Gate.SignIn.Number, s.Gate.SignIn.Member.Short())
	}
	return fmt.Sprintf("member %s under hop %d of token %s", s.Gate.Holder.Short(), s.Hop, s.Token.Short())
}
