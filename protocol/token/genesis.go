package token

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/signed"
)

// MaxResourceName bounds a resource's name on a token, in bytes: the bound of
// the group configuration.
const MaxResourceName = 64

// NonceSize is the size of the random part of a genesis, in bytes. It keeps
// the ids of two tokens apart even if a generator's counter was set back.
const NonceSize = 16

// GenesisBody is what the generator of a token signs.
type GenesisBody struct {
	_           struct{} `cbor:",toarray"`
	Resource    string
	Slot        uint64
	Generator   ident.Member
	Incarnation ident.Incarnation // the generator's
	Sequence    uint64            // of this genesis among those of the incarnation
	Time        uint64            // the generator's wall clock, ms since 1970
	Nonce       [NonceSize]byte
	Extensions  canonical.Extensions
}

func (b GenesisBody) validate() error {
	if n := len(b.Resource); n == 0 || n > MaxResourceName {
		return fmt.Errorf("%w: resource name of %d bytes", ErrMalformed, n)
	}
	return nil
}

func (b GenesisBody) signer() ident.Member { return b.Generator }

// Sign makes the genesis of a new token. The key must be the generator's.
func (b GenesisBody) Sign(group ident.Group, key *signature.PrivateKey) (Genesis, error) {
	g, err := sign(group, envelope.Genesis, &b, key)
	return Genesis{g}, err
}

// Genesis is a verified genesis.
type Genesis struct{ signed.Object[GenesisBody] }

// ID is the token's identifier.
func (g Genesis) ID() ident.Token { return ident.Token(g.Hash()) }
