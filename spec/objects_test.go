package spec_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/window"
)

// party is somebody who signs: an authority or a member.
type party struct {
	id  ident.Member
	key *signature.PrivateKey
}

var (
	authority              = newParty(1)
	secondAuthority        = newParty(2)
	ada, ben, cleo         = newParty(3), newParty(4), newParty(5)
	groupID                = groupOf(1)
	day                    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	incarnation            = ident.Incarnation{9, 8, 7}
	acceptMAC              = ident.MAC{4, 3, 2}
	millis          uint64 = 1772366400000
)

// noExtension is the usual extensions of objects that name no position.
var noExtension canonical.Extensions

// oneExtension is an extension of a later version: what is unknown and odd is
// kept.
var oneExtension = canonical.Extensions{}.With(7, canonical.Raw{0x82, 0x01, 0x61, 0x78})

func newKey(seed byte) *signature.PrivateKey {
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{seed}, signature.SeedSize))
	if err != nil {
		panic(err)
	}
	return key
}

func groupOf(seed byte) ident.Group {
	raw := newKey(seed).Public().Bytes()
	return ident.GroupOf(raw[:])
}

func newParty(seed byte) party {
	key := newKey(seed)
	raw := key.Public().Bytes()
	return party{id: ident.MemberOf(groupOf(1), raw[:]), key: key}
}

// signed is one signed object: its rule in wire.cddl, the kind it is signed
// as, its bytes and its hash as the code has it.
type signed struct {
	rule string
	kind envelope.Kind
	raw  []byte
	hash ident.Hash
}

// objectOf is what all signed objects can tell of themselves.
type objectOf interface {
	Raw() []byte
	Hash() ident.Hash
}

func of(rule string, kind envelope.Kind, o objectOf) signed {
	return signed{rule: rule, kind: kind, raw: o.Raw(), hash: o.Hash()}
}

// signedObjects has every kind of signed object, small and large.
func signedObjects(t *testing.T) []signed {
	return append(aboutTheGroup(t), aboutTokens(t)...)
}

func aboutTheGroup(t *testing.T) []signed {
	var list []signed
	for _, e := range []canonical.Extensions{{}, oneExtension} {
		list = append(list,
			of("signed-authority", envelope.Authority, statement(t, authority, authority, e)),
			of("signed-authority", envelope.Authority, statement(t, secondAuthority, authority, e)),
			of("signed-configuration", envelope.Configuration, configuration(t, 1, e)),
			of("signed-configuration", envelope.Configuration, configuration(t, group.MaxResources, e)),
			of("signed-configuration", envelope.Configuration, gatedConfiguration(t, e)),
			of("signed-certificate", envelope.Certificate, memberCertificate(t, ada, e)),
			of("signed-certificate", envelope.Certificate, gateCertificate(t, e)),
			of("signed-certificate", envelope.Certificate, classCertificate(t, e)),
			of("signed-endpoint", envelope.Endpoint, endpoint(t, certificate.Endpoint{
				Mode: certificate.Reachable, Addresses: []string{"ftp-01.example.org:4133", "[2001:db8::1]:1"}, Extensions: e,
			})),
			of("signed-endpoint", envelope.Endpoint, endpoint(t, certificate.Endpoint{
				Mode: certificate.DialsOut, Attached: []ident.Member{ben.id, cleo.id}, Extensions: e,
			})),
			of("signed-revocation", envelope.Revocation, revocation(t, "stolen with the laptop", e)),
			of("signed-revocation", envelope.Revocation, revocation(t, "", e)),
			of("signed-leave", envelope.Leave, leave(t, e)),
			of("signed-failure", envelope.Failure, failure(t, e)),
			of("signed-request", envelope.Request, request(t, e)),
			of("signed-complaint", envelope.Complaint, complaint(t, e)),
			of("signed-statement", envelope.Statement, permitStatement(t, e)),
			of("signed-gate-answer", envelope.GateAnswer, gateAnswer(t, e)),
		)
	}
	return list
}

func statement(t *testing.T, about, by party, e canonical.Extensions) group.Authority {
	s := group.Statement{
		Name: "demo", Group: groupID, Key: about.key.Public().Bytes(),
		NotBefore: day, NotAfter: day.AddDate(10, 0, 0), Extensions: e,
	}
	if !about.key.Public().Equal(authority.key.Public()) {
		s.Version = 8
	}
	a, err := s.Sign(by.key)
	require.NoError(t, err)
	return a
}

func configuration(t *testing.T, resources int, e canonical.Extensions) group.Config {
	s := group.Settings{Version: 7, Name: "demo", Issued: day, RevocationFloor: 3, Extensions: e}
	if resources > 1 {
		s.Authorities = [][16]byte{certificate.AuthorityID(authority.key.Public()), certificate.AuthorityID(secondAuthority.key.Public())}
	}
	for i := range resources {
		r := group.Resource{
			Name:       resourceName(i),
			Params:     policy.Params{OperationTime: 4 * time.Second, MembersMax: 100},
			Extensions: e,
		}
		if i > 0 { // the first has as little as possible, the others all there is
			r.Preset = "paper"
			for _, p := range policy.Parameters {
				if p.Optional {
					p.SetWire(&r.Params, leastOf(t, p))
				}
			}
		}
		s.Resources = append(s.Resources, r)
	}
	c, err := s.WithDefaults().Sign(groupID, authority.key)
	require.NoError(t, err)
	return c
}

// gatedConfiguration has a gate with as little as possible, and one with all there is.
func gatedConfiguration(t *testing.T, e canonical.Extensions) group.Config {
	s := configuration(t, 3, e).Settings()
	s.Resources[0].Windows = window.Windows{{Days: 31, Begin: 1320, End: 360, Name: "UTC"}}
	s.Resources[0].Gate = group.Gate{Member: ben.id, Address: "a:1"}
	s.Resources[2].Weights = weights(t)
	s.Resources[1].Policy, s.Resources[1].Gate = "multitoken", group.Gate{
		Member: cleo.id, Address: "[2001:db8::1]:65535", Mode: group.Observe, MinInterval: time.Minute, Settle: 3 * time.Second, Sessions: 64,
		RevocationMaxAge: time.Hour, Keep: time.Second, OpenTimeout: time.Second, CloseTimeout: time.Minute,
	}
	c, err := s.WithDefaults().Sign(groupID, authority.key)
	require.NoError(t, err)
	return c
}

// weights are those of two classes.
func weights(t *testing.T) policy.Weights {
	w, err := policy.MakeWeights(map[string]int{"backup": 5, "web": 2})
	require.NoError(t, err)
	return w
}

// classCertificate is that of a member of a class.
func classCertificate(t *testing.T, e canonical.Extensions) certificate.Certificate {
	claims := memberCertificate(t, ben, e).Body()
	claims.Class = "backup"
	c, err := claims.Sign(authority.key)
	require.NoError(t, err)
	return c
}

func gateCertificate(t *testing.T, e canonical.Extensions) certificate.Certificate {
	claims := memberCertificate(t, ben, e).Body()
	claims.Role = certificate.GateRole
	c, err := claims.Sign(authority.key)
	require.NoError(t, err)
	return c
}

// resourceName is the name of one of many resources, in ascending order.
func resourceName(i int) string {
	const pairs = 26 * 26
	if i >= pairs {
		return fmt.Sprintf("ftpzz%04d", i)
	}
	return "ftp" + string(rune('a'+i/26)) + string(rune('a'+i%26))
}

func memberCertificate(t *testing.T, p party, e canonical.Extensions) certificate.Certificate {
	c, err := certificate.Claims{
		Name: "ftp-03.example.org", Serial: 300, NotBefore: day, NotAfter: day.AddDate(0, 0, 90), IssuedAt: day,
		Key: p.key.Public().Bytes(), Group: groupID, ConfigVersion: 7, RevocationVersion: 2, Extensions: e,
	}.Sign(authority.key)
	require.NoError(t, err)
	return c
}

func endpoint(t *testing.T, e certificate.Endpoint) certificate.SignedEndpoint {
	e.Member, e.Sequence, e.Time = ada.id, 12, millis
	s, err := e.Sign(groupID, ada.key)
	require.NoError(t, err)
	return s
}

func revocation(t *testing.T, reason string, e canonical.Extensions) certificate.SignedRevocation {
	r, err := certificate.Revocation{
		Version: 3, Member: cleo.id, Serial: 300, Reason: reason, Time: millis, Extensions: e,
	}.Sign(groupID, authority.key)
	require.NoError(t, err)
	return r
}

func leave(t *testing.T, e canonical.Extensions) certificate.SignedLeave {
	s, err := certificate.Leave{Member: ada.id, Time: millis, Extensions: e}.Sign(groupID, ada.key)
	require.NoError(t, err)
	return s
}

func failure(t *testing.T, e canonical.Extensions) certificate.SignedFailure {
	s, err := certificate.Failure{Witness: ada.id, Subject: ben.id, Sequence: 12, Time: millis, Extensions: e}.Sign(groupID, ada.key)
	require.NoError(t, err)
	return s
}

func request(t *testing.T, e canonical.Extensions) certificate.SignedRequest {
	s, err := certificate.Request{
		Name: "ftp-03.example.org", Key: ada.key.Public().Bytes(), Time: millis,
		Nonce: [certificate.NonceSize]byte{1, 2, 3}, Extensions: e,
	}.Sign(groupID, ada.key)
	require.NoError(t, err)
	return s
}

// complaint is Ada's about Ben's custody of the token of a walk.
func complaint(t *testing.T, e canonical.Extensions) token.Complaint {
	c, err := token.ComplaintBody{
		Resource: "ftp", Slot: 1, Signer: ada.id, Accused: ben.id, Token: newWalk(t, nil, noExtension).genesis.ID(), Hop: 1,
		Measure: uint64(policy.Struck), Cause: uint64(policy.Kept), Time: millis, Extensions: e,
	}.Sign(groupID, ada.key)
	require.NoError(t, err)
	return c
}

// walk is a token that goes from ada to ben, who passes it to cleo; she
// declines it.
type walk struct {
	genesis       token.Genesis
	first, second token.Transfer
	receipt       token.Answer // of first
	void          token.Answer // of second
	unknown       token.Answer // to second, at another time
	third         token.Transfer
}

func newWalk(t *testing.T, field []byte, e canonical.Extensions) (w walk) {
	var err error
	w.genesis, err = token.GenesisBody{
		Resource: "ftp", Slot: 1, Generator: ada.id, Incarnation: incarnation, Sequence: 5, Time: millis,
		Nonce: [token.NonceSize]byte{1, 2, 3}, Extensions: e,
	}.Sign(groupID, ada.key)
	require.NoError(t, err)
	title := token.Title{Genesis: w.genesis}
	w.first = pass(t, title, ada, ben, field, e)
	w.receipt = answer(t, w.first, token.Receipt, ben, e)
	title.Transfer = w.first
	w.second = pass(t, title, ben, cleo, field, e)
	w.void = answer(t, w.second, token.Void, cleo, e)
	w.unknown = answer(t, w.second, token.Unknown, cleo, e)
	title.Transfer, title.Void = w.second, w.void
	w.third = pass(t, title, ben, ada, field, e)
	return w
}

func pass(t *testing.T, title token.Title, from, to party, field []byte, e canonical.Extensions) token.Transfer {
	body := title.Next(to.id, ident.Reservation{Incarnation: incarnation, Number: 1025, MAC: acceptMAC})
	body.Time, body.Field, body.Extensions = millis, field, e
	signed, err := body.Sign(groupID, from.key)
	require.NoError(t, err)
	return signed
}

func answer(t *testing.T, to token.Transfer, v token.Verdict, by party, e canonical.Extensions) token.Answer {
	body := token.AnswerTo(to, by.id, incarnation)
	body.Extensions = e
	a, err := body.Sign(groupID, v, by.key)
	require.NoError(t, err)
	return a
}

func aboutTokens(t *testing.T) []signed {
	var list []signed
	for _, w := range []walk{
		newWalk(t, nil, noExtension),
		newWalk(t, bytes.Repeat([]byte{0xf0}, token.MaxField), oneExtension),
	} {
		list = append(list,
			of("signed-genesis", envelope.Genesis, w.genesis),
			of("signed-transfer", envelope.Transfer, w.first),
			of("signed-transfer", envelope.Transfer, w.second),
			of("signed-transfer", envelope.Transfer, w.third),
			of("signed-answer", envelope.Receipt, w.receipt),
			of("signed-answer", envelope.Void, w.void),
			of("signed-answer", envelope.Unknown, w.unknown),
		)
	}
	return list
}

// leastOf is the least power of ten that an optional parameter may be.
func leastOf(t *testing.T, p policy.Parameter) uint64 {
	params := policy.Params{OperationTime: time.Second, MembersMax: 1, SkipDelay: time.Second}
	for n := uint64(1); n <= policy.MaxRatio; n *= 10 {
		if p.SetWire(&params, n); params.Validate() == nil {
			return n
		}
	}
	require.Fail(t, "no value", p.Name)
	return 0
}
