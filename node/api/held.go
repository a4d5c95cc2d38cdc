package api

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Held is a grant as its holder sees it. It does not end the grant when it is
// closed: Client.Release does.
type Held struct {
	grant Grant
	lost  chan LostReason
	conn  net.Conn
}

// Grant is what was granted.
func (h *Held) Grant() Grant { return h.grant }

// Lost delivers a reason if the daemon tells that the grant is lost. It is
// closed when there is nothing more to hear, because the grant has ended or
// because the daemon is gone; a grant whose daemon is gone stands until its
// deadline.
func (h *Held) Lost() <-chan LostReason { return h.lost }

// Close stops listening.
func (h *Held) Close() error { return h.conn.Close() }

// Acquire waits for a grant as the request says. When ctx ends first, the
// demand is withdrawn and Acquire returns ctx's cause; a grant that crosses the
// withdrawal is given back unused, which may take up to a second when the
// daemon is stuck.
func (c *Client) Acquire(ctx context.Context, r AcquireRequest) (*Held, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	withdraw := context.AfterFunc(ctx, func() {
		// The daemon takes the closed half for a withdrawal, and what it has
		// written before that is still to be read.
		conn.CloseWrite()
		conn.SetReadDeadline(time.Now().Add(drainTimeout))
	})
	h, err := await(conn, r)
	if !withdraw() {
		// The connection goes first: it may be what keeps the daemon busy.
		conn.Close()
		if err == nil {
			c.giveBack(h.grant)
		}
		return nil, context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return h, nil
}

// giveBack releases a grant of which the caller never heard. When that fails,
// the deadline does it.
func (c *Client) giveBack(g Grant) {
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	_ = c.Release(ctx, ReleaseRequest{Grant: g.ID})
}

// await sends the request and reads up to the grant, or a refusal. What a
// demand with Progress is told before that is skipped, as are events that this
// version does not know.
func await(conn net.Conn, r AcquireRequest) (*Held, error) {
	response, err := exchange(context.Background(), conn, http.MethodPost, "/v1/acquire", r)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		b, err := io.ReadAll(io.LimitReader(response.Body, maxReply))
		if err != nil {
			return nil, broken(err)
		}
		return nil, refusal(b)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxEvent)
	for {
		e, err := nextEvent(lines)
		switch {
		case err != nil:
			return nil, err
		case e.Event == eventRefused && e.Error != nil && e.Error.Code != "":
			return nil, e.Error
		case e.Event == eventGranted && e.Grant != nil:
			h := &Held{grant: *e.Grant, lost: make(chan LostReason, 1), conn: conn}
			go h.listen(lines)
			return h, nil
		case e.Event == eventGranted, e.Event == eventRefused, e.Event == eventLost:
			return nil, fmt.Errorf("%w: the event %q before the grant", ErrReply, e.Event)
		}
	}
}

// listen waits for the loss of the grant. Events that this version does not
// know are skipped.
func (h *Held) listen(lines *bufio.Scanner) {
	defer close(h.lost)
	for {
		e, err := nextEvent(lines)
		if err != nil {
			return
		}
		if e.Event == eventLost {
			h.lost <- e.Reason
			return
		}
	}
}

func nextEvent(lines *bufio.Scanner) (event, error) {
	var e event
	if !lines.Scan() {
		if err := lines.Err(); err != nil {
			return e, broken(err)
		}
		return e, broken(io.ErrUnexpectedEOF)
	}
	return e, decodeReply(lines.Bytes(), &e)
}
