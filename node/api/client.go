package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"time"
)

// Client talks to the daemon behind a socket. It holds no connection: each call
// makes its own, so it survives a restart of the daemon. It may be used
// concurrently.
type Client struct{ socket string }

// Dial returns a client for the socket. It does not connect; the first call
// does.
func Dial(socket string) *Client { return &Client{socket: socket} }

// Release reports the end of a grant. It may be repeated.
func (c *Client) Release(ctx context.Context, r ReleaseRequest) error {
	return c.call(ctx, http.MethodPost, "/v1/release", r, &acknowledgement{})
}

// Back ends the grants of a resource that last across a restart of the machine, and returns how many there were.
func (c *Client) Back(ctx context.Context, resource string) (int, error) {
	var r backAnswer
	err := c.call(ctx, http.MethodPost, "/v1/back", backRequest{resource}, &r)
	return r.Ended, err
}

// Status asks what the member knows.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	err := c.call(ctx, http.MethodGet, "/v1/status", nil, &s)
	return s, err
}

// Members asks whom the member knows.
func (c *Client) Members(ctx context.Context) ([]MemberInfo, error) {
	var l MemberList
	err := c.call(ctx, http.MethodGet, "/v1/members", nil, &l)
	return l.Members, err
}

// Leave takes the member out of the group, permanently, and ends the daemon.
func (c *Client) Leave(ctx context.Context) error {
	return c.call(ctx, http.MethodPost, "/v1/leave", nil, &acknowledgement{})
}

// Renew asks the CA for a newer certificate now.
func (c *Client) Renew(ctx context.Context) (Renewal, error) {
	var r Renewal
	err := c.call(ctx, http.MethodPost, "/v1/renew", nil, &r)
	return r, err
}

// Checkup asks the daemon what an operator can mend.
func (c *Client) Checkup(ctx context.Context) ([]Check, error) {
	var r Checkup
	err := c.call(ctx, http.MethodGet, "/v1/checkup", nil, &r)
	return r.Checks, err
}

// Probe has the daemon dial one member.
func (c *Client) Probe(ctx context.Context, r ProbeRequest) ([]Check, error) {
	var answer Checkup
	err := c.call(ctx, http.MethodPost, "/v1/probe", r, &answer)
	return answer.Checks, err
}

// History asks for the last hour.
func (c *Client) History(ctx context.Context) ([]ResourceHistory, error) {
	var r History
	err := c.call(ctx, http.MethodGet, "/v1/history", nil, &r)
	return r.Resources, err
}

// call makes one request and reads its one reply.
func (c *Client) call(ctx context.Context, method, path string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, replyTimeout)
	defer cancel()
	conn, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	response, err := exchange(ctx, conn, method, path, body)
	if err != nil {
		return because(ctx, err)
	}
	defer response.Body.Close()
	b, err := io.ReadAll(io.LimitReader(response.Body, maxReply))
	if err != nil {
		return because(ctx, broken(err))
	}
	if response.StatusCode != http.StatusOK {
		return refusal(b)
	}
	return decodeReply(b, into)
}

// because prefers the caller's reason to stop over what it did to the
// connection.
func because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, context.Cause(ctx))
	}
	return err
}

// StartHint says what to do where no daemon answers.
const StartHint = "start it with `systemctl start wander` or `wander node`, or give its socket with --socket"

func (c *Client) connect(ctx context.Context) (*net.UnixConn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", c.socket)
	if err == nil {
		return conn.(*net.UnixConn), nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	hint := StartHint
	if errors.Is(err, fs.ErrPermission) {
		hint = "run the command as the daemon's user, or as one whom api.group in its settings lets use the socket"
	}
	return nil, &Error{
		Code:    "unavailable",
		Message: fmt.Sprintf("no daemon answers on %s: %v", c.socket, cause(err)),
		Hint:    hint,
		causes:  []error{ErrNoDaemon, err},
	}
}

// cause strips what net says of the socket's path, which the message has
// already.
func cause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// exchange sends a request and reads the head of its reply.
func exchange(ctx context.Context, conn net.Conn, method, path string, body any) (*http.Response, error) {
	response, _, err := exchangeBuffered(ctx, conn, method, path, body)
	return response, err
}

// exchangeBuffered also returns what reads on from the connection.
func exchangeBuffered(ctx context.Context, conn net.Conn, method, path string, body any) (*http.Response, *bufio.Reader, error) {
	var encoded bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&encoded).Encode(body); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrBadRequest, err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://wander"+path, &encoded)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrBadRequest, err)
	}
	request.Close = true
	if err := request.Write(conn); err != nil {
		return nil, nil, broken(err)
	}
	buffered := bufio.NewReader(conn)
	response, err := http.ReadResponse(buffered, request)
	if err != nil {
		return nil, nil, broken(err)
	}
	return response, buffered, nil
}

// broken is a connection that ended before its reply: the daemon was there and
// is not any more.
func broken(err error) error {
	return fmt.Errorf("%w: the daemon closed the connection: %w", ErrUnavailable, err)
}

// refusal reads a reply that is not 200.
func refusal(b []byte) error {
	var f failure
	if err := decodeReply(b, &f); err != nil {
		return err
	}
	if f.Error == nil || f.Error.Code == "" {
		return fmt.Errorf("%w: a refusal without a reason", ErrReply)
	}
	return f.Error
}

// decodeReply reads one object of any reply. Unknown fields are from a newer
// daemon and skipped; another version is refused.
func decodeReply(b []byte, into any) error {
	var head acknowledgement
	if err := json.Unmarshal(b, &head); err != nil {
		return fmt.Errorf("%w: %w", ErrReply, err)
	}
	if head.V != Version {
		return fmt.Errorf("%w: version %d, this program understands %d", ErrReply, head.V, Version)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%w: %w", ErrReply, err)
	}
	return nil
}
