package api

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/ident"
)

func TestAcquire_Granted_Lost(t *testing.T) {
	f := newFake()
	c := Dial(serve(t, f, socketPath(t)).socket)
	wait := int64(60_000)
	request := AcquireRequest{
		Resource: "ftp", WaitMS: &wait, MaxHoldMS: 1, MinHoldMS: 2, OncePerMS: 3, Label: "backup", PID: 4, Held: []ident.Grant{{5}},
	}
	done := acquire(t.Context(), c, request)
	d := receive(t, f.demands)
	d.request.Asker = nil // TestServer_Connection_AskerKnown
	assert.Equal(t, request, d.request)
	held := f.grant(1)
	d.answer <- answer{grant: held}
	a := receive(t, done)
	require.NoError(t, a.err)
	defer a.held.Close()
	assert.Equal(t, held.grant, a.held.Grant())

	held.lost <- LostRevoked
	assert.Equal(t, LostRevoked, receive(t, a.held.Lost()))
	_, open := <-a.held.Lost()
	assert.False(t, open, "nothing follows a loss")
}

func TestGrant_EndsOtherwise_NotLost(t *testing.T) {
	f := newFake()
	c := Dial(serve(t, f, socketPath(t)).socket)
	done := acquire(t.Context(), c, AcquireRequest{Resource: "ftp"})
	held := f.grant(1)
	receive(t, f.demands).answer <- answer{grant: held}
	a := receive(t, done)
	require.NoError(t, a.err)
	close(held.lost)
	_, lost := <-a.held.Lost()
	assert.False(t, lost)
}

func TestRefusal_Each_CrossesTheSocket(t *testing.T) {
	for _, sentinel := range []error{
		ErrHeld, ErrNotGranted, ErrNotDue, ErrIsolated, ErrRevoked, ErrRefused, ErrUnavailable, ErrBadRequest, ErrInternal,
	} {
		t.Run(sentinel.Error(), func(t *testing.T) {
			f := newFake()
			c := Dial(serve(t, f, socketPath(t)).socket)
			done := acquire(t.Context(), c, AcquireRequest{Resource: "ftp"})
			receive(t, f.demands).answer <- answer{err: fmt.Errorf("slot 3: %w", sentinel)}
			a := receive(t, done)
			require.ErrorIs(t, a.err, sentinel)
			assert.Equal(t, "slot 3: "+sentinel.Error(), a.err.Error())
			for _, c := range codes {
				assert.Equal(t, errors.Is(sentinel, c.err), errors.Is(a.err, c.err), c.code)
			}
		})
	}
}

func TestHint_Each_CrossesTheSocket(t *testing.T) {
	f := newFake()
	c := Dial(serve(t, f, socketPath(t)).socket)
	done := acquire(t.Context(), c, AcquireRequest{Resource: "ftq"})
	refused := &Error{Code: "refused", Message: "no resource ftq", Hint: "did you mean ftp?"}
	receive(t, f.demands).answer <- answer{err: fmt.Errorf("acquire: %w", refused)}
	var e *Error
	require.ErrorAs(t, receive(t, done).err, &e)
	assert.Equal(t, &Error{Code: "refused", Message: "acquire: no resource ftq", Hint: "did you mean ftp?"}, e)
}

func TestError_Unnamed_Internal(t *testing.T) {
	f := newFake()
	c := Dial(serve(t, f, socketPath(t)).socket)
	done := acquire(t.Context(), c, AcquireRequest{Resource: "ftp"})
	receive(t, f.demands).answer <- answer{err: io.ErrNoProgress}
	assert.ErrorIs(t, receive(t, done).err, ErrInternal)
}

func TestAcquire_Cancelled_DemandWithdrawn(t *testing.T) {
	f := newFake()
	c := Dial(serve(t, f, socketPath(t)).socket)
	why := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := acquire(ctx, c, AcquireRequest{Resource: "ftp"})
	d := receive(t, f.demands)
	cancel(why)
	assert.Equal(t, why, receive(t, done).err)
	receive(t, d.ctx.Done())
	assert.Empty(t, f.releases)
}

// TestGrant_AfterWithdrawal_Released: the backend grants although the program has gone,
// so the server gives the grant back.
func TestGrant_AfterWithdrawal_Released(t *testing.T) {
	f := newFake()
	f.deaf = true
	ctx, cancel := context.WithCancel(t.Context())
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/acquire", strings.NewReader(`{"resource":"ftp"}`))
	recorder := httptest.NewRecorder()
	ended := make(chan struct{})
	go func() {
		NewHandler(f).ServeHTTP(recorder, request)
		close(ended)
	}()
	d := receive(t, f.demands)
	cancel()
	d.answer <- answer{grant: f.grant(7)}
	assert.Equal(t, ReleaseRequest{Grant: ident.Grant{7}}, receive(t, f.releases))
	receive(t, ended)
	assert.Empty(t, f.releases)
}

// TestGrant_CrossesWithdrawal_Released: the grant was on its way when the program
// withdrew, so the client gives it back.
func TestGrant_CrossesWithdrawal_Released(t *testing.T) {
	l, err := Listen(socketPath(t), Access{})
	require.NoError(t, err)
	defer l.Close()
	released := make(chan ReleaseRequest, 1)
	ctx, cancel := context.WithCancel(t.Context())
	done := acquire(ctx, Dial(l.Addr().String()), AcquireRequest{Resource: "ftp"})

	conn, err := l.Accept()
	require.NoError(t, err)
	_, err = http.ReadRequest(bufio.NewReader(conn))
	require.NoError(t, err)
	cancel()
	_, err = conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	grant := testGrant(9)
	line, err := json.Marshal(event{V: Version, Event: eventGranted, Grant: &grant})
	require.NoError(t, err)
	fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n%s\n", line)

	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		r, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil {
			return
		}
		var release ReleaseRequest
		_ = json.NewDecoder(r.Body).Decode(&release)
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"v\":1}\n")
		conn.Close()
		released <- release
	}()
	assert.ErrorIs(t, receive(t, done).err, context.Canceled)
	assert.Equal(t, ReleaseRequest{Grant: ident.Grant{9}}, receive(t, released))
}

func TestGrant_ConnectionLost_InForce(t *testing.T) {
	f := newFake()
	daemon := serve(t, f, socketPath(t))
	done := acquire(t.Context(), Dial(daemon.socket), AcquireRequest{Resource: "ftp"})
	d := receive(t, f.demands)
	d.answer <- answer{grant: f.grant(1)}
	a := receive(t, done)
	require.NoError(t, a.err)
	require.NoError(t, a.held.Close())
	receive(t, d.ctx.Done()) // the server has noticed
	daemon.stop(t)
	assert.Empty(t, f.releases)
}

func TestStoppingDaemon(t *testing.T) {
	f := newFake()
	daemon := serve(t, f, socketPath(t))
	c := Dial(daemon.socket)
	holding := acquire(t.Context(), c, AcquireRequest{Resource: "ftp"})
	receive(t, f.demands).answer <- answer{grant: f.grant(1)}
	holder := receive(t, holding)
	require.NoError(t, holder.err)
	waiting := acquire(t.Context(), c, AcquireRequest{Resource: "ftp"})
	receive(t, f.demands)
	daemon.stop(t)

	err := receive(t, waiting).err
	assert.ErrorIs(t, err, ErrUnavailable)
	assert.NotErrorIs(t, err, ErrNoDaemon, "one was there, so it may come back")
	_, lost := <-holder.held.Lost()
	assert.False(t, lost, "the grant stands until its deadline")
	assert.Empty(t, f.releases)
}

// A loss that was there before the daemon's streams end is told: the program would go on until its deadline, and another
// member's beside it.
func TestGrant_LostThenStreamsEnd_Told(t *testing.T) {
	f := newFake()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 64 { // either could be taken
		held := f.grant(1)
		held.lost <- LostStopped
		w := httptest.NewRecorder()
		follow(w, httptest.NewRequestWithContext(ended, http.MethodPost, "/v1/acquire", nil), held)
		require.Contains(t, w.Body.String(), `"reason":"stopped"`)
	}
}

func TestStreams_TooMany_Refused(t *testing.T) {
	f := newFake()
	server := httptest.NewServer(newHandler(f, 1))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	post := func() (*http.Response, error) {
		body := strings.NewReader(`{"resource":"ftp"}`)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v1/acquire", body)
		require.NoError(t, err)
		return server.Client().Do(r)
	}
	first := make(chan struct{})
	go func() {
		defer close(first)
		if response, err := post(); err == nil {
			response.Body.Close()
		}
	}()
	receive(t, f.demands)
	response, err := post()
	require.NoError(t, err)
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.ErrorIs(t, refusal(b), ErrUnavailable)
	cancel()
	receive(t, first)
}

func TestClient_OtherFirstEvent_Refused(t *testing.T) {
	for name, line := range map[string]string{
		"lost":          `{"v":1,"event":"lost","reason":"revoked"}`,
		"no grant":      `{"v":1,"event":"granted"}`,
		"other version": `{"v":2,"event":"granted","grant":{}}`,
		"no JSON":       `granted`,
		"too long":      `{"v":1,"event":"` + strings.Repeat("x", maxEvent) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("unix", socketPath(t))
			require.NoError(t, err)
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintln(w, line)
			})}
			go server.Serve(l)
			defer server.Close()
			_, err = Dial(l.Addr().String()).Acquire(t.Context(), AcquireRequest{Resource: "ftp"})
			require.Error(t, err)
			assert.True(t, errors.Is(err, ErrReply) || errors.Is(err, bufio.ErrTooLong), err)
		})
	}
}
