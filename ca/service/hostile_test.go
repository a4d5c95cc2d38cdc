package service

import (
	"bytes"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/invite"
)

// stranger sends what it likes, and sees an answer whole.
func (b *bench) stranger(shown *tls.Certificate, method, path string, body []byte) string {
	b.t.Helper()
	conf := &tls.Config{InsecureSkipVerify: true}
	if shown != nil {
		conf.Certificates = []tls.Certificate{*shown}
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: conf, DisableKeepAlives: true}}
	defer client.CloseIdleConnections()
	r, err := http.NewRequestWithContext(b.t.Context(), method, "https://"+b.address+path, bytes.NewReader(body))
	require.NoError(b.t, err)
	answer, err := client.Do(r)
	require.NoError(b.t, err)
	defer answer.Body.Close()
	dump, err := httputil.DumpResponse(answer, true)
	require.NoError(b.t, err)
	return string(dump)
}

func (b *bench) enrolBody(i invite.Invite, request []byte) []byte {
	b.t.Helper()
	body, err := enrolment.Encode(enrolment.EnrolRequest{ID: i.ID, Secret: i.Secret, Request: request})
	require.NoError(b.t, err)
	return body
}

func shownBy(t testing.TB, key *signature.PrivateKey, cert certificate.Certificate) *tls.Certificate {
	t.Helper()
	shown, err := transport.TLSCertificate(key, cert)
	require.NoError(t, err)
	return shown
}

// Whoever is no member gets the same bytes for whatever is wrong: no oracle.
func TestRefusal_Stranger_LearnsNothing(t *testing.T) {
	b := newBench(t)
	name := func(n string) []byte { return b.request(n, newKey(t)).Raw() }
	used, gone, other := b.invite("used"), b.invite("gone"), newBench(t)
	_, err := enrolment.Enrol(t.Context(), used, b.request("used", newKey(t)), b.clock.Now)
	require.NoError(t, err)
	b.clock.move(2 * time.Hour)
	good := b.invite("later")
	wrong, unknown := good, good
	wrong.Secret[15] ^= 1
	unknown.ID[0] ^= 1
	flipped := name("later")
	flipped[len(flipped)-1] ^= 1
	foreign := other.join("foreign")
	revoked := b.join("revoked")
	_, err = b.ca.Revoke(revoked.id(), "")
	require.NoError(t, err)

	bodies := map[string][]byte{
		"wrong secret":           b.enrolBody(wrong, name("later")),
		"unknown invite":         b.enrolBody(unknown, name("later")),
		"used invite":            b.enrolBody(used, name("used")),
		"invite that has ended":  b.enrolBody(gone, name("gone")),
		"other name":             b.enrolBody(good, name("somebody")),
		"forged request":         b.enrolBody(good, flipped),
		"request of other group": b.enrolBody(good, other.request("later", newKey(t)).Raw()),
		"no request":             b.enrolBody(good, []byte{1}),
		"key of a revoked one":   b.enrolBody(good, b.request("later", revoked.key).Raw()),
		"nothing":                nil,
		"garbage":                []byte("GET / HTTP/1.0\r\n\r\n"),
		"too much":               make([]byte, enrolment.MaxEnrolRequest+1),
		"a later version":        {0x82, 0x02, 0x80},
	}
	want := b.stranger(nil, "POST", enrolment.PathEnrol, bodies["wrong secret"])
	assert.Contains(t, want, "403 Forbidden")
	for what, body := range bodies {
		assert.Equal(t, want, b.stranger(nil, "POST", enrolment.PathEnrol, body), what)
	}
	for _, path := range []string{"/", "/v2/enrol", enrolment.PathRenew, enrolment.PathSync, enrolment.PathLeave, enrolment.PathEvidence, "/v1/enrol/../sync"} {
		assert.Equal(t, want, b.stranger(nil, "POST", path, nil), path)
		assert.Equal(t, want, b.stranger(shownBy(t, foreign.key, foreign.enrolled.Certificate), "POST", path, nil), path)
		// somebody's certificate, without his key
		assert.Equal(t, want, b.stranger(shownBy(t, newKey(t), revoked.enrolled.Certificate), "POST", path, nil), path)
	}
	for _, method := range []string{"GET", "PUT", "DELETE", "OPTIONS", "QUERY"} {
		assert.Equal(t, want, b.stranger(nil, method, enrolment.PathEnrol, nil), method)
	}
	// The operator sees the reason.
	b.clock.move(time.Minute)
	for _, says := range []string{"wrong secret", "no invite", "was used by", "expired at", "invite for another name"} {
		assert.Contains(t, b.log.String(), says)
	}
	// And the invite that was guessed at is still good.
	_, err = enrolment.Enrol(t.Context(), good, b.request("later", newKey(t)), b.clock.Now)
	require.NoError(t, err)
}

// endless is a body that goes on, and counts what is read of it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

// Of what has no end, little is read.
func TestEndlessBodies(t *testing.T) {
	b := newBench(t)
	body := &endless{}
	w := httptest.NewRecorder()
	b.server.handle(w, httptest.NewRequest("POST", enrolment.PathEnrol, body))
	assert.Equal(t, 403, w.Code)
	assert.LessOrEqual(t, body.read, enrolment.MaxEnrolRequest+1)
}

// Those who have shown that they were members are told why they are none.
func TestRefusal_Member_LearnsWhy(t *testing.T) {
	b := newBench(t)
	a := b.join("a")
	b.clock.move(-24 * time.Hour)
	b.server.upkeep()
	_, err := a.client().Renew(t.Context())
	assert.ErrorIs(t, err, enrolment.ErrNotYetValid)
	b.clock.move(92 * 24 * time.Hour)
	b.server.upkeep()
	_, err = a.client().Renew(t.Context())
	assert.ErrorIs(t, err, enrolment.ErrExpired)
	_, err = a.client().Sync(t.Context(), enrolment.Mine{})
	assert.ErrorIs(t, err, enrolment.ErrExpired)
}

// A member that brings nonsense does no harm with it, and may ask no more than
// its share.
func TestMember_Lies_Refused(t *testing.T) {
	b := newBench(t)
	a, c := b.join("a"), b.join("c")
	forged := c.leave()
	forged[len(forged)-1] ^= 1
	_, err := a.client().Sync(t.Context(), enrolment.Mine{Leaves: [][]byte{{1, 2}, forged}})
	require.NoError(t, err, "the rest of it may be honest")
	_, err = a.client().Sync(t.Context(), enrolment.Mine{Leaves: [][]byte{forged, c.leave()}})
	require.NoError(t, err)
	assert.NoError(t, b.ca.Eligible(c.id()))
	assert.ErrorIs(t, a.client().Leave(t.Context(), forged), enrolment.ErrRefused)
	assert.Contains(t, b.log.String(), "leave not recorded")

	shown := shownBy(t, a.key, a.enrolled.Certificate)
	assert.Contains(t, b.stranger(shown, "POST", enrolment.PathSync, make([]byte, enrolment.MaxRequest+1)), "403")
	var busy *enrolment.BusyError
	for range memberBurst {
		b.server.members.take(a.id(), b.clock.Now())
	}
	_, err = a.client().Renew(t.Context())
	require.ErrorAs(t, err, &busy)
	assert.Equal(t, 5*time.Second, busy.After)
	b.clock.move(busy.After)
	_, err = a.client().Renew(t.Context())
	assert.NoError(t, err)
	_, err = c.client().Renew(t.Context())
	assert.NoError(t, err, "its share is its own")
}

// One address may try so often, and no more.
func TestGuessing(t *testing.T) {
	b := newBench(t)
	i := b.invite("a")
	i.Secret = [16]byte{}
	body := b.enrolBody(i, b.request("a", newKey(t)).Raw())
	refused := 0
	for range addressEnrolBurst + 5 {
		if strings.Contains(b.stranger(nil, "POST", enrolment.PathEnrol, body), "403") {
			refused++
		}
		b.clock.move(100 * time.Millisecond) // so that the connections are not too many
	}
	assert.Equal(t, addressEnrolBurst+5, refused, "4.5 s bring 9 more")
	for range 200 {
		b.server.strange.take(networkOfText("127.0.0.1:1"), b.clock.Now())
	}
	answer := b.stranger(nil, "POST", enrolment.PathEnrol, body)
	assert.Contains(t, answer, "429 Too Many Requests")
	assert.Contains(t, answer, "Retry-After: 1")
	assert.Zero(t, b.server.strange.take(networkOfText("127.0.0.2:1"), b.clock.Now()), "another address has its own")
	b.clock.move(time.Minute)
	for range enrolBurst {
		b.server.enrols.take(b.clock.Now())
	}
	assert.Contains(t, b.stranger(nil, "POST", enrolment.PathEnrol, body), "429 Too Many Requests", "all together neither")
}
