package enrolment_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/node/transport"
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

// signedElse is a TLS certificate by the CA key that is not meant for this.
func signedElse(t testing.TB, like *x509.Certificate) *tls.Certificate {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	template := *like
	template.Subject.Organization = []string{"something else"}
	template.RawSubject = nil
	template.ExtraExtensions = like.Extensions
	parent := &x509.Certificate{SubjectKeyId: like.AuthorityKeyId}
	der, err := x509.CreateCertificate(rand.Reader, &template, parent, public, first.StdKey())
	require.NoError(t, err)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
}

// Nothing is sent to somebody who does not prove that he is the group's
// service: not the secret, not the head of a request.
func TestImpostors(t *testing.T) {
	c := chain(t)
	all := raws(c...)
	own := statement(t, foreign, foreign, groupOf(foreign))
	ours := shown(t, groupID, all, c[0], first, start)
	leaf, err := x509.ParseCertificate(ours.Certificate[0])
	require.NoError(t, err)
	member, err := transport.TLSCertificate(ada, issue(t, ada, "ada", first))
	require.NoError(t, err)
	for name, one := range map[string]struct {
		shown  *tls.Certificate
		pinned *signature.PrivateKey
	}{
		"any server":          {selfSigned(t, func(*x509.Certificate) {}), first},
		"with the right name": {selfSigned(t, func(c *x509.Certificate) { c.Subject = leaf.Subject }), first},
		"with the statements": {selfSigned(t, func(c *x509.Certificate) {
			c.Subject, c.ExtraExtensions, c.SubjectKeyId = leaf.Subject, leaf.Extensions, leaf.AuthorityKeyId
		}), first},
		"of another group":               {shown(t, groupOf(foreign), raws(own), own, foreign, start), first},
		"of another group, in this name": {shown(t, groupID, raws(own), own, foreign, start), first},
		"statements of ours, key of his": {shown(t, groupID, all, c[0], foreign, start), first},
		"without statements":             {shown(t, groupID, nil, c[0], first, start), first},
		"not the key of the invite":      {shown(t, groupID, raws(c[0]), c[0], first, start), second},
		"signed by a key before it":      {shown(t, groupID, all, c[0], first, start), second},
		"vouched for by a key before it": {shown(t, groupID, all, c[2], third, start), second},
		"statements out of order":        {shown(t, groupID, raws(c[1], c[0]), c[1], second, start), second},
		"a member":                       {member, first},
		"a first key that comes again":   {shown(t, groupID, append(all, all[0]), c[0], first, start), second},
		"signed for something else":      {signedElse(t, leaf), first},
	} {
		s := serve(t, one.shown, answer(t, good(t)))
		_, err := enrolment.Enrol(t.Context(), invited(s.address, one.pinned), request(t), at(start))
		assert.ErrorIs(t, err, enrolment.ErrImpostor, name)
		assert.Zero(t, s.requests.Load(), name)
		assert.Zero(t, s.bytes.Load(), name)
	}
}

func TestEnrol(t *testing.T) {
	c := chain(t)
	for name, one := range map[string]struct {
		by, pinned *signature.PrivateKey
		shown      group.Authority
		answer     func(*enrolment.EnrolAnswer)
	}{
		"first key": {first, first, c[0], func(*enrolment.EnrolAnswer) {}},
		"a key that the invite's vouches for": {second, first, c[1], func(a *enrolment.EnrolAnswer) {
			a.Certificate = issue(t, ada, "ada", second).Raw()
			a.Publication.Authorities = raws(c[:2]...)
			a.Publication.Configuration = configuration(t, 3, second, first, second).Raw()
		}},
		"a later key in the invite": {second, second, c[1], func(*enrolment.EnrolAnswer) {}},
	} {
		a := good(t)
		one.answer(&a)
		s := serve(t, shown(t, groupID, raws(c...), one.shown, one.by, start), answer(t, a))
		e, err := enrolment.Enrol(t.Context(), invited(s.address, one.pinned), request(t), at(start))
		require.NoError(t, err, name)
		assert.Equal(t, a.Certificate, e.Certificate.Raw(), name)
		assert.Equal(t, groupID, e.Group.ID(), name)
		assert.Zero(t, e.Skew, name)
	}
}

// An answer that does not fit is found out before anything is written.
func TestAnswersThatDoNotFit(t *testing.T) {
	other := good(t)
	other.Certificate = issue(t, newKey(9), "ada", first).Raw()
	name := good(t)
	name.Certificate = issue(t, ada, "eve", first).Raw()
	unknown := good(t)
	unknown.Certificate = issue(t, ada, "ada", second).Raw()
	unsigned := good(t)
	unsigned.Publication.Configuration = configuration(t, 1, foreign, foreign).Raw()
	group := good(t)
	group.Publication.Authorities = raws(statement(t, foreign, foreign, groupOf(foreign)))
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	for what, handler := range map[string]http.HandlerFunc{
		"another key":      answer(t, other),
		"another name":     answer(t, name),
		"unknown CA":       answer(t, unknown),
		"configuration":    answer(t, unsigned),
		"another group":    answer(t, group),
		"nothing":          status(200, ""),
		"text":             status(200, "hello"),
		"a later version":  status(200, "\x82\x02\x80"),
		"no such page":     status(404, "not found"),
		"error without it": status(500, ""),
		"without end":      func(w http.ResponseWriter, _ *http.Request) { _, _ = io.CopyN(w, zeros{}, 64<<20) },
	} {
		s := serve(t, shown(t, groupID, raws(chain(t)[0]), chain(t)[0], first, start), handler)
		_, err := enrolment.Enrol(t.Context(), invited(s.address, first), request(t), at(start))
		assert.ErrorIs(t, err, enrolment.ErrAnswer, what)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A redirection is an answer that makes no sense: nothing goes elsewhere.
func TestRedirections(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was followed") }))
	defer elsewhere.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		s := serve(t, shown(t, groupID, raws(chain(t)[0]), chain(t)[0], first, start), func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, code)
		})
		_, err := enrolment.Enrol(t.Context(), invited(s.address, first), request(t), at(start))
		assert.ErrorIs(t, err, enrolment.ErrAnswer, code)
		assert.EqualValues(t, 1, s.requests.Load())
	}
}

// A wrong clock is said to be one, and by how much.
func TestClocks(t *testing.T) {
	s := serve(t, shown(t, groupID, raws(chain(t)[0]), chain(t)[0], first, start), answer(t, good(t)))
	for name, c := range map[string]struct {
		wrong, least, skew time.Duration // what has to be added; at least, if it fails
	}{
		"right":              {0, 0, 0},
		"a second is none":   {time.Second, 0, 0},
		"an hour early":      {-time.Hour, 0, time.Hour},
		"an hour late":       {time.Hour, 0, -time.Hour + time.Second},
		"a day late":         {24 * time.Hour, 0, -24*time.Hour + time.Second},
		"ten hours early":    {-10 * time.Hour, 8 * time.Hour, 0},
		"three days late":    {72 * time.Hour, -24 * time.Hour, 0},
		"the factory's 1970": {start.Sub(time.Unix(0, 0)) * -1, start.Sub(time.Unix(7200, 0)), 0},
	} {
		before := s.bytes.Load()
		e, err := enrolment.Enrol(t.Context(), invited(s.address, first), request(t), at(start.Add(c.wrong)))
		if c.least == 0 {
			require.NoError(t, err, name)
			assert.Equal(t, c.skew, e.Skew, name)
			continue
		}
		var wrong *enrolment.ClockError
		require.ErrorAs(t, err, &wrong, name)
		assert.ErrorIs(t, err, enrolment.ErrClock)
		assert.Equal(t, c.least, wrong.Difference(), name)
		assert.Contains(t, err.Error(), c.least.Abs().String())
		assert.Equal(t, before, s.bytes.Load(), "nothing was sent")
	}
}

// The addresses are tried in their order, until the authority has spoken.
func TestAddresses(t *testing.T) {
	c := chain(t)[0]
	right := shown(t, groupID, raws(c), c, first, start)
	refusing := serve(t, right, func(w http.ResponseWriter, _ *http.Request) {
		body, _ := enrolment.Encode(enrolment.Refusal{Reason: enrolment.Refused})
		w.WriteHeader(403)
		_, _ = w.Write(body)
	})
	busy := serve(t, right, func(w http.ResponseWriter, _ *http.Request) {
		body, _ := enrolment.Encode(enrolment.Refusal{Reason: enrolment.Busy})
		w.Header().Set("Retry-After", "17")
		w.WriteHeader(429)
		_, _ = w.Write(body)
	})
	fine := serve(t, right, answer(t, good(t)))
	impostor := serve(t, selfSigned(t, func(*x509.Certificate) {}), answer(t, good(t)))
	for name, one := range map[string]struct {
		addresses []string
		want      error
	}{
		"the second":             {[]string{"127.0.0.1:1", fine.address}, nil},
		"behind an impostor":     {[]string{impostor.address, fine.address}, nil},
		"behind a busy one":      {[]string{busy.address, fine.address}, nil},
		"refused is refused":     {[]string{refusing.address, fine.address}, enrolment.ErrRefused},
		"busy":                   {[]string{"127.0.0.1:1", busy.address, impostor.address}, enrolment.ErrBusy},
		"nobody":                 {[]string{"127.0.0.1:1", "[::1]:1"}, enrolment.ErrUnreachable},
		"an impostor and nobody": {[]string{"127.0.0.1:1", impostor.address}, enrolment.ErrImpostor},
	} {
		i := invited("", first)
		i.Addresses = one.addresses
		_, err := enrolment.Enrol(t.Context(), i, request(t), at(start))
		if one.want == nil {
			assert.NoError(t, err, name)
			continue
		}
		assert.ErrorIs(t, err, one.want, name)
		var later *enrolment.BusyError
		if errors.As(err, &later) {
			assert.Equal(t, 17*time.Second, later.After)
		}
	}
}

// A member trusts the keys in force and those that they vouch for; a retired
// one, which may be in somebody else's hands, counts no more.
func TestMembersAndRotation(t *testing.T) {
	c := chain(t)
	load := func(config group.Config, list ...group.Authority) *group.Group {
		g, err := group.New(list, config)
		require.NoError(t, err)
		return g
	}
	young := load(configuration(t, 1, first, first), c[0])
	both := load(configuration(t, 2, first, first, second), c[:2]...)
	grown := load(configuration(t, 3, second, second), c[:2]...)
	for name, one := range map[string]struct {
		has   *group.Group
		shown group.Authority
		by    *signature.PrivateKey
		want  error
	}{
		"first":                           {young, c[0], first, nil},
		"has not heard of the second yet": {young, c[1], second, nil},
		"both, by the first":              {both, c[0], first, nil},
		"both, by the second":             {both, c[1], second, nil},
		"second":                          {grown, c[1], second, nil},
		"the first is retired":            {grown, c[0], first, enrolment.ErrImpostor},
		"vouched for by a retired one":    {grown, c[2], third, enrolment.ErrImpostor},
	} {
		body, err := enrolment.Encode(enrolment.RenewAnswer{
			Certificate: issue(t, ada, "ada", one.by).Raw(), Authorities: raws(c[:2]...),
		})
		require.NoError(t, err)
		s := serve(t, shown(t, groupID, raws(c...), one.shown, one.by, start), func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(body)
		})
		client := enrolment.Client{
			Addresses: []string{s.address}, Group: one.has, Certificate: issue(t, ada, "ada", first), Key: ada, Now: at(start),
		}
		renewed, err := client.Renew(t.Context())
		if one.want != nil {
			assert.ErrorIs(t, err, one.want, name)
			assert.Zero(t, s.bytes.Load(), name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, client.Certificate.Member(), renewed.Certificate.Member())
		assert.EqualValues(t, 1, s.shown.Load(), "it says who it is")
	}
}

// A renewed certificate is the member's own.
func TestRenewTakesItsOwnOnly(t *testing.T) {
	c := chain(t)
	g, err := group.New(c[:1], configuration(t, 1, first, first))
	require.NoError(t, err)
	body, err := enrolment.Encode(enrolment.RenewAnswer{Certificate: issue(t, newKey(9), "ada", first).Raw(), Authorities: raws(c[0])})
	require.NoError(t, err)
	s := serve(t, shown(t, groupID, raws(c[0]), c[0], first, start), func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
	client := enrolment.Client{Addresses: []string{s.address}, Group: g, Certificate: issue(t, ada, "ada", first), Key: ada, Now: at(start)}
	_, err = client.Renew(t.Context())
	assert.ErrorIs(t, err, enrolment.ErrAnswer)
}

// What a service says of a newer configuration has to be newer, and signed.
func TestSyncTakesNewerOnly(t *testing.T) {
	c := chain(t)
	g, err := group.New(c[:1], configuration(t, 5, first, first))
	require.NoError(t, err)
	for name, one := range map[string]struct {
		configuration []byte
		want          error
	}{
		"none":   {nil, nil},
		"newer":  {configuration(t, 6, first, first).Raw(), nil},
		"same":   {configuration(t, 5, first, first).Raw(), enrolment.ErrAnswer},
		"older":  {configuration(t, 4, first, first).Raw(), enrolment.ErrAnswer},
		"forged": {configuration(t, 6, foreign, foreign).Raw(), enrolment.ErrAnswer},
	} {
		body, err := enrolment.Encode(enrolment.SyncAnswer{Publication: enrolment.Publication{Authorities: raws(c[0]), Configuration: one.configuration}})
		require.NoError(t, err)
		s := serve(t, shown(t, groupID, raws(c...), c[0], first, start), func(w http.ResponseWriter, r *http.Request) {
			raw, _ := io.ReadAll(r.Body)
			q, err := enrolment.Decode[enrolment.SyncRequest](raw)
			assert.NoError(t, err)
			assert.EqualValues(t, 5, q.Configuration)
			assert.Len(t, q.Leaves, enrolment.MaxLeaves)
			_, _ = w.Write(body)
		})
		client := enrolment.Client{Addresses: []string{s.address}, Group: g, Certificate: issue(t, ada, "ada", first), Key: ada, Now: at(start)}
		leaves := make([][]byte, enrolment.MaxLeaves+1)
		for i := range leaves {
			leaves[i] = []byte{1}
		}
		_, err = client.Sync(t.Context(), enrolment.Mine{Leaves: leaves})
		if one.want == nil {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorIs(t, err, one.want, name)
		}
	}
}

// Limits hold on both sides of the wire, and every reason has a sentinel.
func TestMessageLimits(t *testing.T) {
	many := func(n int) [][]byte {
		list := make([][]byte, n)
		for i := range list {
			list[i] = []byte{1}
		}
		return list
	}
	_, err := enrolment.Encode(enrolment.EnrolRequest{})
	assert.ErrorIs(t, err, enrolment.ErrMalformed)
	_, err = enrolment.Encode(enrolment.SyncRequest{Leaves: many(enrolment.MaxLeaves + 1)})
	assert.ErrorIs(t, err, enrolment.ErrMalformed)
	for name, change := range map[string]func(*enrolment.EnrolAnswer){
		"no certificate":       func(a *enrolment.EnrolAnswer) { a.Certificate = nil },
		"no configuration":     func(a *enrolment.EnrolAnswer) { a.Publication.Configuration = nil },
		"no authority":         func(a *enrolment.EnrolAnswer) { a.Publication.Authorities = nil },
		"too many authorities": func(a *enrolment.EnrolAnswer) { a.Publication.Authorities = many(9) },
		"too many peers":       func(a *enrolment.EnrolAnswer) { a.Peers = make([]enrolment.Peer, 9) },
		"too many revocations": func(a *enrolment.EnrolAnswer) { a.Publication.Revocations = many(enrolment.MaxRevocations + 1) },
		"too large":            func(a *enrolment.EnrolAnswer) { a.Certificate = make([]byte, 5000) },
	} {
		a := good(t)
		change(&a)
		_, err := enrolment.Encode(a)
		assert.ErrorIs(t, err, enrolment.ErrMalformed, name)
	}
	full := enrolment.SyncAnswer{Publication: enrolment.Publication{Authorities: many(8), Leaves: many(enrolment.MaxLeaves)}}
	full.Publication.Revocations = many(enrolment.MaxRevocations)
	for i := range full.Publication.Revocations {
		full.Publication.Revocations[i] = make([]byte, 600) // the longest has 512 bytes of reason
	}
	raw, err := enrolment.Encode(full)
	require.NoError(t, err, "the largest answer fits")
	_, err = enrolment.Decode[enrolment.SyncAnswer](raw)
	require.NoError(t, err)
	for r := enrolment.Refused; r <= enrolment.Failed; r++ {
		assert.NotErrorIs(t, r.Err(), enrolment.ErrAnswer)
	}
	assert.ErrorIs(t, enrolment.Reason(99).Err(), enrolment.ErrAnswer)
	assert.Equal(t, 403, enrolment.Reason(99).Status())
	assert.False(t, strings.Contains((&enrolment.BusyError{}).Error(), "%!"))
}
