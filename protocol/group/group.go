package group

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
)

// MaxAuthorities bounds the CA keys of a group. While one is rotated there are
// two; retired ones stay as long as something that they signed is in use.
const MaxAuthorities = 8

// Group is the CA keys of a group and the configuration that holds. It is
// immutable and safe for concurrent use, and implements
// certificate.Authorities.
type Group struct {
	id          ident.Group
	authorities []Authority
	keys        map[[envelope.KeyIDSize]byte]*signature.PublicKey
	config      Config
}

// New makes a group of a configuration and the authorities that stand behind
// it. Errors: ErrNoAuthority, ErrTooManyAuthorities, ErrTwice, ErrGroup,
// ErrNoConfiguration.
func New(authorities []Authority, c Config) (*Group, error) {
	if len(authorities) == 0 {
		return nil, ErrNoAuthority
	}
	if c.IsZero() {
		return nil, ErrNoConfiguration
	}
	g := &Group{id: authorities[0].statement.Group, config: c}
	for _, a := range authorities {
		if err := g.add(a); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (g *Group) add(a Authority) error {
	switch {
	case a.statement.Group != g.id:
		return fmt.Errorf("%w: %v", ErrGroup, a.statement.Group)
	case len(g.authorities) == MaxAuthorities:
		return fmt.Errorf("%w: permitted are %d", ErrTooManyAuthorities, MaxAuthorities)
	case g.Key(a.ID()) != nil:
		return fmt.Errorf("%w: CA certificate of key %x", ErrTwice, a.ID())
	}
	if g.keys == nil {
		g.keys = make(map[[envelope.KeyIDSize]byte]*signature.PublicKey)
	}
	g.keys[a.ID()] = a.key
	g.authorities = append(g.authorities, a)
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
// ErrTwice, ErrBlock, ErrTooManyAuthorities, and those of ParseAuthority and
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
	if err := g.loadConfig(config); err != nil {
		return nil, Extra{}, err
	}
	return g, extra, nil
}

func (g *Group) loadAuthority(raw []byte) error {
	if len(g.authorities) == 0 {
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

func (g *Group) loadConfig(raw []byte) error {
	if len(g.authorities) == 0 {
		return ErrNoAuthority
	}
	if raw == nil {
		return ErrNoConfiguration
	}
	c, err := ParseConfig(g.id, raw, g)
	if err != nil {
		return fmt.Errorf("group configuration: %w", err)
	}
	g.config = c
	return nil
}

// ID is the group's identifier.
func (g *Group) ID() ident.Group { return g.id }

// Name is the group's name, for people.
func (g *Group) Name() string { return g.config.settings.Name }

// Key is the CA key with this id, or nil when the group has none.
func (g *Group) Key(id [envelope.KeyIDSize]byte) *signature.PublicKey { return g.keys[id] }

// Authorities are the CA keys, the first one first. The list is a copy.
func (g *Group) Authorities() []Authority { return append([]Authority(nil), g.authorities...) }

// Config is the configuration that holds.
func (g *Group) Config() Config { return g.config }

// WithConfig is the group under a newer configuration, or ErrOlder.
func (g *Group) WithConfig(c Config) (*Group, error) {
	if c.Version() <= g.config.Version() {
		return nil, fmt.Errorf("%w: version %d, version %d holds", ErrOlder, c.Version(), g.config.Version())
	}
	newer := *g
	newer.config = c
	return &newer, nil
}

// Blocks are the group file's: the CA certificates and the configuration.
func (g *Group) Blocks() []keyfile.Block {
	var blocks []keyfile.Block
	for _, a := range g.authorities {
		blocks = append(blocks, keyfile.Block{Type: keyfile.CACertificate, Bytes: a.Raw()})
	}
	return append(blocks, keyfile.Block{Type: keyfile.GroupConfiguration, Bytes: g.config.Raw()})
}
