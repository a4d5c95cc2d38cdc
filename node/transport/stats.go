package transport

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Stats is a snapshot of a transport's counters. All but Connections, Peers
// and Queued only grow.
type Stats struct {
	Connections int   // open and in use
	Peers       int   // members with a connection, a backlog or a recent failure
	Handshakes  int   // inbound handshakes in progress
	Queued      int64 // bytes that wait for peers

	Accepted     uint64 // connections that a peer dialled and that were used
	Dialled      uint64 // connections that this member dialled and that were used
	DialFailures uint64 // dials that reached nobody
	Surplus      uint64 // own dials given up because the peer's came first
	Replaced     uint64 // connections that another one replaced
	Moved        uint64 // silent connections given up because the peer answered a new dial
	Withdrawn    uint64 // inbound connections that the dialler ended before they were used: in order, or by its restart
	IdleClosed   uint64 // connections closed here for idleness
	Lapsed       uint64 // connections closed because the peer's newest certificate ended, or its CA key was retired

	FramesReceived, BytesReceived uint64 // bodies of frames handed to the handler
	FramesSent, BytesSent         uint64 // frames handed to QUIC, and their encoded bytes
	DroppedCustody, DroppedRest   uint64 // frames dropped: no room, or no connection came about
	Throttled                     uint64 // times that reading from a peer was slowed down

	// Hints are by what became of them the refusals of a host where a watched member is.
	Hints Hints

	// Refused counts what was turned away, by class: the refusals of the
	// handshake (see errors.go) and the other events that are logged.
	Refused map[string]uint64
}

// Hints counts answers of hosts that nobody listens at a watched member's port, which
// anybody can forge.
type Hints struct {
	Confirmed uint64 // nobody answered a dial there either
	Refuted   uint64 // the member answered
	Ignored   uint64 // those that led to no dial: one is in progress, or they were not true of late
}

// counters are the live counters behind Stats.
type counters struct {
	accepted, dialled, dialFailures, surplus, replaced, moved, withdrawn, idleClosed, lapsed atomic.Uint64
	framesReceived, bytesReceived, framesSent, bytesSent                                     atomic.Uint64
	dropped                                                                                  [classes]atomic.Uint64
	throttled                                                                                atomic.Uint64
	hintsConfirmed, hintsRefuted, hintsIgnored                                               atomic.Uint64
}

func (c *counters) drop(n [classes]int) {
	for class, frames := range n {
		if frames > 0 {
			c.dropped[class].Add(uint64(frames))
		}
	}
}

// refusals are the handshake refusals, in the order in which they are counted.
var refusals = [...]error{
	ErrNoCertificate, ErrNotMember, ErrCertificate, ErrOtherGroup, ErrExpired,
	ErrNotYetValid, ErrKeyMismatch, ErrSelf, ErrWrongMember, ErrHandshake,
}

// refusalOf is the refusal that err is, or nil.
func refusalOf(err error) error {
	for _, r := range refusals {
		if errors.Is(err, r) {
			return r
		}
	}
	return nil
}

// Other events that are counted and logged like refusals.
var (
	errRate      = errors.New("too many handshakes")
	errUnready   = errors.New("too many connections of one member")
	errEvicted   = errors.New("too many connections")
	errStalled   = errors.New("peer does not read")
	errOverflow  = errors.New("send queue full")
	errOversized = errors.New("frame to send has no permitted size")
)

var events = append(refusals[:len(refusals):len(refusals)],
	ErrRevoked, ErrProtocol, errRate, errUnready, errEvicted, errStalled, errOverflow, errOversized)

// notices counts events by class and logs each class at most once in
// noticeInterval, with the number of those that were not logged before it.
type notices struct {
	log   *slog.Logger
	mu    sync.Mutex
	kinds map[error]*notice
}

type notice struct {
	total, unlogged uint64
	last            time.Time
}

func newNotices(log *slog.Logger) *notices {
	n := &notices{log: log, kinds: make(map[error]*notice, len(events))}
	for _, e := range events {
		n.kinds[e] = &notice{}
	}
	return n
}

// note counts one event of this kind (one of events) and perhaps logs it.
func (n *notices) note(kind error, attrs ...any) {
	now := time.Now()
	n.mu.Lock()
	k := n.kinds[kind]
	k.total++
	if !k.last.IsZero() && now.Sub(k.last) < noticeInterval {
		k.unlogged++
		n.mu.Unlock()
		return
	}
	unlogged := k.unlogged
	k.last, k.unlogged = now, 0
	n.mu.Unlock()
	n.log.Warn(kind.Error(), append(attrs, "unlogged", unlogged)...)
}

func (n *notices) snapshot() map[string]uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	m := make(map[string]uint64, len(n.kinds))
	for kind, k := range n.kinds {
		m[kind.Error()] = k.total
	}
	return m
}
