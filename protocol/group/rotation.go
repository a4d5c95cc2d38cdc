package group

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// WithAuthority returns the group with another CA key, for which one in force
// vouches. Signatures of the new key count from then on, before a configuration
// lists it. If the key is in force already, WithAuthority returns the group
// itself and verifies nothing. Errors: those of ParseAuthority, ErrRetired,
// ErrTooManyAuthorities.
func (g *Group) WithAuthority(raw []byte) (*Group, error) {
	s, id, err := peek(g.id, raw)
	if err != nil {
		return nil, err
	}
	if g.Key(id) != nil {
		return g, nil
	}
	if s.Version <= g.config.Version() {
		return nil, fmt.Errorf("%w: key %x was to be in configuration %d, and %d does not list it",
			ErrRetired, id, s.Version, g.config.Version())
	}
	a, err := ParseAuthority(g.id, raw, g)
	if err != nil {
		return nil, err
	}
	more := &Group{id: g.id, chain: slices.Clone(g.chain), keys: maps.Clone(g.keys), config: g.config}
	if err := more.add(a); err != nil {
		return nil, err
	}
	return more, nil
}

// peek is what a statement says, and the id of its key, unverified. Errors:
// those of ParseAuthority that need no signature.
func peek(g ident.Group, raw []byte) (s Statement, id [envelope.KeyIDSize]byte, err error) {
	u, err := envelope.Parse(domain(g, envelope.Authority), raw)
	if err != nil {
		return s, id, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if s, err = parseStatement(u.Payload()); err != nil {
		return s, id, err
	}
	key, err := s.check()
	if err != nil {
		return s, id, err
	}
	return s, certificate.AuthorityID(key), nil
}

// WithConfig returns the group under a newer configuration, signed by a key in
// force. The keys that it does not list are retired, except those that only a
// later configuration is to list. Errors: ErrOlder (ErrSameVersion);
// certificate.ErrUnknownCA if the signer has been retired; ErrMissingAuthority
// if some statements have to come first (WithAuthority).
func (g *Group) WithConfig(c Config) (*Group, error) {
	if c.Version() == g.config.Version() {
		return nil, fmt.Errorf("%w: %d", ErrSameVersion, c.Version())
	}
	if c.Version() < g.config.Version() {
		return nil, fmt.Errorf("%w: version %d, version %d holds", ErrOlder, c.Version(), g.config.Version())
	}
	if g.Key(c.Signer()) == nil {
		return nil, fmt.Errorf("%w: key %x", certificate.ErrUnknownCA, c.Signer())
	}
	for _, id := range c.Body().Authorities {
		if g.Key(id) == nil {
			return nil, fmt.Errorf("%w: key %x, in version %d", ErrMissingAuthority, id, c.Version())
		}
	}
	newer := &Group{id: g.id, config: c, keys: make(map[[envelope.KeyIDSize]byte]*signature.PublicKey)}
	for _, a := range g.chain {
		listed := slices.Contains(c.Body().Authorities, a.ID())
		if g.Key(a.ID()) != nil && (listed || a.Body().Version > c.Version()) {
			newer.keys[a.ID()] = a.key
		}
	}
	newer.chain = ancestry(g.chain, newer.keys)
	return newer, nil
}

// Vouched returns the group with those of some statements that are new and
// verify. It leaves out statements about a retired key, or signed by one, and
// stops at the first that is forged or malformed. So a stranger, who can forge
// none, costs one verification in vain beside those of genuine statements.
// Vouched reads at most MaxAuthorities statements.
func (g *Group) Vouched(statements [][]byte) *Group {
	for _, raw := range statements[:min(len(statements), MaxAuthorities)] {
		more, err := g.WithAuthority(raw)
		switch {
		case err == nil:
			g = more
		case errors.Is(err, ErrRetired), errors.Is(err, certificate.ErrUnknownCA):
		default:
			return g
		}
	}
	return g
}

// Update returns the group under a newer configuration, which comes with the
// statements about CA keys that may be needed to verify it. Errors: those of
// ParseConfig and WithConfig. An older configuration gives ErrOlder even if a
// retired key has signed it, because a member that shows it has missed a
// rotation and is no liar.
func (g *Group) Update(config []byte, statements [][]byte) (*Group, error) {
	more := g.Vouched(statements)
	c, err := ParseConfig(g.id, config, more)
	if errors.Is(err, certificate.ErrUnknownCA) {
		if past, e := ParseConfig(g.id, config, g.History()); e == nil && past.Version() <= g.config.Version() {
			return g.WithConfig(past) // which says that it is older
		}
	}
	if err != nil {
		return nil, err
	}
	return more.WithConfig(c)
}

// ancestry leaves of a chain what is needed for some keys: their statements, and
// those of the keys that vouch for them, up to the first.
func ancestry(chain []Authority, keys map[[envelope.KeyIDSize]byte]*signature.PublicKey) []Authority {
	needed := map[[envelope.KeyIDSize]byte]bool{chain[0].ID(): true}
	var kept []Authority
	for _, a := range slices.Backward(chain) {
		if needed[a.ID()] || keys[a.ID()] != nil {
			needed[a.Voucher()] = true
			kept = append(kept, a)
		}
	}
	slices.Reverse(kept)
	return kept
}
