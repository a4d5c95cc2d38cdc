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

// MaxAuthorities bounds the CA keys of a group: those in force, and the retired
// ones that vouch for them, the first key included. So a group's key can be
// rotated seven times. The bound keeps the chain of statements short, which
// travels in every handshake.
const MaxAuthorities = 8

// Group is the CA keys of a group and the configuration in force. It is
// immutable and safe for concurrent use. It implements certificate.Authorities
// with the CA keys in force: those that the configuration lists, and those that
// have been vouched for since.
type Group struct {
	id     ident.Group
	chain  []Authority // those in force and whoever vouches for them, each behind its voucher
	keys   map[[envelope.KeyIDSize]byte]*signature.PublicKey
	config Config
}

// New returns a group with a configuration and the CA keys that led to it: the
// group's first key first, each other one behind the one that vouches for it.
// Errors: ErrNoAuthority, ErrTooManyAuthorities, ErrTwice, ErrGroup,
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

// Extra is what a group file may have besides the CA keys and the
// configuration, unverified and in the order of the file.
type Extra struct {
	Certificates [][]byte
	Endpoints    [][]byte
	Revocations  [][]byte
	Leaves       [][]byte
}

// Load reads the blocks of a group file. It has at least one CA certificate, of
// which the first names the group and each later one comes after the one that
// signed it, and exactly one configuration. It may have certificates, endpoint
// records, revocations and leaves, which Load returns unverified. Errors:
// ErrNoAuthority, ErrNoConfiguration, ErrTwice, ErrBlock,
// ErrTooManyAuthorities, ErrMissingAuthority, and those of ParseAuthority and
// ParseConfig.
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

// ID returns the group's identifier.
func (g *Group) ID() ident.Group { return g.id }

// Name returns the group's name, for people.
func (g *Group) Name() string { return g.config.Body().Name }

// Key returns the CA key with this id if it is in force, and otherwise nil.
func (g *Group) Key(id [envelope.KeyIDSize]byte) *signature.PublicKey { return g.keys[id] }

// History returns the CA keys in force and those that led to them. Use it to
// verify what was signed in the past, such as a journal. A signature by a
// retired key proves nothing about today, and nothing at all once somebody else
// has that key.
func (g *Group) History() certificate.Authorities { return history(g.chain) }

// ParseChain reads and verifies statements about the CA keys of group g. The
// first is about the key that names the group, and each other one about a key
// that an earlier one vouches for. So the group id alone is enough to verify
// the keys. ParseChain checks neither the time nor which keys have been
// retired. Errors: ErrNoAuthority, ErrTooManyAuthorities, ErrTwice, and those
// of ParseAuthority.
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

// Authorities returns the CA keys in force and those that vouch for them, the
// group's first key first, each other one behind the one that vouches for it.
// The list is a copy.
func (g *Group) Authorities() []Authority { return slices.Clone(g.chain) }

// Statements returns the encoded statements about the CA keys in the order of
// Authorities, as ParseChain reads them. The caller must not change their
// bytes.
func (g *Group) Statements() [][]byte {
	var raw [][]byte
	for _, a := range g.chain {
		raw = append(raw, a.Raw())
	}
	return raw
}

// Vouchers returns the statements about CA keys beyond the first, at most
// MaxAuthorities-1, each behind the one that vouches for it. With them, a
// member that knows any earlier key can verify what those in force have signed.
// The caller must not change their bytes.
func (g *Group) Vouchers() [][]byte {
	return g.Statements()[1:]
}

// Config returns the configuration in force.
func (g *Group) Config() Config { return g.config }

// Blocks returns the blocks of a group file: the CA certificates and the
// configuration.
func (g *Group) Blocks() []keyfile.Block {
	var blocks []keyfile.Block
	for _, a := range g.chain {
		blocks = append(blocks, keyfile.Block{Type: keyfile.CACertificate, Bytes: a.Raw()})
	}
	return append(blocks, keyfile.Block{Type: keyfile.GroupConfiguration, Bytes: g.config.Raw()})
}
