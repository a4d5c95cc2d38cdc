package group

import (
	"fmt"
	"slices"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// MaxAuthorities bounds the CA keys that a group has, and those that it has to
// have had for them to be vouched for, the first among them. So a group's key
// can be rotated seven times. While that is done there are two; a chain of
// statements travels in every handshake.
const MaxAuthorities = 8

// Group is the CA keys of a group and the configuration that holds. It is
// immutable and safe for concurrent use, and implements
// certificate.Authorities with the keys in force: those that the configuration
// lists, and those that have been vouched for since.
type Group struct {
	id     ident.Group
	chain  []Authority // those in force and whoever vouches for them, each behind its voucher
	keys   map[[envelope.KeyIDSize]byte]*signature.PublicKey
	config Config
}

// New makes a group of a configuration and the authorities that stand behind
// it, the first one first, each behind the one that vouches for it. Errors:
// ErrNoAuthority, ErrTooManyAuthorities, ErrTwice, ErrGroup,
// ErrNoConfiguration, certificate.ErrUnknownCA, ErrMissingAuthority.
func New(authorities []Authority, c Config) (*Group, error) {
	if len(authorities) == 0 {
		return nil, ErrNoAuthority
	}
	if c.IsZero() {
		return nil, ErrNoConfiguration
	}
	g := &Group{id: authorities[0].Body().Group}
	for _, a := range authorities {
		if err := g.add(a); err != nil {
			return nil, err
		}
	}
	return g.WithConfig(c)
}

// add takes in an authority, in a group that nobody else has.
func (g *Group) add(a Authority) error {
	switch {
	case a.Body().Group != g.id:
		return fmt.Errorf("%w: %v", ErrGroup, a.Body().Group)
	case len(g.chain) == MaxAuthorities:
		return fmt.Errorf("%w: permitted are %d", ErrTooManyAuthorities, MaxAuthorities)
	case g.Key(a.ID()) != nil:
		return fmt.Errorf("%w: CA certificate of key %x", ErrTwice, a.ID())
	case len(g.chain) > 0 && g.Key(a.Voucher()) == nil:
		return fmt.Errorf("%w: key %x vouches for key %x", certificate.ErrUnknownCA, a.Voucher(), a.ID())
	}
	if g.keys == nil {
		g.keys = make(map[[envelope.KeyIDSize]byte]*signature.PublicKey)
	}
	g.keys[a.ID()] = a.key
	g.chain = append(g.chain, a)
	return nil
}

// Extra is what a group file may hold besides, not verified, in its order.
type Extra struct {
	Certificates [][]byte
	Endpoints    [][]byte
	Revocations  [][]byte
	Leaves       [][]byte
}

// Load reads the blocks of a group file: at least one CA certificate, of which
// the first names the group and later ones come after the one that signed
// them; exactly one configuration; certificates, endpoint records,
// revocations and notices of leave as one likes. Errors: ErrNoAuthority, ErrNoConfiguration,
// ErrTwice, ErrBlock, ErrTooManyAuthorities, ErrMissingAuthority, and those of
// ParseAuthority and ParseConfig.
func Load(blocks []keyfile.Block) (*Group, Extra, error) {
	var (
		g      = &Group{}
		extra  Extra
		config []byte
	)
	for _, b := range blocks {
		switch b.Type {
		case keyfile.CACertificate:
			if err := g.loadAuthority(b.Bytes); err != nil {
				return nil, Extra{}, fmt.Errorf("CA certificate: %w", err)
			}
		case keyfile.GroupConfiguration:
			if config != nil {
				return nil, Extra{}, fmt.Errorf("%w: group configuration", ErrTwice)
			}
			config = b.Bytes
		case keyfile.Certificate:
			extra.Certificates = append(extra.Certificates, b.Bytes)
		case keyfile.Endpoint:
			extra.Endpoints = append(extra.Endpoints, b.Bytes)
		case keyfile.Revocation:
			extra.Revocations = append(extra.Revocations, b.Bytes)
		case keyfile.Leave:
			extra.Leaves = append(extra.Leaves, b.Bytes)
		default:
			return nil, Extra{}, fmt.Errorf("%w: %s", ErrBlock, b.Type)
		}
	}
	g, err := g.loadConfig(config)
	if err != nil {
		return nil, Extra{}, err
	}
	return g, extra, nil
}

func (g *Group) loadAuthority(raw []byte) error {
	if len(g.chain) == 0 {
		id, err := GroupOf(raw)
		if err != nil {
			return err
		}
		g.id = id
	}
	a, err := ParseAuthority(g.id, raw, g)
	if err != nil {
		return err
	}
	return g.add(a)
}

func (g *Group) loadConfig(raw []byte) (*Group, error) {
	if len(g.chain) == 0 {
		return nil, ErrNoAuthority
	}
	if raw == nil {
		return nil, ErrNoConfiguration
	}
	c, err := ParseConfig(g.id, raw, g)
	if err == nil {
		g, err = g.WithConfig(c)
	}
	if err != nil {
		return nil, fmt.Errorf("group configuration: %w", err)
	}
	return g, nil
}

// ID is the group's identifier.
func (g *Group) ID() ident.Group { return g.id }

// Name is the group's name, for people.
func (g *Group) Name() string { return g.config.Body().Name }

// Key is the CA key with this id if it is in force, otherwise nil.
func (g *Group) Key(id [envelope.KeyIDSize]byte) *signature.PublicKey { return g.keys[id] }

// History are the CA keys in force and those that led to them: who reads what was
// signed in the past, such as a journal, verifies it with these. What a retired
// key has signed proves nothing about today, and nothing at all once somebody
// else has that key.
func (g *Group) History() certificate.Authorities { return history(g.chain) }

// ParseChain reads and verifies statements about the CA keys of group g: the
// first is about the key that names the group, each other one about a key that
// one before it vouches for. So whoever knows the group id knows the keys. The
// time is not looked at, nor which keys have been retired. Errors:
// ErrNoAuthority, ErrTooManyAuthorities, ErrTwice, and those of ParseAuthority.
func ParseChain(g ident.Group, statements [][]byte) (certificate.Authorities, error) {
	if len(statements) == 0 {
		return nil, ErrNoAuthority
	}
	chain := Group{id: g}
	for _, raw := range statements {
		a, err := ParseAuthority(g, raw, &chain)
		if err != nil {
			return nil, err
		}
		if err := chain.add(a); err != nil {
			return nil, err
		}
	}
	return &chain, nil
}

type history []Authority

// Key is the CA key with this id, or nil.
func (h history) Key(id [envelope.KeyIDSize]byte) *signature.PublicKey {
	for _, a := range h {
		if a.ID() == id {
			return a.key
		}
	}
	return nil
}

// Authorities are the CA keys in force and those that vouch for them, the first
// of the group first, each behind the one that vouches for it. The list is a
// copy.
func (g *Group) Authorities() []Authority { return slices.Clone(g.chain) }

// Statements are the encoded statements about the CA keys, in the order of
// Authorities: what ParseChain reads. The caller must not change what they hold.
func (g *Group) Statements() [][]byte {
	var raw [][]byte
	for _, a := range g.chain {
		raw = append(raw, a.Raw())
	}
	return raw
}

// Vouchers are the statements about CA keys beyond the first, at most
// MaxAuthorities-1, each behind the one that vouches for it: with them somebody
// who knows any key before can verify what those in force have signed. The
// caller must not change what they hold.
func (g *Group) Vouchers() [][]byte {
	return g.Statements()[1:]
}

// Config is the configuration that holds.
func (g *Group) Config() Config { return g.config }

// Blocks are the group file's: the CA certificates and the configuration.
func (g *Group) Blocks() []keyfile.Block {
	var blocks []keyfile.Block
	for _, a := range g.chain {
		blocks = append(blocks, keyfile.Block{Type: keyfile.CACertificate, Bytes: a.Raw()})
	}
	return append(blocks, keyfile.Block{Type: keyfile.GroupConfiguration, Bytes: g.config.Raw()})
}
