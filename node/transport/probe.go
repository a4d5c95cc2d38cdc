package transport

import (
	"context"
	"net"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// Answer is what a probe has met.
type Answer struct {
	Certificate certificate.Certificate // verified
	Remote      net.Addr                // that answered
	Took        time.Duration           // by the handshake, after the names were resolved
	RTT         time.Duration           // the least that was seen
}

// Probe makes one handshake with the member that is wanted, or with anyone when want is nil, and ends the connection
// before it is used: what is connected stays so. Its packets are padded to 1200 bytes both ways, so an answer also says
// that these pass. It takes one of MaxDials places, or is ErrBusy. The errors match those of errors.go.
func (t *Transport) Probe(ctx context.Context, addresses []string, want *ident.Member) (Answer, error) {
	select {
	case t.dials <- struct{}{}:
	default:
		return Answer{}, ErrBusy
	}
	defer func() { <-t.dials }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	begun := time.Now()
	whom := target{want: want}
	if want != nil {
		whom.verdict = unknownVerdict
	}
	q, cert, err := t.reach(ctx, addresses, whom)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Certificate: cert, Remote: q.RemoteAddr(), Took: time.Since(begun), RTT: q.ConnectionStats().MinRTT}
	q.CloseWithError(quic.ApplicationErrorCode(CodeNormal), "")
	return a, nil
}

// Neighbour is a member that is connected.
type Neighbour struct {
	Member  ident.Member
	Remote  net.Addr
	Dialled bool          // by this member
	RTT     time.Duration // the least that was seen
}

// Neighbours are the members that are connected now, in no order.
func (t *Transport) Neighbours() (list []Neighbour) {
	for _, p := range t.allPeers() {
		p.mu.Lock()
		if c := p.current; c != nil {
			list = append(list, Neighbour{p.id, c.quic.RemoteAddr(), c.Dialled, c.quic.ConnectionStats().MinRTT})
		}
		p.mu.Unlock()
	}
	return list
}

// Unanswered is for how long no connection has brought anything although something was sent on each, as of the last look at
// them. It is 0 while one of them is not waited for, and without a connection.
func (t *Transport) Unanswered() (least time.Duration) {
	for _, p := range t.allPeers() {
		p.mu.Lock()
		c := p.current
		var waits time.Duration
		if c != nil {
			waits = c.hearing.unanswered
		}
		p.mu.Unlock()
		switch {
		case c == nil:
		case waits == 0:
			return 0
		case least == 0 || waits < least:
			least = waits
		}
	}
	return least
}
