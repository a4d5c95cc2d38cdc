package token

import (
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
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

func sign(group ident.Group, kind envelope.Kind, signer ident.Member, body any, validate func() error, key *signature.PrivateKey) (envelope.Verified, error) {
	if err := validate(); err != nil {
		return envelope.Verified{}, err
	}
	var space [usualPayload]byte // Sign copies what is in it
	payload, err := canonical.AppendWithin(space[:0], body, payloadLimits)
	if err != nil {
		return envelope.Verified{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return envelope.Sign(domain(group, kind), signer, payload, key)
}
