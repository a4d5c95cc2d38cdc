package enrolment_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/group"
)

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
func TestAnswer_Invalid_Refused(t *testing.T) {
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
		assert.Contains(t, err.Error(), duration.Format(c.least.Abs()))
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
