package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
)

func TestRelease_Call_ReachesTheBackend(t *testing.T) {
	f := newFake()
	c := Dial(serve(t, f, socketPath(t)).socket)
	release := ReleaseRequest{Grant: ident.Grant{5}, Operated: true, Exit: 3}
	for range 2 {
		require.NoError(t, c.Release(t.Context(), release))
		assert.Equal(t, release, receive(t, f.releases))
	}
	f.err = ErrInternal
	assert.ErrorIs(t, c.Release(t.Context(), release), ErrInternal)
}

func TestRelease_DaemonRestarted_Reaches(t *testing.T) {
	socket := socketPath(t)
	c := Dial(socket)
	serve(t, newFake(), socket).stop(t)
	release := ReleaseRequest{Grant: ident.Grant{5}, Operated: true}
	require.ErrorIs(t, c.Release(t.Context(), release), ErrNoDaemon)
	f := newFake()
	serve(t, f, socket)
	require.NoError(t, c.Release(t.Context(), release))
	assert.Equal(t, release, receive(t, f.releases))
}

func TestClient_StatusAndMembers_Answered(t *testing.T) {
	f := newFake()
	c := Dial(serve(t, f, socketPath(t)).socket)
	s, err := c.Status(t.Context())
	require.NoError(t, err)
	want := f.Status()
	want.V, want.Users = Version, []UserStatus{}
	assert.Equal(t, want, s)
	m, err := c.Members(t.Context())
	require.NoError(t, err)
	assert.Equal(t, f.Members(), m)
}

func TestClient_CheckupProbeHistory_Answered(t *testing.T) {
	f := newFake()
	c := Dial(serve(t, f, socketPath(t)).socket)
	checks, err := c.Checkup(t.Context())
	require.NoError(t, err)
	assert.Equal(t, f.Checkup(t.Context()), checks)
	checks, err = c.Probe(t.Context(), ProbeRequest{Peer: "beta"})
	require.NoError(t, err)
	assert.Equal(t, []Check{{Name: "beta", Result: Fail}}, checks)
	hours, err := c.History(t.Context())
	require.NoError(t, err)
	assert.Equal(t, f.LastHour(), hours)
	f.err = ErrBadRequest
	_, err = c.Probe(t.Context(), ProbeRequest{Peer: "nobody"})
	assert.ErrorIs(t, err, ErrBadRequest)
}

// TestStatusKeys holds the names that scripts rely on.
func TestStatusKeys(t *testing.T) {
	s := Status{
		Peers:      []PeerStatus{{}},
		Resources:  []ResourceStatus{{Slots: []SlotStatus{{Token: ident.Token{1}}}}},
		Rejected:   map[string]uint64{"reason": 1},
		Membership: MembershipStatus{Faults: []FaultStatus{{}}},
	}
	var got []string
	collectKeys(t, "", s, &got)
	slices.Sort(got)
	assert.Equal(t, strings.Fields(`
		address cause certificate_expires configuration_version evidence evidence.folder evidence.kept evidence.unsent group group_name
		handoffs handoffs.in_doubt handoffs.in_doubt_resolved handoffs.ok handoffs.reselected handoffs.retried
		incarnation invalid journal journal.bytes journal.fsyncs journal.recalling journal.segments journal.went_back key_retired
		link link.clock_ahead_s link.isolated link.last_heard_s link.no_addresses link.nobody_left link.others link.silent link.silent_s link.unanswered member
		membership membership.behind membership.exchanges membership.faults membership.faults.count membership.faults.last
		membership.faults.member membership.faults.stale membership.late_s membership.patience membership.revocation_version membership.snapshots
		membership.suspects membership.updates_pending mode name
		peers peers.connected peers.member peers.name rejected rejected.reason renewing
		resources resources.cause resources.max_hold_s resources.name resources.no_place resources.policy resources.preset resources.sentence resources.since_s resources.slots
		resources.slots.executing resources.slots.founding resources.slots.held resources.slots.hop resources.slots.last_operation_s
		resources.slots.last_seen_s resources.slots.leaving resources.slots.operations resources.slots.return_s resources.slots.slot resources.slots.token resources.slots.tokens_seen
		resources.waiting sentence since_s stopping tokens tokens.dropped tokens.generated uptime_s users v warnings`), got)
}

func collectKeys(t *testing.T, prefix string, v any, into *[]string) {
	b, err := json.Marshal(v)
	require.NoError(t, err)
	var tree any
	require.NoError(t, json.Unmarshal(b, &tree))
	var walk func(prefix string, v any)
	walk = func(prefix string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				*into = append(*into, prefix+key)
				walk(prefix+key+".", value)
			}
		case []any:
			for _, value := range v {
				walk(prefix, value)
			}
		}
	}
	walk(prefix, tree)
}

func TestBadRequests(t *testing.T) {
	for name, c := range map[string]struct{ method, path, body string }{
		"unknown path":        {http.MethodGet, "/v1/nothing", ""},
		"wrong method":        {http.MethodGet, "/v1/acquire", ""},
		"no object":           {http.MethodPost, "/v1/acquire", ""},
		"not JSON":            {http.MethodPost, "/v1/acquire", "resource=ftp"},
		"two objects":         {http.MethodPost, "/v1/acquire", `{"resource":"ftp"}{}`},
		"unknown field":       {http.MethodPost, "/v1/acquire", `{"resource":"ftp","wait":1}`},
		"no resource":         {http.MethodPost, "/v1/acquire", `{}`},
		"long resource":       {http.MethodPost, "/v1/acquire", `{"resource":"` + strings.Repeat("x", maxResource+1) + `"}`},
		"many grants":         {http.MethodPost, "/v1/acquire", `{"resource":"ftp","held":["` + strings.Repeat(ident.Grant{}.String()+`","`, MaxHeld) + ident.Grant{}.String() + `"]}`},
		"no grant":            {http.MethodPost, "/v1/acquire", `{"resource":"ftp","held":["ftp"]}`},
		"long label":          {http.MethodPost, "/v1/acquire", `{"resource":"ftp","label":"` + strings.Repeat("x", MaxLabel+1) + `"}`},
		"negative wait":       {http.MethodPost, "/v1/acquire", `{"resource":"ftp","wait_ms":-1}`},
		"wait beyond int64":   {http.MethodPost, "/v1/acquire", `{"resource":"ftp","wait_ms":9223372036855}`},
		"negative hold":       {http.MethodPost, "/v1/acquire", `{"resource":"ftp","max_hold_ms":-1}`},
		"too large":           {http.MethodPost, "/v1/acquire", `{"resource":"` + strings.Repeat("x", MaxBody) + `"}`},
		"release of no grant": {http.MethodPost, "/v1/release", `{"grant":"xyz"}`},
	} {
		t.Run(name, func(t *testing.T) {
			recorder := httptest.NewRecorder()
			request := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
			f := newFake()
			NewHandler(f).ServeHTTP(recorder, request)
			assert.Equal(t, http.StatusBadRequest, recorder.Code)
			assert.ErrorIs(t, refusal(recorder.Body.Bytes()), ErrBadRequest)
			assert.Empty(t, f.demands)
			assert.Empty(t, f.releases)
		})
	}
}

func TestRequestTimes(t *testing.T) {
	wait := int64(0)
	r := AcquireRequest{WaitMS: &wait, MaxHoldMS: 1500, MinHoldMS: 2, OncePerMS: maxMillis}
	d, limited := r.Wait()
	assert.True(t, limited)
	assert.Zero(t, d)
	_, limited = AcquireRequest{}.Wait()
	assert.False(t, limited)
	assert.Equal(t, 1500*time.Millisecond, r.MaxHold())
	assert.Equal(t, 2*time.Millisecond, r.MinHold())
	assert.Positive(t, r.OncePer())
}

func TestNoDaemon(t *testing.T) {
	_, err := Dial(socketPath(t)).Acquire(t.Context(), AcquireRequest{Resource: "ftp"})
	require.ErrorIs(t, err, ErrNoDaemon)
	assert.ErrorIs(t, err, ErrUnavailable)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	var e *Error
	require.ErrorAs(t, err, &e)
	assert.NotEmpty(t, e.Hint)
}

func TestCall_ContextCancelled_Ends(t *testing.T) {
	l, err := Listen(socketPath(t), Access{}) // nobody accepts
	require.NoError(t, err)
	defer l.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	_, err = Dial(l.Addr().String()).Status(ctx)
	assert.ErrorIs(t, err, why)
}

func TestUnintelligibleReplies(t *testing.T) {
	for name, body := range map[string]string{
		"not JSON":      "hello",
		"no version":    `{}`,
		"other version": `{"v":2}`,
		"wrong type":    `{"v":1,"uptime_s":"long"}`,
	} {
		t.Run(name, func(t *testing.T) {
			assert.ErrorIs(t, decodeReply([]byte(body), &Status{}), ErrReply)
		})
	}
	assert.ErrorIs(t, refusal([]byte(`{"v":1}`)), ErrReply)
	assert.ErrorIs(t, refusal([]byte(`{"v":1,"error":{"code":"from the future","message":"m"}}`)), ErrReply)
}

func TestReply_NewerFields_Read(t *testing.T) {
	var s Status
	require.NoError(t, decodeReply([]byte(`{"v":1,"name":"alpha","mood":"good"}`), &s))
	assert.Equal(t, "alpha", s.Name)
}

func TestSocket_Mode_Private(t *testing.T) {
	l, err := Listen(socketPath(t), Access{})
	require.NoError(t, err)
	defer l.Close()
	info, err := os.Stat(l.Addr().String())
	require.NoError(t, err)
	assert.Equal(t, fs.ModeSocket|0o600, info.Mode())
}

func TestSocket_Stale_Replaced(t *testing.T) {
	path := socketPath(t)
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
	serve(t, newFake(), path)
	_, err = Dial(path).Status(t.Context())
	assert.NoError(t, err)
}

func TestListenRefusals(t *testing.T) {
	used := serve(t, newFake(), socketPath(t)).socket
	file := filepath.Join(filepath.Dir(used), "file")
	require.NoError(t, os.WriteFile(file, []byte("precious"), 0o600))
	for name, c := range map[string]struct {
		path string
		want error
	}{
		"in use":    {used, ErrInUse},
		"a file":    {file, ErrNotSocket},
		"too long":  {"/tmp/" + strings.Repeat("x", maxSocketPath), ErrPathTooLong},
		"no folder": {filepath.Join(file+"s", SocketName), fs.ErrNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Listen(c.path, Access{})
			assert.ErrorIs(t, err, c.want)
		})
	}
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "precious", string(b))
}

func TestShutdown_Socket_Removed(t *testing.T) {
	d := serve(t, newFake(), socketPath(t))
	d.stop(t)
	_, err := os.Lstat(d.socket)
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestConnection_Kept_ServesAgain(t *testing.T) {
	d := serve(t, newFake(), socketPath(t))
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", d.socket)
	}}
	defer transport.CloseIdleConnections()
	for range 3 {
		response, err := (&http.Client{Transport: transport}).Get("http://wander/v1/status")
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusOK, response.StatusCode)
	}
}
