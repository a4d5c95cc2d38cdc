package api

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	eventually "github.com/wandertoken/wander/internal/await"
)

// progressing opens an acquire stream that asks for progress each millisecond.
func progressing(t *testing.T, f *fake) *bufio.Scanner {
	t.Helper()
	h := newTestHandler(f)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	response, err := server.Client().Post(server.URL+"/v1/acquire", "application/json", strings.NewReader(`{"resource":"ftp","progress":true}`))
	require.NoError(t, err)
	t.Cleanup(func() { response.Body.Close() })
	require.Equal(t, http.StatusOK, response.StatusCode)
	return bufio.NewScanner(response.Body)
}

func newTestHandler(f *fake) http.Handler { return newHandlerEvery(f, MaxStreams, time.Millisecond) }

func line(t *testing.T, s *bufio.Scanner) (e event) {
	t.Helper()
	require.True(t, s.Scan(), "%v", s.Err())
	require.NoError(t, json.Unmarshal(s.Bytes(), &e))
	return e
}

func TestProgress_Waiting_ToldOnChange(t *testing.T) {
	f := newFake()
	s := progressing(t, f)
	d := receive(t, f.demands)
	e := line(t, s)
	assert.Equal(t, eventWaiting, e.Event)
	assert.Equal(t, &Waiting{Cause: "queued", Sentence: "ftp is elsewhere"}, e.Waiting)
	looks := f.looks.Load()
	eventually.Until(t, "more looks", func() bool { return f.looks.Load() > looks+3 })
	f.before.Store(3)
	e = line(t, s) // nothing came between the two
	require.NotNil(t, e.Before)
	assert.Equal(t, 3, *e.Before)
	held := f.grant(1)
	d.answer <- answer{grant: held}
	e = line(t, s)
	assert.Equal(t, eventGranted, e.Event)
	assert.Equal(t, held.grant, *e.Grant)
	held.lost <- LostStopped
	assert.Equal(t, eventLost, line(t, s).Event)
}

func TestProgress_Refused_SaidAsEvent(t *testing.T) {
	f := newFake()
	s := progressing(t, f)
	d := receive(t, f.demands)
	assert.Equal(t, eventWaiting, line(t, s).Event)
	d.answer <- answer{err: ErrNotDue}
	e := line(t, s)
	assert.Equal(t, eventRefused, e.Event)
	assert.ErrorIs(t, e.Error, ErrNotDue)
	assert.False(t, s.Scan())
}

// An answer that comes while a look waits for its place is the answer: the look's own end is none.
func TestProgress_AnswerDuringLook_Told(t *testing.T) {
	for name, want := range map[string]error{"granted": nil, "refused": ErrNotDue} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				noPlace := make(chan struct{})
				p := progress{handler: &handler{backend: f, looks: noPlace, samples: samples{every: time.Millisecond}}, resource: "ftp"}
				done := make(chan answer, 1)
				go func() {
					held, err := p.acquire(t.Context(), AcquireRequest{Resource: "ftp", Progress: true})
					done <- answer{held, err}
				}()
				d := <-f.demands
				time.Sleep(2 * time.Millisecond)
				synctest.Wait() // the look waits
				held := f.grant(1)
				d.answer <- answer{held, want}
				a := <-done
				require.ErrorIs(t, a.err, want)
				assert.Equal(t, HeldGrant(held), a.grant)
			})
		})
	}
}

// The client passes over what a wait is told, known to it or not, up to the grant or the refusal.
func TestAcquire_Progress_PassedOver(t *testing.T) {
	f := newFake()
	server := httptest.NewUnstartedServer(newTestHandler(f))
	l, err := net.Listen("unix", socketPath(t))
	require.NoError(t, err)
	server.Listener.Close()
	server.Listener = l
	server.Start()
	defer server.Close()
	for _, refusal := range []error{nil, ErrNotDue} {
		done := acquire(t.Context(), Dial(l.Addr().String()), AcquireRequest{Resource: "ftp", Progress: true})
		d := receive(t, f.demands)
		looks := f.looks.Load()
		eventually.Until(t, "an event", func() bool { return f.looks.Load() > looks+1 })
		held := f.grant(1)
		d.answer <- answer{grant: held, err: refusal}
		a := receive(t, done)
		require.ErrorIs(t, a.err, refusal)
		if refusal == nil {
			assert.Equal(t, held.grant, a.held.Grant())
			a.held.Close()
		}
	}
}

func TestAwait_EventsBeforeGrant_Borne(t *testing.T) {
	granted := `{"v":1,"event":"granted","grant":{"resource":"ftp"}}`
	for name, c := range map[string]struct {
		stream string
		want   error
	}{
		"unheard of":           {`{"v":1,"event":"unheard_of","with":[1]}` + "\n" + granted, nil},
		"waiting":              {`{"v":1,"event":"waiting","cause":"queued"}` + "\n" + granted, nil},
		"refused":              {`{"v":1,"event":"refused","error":{"code":"not_due"}}`, ErrNotDue},
		"refused for nothing":  {`{"v":1,"event":"refused"}` + "\n" + granted, ErrReply},
		"lost before it began": {`{"v":1,"event":"lost","reason":"stopped"}` + "\n" + granted, ErrReply},
		"granted nothing":      {`{"v":1,"event":"granted"}` + "\n" + granted, ErrReply},
		"no end":               {`{"v":1,"event":"waiting"}`, io.ErrUnexpectedEOF},
	} {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			if _, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
				_, _ = io.WriteString(theirs, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"+c.stream+"\n")
			}
		}()
		_, err := await(ours, AcquireRequest{Resource: "ftp", Progress: true})
		require.ErrorIs(t, err, c.want, name)
		ours.Close()
	}
}

// What is refused before anything was told is refused as without progress.
func TestProgress_RefusedAtOnce_AsEver(t *testing.T) {
	f := newFake()
	server := httptest.NewServer(NewHandler(f))
	defer server.Close()
	go func() { (<-f.demands).answer <- answer{err: ErrRefused} }()
	response, err := server.Client().Post(server.URL+"/v1/acquire", "application/json", strings.NewReader(`{"resource":"ftp","progress":true}`))
	require.NoError(t, err)
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, http.StatusForbidden, response.StatusCode)
	assert.ErrorIs(t, refusal(b), ErrRefused)
}

// Time that passes is no news; what is not what it would have been by now is.
func TestDiffers_Prediction_ByMoreThanTime(t *testing.T) {
	s := func(v float64) *float64 { return &v }
	for name, c := range map[string]struct {
		a, b   *float64
		passed time.Duration
		want   bool
	}{
		"as time passes":    {s(40), s(35), 5 * time.Second, false},
		"a little later":    {s(40), s(39), 5 * time.Second, false},
		"much later":        {s(40), s(45), 5 * time.Second, true},
		"overdue":           {s(4), s(0.5), 9 * time.Second, false},
		"one comes to know": {nil, s(4), 0, true},
		"nothing known":     {nil, nil, 0, false},
	} {
		assert.Equal(t, c.want, differs(Waiting{P50S: c.a}, Waiting{P50S: c.b}, c.passed), name)
	}
}
