package wander_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander"
)

// asked is one request to the daemon, and the status of its answer.
type asked struct {
	method, path, body string
	status             int
}

// TestOpenAPI_RunningDaemon_KeepsIt asks a real daemon for everything that spec/openapi.json describes, and holds each request and answer to it.
func TestOpenAPI_RunningDaemon_KeepsIt(t *testing.T) {
	text, err := os.ReadFile("spec/openapi.json")
	require.NoError(t, err)
	document, err := libopenapi.NewDocument(text)
	require.NoError(t, err)
	v, errs := validator.NewValidator(document)
	require.Empty(t, errs)
	valid, problems := v.ValidateDocument()
	require.True(t, valid, "%v", problems)

	d := newAlone(t)
	c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", d.socket)
	}}}
	require.NoError(t, wander.Dial(d.socket).Do(t.Context(), "tape", func(context.Context, wander.Grant) error { return nil }))
	held, err := wander.Dial(d.socket).Acquire(t.Context(), "tape")
	require.NoError(t, err)
	none := `"` + strings.Repeat("0", 32) + `"`
	seen := make(map[string]bool)
	for _, a := range []asked{
		{"GET", "/v1/status", "", http.StatusOK},
		{"GET", "/v1/members", "", http.StatusOK},
		{"GET", "/v1/history", "", http.StatusOK},
		{"GET", "/v1/checkup", "", http.StatusOK},
		{"POST", "/v1/probe", `{"peer":"127.0.0.1:1"}`, http.StatusOK},
		{"POST", "/v1/renew", "", http.StatusServiceUnavailable},
		{"POST", "/v1/acquire", `{"resource":"tape","wait_ms":0,"held":[]}`, http.StatusConflict},
		{"POST", "/v1/acquire", `{"resource":"tap"}`, http.StatusForbidden},
		{"POST", "/v1/back", `{"resource":"tape"}`, http.StatusOK},
		{"POST", "/v1/connect", `{"grant":` + none + `}`, http.StatusConflict},
		{"POST", "/v1/release", `{"grant":` + none + `,"operated":false,"exit":0}`, http.StatusOK},
	} {
		t.Run(a.path, func(t *testing.T) {
			seen[a.path] = true
			a.holds(t, v, c, -1)
		})
	}
	waits := asked{"POST", "/v1/acquire", `{"resource":"tape","progress":true,"max_hold_ms":50,"label":"a test"}`, http.StatusOK}
	t.Run("events", func(t *testing.T) {
		go func() { _ = held.Release() }()
		waits.holds(t, v, c, 2) // of which one may be what it waits for
	})
	t.Run("leave", func(t *testing.T) {
		seen["/v1/leave"] = true
		(&asked{"POST", "/v1/leave", "", http.StatusOK}).holds(t, v, c, -1)
	})
	model, err := document.BuildV3Model()
	require.NoError(t, err)
	for path := range model.Model.Paths.PathItems.FromOldest() {
		assert.True(t, seen[path], "nobody asks for "+path)
	}
}

// holds asks, and validates the request with each line of the answer: all of a body, or the first ones of a stream.
func (a *asked) holds(t *testing.T, v validator.Validator, c *http.Client, lines int) {
	t.Helper()
	request := func() *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), a.method, "http://localhost"+a.path, strings.NewReader(a.body))
		require.NoError(t, err)
		if a.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		return r
	}
	answer, err := c.Do(request())
	require.NoError(t, err)
	defer answer.Body.Close()
	var bodies [][]byte
	if lines < 0 {
		b, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		bodies = append(bodies, b)
	}
	for stream := 0; stream < lines; stream++ {
		b, err := readLine(answer.Body)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		bodies = append(bodies, b)
	}
	require.NotEmpty(t, bodies)
	for _, b := range bodies {
		assert.Equal(t, a.status, answer.StatusCode, "%s", b)
		answer.Body = io.NopCloser(bytes.NewReader(b))
		valid, problems := v.ValidateHttpRequestResponse(request(), answer)
		for _, p := range problems {
			assert.Fail(t, p.Message, "%s: %s\n%s", p.Reason, fmt.Sprint(p.SchemaValidationErrors), b)
		}
		assert.True(t, valid)
	}
}

func readLine(r io.Reader) (line []byte, err error) {
	one := make([]byte, 1)
	for {
		if _, err = io.ReadFull(r, one); err != nil {
			return line, err
		}
		if one[0] == '\n' {
			return line, nil
		}
		line = append(line, one[0])
	}
}
