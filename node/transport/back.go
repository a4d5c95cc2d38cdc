package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// backALPN is the application protocol of a connection on which a member asks another one to dial it (T-26).
const backALPN = "wander-back/1"

// DialOutcome is what became of a dial that somebody asked for.
type DialOutcome uint64

// The outcomes.
const (
	DialAnswered   DialOutcome = 0 // by the member that asked
	DialUnanswered DialOutcome = 1 // by nobody
	DialRefused    DialOutcome = 2 // somebody answered, and it was not that member, or refused
)

// BackDial is one address of the member that asked, and what became of the dial.
type BackDial struct {
	_       struct{} `cbor:",toarray"`
	Address string
	Outcome DialOutcome
}

// backAnswer is the answer on the wire (spec/wire.cddl, dialled-back).
type backAnswer struct {
	_       struct{} `cbor:",toarray"`
	Seen    string
	Dialled []BackDial
}

const (
	// maxBackAddress bounds an address in an answer, in bytes: a host name has at most 253.
	maxBackAddress = 280
	// maxBackAnswer bounds an answer: each address with its heads, and the one that was seen.
	maxBackAnswer = (maxAddresses + 1) * (maxBackAddress + 8)
	// backDialTime is for how long each address is dialled: a handshake over the longest way takes less than one second.
	backDialTime = 2 * time.Second
	// BackTime bounds a request as a whole, for both sides: a handshake there, the dials, which go on at once, and an answer.
	BackTime = 4 * time.Second
	// maxBacks bounds the requests that are served at once, and backsPerSecond those that begin: each costs a handshake for each address of its
	// asker, and people ask seldom.
	maxBacks       = 2
	backsPerSecond = 1
)

var backLimits = canonical.Limits{MaxBytes: maxBackAnswer, MaxDepth: 4, MaxItems: 4 + 4*maxAddresses}

func (a backAnswer) encode() ([]byte, error) { return canonical.Marshal(a) }

// parseBackAnswer reads a frame body, or returns ErrProtocol.
func parseBackAnswer(body []byte) (a backAnswer, seen netip.AddrPort, err error) {
	if err := canonical.Unmarshal(body, &a, backLimits); err != nil {
		return backAnswer{}, seen, fmt.Errorf("%w: answer of a dial back: %w", ErrProtocol, err)
	}
	if seen, err = netip.ParseAddrPort(a.Seen); err != nil || seen.String() != a.Seen {
		return backAnswer{}, seen, fmt.Errorf("%w: answer of a dial back: %q is no address", ErrProtocol, a.Seen)
	}
	if len(a.Dialled) > maxAddresses {
		return backAnswer{}, seen, fmt.Errorf("%w: answer of a dial back with %d addresses", ErrProtocol, len(a.Dialled))
	}
	for _, d := range a.Dialled {
		if len(d.Address) > maxBackAddress || d.Outcome > DialRefused {
			return backAnswer{}, seen, fmt.Errorf("%w: answer of a dial back: %q, outcome %d", ErrProtocol, d.Address, d.Outcome)
		}
	}
	return a, seen, nil
}

// Back is what a member has said that was asked to dial this one.
type Back struct {
	By      certificate.Certificate // verified
	Seen    netip.AddrPort          // from where this member's packets come, as it sees them
	Dialled []BackDial              // at most 16
}

// DialBack asks a member to dial this one at the addresses of its endpoint record, from another port than that of the connection with it, and
// to say from where this member's packets come. A connection that exists stays. It takes one of MaxDials places, or is ErrBusy. The errors match
// those of errors.go; a member that does not do this refuses the handshake (ErrRefused), and one that is asked too often is ErrOverload.
func (t *Transport) DialBack(ctx context.Context, addresses []string, member ident.Member) (b Back, err error) {
	select {
	case t.dials <- struct{}{}:
	default:
		return b, ErrBusy
	}
	defer func() { <-t.dials }()
	ctx, cancel := context.WithTimeout(ctx, BackTime)
	defer cancel()
	defer context.AfterFunc(t.ctx, cancel)()
	q, cert, err := t.reach(ctx, addresses, target{want: &member, verdict: unknownVerdict, protocol: backALPN})
	if err != nil {
		return b, err
	}
	defer q.CloseWithError(quic.ApplicationErrorCode(CodeNormal), "")
	defer context.AfterFunc(ctx, func() { q.CloseWithError(quic.ApplicationErrorCode(CodeNormal), "") })()
	s, err := q.OpenStream()
	if err != nil {
		return b, closeReason(err)
	}
	if err := s.Close(); err != nil { // that is the question
		return b, closeReason(err)
	}
	body, err := wire.ReadFrame(s, make([]byte, maxBackAnswer))
	if err != nil {
		return b, closeReason(err)
	}
	a, seen, err := parseBackAnswer(body)
	if err != nil {
		return b, err
	}
	return Back{By: cert, Seen: seen, Dialled: a.Dialled}, nil
}

// serve dials the member at the other end of an inbound connection, and says what became of that.
func (b *backs) serve(q *quic.Conn, asker ident.Member) {
	code := CodeNormal
	defer func() { q.CloseWithError(quic.ApplicationErrorCode(code), "") }()
	t := b.t
	if _, revoked := t.cfg.Revocation(asker); revoked {
		code = CodeRevoked
		return
	}
	if !b.begin(t.now()) {
		code = CodeOverload
		return
	}
	defer b.end()
	ctx, cancel := context.WithTimeout(t.ctx, BackTime)
	defer cancel()
	defer context.AfterFunc(q.Context(), cancel)()
	s, err := q.AcceptStream(ctx)
	if err != nil {
		code = CodeProtocol
		return
	}
	seen, ok := q.RemoteAddr().(*net.UDPAddr)
	if !ok {
		code = CodeInternal
		return
	}
	a := backAnswer{Seen: netip.AddrPortFrom(addressOf(seen), uint16(seen.Port)).String(), Dialled: b.dialAll(ctx, t.cfg.Addresses(asker), asker)}
	body, err := a.encode()
	if err != nil {
		code = CodeInternal
		return
	}
	s.SetWriteDeadline(time.Now().Add(backDialTime))
	if _, err := s.Write(wire.AppendFrame(nil, body)); err != nil || s.Close() != nil {
		return
	}
	select { // the asker closes when it has read that
	case <-q.Context().Done():
	case <-ctx.Done():
	}
}

// dialAll dials a member at each address at once, from a socket of its own: its machine, or a NAT before it, may let in what comes from a port to which it
// has just sent, and nothing else.
func (b *backs) dialAll(ctx context.Context, addresses []string, member ident.Member) []BackDial {
	t := b.t
	list := make([]BackDial, min(len(addresses), maxAddresses))
	var local net.UDPAddr
	if own, ok := t.cfg.Conn.LocalAddr().(*net.UDPAddr); ok {
		local.IP, local.Zone = own.IP, own.Zone
	}
	conn, err := net.ListenUDP("udp", &local)
	if err != nil {
		return nil
	}
	defer conn.Close()
	via := &quic.Transport{Conn: quiet(conn)}
	defer via.Close()
	ctx, cancel := context.WithTimeout(ctx, backDialTime)
	defer cancel()
	var wg sync.WaitGroup
	for i, address := range addresses[:len(list)] {
		list[i].Address = address
		wg.Go(func() {
			q, _, err := t.reach(ctx, []string{address}, target{want: &member, via: via})
			list[i].Outcome = dialOutcome(err)
			if err == nil {
				q.CloseWithError(quic.ApplicationErrorCode(CodeNormal), "")
			}
		})
	}
	wg.Wait()
	return list
}

func dialOutcome(err error) DialOutcome {
	switch {
	case err == nil:
		return DialAnswered
	case refusalOf(err) != nil, errors.Is(err, ErrSelf):
		return DialRefused
	}
	return DialUnanswered
}

// backs serves requests to dial back, and bounds them.
type backs struct {
	t      *Transport
	mu     sync.Mutex
	served int
	rate   bucket
}

func newBacks(t *Transport) *backs { return &backs{t: t, rate: newBucket(backsPerSecond, maxBacks, 0)} }

func (b *backs) begin(now time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.served == maxBacks || !b.rate.take(now) {
		return false
	}
	b.served++
	return true
}

func (b *backs) end() {
	b.mu.Lock()
	b.served--
	b.mu.Unlock()
}
