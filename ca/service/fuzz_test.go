package service

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/ca"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/fuzz/corpus"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

var update = flag.Bool("update", false, "write the seed corpora anew")

// The seeds are made anew by go test ./ca/service -run TestSeeds -update; see
// package fuzz.
func TestSeeds(t *testing.T) { corpus.Test(t, fuzzTargets, *update) }

var fuzzTargets map[string]corpus.Target

func init() {
	fuzzTargets = map[string]corpus.Target{"FuzzService": {Check: checkService, Seeds: serviceSeeds}}
}

// FuzzService: a request to the enrolment service as it stands on the wire, behind
// a byte that says who shows a certificate: nobody, a member, one that was revoked,
// somebody of another group. It gets one answer, a known one, and strangers get
// nothing but a refusal.
//
//fuzz:of ca ca/service node/enrolment
func FuzzService(f *testing.F) { fuzzTargets["FuzzService"].Fuzz(f) }

// fixtureDir is where the fixture has its authority, if it was made.
var fixtureDir string

// TestMain removes it: the processes of a fuzzer have no other end.
func TestMain(m *testing.M) {
	code := m.Run()
	if fixtureDir != "" {
		os.RemoveAll(fixtureDir)
	}
	os.Exit(code)
}

// fixture is a service with some members, always the same.
type fixture struct {
	server *Server
	clock  *clock
	shown  [][]*x509.Certificate
	member ident.Member
	key    *signature.PrivateKey
}

// counting is a source of randomness that is none.
type counting byte

func (c *counting) Read(p []byte) (int, error) {
	for i := range p {
		*c++
		p[i] = byte(*c)
	}
	return len(p), nil
}

func known[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// inMemory is a file system in memory where there is one: a request looks at some files,
// and nothing here is about the disk. Else it is empty.
func inMemory() string {
	const shared = "/dev/shm"
	if info, err := os.Stat(shared); err == nil && info.IsDir() {
		return shared
	}
	return ""
}

var theFixture = sync.OnceValue(func() *fixture {
	x := &fixture{clock: &clock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}}
	dir := known(os.MkdirTemp(inMemory(), "wander-fuzz-ca"))
	fixtureDir = dir
	options := ca.Options{Now: x.clock.Now, Rand: new(counting)}
	a := known(ca.Create(dir, ca.CreateOptions{Options: options, Name: "demo"}))
	known(a.SetConfig(group.Settings{Resources: []group.Resource{{
		Name: "ftp", Params: policy.Params{OperationTime: 4 * time.Second, MembersMax: 100},
	}}}))
	member, revoked := x.issue(a, "ada", 1), x.issue(a, "ben", 2)
	known(a.Revoke(revoked.Member(), "lost"))
	x.member, x.key = member.Member(), keyOf(1)
	x.shown = [][]*x509.Certificate{nil, x.show(keyOf(1), member), x.show(keyOf(2), revoked), x.show(keyOf(1), revoked)}
	x.server = known(New(Config{
		Open:     func() (*ca.Authority, error) { return ca.Open(dir, options) },
		Listener: known(net.Listen("tcp", "127.0.0.1:0")), Now: x.clock.Now,
	}))
	return x
})

func keyOf(n byte) *signature.PrivateKey {
	return known(signature.NewPrivateKey(bytes.Repeat([]byte{n}, signature.SeedSize)))
}

func (x *fixture) issue(a *ca.Authority, name string, n byte) certificate.Certificate {
	return known(a.Issue(ca.Request{Name: name, Key: keyOf(n).Public()}))
}

func (x *fixture) show(key *signature.PrivateKey, c certificate.Certificate) []*x509.Certificate {
	made := known(transport.TLSCertificate(key, c))
	return []*x509.Certificate{known(x509.ParseCertificate(made.Certificate[0]))}
}

func checkService(t require.TestingT, data []byte) bool {
	if len(data) == 0 {
		return false
	}
	x := theFixture()
	who := int(data[0]) % len(x.shown)
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data[1:])))
	if err != nil {
		return false
	}
	defer r.Body.Close()
	r.RemoteAddr = "192.0.2.1:4711"
	r.TLS = &tls.ConnectionState{PeerCertificates: x.shown[who]}
	x.server.forgetRates()
	w := httptest.NewRecorder()
	x.server.handle(w, r)
	if w.Code == http.StatusOK || w.Code == http.StatusNoContent {
		require.Equal(t, 1, who, "only the member gets anything")
		return true
	}
	refusal, err := enrolment.Decode[enrolment.Refusal](w.Body.Bytes())
	require.NoError(t, err)
	require.Equal(t, refusal.Reason.Status(), w.Code)
	require.NotEqual(t, enrolment.Failed, refusal.Reason, "a stranger made the service fail")
	return false
}

// forgetRates makes nobody have asked too often.
func (s *Server) forgetRates() {
	s.enrols = &single{rate: s.enrols.rate}
	s.strange = newBuckets[netip.Prefix](s.strange.rate)
	s.members = newBuckets[ident.Member](s.members.rate)
}

func serviceSeeds() map[string][]byte {
	x := theFixture()
	request := func(who byte, method, path string, body []byte) []byte {
		head := fmt.Appendf([]byte{who}, "%s %s HTTP/1.1\r\nHost: ca\r\nContent-Length: %d\r\n\r\n", method, path, len(body))
		return append(head, body...)
	}
	endpoint := known(certificate.Endpoint{
		Member: x.member, Sequence: 1, Mode: certificate.Reachable, Addresses: []string{"a.example.org:1"},
	}.Sign(x.server.Group(), x.key)).Raw()
	synced := known(enrolment.Encode(enrolment.SyncRequest{Endpoint: endpoint}))
	newcomer := known(certificate.Request{Name: "c", Key: keyOf(3).Public().Bytes()}.Sign(x.server.Group(), keyOf(3))).Raw()
	enrol := known(enrolment.Encode(enrolment.EnrolRequest{ID: [8]byte{1}, Secret: [16]byte{2}, Request: newcomer}))
	forged := known(enrolment.Encode(enrolment.LeaveRequest{Leave: endpoint}))
	return map[string][]byte{
		"good-sync":          request(1, "POST", enrolment.PathSync, synced),
		"good-sync-more":     request(1, "POST", enrolment.PathSync, known(enrolment.Encode(enrolment.SyncRequest{Configuration: 1, Revocations: 1, Leaves: [][]byte{{1}}}))),
		"good-renew":         request(1, "POST", enrolment.PathRenew, nil),
		"bad-enrol":          request(0, "POST", enrolment.PathEnrol, enrol),
		"bad-enrol-cut":      request(0, "POST", enrolment.PathEnrol, enrol[:len(enrol)-1]),
		"bad-leave":          request(1, "POST", enrolment.PathLeave, forged),
		"bad-sync-stranger":  request(0, "POST", enrolment.PathSync, synced),
		"bad-sync-revoked":   request(2, "POST", enrolment.PathSync, synced),
		"bad-sync-thief":     request(3, "POST", enrolment.PathSync, synced),
		"bad-renew-revoked":  request(2, "POST", enrolment.PathRenew, nil),
		"bad-sync-malformed": request(1, "POST", enrolment.PathSync, []byte("hello")),
		"bad-method":         request(1, "GET", enrolment.PathSync, nil),
		"bad-path":           request(1, "POST", "/v1/nothing?x=1", nil),
		"bad-nothing":        {},
		"bad-no-request":     []byte("\x01hello\r\n\r\n"),
	}
}
