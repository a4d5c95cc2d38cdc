package fuzz

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/ident"
)

// FuzzAPI: a request of the local API as it stands on the wire: method, path,
// query, header and body. It gets one answer, a known one, in JSON, and nothing
// that is out of range reaches the daemon.
//
//fuzz:of node/api
func FuzzAPI(f *testing.F) { targets["FuzzAPI"].Fuzz(f) }

// apiBackend is the daemon behind the API: it counts what it is asked, and grants
// the resource ftp.
type apiBackend struct {
	require.TestingT
	asked int
}

type apiGrant struct{}

func (apiGrant) Grant() api.Grant { return api.Grant{ID: ident.Grant{1}, Resource: "ftp"} }
func (apiGrant) Lost() <-chan api.LostReason {
	lost := make(chan api.LostReason, 1)
	lost <- api.LostExpired
	return lost
}
func (apiGrant) Release(bool, int) {}

func (b *apiBackend) Acquire(_ context.Context, r api.AcquireRequest) (api.HeldGrant, error) {
	b.asked++
	require.NoError(b, r.Validate())
	if r.Resource != "ftp" {
		return nil, fmt.Errorf("%w: no such resource", api.ErrRefused)
	}
	return apiGrant{}, nil
}

func (b *apiBackend) Back(string) (int, error)            { b.asked++; return 0, nil }
func (b *apiBackend) Release(api.ReleaseRequest) error    { b.asked++; return nil }
func (b *apiBackend) Status() api.Status                  { b.asked++; return api.Status{} }
func (b *apiBackend) Members() []api.MemberInfo           { b.asked++; return nil }
func (b *apiBackend) Waiting(string) api.Waiting          { return api.Waiting{} }
func (b *apiBackend) Checkup(context.Context) []api.Check { b.asked++; return nil }
func (b *apiBackend) LastHour() []api.ResourceHistory     { b.asked++; return nil }
func (b *apiBackend) Probe(context.Context, api.ProbeRequest) ([]api.Check, error) {
	b.asked++
	return nil, api.ErrBadRequest
}
func (b *apiBackend) Leave(context.Context) error { b.asked++; return api.ErrUnavailable }
func (b *apiBackend) Renew(context.Context) (api.Renewal, error) {
	b.asked++
	return api.Renewal{Serial: 7}, nil
}

// apiStatuses are all that the API answers with; the multiplexer redirects paths
// that are not clean.
var apiStatuses = []int{
	http.StatusOK, http.StatusBadRequest, http.StatusForbidden, http.StatusConflict, http.StatusServiceUnavailable,
	http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
}

func checkAPI(t require.TestingT, data []byte) bool {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(data)))
	if err != nil {
		return false
	}
	defer r.Body.Close()
	b := &apiBackend{TestingT: t}
	w := httptest.NewRecorder()
	api.NewHandler(b).ServeHTTP(w, r)
	require.Contains(t, apiStatuses, w.Code)
	require.LessOrEqual(t, b.asked, 1)
	if w.Code/100 != 3 && w.Body.Len() > 0 {
		for d := json.NewDecoder(w.Body); d.More(); {
			var answer struct {
				V     int
				Error *api.Error
			}
			require.NoError(t, d.Decode(&answer))
			require.Equal(t, api.Version, answer.V)
			require.Equal(t, w.Code != http.StatusOK, answer.Error != nil)
		}
	}
	return w.Code == http.StatusOK
}

func apiSeeds() map[string][]byte {
	request := func(method, path, body string) []byte {
		return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: wander\r\nContent-Length: %d\r\n\r\n%s", method, path, len(body), body)
	}
	return map[string][]byte{
		"good-acquire":      request("POST", "/v1/acquire", `{"resource":"ftp","wait_ms":0,"max_hold_ms":5000,"label":"backup","pid":7}`),
		"good-acquire-all":  request("POST", "/v1/acquire", `{"resource":"ftp","min_hold_ms":1,"once_per_ms":86400000}`),
		"good-acquire-held": request("POST", "/v1/acquire", `{"resource":"ftp","held":["01000000000000000000000000000000"]}`),
		"good-release":      request("POST", "/v1/release", `{"grant":"01000000000000000000000000000000","operated":true,"exit":3}`),
		"good-status":       request("GET", "/v1/status?verbose=1", ""),
		"good-members":      request("GET", "/v1/members", ""),
		"good-renew":        request("POST", "/v1/renew", ""),
		"good-checkup":      request("GET", "/v1/checkup", ""),
		"good-history":      request("GET", "/v1/history", ""),
		"bad-probe":         request("POST", "/v1/probe", `{"peer":"m3"}`),
		"good-progress":     request("POST", "/v1/acquire", `{"resource":"ftp","wait_ms":0,"progress":true}`),
		"good-chunked":      []byte("POST /v1/acquire HTTP/1.1\r\nHost: w\r\nTransfer-Encoding: chunked\r\n\r\n12\r\n{\"resource\":\"ftp\"}\r\n0\r\n\r\n"),
		"bad-leave":         request("POST", "/v1/leave", ""),
		"bad-refused":       request("POST", "/v1/acquire", `{"resource":"x"}`),
		"bad-unknown-field": request("POST", "/v1/acquire", `{"resource":"ftp","wait":0}`),
		"bad-two-objects":   request("POST", "/v1/acquire", `{"resource":"ftp"}{}`),
		"bad-out-of-range":  request("POST", "/v1/acquire", `{"resource":"ftp","wait_ms":-1}`),
		"bad-number":        request("POST", "/v1/acquire", `{"resource":"ftp","wait_ms":1e99}`),
		"bad-grant":         request("POST", "/v1/release", `{"grant":"1"}`),
		"bad-path":          request("GET", "/v1/../v1//status", ""),
		"bad-method":        request("DELETE", "/v1/status", ""),
		"bad-nothing":       {},
		"bad-no-request":    []byte("hello\r\n\r\n"),
		"bad-short-body":    []byte("POST /v1/acquire HTTP/1.1\r\nHost: w\r\nContent-Length: 99\r\n\r\n{\"resource\""),
	}
}

func (b *apiBackend) Connect(context.Context, api.ConnectRequest) (api.Tunnel, error) {
	return nil, api.ErrNoSession
}
