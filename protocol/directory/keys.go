package directory

import (
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// keysKept is how many public keys each of two generations holds, ready to be
// used: together they are at least as many as were asked for last. A key that
// has verified thrice has 5 kB, so that these are at most 21 MB; those of a
// million members would be 5 GB. It is twice what a member has connections for.
const keysKept = 2048

// keys is the public keys that were asked for last. What is neither in the
// young nor in the old generation is read again from its certificate.
type keys struct {
	most       int // of one generation: keysKept; lower in tests
	cas        certificate.Authorities
	young, old map[ident.Member]*signature.PublicKey
}

// of is the key of a member with a certificate, which is kept. One that is read again
// shares the memory of the CA key that vouches for it.
func (k *keys) of(f *facts) *signature.PublicKey {
	if key := k.young[f.id]; key != nil {
		return key
	}
	key := k.peek(f)
	if k.young == nil || len(k.young) >= k.most {
		k.young, k.old = make(map[ident.Member]*signature.PublicKey), k.young
	}
	k.young[f.id] = key
	return key
}

// peek is the key of a member with a certificate, which is not kept: for those
// who look at many members once.
func (k *keys) peek(f *facts) *signature.PublicKey {
	if key := k.young[f.id]; key != nil {
		return key
	}
	if key := k.old[f.id]; key != nil {
		return key
	}
	c := f.certificate.Open()
	return c.Key().With(k.cas.Key(c.Authority()).Memory())
}
