package directory_test

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
)

// now is the time in all tests; issued certificates are valid around it.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// authority is a CA and the group it has made.
type authority struct {
	key   *signature.PrivateKey
	id    ident.Group
	asked int // how often its key was looked up: for each verification, and when it is met first
}

func newKey(n uint64) *signature.PrivateKey {
	var seed [signature.SeedSize]byte
	binary.BigEndian.PutUint64(seed[:], n)
	key, err := signature.NewPrivateKey(seed[:])
	if err != nil {
		panic(err)
	}
	return key
}

func newAuthority(n uint64) *authority {
	key := newKey(n)
	raw := key.Public().Bytes()
	return &authority{key: key, id: ident.GroupOf(raw[:])}
}

func (a *authority) ID() ident.Group { return a.id }

func (a *authority) Key(kid [16]byte) *signature.PublicKey {
	a.asked++
	if kid != certificate.AuthorityID(a.key.Public()) {
		return nil
	}
	return a.key.Public()
}

// someone is a member that can sign.
type someone struct {
	ca  *authority
	key *signature.PrivateKey
	id  ident.Member
	n   uint64
}

func (a *authority) member(n uint64) someone {
	key := newKey(1000 + n)
	raw := key.Public().Bytes()
	return someone{ca: a, key: key, id: ident.MemberOf(a.id, raw[:]), n: n}
}

func (a *authority) members(n int) []someone {
	list := make([]someone, n)
	for i := range list {
		list[i] = a.member(uint64(i))
	}
	return list
}

// must is for signing, which cannot fail here.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// certificate is valid from a day ago until the given time from now.
func (s someone) certificate(left time.Duration) certificate.Certificate {
	return s.issued(s.n+1, -24*time.Hour, left)
}

func (s someone) issued(serial uint64, since, left time.Duration) certificate.Certificate {
	return must(certificate.Claims{
		Name: fmt.Sprintf("m-%d", s.n), Serial: serial, NotBefore: now.Add(since), NotAfter: now.Add(left),
		IssuedAt: now.Add(since), Key: s.key.Public().Bytes(), Group: s.ca.id, ConfigVersion: 1,
	}.Sign(s.ca.key))
}

func (s someone) endpoint(sequence uint64, addresses ...string) []byte {
	e := certificate.Endpoint{Member: s.id, Sequence: sequence, Mode: certificate.Reachable, Addresses: addresses}
	if len(addresses) == 0 {
		e.Mode = certificate.DialsOut
	}
	return must(e.Sign(s.ca.id, s.key)).Raw()
}

// attached is the endpoint record of one that only dials out.
func (s someone) attached(sequence uint64, to ...ident.Member) []byte {
	e := certificate.Endpoint{Member: s.id, Sequence: sequence, Mode: certificate.DialsOut, Attached: to}
	return must(e.Sign(s.ca.id, s.key)).Raw()
}

func (s someone) leave(at uint64) []byte {
	return must(certificate.Leave{Member: s.id, Time: at}.Sign(s.ca.id, s.key)).Raw()
}

// failure is what this one says about a subject that it cannot reach.
func (s someone) failure(subject someone, sequence uint64) []byte {
	return must(certificate.Failure{Witness: s.id, Subject: subject.id, Sequence: sequence}.Sign(s.ca.id, s.key)).Raw()
}

func (s someone) revocation(version uint64) []byte {
	return must(certificate.Revocation{Version: version, Member: s.id}.Sign(s.ca.id, s.ca.key)).Raw()
}

const month = 30 * 24 * time.Hour

// introduce makes everybody known and reachable.
func introduce(t require.TestingT, d *directory.Directory, list ...someone) {
	for _, s := range list {
		_, _, err := d.Learn(s.certificate(month).Raw())
		require.NoError(t, err)
		_, err = d.LearnEndpoint(s.endpoint(1, fmt.Sprintf("m-%d.example.org:4133", s.n)))
		require.NoError(t, err)
	}
}
