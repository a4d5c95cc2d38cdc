package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
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
	// After the session Close ends a Read or Write that waits. An error of either that is one of this package's says how the stream has ended:
	// ErrNoSession with its session, ErrUnavailable because the gate does not reach the resource or has too many streams, ErrBadRequest because it has no such target.
	io.ReadWriteCloser
	// CloseWrite ends what goes to the resource; what comes from it goes on.
	CloseWrite() error
	// Done is closed when the session has ended.
	Done() <-chan struct{}
}

// protocolGate is the value of Upgrade: after the head of the answer come raw bytes to the resource, and frames from it. With "wander-gate" raw bytes came.
const protocolGate = "wander-gate/2"

const (
	// frameHead is the length of a frame's length. Behind a frame without bytes comes the last one, which says how the stream has ended.
	frameHead = 2

	// maxFrame bounds the bytes of a frame.
	maxFrame = 1<<(8*frameHead) - 1

	// lastWrite is how long a program that does not read has for what the daemon still writes when a stream ends.
	lastWrite = time.Second
)

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
	free, err := h.tunnels.take(r.Context())
	if err != nil {
		fail(w, err)
		return
	}
	defer free()
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
	carry(local, tunnel)
}

// carry copies between a program and a tunnel until both directions have ended, or the session has, and tells the program how. What goes to the resource
// may fail first: a resource that takes no more may still answer.
func carry(local *stream, tunnel Tunnel) {
	var wait sync.WaitGroup
	over := make(chan struct{})
	wait.Go(func() {
		select {
		case <-tunnel.Done():
			_ = local.SetReadDeadline(time.Unix(1, 0))
			_ = local.SetWriteDeadline(time.Now().Add(lastWrite))
			tunnel.Close() // a gate that takes nothing would keep a Write waiting
		case <-over:
		}
	})
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = io.Copy(tunnel, local)
		_ = tunnel.CloseWrite()
	}()
	out := &frames{w: local}
	_, err := io.Copy(out, tunnel)
	if err != nil {
		select {
		case <-tunnel.Done():
			err = fmt.Errorf("%w: the session has ended", ErrNoSession)
		default:
		}
		_ = local.SetWriteDeadline(time.Now().Add(lastWrite))
		out.end(err)
		local.Close()
		tunnel.Close()
	} else {
		out.end(nil)
		_ = local.CloseWrite()
	}
	<-sent
	close(over)
	wait.Wait()
}

// frames writes what comes from a resource, and at last how that has ended.
type frames struct {
	w      io.Writer
	broken bool // a frame was cut short
}

// Write writes frames.
func (f *frames) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		part := p[n:min(len(p), n+maxFrame)]
		var wrote int64
		wrote, err = (&net.Buffers{binary.BigEndian.AppendUint16(nil, uint16(len(part))), part}).WriteTo(f.w)
		f.broken = f.broken || err != nil
		n += max(0, int(wrote)-frameHead)
	}
	return n, err
}

// end writes the last frames: nil says that the resource has ended the stream.
func (f *frames) end(why error) {
	if f.broken {
		return
	}
	answer := failure{V: Version}
	if why != nil {
		answer.Error, _ = errorOf(why)
	}
	text, err := json.Marshal(answer)
	if err == nil && len(text) <= maxFrame {
		_, _ = f.w.Write(append(binary.BigEndian.AppendUint16(make([]byte, frameHead), uint16(len(text))), text...))
	}
}

// received reads frames.
type received struct {
	r    *bufio.Reader
	left int   // of the frame
	end  error // set after the last frame
}

// Read reads what has come from the resource. At the end the error is io.EOF if the resource has ended the stream, or says how it has ended.
func (r *received) Read(p []byte) (int, error) {
	for r.left == 0 {
		if r.end != nil {
			return 0, r.end
		}
		if r.left, r.end = r.length(); r.left == 0 && r.end == nil {
			r.end = r.last()
		}
	}
	n, err := r.r.Read(p[:min(len(p), r.left)])
	if r.left -= n; err != nil {
		r.left, r.end = 0, broken(err)
		return n, r.end
	}
	return n, nil
}

// length reads that of the next frame.
func (r *received) length() (int, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return 0, broken(err)
	}
	return int(binary.BigEndian.Uint16(head[:])), nil
}

// last reads the last frame. The daemon closes the connection behind it, maybe with bytes that it has not read, so its end says nothing.
func (r *received) last() error {
	n, err := r.length()
	if err != nil {
		return err
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r.r, text); err != nil {
		return broken(err)
	}
	var f failure
	if err := decodeReply(text, &f); err != nil {
		return err
	}
	if f.Error == nil {
		return io.EOF
	}
	return f.Error
}

// Duplex is a stream of which each direction ends by itself.
type Duplex interface {
	io.ReadWriteCloser
	CloseWrite() error
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
// ctx bounds the opening only. Errors: ErrNoSession and others of this package; a Read of the stream has them, too, unless the resource has ended it.
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
	return &stream{conn, &received{r: buffered}}, nil
}
