package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// ConnectRequest asks for a stream to the resource through its gate, within the session of a grant.
type ConnectRequest struct {
	Grant ident.Grant `json:"grant"`
	// Target is one of those that the gate has by a name; empty for the one that has none.
	Target string `json:"target,omitempty"`
}

// Tunnel is a stream to a resource through its gate. It belongs to a session and ends with it.
type Tunnel interface {
	io.ReadWriteCloser // after the session Close ends a Read or Write that waits
	// CloseWrite ends what goes to the resource; what comes from it goes on.
	CloseWrite() error
	// Done is closed when the session has ended.
	Done() <-chan struct{}
}

// protocolGate is the value of Upgrade: raw bytes follow the head of the answer.
const protocolGate = "wander-gate"

// switching is the head of the answer after which raw bytes follow.
const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: " + protocolGate + "\r\n\r\n"

// connect joins the connection of the request with a tunnel. The daemon alone has the member's key, and no port that other
// users of the machine could reach is opened.
func (h *handler) connect(w http.ResponseWriter, r *http.Request) {
	var req ConnectRequest
	if err := decode(w, r, &req); err != nil {
		fail(w, err)
		return
	}
	select {
	case h.tunnels <- struct{}{}:
		defer func() { <-h.tunnels }()
	default:
		fail(w, fmt.Errorf("%w: %d streams to gates are open already", ErrUnavailable, cap(h.tunnels)))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), connectTimeout)
	tunnel, err := h.backend.Connect(ctx, req)
	cancel()
	if err != nil {
		fail(w, err)
		return
	}
	defer tunnel.Close()
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		fail(w, fmt.Errorf("%w: %w", ErrInternal, err))
		return
	}
	early, _ := buffered.Peek(buffered.Reader.Buffered()) // it would take the end of one direction for the end of both
	local := &stream{conn, io.MultiReader(bytes.NewReader(early), conn)}
	defer local.Close()
	_ = conn.SetDeadline(time.Time{}) // a stream may be idle for as long as its session lasts
	if _, err := io.WriteString(conn, switching); err != nil {
		return
	}
	defer context.AfterFunc(r.Context(), func() { local.Close() })() // the daemon stops
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-tunnel.Done():
			local.Close()
			tunnel.Close() // a gate that takes nothing would keep a Write waiting
		case <-over:
		}
	}()
	Join(local, tunnel)
}

// Duplex is a stream of which each direction ends by itself.
type Duplex interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// Join copies between two streams until both directions have ended, or one has failed, and closes both.
func Join(a, b Duplex) {
	var once sync.Once
	closeBoth := func() {
		a.Close()
		b.Close()
	}
	var wait sync.WaitGroup
	for _, way := range [2][2]Duplex{{a, b}, {b, a}} {
		wait.Go(func() {
			if _, err := io.Copy(way[1], way[0]); err != nil || way[1].CloseWrite() != nil {
				once.Do(closeBoth)
			}
		})
	}
	wait.Wait()
	once.Do(closeBoth)
}

// stream is a connection whose first bytes may have been read already.
type stream struct {
	net.Conn
	in io.Reader
}

// Read reads what has been read already first.
func (s *stream) Read(b []byte) (int, error) { return s.in.Read(b) }

// CloseWrite ends one direction.
func (s *stream) CloseWrite() error {
	if c, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return s.Close()
}

// Connect opens a stream to the resource of a grant through its gate. It belongs to the grant's session and ends with it.
// ctx bounds the opening only. Errors: ErrNoSession and others of this package.
func (c *Client) Connect(ctx context.Context, r ConnectRequest) (Duplex, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout+time.Second)
	defer cancel()
	conn, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	abort := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	s, err := upgrade(ctx, conn, r)
	if !abort() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, because(ctx, err)
	}
	return s, nil
}

// upgrade sends the request, and reads the head of the answer.
func upgrade(ctx context.Context, conn *net.UnixConn, r ConnectRequest) (Duplex, error) {
	response, buffered, err := exchangeBuffered(ctx, conn, http.MethodPost, "/v1/connect", r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusSwitchingProtocols {
		b, err := io.ReadAll(io.LimitReader(response.Body, maxReply))
		if err != nil {
			return nil, broken(err)
		}
		return nil, refusal(b)
	}
	if response.Header.Get("Upgrade") != protocolGate {
		return nil, fmt.Errorf("%w: it switches to %q", ErrReply, response.Header.Get("Upgrade"))
	}
	return &stream{conn, buffered}, nil
}
