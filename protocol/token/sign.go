package token

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/signed"
)

// Version is the protocol version that a token keeps from its genesis on. It
// is bound into every signature.
const Version = 1

// payloadLimits bound every payload of this package. The largest is a transfer
// with a full policy field and eight extensions, which are for later versions
// to define: what they hold counts by its bytes, and no item has less than one.
var payloadLimits = canonical.Limits{MaxBytes: 4 << 10, MaxDepth: 16, MaxItems: 4 << 10}

// usualPayload is more than a payload has, in bytes, unless its policy field is long.
const usualPayload = 512

func domain(group ident.Group, kind envelope.Kind) envelope.Domain {
	return envelope.Domain{Version: Version, Group: group, Kind: kind}
}

// body is what a member signs.
type body interface {
	validate() error
	signer() ident.Member // whose key it is signed with
}

func sign[B body](group ident.Group, kind envelope.Kind, b *B, key *signature.PrivateKey) (signed.Object[B], error) {
	var none signed.Object[B]
	if err := (*b).validate(); err != nil {
		return none, err
	}
	var space [usualPayload]byte // Sign copies what is in it
	payload, err := canonical.AppendWithin(space[:0], b, payloadLimits)
	if err != nil {
		return none, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	form, err := envelope.Sign(domain(group, kind), (*b).signer(), payload, key)
	if err != nil {
		return none, err
	}
	return signed.Of(*b, form), nil
}
