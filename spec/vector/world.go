package vector

import (
	"bytes"
	"fmt"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// world is what the reader of the vectors knows: the group, the CA keys and the
// members whose certificates it has.
type world struct {
	group       ident.Group
	authorities authorityKeys
	members     map[ident.Member]*signature.PublicKey
	parties     map[string]*identity
	byID        map[ident.Member]string
	files       Parties
}

// identity is a party whose keys have been read.
type identity struct {
	Party
	member  ident.Member
	private *signature.PrivateKey
}

// Key is the key of a member, or nil: token.Keys.
func (w *world) Key(m ident.Member) *signature.PublicKey { return w.members[m] }

// authorityKeys is the CA keys of a world: certificate.Authorities.
type authorityKeys map[[envelope.KeyIDSize]byte]*signature.PublicKey

// Key is the CA key with this id, or nil.
func (a authorityKeys) Key(id [envelope.KeyIDSize]byte) *signature.PublicKey { return a[id] }

// newWorld reads keys.json. Error: ErrParties.
func newWorld(p Parties) (*world, error) {
	w := &world{
		authorities: make(authorityKeys), members: make(map[ident.Member]*signature.PublicKey),
		parties: make(map[string]*identity), byID: make(map[ident.Member]string), files: p,
	}
	if len(p.Group) != ident.HashSize {
		return nil, fmt.Errorf("%w: group id of %d bytes", ErrParties, len(p.Group))
	}
	w.group = ident.Group(p.Group)
	for _, party := range p.Parties {
		if err := w.add(party); err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrParties, party.Name, err)
		}
	}
	return w, nil
}

func (w *world) add(p Party) error {
	key, err := signature.NewPrivateKey(p.Seed)
	if err != nil {
		return err
	}
	public := key.Public().Bytes()
	id := ident.MemberOf(w.group, public[:])
	if p.Authority {
		id = certificate.AuthorityID(key.Public())
	}
	if !bytes.Equal(p.Public, public[:]) || !bytes.Equal(p.ID, id[:]) {
		return fmt.Errorf("public key or id is not that of the seed")
	}
	w.parties[p.Name] = &identity{Party: p, member: id, private: key}
	switch {
	case p.Known && p.Authority:
		w.authorities[id] = key.Public()
	case p.Known:
		w.members[id] = key.Public()
	}
	if !p.Authority {
		w.byID[id] = p.Name
	}
	return nil
}

// cas is the CA keys that are known.
func (w *world) cas() certificate.Authorities { return authorityKeys(w.authorities) }
