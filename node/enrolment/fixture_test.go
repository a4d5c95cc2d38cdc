package enrolment_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/invite"
	"github.com/wandertoken/wander/protocol/policy"
)

func newKey(n byte) *signature.PrivateKey {
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{n}, signature.SeedSize))
	if err != nil {
		panic(err)
	}
	return key
}

// The CA keys: the second one is vouched for by the first, the third too, and
// the last one is somebody else's.
var first, second, third, foreign, ada = newKey(1), newKey(2), newKey(3), newKey(4), newKey(5)

func groupOf(key *signature.PrivateKey) ident.Group {
	public := key.Public().Bytes()
	return ident.GroupOf(public[:])
}

var groupID = groupOf(first)

// statement is about a CA key, signed by another or itself.
func statement(t testing.TB, of, by *signature.PrivateKey, g ident.Group) group.Authority {
	t.Helper()
	s := group.Statement{Name: "demo", Group: g, Key: of.Public().Bytes(), NotBefore: start.Add(-day), NotAfter: start.Add(3650 * day)}
	if of != by {
		s.Version = 2
	}
	a, err := s.Sign(by)
	require.NoError(t, err)
	return a
}

func chain(t testing.TB) []group.Authority {
	return []group.Authority{statement(t, first, first, groupID), statement(t, second, first, groupID), statement(t, third, first, groupID)}
}

func raws(list ...group.Authority) (out [][]byte) {
	for _, a := range list {
		out = append(out, a.Raw())
	}
	return out
}

func configuration(t testing.TB, version uint64, by *signature.PrivateKey, keys ...*signature.PrivateKey) group.Config {
	t.Helper()
	s := group.Settings{
		Version: version, Name: "demo", Issued: start,
		Resources: []group.Resource{{Name: "ftp", Params: policy.Params{OperationTime: time.Second, MembersMax: 9}}},
	}
	for _, key := range keys {
		s.Authorities = append(s.Authorities, certificate.AuthorityID(key.Public()))
	}
	c, err := s.WithDefaults().Sign(groupID, by)
	require.NoError(t, err)
	return c
}

func issue(t testing.TB, key *signature.PrivateKey, name string, by *signature.PrivateKey) certificate.Certificate {
	t.Helper()
	c, err := certificate.Claims{
		Name: name, Serial: 1, Key: key.Public().Bytes(), Group: groupID,
		NotBefore: start.Add(-day), NotAfter: start.Add(90 * day), IssuedAt: start,
	}.Sign(by)
	require.NoError(t, err)
	return c
}

// service is anything that answers where the enrolment service should be.
type service struct {
	address  string
	requests atomic.Int64 // that came through TLS
	bytes    atomic.Int64 // that came through TLS
	shown    atomic.Int64 // certificates that the last client showed
}

// countingConn counts what comes out of TLS.
type countingConn struct {
	net.Conn
	s *service
}

func (c countingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.s.bytes.Add(int64(n))
	return n, err
}

type countingListener struct {
	net.Listener
	s *service
}

func (l countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countingConn{c, l.s}, err
}

func serve(t testing.TB, shown *tls.Certificate, handler http.HandlerFunc) *service {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &service{address: l.Addr().String()}
	secure := tls.NewListener(l, &tls.Config{
		Certificates: []tls.Certificate{*shown}, ClientAuth: tls.RequestClientCert,
		VerifyConnection: func(c tls.ConnectionState) error {
			s.shown.Store(int64(len(c.PeerCertificates)))
			return nil
		},
	})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		handler(w, r)
	})}
	go func() { _ = server.Serve(countingListener{secure, s}) }()
	t.Cleanup(func() { _ = server.Close() })
	return s
}

func shown(t testing.TB, g ident.Group, statements [][]byte, by group.Authority, signer *signature.PrivateKey, now time.Time) *tls.Certificate {
	t.Helper()
	c, err := enrolment.ServiceCertificate(g, statements, by, signer.StdKey(), now)
	require.NoError(t, err)
	return c
}

func invited(address string, pinned *signature.PrivateKey) invite.Invite {
	return invite.Invite{
		Group: groupID, Authority: certificate.AuthorityID(pinned.Public()), Addresses: []string{address},
		Secret: [16]byte{7}, Name: "ada", Expires: start.Add(time.Hour),
	}
}

func request(t testing.TB) certificate.SignedRequest {
	t.Helper()
	r, err := certificate.Request{Name: "ada", Key: ada.Public().Bytes()}.Sign(groupID, ada)
	require.NoError(t, err)
	return r
}

func at(when time.Time) func() time.Time { return func() time.Time { return when } }

func answer(t testing.TB, a enrolment.EnrolAnswer) http.HandlerFunc {
	t.Helper()
	body, err := enrolment.Encode(a)
	require.NoError(t, err)
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", start.Format(http.TimeFormat))
		_, _ = w.Write(body)
	}
}

// good is the answer that the request of these tests is to have.
func good(t testing.TB) enrolment.EnrolAnswer {
	return enrolment.EnrolAnswer{
		Certificate: issue(t, ada, "ada", first).Raw(),
		Publication: enrolment.Publication{
			Authorities: raws(chain(t)[0]), Configuration: configuration(t, 1, first, first).Raw(),
		},
	}
}

// selfSigned is what any server has that knows nothing of the group.
func selfSigned(t testing.TB, change func(*x509.Certificate)) *tls.Certificate {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: start.Add(-day), NotAfter: start.Add(day)}
	change(template)
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	require.NoError(t, err)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}
