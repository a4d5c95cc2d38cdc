package api

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/pipes"
)

// serveOn serves a backend over pipes.
func serveOn(t *testing.T, b Backend) (network *pipes.Listener, stop func()) {
	network = pipes.Listen()
	server, ended := NewServer(b, slog.New(slog.DiscardHandler)), make(chan error, 1)
	go func() { ended <- server.Serve(network) }()
	return network, func() {
		require.NoError(t, server.Shutdown(context.Background()))
		require.NoError(t, <-ended)
	}
}

// send sends a request on a new connection.
func send(t *testing.T, network *pipes.Listener, method, path, body string) net.Conn {
	conn := network.Dial()
	_, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: wander\r\nContent-Length: %d\r\n\r\n%s", method, path, len(body), body)
	require.NoError(t, err)
	return conn
}

// A reply whose client does not read it is not kept.
func TestReply_SlowReader_Dropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network, stop := serveOn(t, newFake())
		conn := send(t, network, http.MethodGet, "/v1/status", "")
		time.Sleep(readTimeout + writeTimeout + time.Second)
		n, err := io.Copy(io.Discard, conn)
		assert.NoError(t, err, "the connection is closed")
		assert.Zero(t, n)
		stop()
	})
}

// However many ask, few answers are put together at a time, and one that is not read is none of them.
func TestLooks_ManyReaders_FewAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, begun, goOn := newFake(), 0, make(chan struct{})
		var mu sync.Mutex
		f.status = func() {
			mu.Lock()
			begun++
			mu.Unlock()
			<-goOn
		}
		network, stop := serveOn(t, f)
		var conns []net.Conn
		for range maxLooks + 2 {
			conns = append(conns, send(t, network, http.MethodGet, "/v1/status", ""))
			synctest.Wait() // the first ones have the places
		}
		assert.Equal(t, maxLooks, begun)
		others := send(t, network, http.MethodGet, "/v1/members", "")
		conns[maxLooks+1].Close() // it waits no more
		synctest.Wait()
		close(goOn)
		synctest.Wait() // nobody has read an answer
		assert.Equal(t, maxLooks+1, begun)
		response, err := http.ReadResponse(bufio.NewReader(others), nil)
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, response.StatusCode)
		for _, c := range append(conns, others) {
			c.Close()
		}
		stop()
	})
}

// What programs wait for is looked at once a second for all of one resource, not for each.
func TestProgress_ManyStreams_SamplesShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const programs, seconds = 50, 10
		f := newFake()
		f.demands = make(chan *demand, programs)
		h := NewHandler(f)
		ctx, cancel := context.WithCancel(t.Context())
		for range programs {
			r := httptest.NewRequest(http.MethodPost, "/v1/acquire", strings.NewReader(`{"resource":"ftp","progress":true}`))
			go h.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
			time.Sleep(progressEvery / programs / 2)
		}
		time.Sleep(seconds * progressEvery)
		looks := f.looks.Load()
		assert.GreaterOrEqual(t, looks, int64(seconds))
		assert.LessOrEqual(t, looks, int64(seconds+1))
		cancel()
		synctest.Wait()
	})
}

// A stream whose next line, or next byte, comes after hours is not cut.
func TestStreams_Hours_Stay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		near, far := net.Pipe()
		f.tunnel = &piped{near, make(chan struct{})}
		network, stop := serveOn(t, f)
		acquiring := send(t, network, http.MethodPost, "/v1/acquire", `{"resource":"ftp"}`)
		connecting := send(t, network, http.MethodPost, "/v1/connect", `{"grant":"`+testGrant(1).ID.String()+`"}`)
		first := <-f.demands
		refused := send(t, network, http.MethodPost, "/v1/acquire", `{"resource":"ftp"}`)
		second := <-f.demands
		through := bufio.NewReader(connecting)
		response, err := http.ReadResponse(through, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusSwitchingProtocols, response.StatusCode)

		time.Sleep(time.Hour)
		held := f.grant(1)
		first.answer <- answer{grant: held}
		response, err = http.ReadResponse(bufio.NewReader(acquiring), nil)
		require.NoError(t, err)
		events := bufio.NewReader(response.Body)
		var e event
		text, err := events.ReadBytes('\n')
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &e))
		assert.Equal(t, eventGranted, e.Event)
		time.Sleep(time.Hour)
		held.lost <- LostRevoked
		text, err = events.ReadBytes('\n')
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &e))
		assert.Equal(t, eventLost, e.Event)

		second.answer <- answer{err: ErrNotDue}
		response, err = http.ReadResponse(bufio.NewReader(refused), nil)
		require.NoError(t, err)
		assert.Equal(t, http.StatusConflict, response.StatusCode)

		go func() { _, _ = io.WriteString(far, "late") }()
		frame := make([]byte, frameHead+4)
		_, err = io.ReadFull(through, frame)
		require.NoError(t, err)
		assert.Equal(t, append(binary.BigEndian.AppendUint16(nil, 4), "late"...), frame)
		for _, c := range []net.Conn{acquiring, refused, connecting, far} {
			c.Close()
		}
		stop()
	})
}

// piped is a tunnel over a pipe.
type piped struct {
	net.Conn
	done chan struct{}
}

func (p *piped) CloseWrite() error     { return p.Close() }
func (p *piped) Done() <-chan struct{} { return p.done }
