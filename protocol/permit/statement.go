package permit

import (
	"cmp"
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/signed"
	"github.com/wandertoken/wander/protocol/token"
)

// ExporterSize is the size of the value that a statement takes from its TLS connection, in bytes: that of
// tls-exporter (RFC 9266).
const ExporterSize = 32

// statementLimits bound the payload of a statement: its fields and eight extensions.
var statementLimits = canonical.Limits{MaxBytes: 4 << 10, MaxDepth: 16, MaxItems: 4 << 10}

// StatementBody is what a holder signs to open a session at a gate.
type StatementBody struct {
	_             struct{} `cbor:",toarray"`
	Resource      string   // of the token
	Slot          uint64   // of the token
	Token         ident.Token
	Hop           uint64       // of the holder's custody, at most ident.MaxHop
	Title         ident.Hash   // H of the transfer, or genesis, that the title ends with: of two transfers of one hop it says which
	Holder        ident.Member // who signs
	Gate          [envelope.KeyIDSize]byte
	Exporter      [ExporterSize]byte // tls-exporter (RFC 9266) of the connection
	Number        uint64             // within the connection, from 1
	Configuration uint64             // version of the one that the holder goes by, from 1
	Length        uint64             // how long a session is asked for, in ms, above 0
	Extensions    canonical.Extensions
}

func (b StatementBody) validate() error {
	switch n := len(b.Resource); {
	case n == 0 || n > token.MaxResourceName:
		return fmt.Errorf("%w: resource name of %d bytes", ErrStatement, n)
	case b.Hop > ident.MaxHop:
		return fmt.Errorf("%w: hop %d, permitted are 0 to %d", ErrStatement, b.Hop, uint64(ident.MaxHop))
	case b.Number == 0:
		return fmt.Errorf("%w: number 0", ErrStatement)
	case b.Configuration == 0:
		return fmt.Errorf("%w: configuration version 0", ErrStatement)
	case b.Length == 0:
		return fmt.Errorf("%w: a session of no length", ErrStatement)
	}
	return nil
}

func domain(g ident.Group) envelope.Domain {
	return envelope.Domain{Version: token.Version, Group: g, Kind: envelope.Statement}
}

// StatementOf is the body of a holder's statement about its title. Gate, Exporter, Number, Configuration and Length are
// the caller's to set.
func StatementOf(t token.Title) StatementBody {
	g := t.Genesis.Body()
	return StatementBody{Resource: g.Resource, Slot: g.Slot, Token: t.Token(), Hop: t.Hop(), Title: t.Hash(), Holder: t.Holder()}
}

// Sign makes the statement. The key must be Holder's. Error: ErrStatement.
func (b StatementBody) Sign(g ident.Group, key *signature.PrivateKey) (Statement, error) {
	if err := b.validate(); err != nil {
		return Statement{}, err
	}
	payload, err := canonical.AppendWithin(nil, &b, statementLimits)
	if err != nil {
		return Statement{}, fmt.Errorf("%w: %w", ErrStatement, err)
	}
	form, err := envelope.Sign(domain(g), b.Holder, payload, key)
	if err != nil {
		return Statement{}, err
	}
	return Statement{signed.Of(b, form)}, nil
}

// Statement is a verified statement: its holder has signed it. Permit.Statement gives one that is about the permit's
// title and a session.
type Statement struct{ signed.Object[StatementBody] }

// ParseStatement reads and verifies a statement: that its holder has signed it. What it is about is not looked at.
// Errors, in this order: ErrStatement, ErrPresenter, token.ErrUnknownSigner, ErrSignature.
func ParseStatement(g ident.Group, raw []byte, keys token.Keys) (Statement, error) {
	u, err := envelope.Parse(domain(g), raw)
	if err != nil {
		return Statement{}, fmt.Errorf("%w: %w", ErrStatement, err)
	}
	var b StatementBody
	if err := canonical.Unmarshal(u.Payload(), &b, statementLimits); err != nil {
		return Statement{}, fmt.Errorf("%w: %w", ErrStatement, err)
	}
	if err := b.validate(); err != nil {
		return Statement{}, err
	}
	if ident.Member(u.KeyID()) != b.Holder {
		return Statement{}, fmt.Errorf("%w: it names %v", ErrPresenter, b.Holder)
	}
	key := keys.Key(b.Holder)
	if key == nil {
		return Statement{}, &token.UnknownSignerError{Member: b.Holder}
	}
	form, err := u.Verify(key)
	if err != nil {
		return Statement{}, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return Statement{signed.Of(b, form)}, nil
}

// Session is what a statement has to name: the verifier's own key id, the connection's exporter value, and
// the number that is next within the connection.
type Session struct {
	Gate     [envelope.KeyIDSize]byte
	Exporter [ExporterSize]byte
	Number   uint64
}

// Statement verifies the statement that came with a permit, for a session. Whether its configuration version is
// too old and its length too long is the caller's to judge. Errors, in this order: those of ParseStatement,
// ErrPresenter, ErrTitle, ErrGate, ErrExporter, ErrNumber.
func (p Permit) Statement(raw []byte, s Session) (Statement, error) {
	st, err := ParseStatement(p.group, raw, p.known)
	if err != nil {
		return Statement{}, err
	}
	b := st.Body()
	if b.Holder != p.title.Holder() {
		return Statement{}, fmt.Errorf("%w: %v", ErrPresenter, b.Holder)
	}
	if err := cmp.Or(b.about(p.title), b.within(s)); err != nil {
		return Statement{}, err
	}
	return st, nil
}

// about: the statement names the title.
func (b StatementBody) about(t token.Title) error {
	is := StatementOf(t)
	switch {
	case b.Resource != is.Resource || b.Slot != is.Slot:
		return fmt.Errorf("%w: slot %d of %q", ErrTitle, b.Slot, b.Resource)
	case b.Token != is.Token:
		return fmt.Errorf("%w: token %v", ErrTitle, b.Token)
	case b.Hop != is.Hop:
		return fmt.Errorf("%w: hop %d", ErrTitle, b.Hop)
	case b.Title != is.Title:
		return fmt.Errorf("%w: another transfer of its hop", ErrTitle)
	}
	return nil
}

// within: the statement names the session.
func (b StatementBody) within(s Session) error {
	switch {
	case b.Gate != s.Gate:
		return fmt.Errorf("%w: of key %x", ErrGate, b.Gate)
	case b.Exporter != s.Exporter:
		return ErrExporter
	case b.Number != s.Number:
		return fmt.Errorf("%w: %d, and %d is next", ErrNumber, b.Number, s.Number)
	}
	return nil
}
