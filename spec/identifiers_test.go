package spec_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"filippo.io/edwards25519"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/multitoken"
	"github.com/wandertoken/wander/protocol/policy/wandering"
	"github.com/wandertoken/wander/protocol/token"
)

// G-1: identifiers, computed from the text alone.
func TestIdentifiers(t *testing.T) {
	ca, key := authority.key.Public().Bytes(), ada.key.Public().Bytes()
	group := sha256.Sum256(append([]byte("wander group\x00"), ca[:]...))
	assert.Equal(t, ident.Group(group), groupID)
	member := sha256.Sum256(append(append([]byte("wander member\x00"), group[:]...), key[:]...))
	assert.Equal(t, ident.Member(member[:16]), ada.id)
	authorityID := sha256.Sum256(ca[:])
	assert.Equal(t, [16]byte(authorityID[:16]), certificate.AuthorityID(authority.key.Public()))
}

// signAgain signs a message with another R than RFC 8032 makes: as valid as the
// usual signature, and with other bytes.
func signAgain(t *testing.T, seed byte, message []byte) []byte {
	key := newKey(seed).Public().Bytes()
	raw := make([]byte, 32)
	for i := range raw {
		raw[i] = seed
	}
	expanded := sha512.Sum512(raw)
	secret, err := edwards25519.NewScalar().SetBytesWithClamping(expanded[:32])
	require.NoError(t, err)
	nonce, err := edwards25519.NewScalar().SetUniformBytes(append(make([]byte, 63), 1))
	require.NoError(t, err)
	r := edwards25519.NewIdentityPoint().ScalarBaseMult(nonce).Bytes()
	hash := sha512.New()
	hash.Write(r)
	hash.Write(key[:])
	hash.Write(message)
	k, err := edwards25519.NewScalar().SetUniformBytes(hash.Sum(nil))
	require.NoError(t, err)
	return append(r, edwards25519.NewScalar().MultiplyAdd(k, secret, nonce).Bytes()...)
}

// oneKey knows Ada.
type oneKey struct{}

func (oneKey) Key(id ident.Member) *signature.PublicKey {
	if id == ada.id {
		return ada.key.Public()
	}
	return nil
}

// G-4: an object that is signed anew, with another signature, is the same.
func TestObject_OtherSignature_Same(t *testing.T) {
	usual := newWalk(t, nil, noExtension).genesis
	message := sigStructure(t, of("signed-genesis", envelope.Genesis, usual))
	other := append([]byte(nil), usual.Raw()...)
	copy(other[len(other)-64:], signAgain(t, 3, message))
	require.NotEqual(t, usual.Raw(), other)
	again, err := token.NewVerifier(groupID, oneKey{}).Genesis(other)
	require.NoError(t, err)
	assert.Equal(t, usual.ID(), again.ID())
	assert.Equal(t, usual.Hash(), again.Hash())
}

// P-9: policies that say nothing on the wire say nothing, and tolerate what others
// say.
func TestPolicies_Silent_BearEverything(t *testing.T) {
	for _, name := range []string{catalog.Wandering, catalog.Multitoken, catalog.Uncoordinated} {
		for _, preset := range catalog.Presets(name) {
			if slices.Contains([]string{multitoken.Split, multitoken.T3gj, multitoken.S3gj, wandering.Light, wandering.Fair}, preset.Name) {
				continue // they say something
			}
			t.Run(name+" "+preset.Name, func(t *testing.T) {
				params := policy.Params{Preset: preset.Name, OperationTime: time.Second, MembersMax: 10, SkipDelay: time.Minute}
				if name == catalog.Multitoken {
					params.TargetInterval = time.Minute
				}
				p, err := catalog.New(name, params, policy.Surroundings{Random: rand.NewPCG(1, 2)})
				require.NoError(t, err)
				rng := rand.New(rand.NewPCG(3, 4))
				passed := 0
				for n := range 200 {
					noise := make([]byte, rng.IntN(policy.MaxField+1))
					for i := range noise {
						noise[i] = byte(rng.Uint32())
					}
					tok := policy.Token{ID: ident.Token{byte(n)}, Born: uint64(n), Hop: 1, Field: noise}
					for _, e := range []policy.Event{
						{Kind: policy.Message, From: ben.id, Body: noise},
						{Kind: policy.Arrival, Token: tok},
						{Kind: policy.Timer},
					} {
						for _, a := range p.Step(clock.Instant(n)*clock.Instant(params.SkipDelay), e, nil) {
							assert.NotEqual(t, policy.Tell, a.Kind)
							assert.Empty(t, a.Field)
							if a.Kind == policy.Pass || a.Kind == policy.Drop {
								passed++
							}
						}
					}
				}
				assert.NotZero(t, passed)
			})
		}
	}
}

// D-47: the rank of a witness, by the example in the text.
func TestWitnessRank(t *testing.T) {
	group, of, witness := ident.Group(bytes.Repeat([]byte{1}, 32)), ident.Member(bytes.Repeat([]byte{2}, 16)), ident.Member(bytes.Repeat([]byte{3}, 16))
	hash := sha256.Sum256(slices.Concat([]byte("wander witnesses\x00"), group[:], of[:]))
	rank := directory.NewWitnessRank(group, of).Of(witness)
	text := page(t, "policy/common.md")
	assert.Contains(t, text, fmt.Sprintf("`%x`, under which", hash[:16]))
	assert.Contains(t, text, fmt.Sprintf("`%016x%016x`", rank[0], rank[1]))
}
