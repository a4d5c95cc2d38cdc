package fleetlock

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
)

// table is a group with one resource, which comes when the test says.
type table struct {
	mu    sync.Mutex
	last  byte
	held  map[ident.Grant]bool
	comes chan error
}

func newTable() *table { return &table{held: make(map[ident.Grant]bool), comes: make(chan error, 64)} }

func (f *table) Known(r string) bool { return r == "reboot" }

func (f *table) Acquire(ctx context.Context, _ string) (g ident.Grant, err error) {
	select {
	case err := <-f.comes:
		if err != nil {
			return g, err
		}
	case <-ctx.Done():
		return g, ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	g[0] = f.last
	f.held[g] = true
	return g, nil
}

func (f *table) InForce(_ string, g ident.Grant) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.held[g]
}

func (f *table) Release(g ident.Grant) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.held, g)
}

func (f *table) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.held)
}

func ask(h http.Handler, path, body string) (status int, kind string) {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("fleet-lock-protocol", "true")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var p problem
	_ = json.Unmarshal(w.Body.Bytes(), &p)
	return w.Code, p.Kind
}

const (
	first  = `{"client_params":{"id":"a","group":"default"}}`
	second = `{"client_params":{"id":"b","group":"default"}}`
)

func open(t *testing.T, f *table, dir string) (*Locks, http.Handler) {
	l, err := New(f, map[string]string{"default": "reboot"}, dir)
	require.NoError(t, err)
	return l, Handler(l)
}

// A client asks until it is granted, restarts, asks again, and says that it is up.
func TestLock_AskedAgainAndAfterRestart_SameGrant(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newTable()
		l, h := open(t, f, dir)
		status, kind := ask(h, PreReboot, first)
		assert.Equal(t, http.StatusConflict, status)
		assert.Equal(t, "failed_lock", kind)
		f.comes <- nil
		synctest.Wait()
		for range 3 {
			status, _ = ask(h, PreReboot, first)
			assert.Equal(t, http.StatusOK, status)
		}
		assert.Equal(t, 1, f.count())
		l.Close()
		l, h = open(t, f, dir)
		status, _ = ask(h, PreReboot, first)
		assert.Equal(t, http.StatusOK, status, "it has it since before the restart")
		status, _ = ask(h, PreReboot, second)
		assert.Equal(t, http.StatusConflict, status)
		time.Sleep(2 * wantFor)
		assert.Equal(t, 1, f.count(), "who was told keeps it")
		for range 2 {
			status, _ = ask(h, SteadyState, first)
			assert.Equal(t, http.StatusOK, status)
		}
		assert.Zero(t, f.count())
		l.Close()
	})
}

// A grant that nobody asks for any more ends, and so does a wait.
func TestLock_ClientGone_Ends(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newTable()
		_, h := open(t, f, dir)
		_, _ = ask(h, PreReboot, first)
		f.comes <- nil
		synctest.Wait()
		assert.Equal(t, 1, f.count())
		time.Sleep(wantFor + time.Second)
		assert.Zero(t, f.count())
		_, _ = ask(h, PreReboot, first)
		time.Sleep(wantFor + time.Second)
		f.comes <- nil
		synctest.Wait()
		assert.Zero(t, f.count())
	})
}

// A grant whose deadline has come is asked for anew.
func TestLock_GrantEnded_AskedForAnew(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newTable()
		l, h := open(t, f, dir)
		f.comes <- nil
		status, _ := ask(h, PreReboot, first)
		require.Equal(t, http.StatusOK, status)
		f.Release(ident.Grant{1})
		f.comes <- nil
		status, _ = ask(h, PreReboot, first)
		assert.Equal(t, http.StatusOK, status)
		assert.True(t, f.InForce("reboot", ident.Grant{2}))
		l.Close()
	})
}

func TestRequest_Bad_Refused(t *testing.T) {
	f := newTable()
	l, h := open(t, f, t.TempDir())
	defer l.Close()
	for body, kind := range map[string]string{
		`{`:    "bad_body",
		`{} 1`: "bad_body",
		`{}`:   "bad_id",
		`{"client_params":{"id":"` + strings.Repeat("x", maxID+1) + `","group":"default"}}`: "bad_id",
		`{"client_params":{"id":"a","group":""}}`:                                           "bad_group",
		`{"client_params":{"id":"a","group":"a b"}}`:                                        "bad_group",
		`{"client_params":{"id":"a","group":"other"}}`:                                      "unknown_group",
		`{"client_params":{"id":"a","group":"reboot"}}`:                                     "unknown_group", // a resource, but of no group that is named
		`{"client_params":{"id":"` + strings.Repeat("x", maxBody) + `"}}`:                   "bad_body",
	} {
		status, got := ask(h, PreReboot, body)
		assert.Equal(t, kind, got, body[:min(len(body), 60)])
		assert.GreaterOrEqual(t, status, 400)
	}
	r := httptest.NewRequest(http.MethodPost, PreReboot, strings.NewReader(first))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	assert.Equal(t, http.StatusBadRequest, w.Code, "without the header")
	r = httptest.NewRequest(http.MethodGet, PreReboot, nil)
	w = httptest.NewRecorder()
	h.ServeHTTP(w, r)
	assert.Equal(t, http.StatusMethodNotAllowed, w.Code)
}

func TestLock_GroupRefuses_ClientHearsSo(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		f := newTable()
		l, h := open(t, f, dir)
		f.comes <- ErrRefused
		status, kind := ask(h, PreReboot, first)
		assert.Equal(t, "refused", kind)
		assert.Equal(t, http.StatusForbidden, status)
		l.Close()
	})
}

func TestLock_ManyClients_Bounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := New(newTable(), nil, "/nowhere")
		require.NoError(t, err)
		defer l.Close()
		for i := range maxClients {
			assert.ErrorIs(t, l.Lock(t.Context(), Client{string(rune('a' + i)), "reboot"}), ErrBusy)
		}
		assert.ErrorIs(t, l.Lock(t.Context(), Client{"more", "reboot"}), ErrMany)
	})
}

func TestNew_FileDamaged_Refused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, fileName), []byte("{"), 0o600))
	_, err := New(newTable(), nil, dir)
	assert.ErrorContains(t, err, "remove it")
}
