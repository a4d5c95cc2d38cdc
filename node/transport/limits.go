package transport

import (
	"time"

	"github.com/wandertoken/wander/protocol/wire"
)

// Limits on connections and handshakes.
const (
	// MaxConnections bounds the open connections of a member, whoever dialled
	// them. One costs about 60 kB on each side. When one more is made, the one
	// that has been without frames for longest is closed with CodeOverload.
	MaxConnections = 1024

	// MaxHandshakes bounds the inbound handshakes in progress. Each may hold
	// 16 kB of handshake data of somebody who has proved nothing yet.
	MaxHandshakes = 64

	// KnownHandshakes is how many of MaxHandshakes are for the addresses from which known members have come.
	KnownHandshakes = 16

	// PrefixHandshakes bounds those in progress from one address prefix, and prefixShare says
	// that one prefix may begin so much less in a second than all together: a third of the
	// other places, and a quarter of the handshakes. A prefix is a /24 of IPv4, and a /48 of
	// IPv6: the least that networks announce to each other, and what one site is given. Who
	// has more prefixes than one is no longer one machine.
	PrefixHandshakes = 16
	prefixShare      = 4
	prefixBits4      = 24
	prefixBits6      = 48

	// maxShares bounds the prefixes whose handshakes are counted, maxMet the members whose
	// addresses are known: 100 bytes each.
	maxShares = 1024
	maxMet    = MaxConnections

	// HandshakesPerSecond is how many inbound handshakes are begun in a
	// second, averaged. One costs 0.7 ms of processor time on each side, so that
	// strangers can take a few hundredths of a core and no more.
	HandshakesPerSecond = 50

	// HandshakeBurst is how many may be begun at once: after a restart of a
	// group's network everybody dials everybody.
	HandshakeBurst = 200

	// RetryAbove is the number of inbound handshakes in progress from which on a
	// new one has to prove its source address first (a QUIC Retry: one round
	// trip more). Below it, a forged address costs little.
	RetryAbove = 16

	// MaxUnready bounds the connections of one member that have finished the
	// handshake but not said their preamble; of more, the oldest is closed. Two can
	// be honest: a dial and its repetition after a restart.
	MaxUnready = 4

	// MaxDials bounds the outbound handshakes in progress, those of probes, too.
	MaxDials = 64
)

// Limits on time.
const (
	// DefaultIdleTimeout is how long a connection lives without frames. Dialling
	// again costs 1.3 ms of processor time on both sides together and a round
	// trip; keeping it costs memory and a keep-alive in each KeepAlive in which
	// nothing came.
	DefaultIdleTimeout = 30 * time.Second

	// DefaultSilence is for how long a connection may bring nothing although something
	// was sent on it: then the peer counts as unresponsive. It is a setting of the group. A
	// member sends something each second to one that it watches, so that its death is
	// noticed a second later than that. Up to a round trip of 100 ms QUIC sends a packet 5
	// times in that time before it counts as unanswered. A shorter one finds a dead
	// peer sooner, and suspects a slow one more often.
	DefaultSilence = 4 * time.Second

	// MaxSilence bounds the silence that a connection bears, whatever the group says: it
	// ends before QuietTimeout. Who wants to wait for longer dials again.
	MaxSilence = 30 * time.Second

	// MaxRest bounds the time between two looks at the connections; see
	// Transport.rest.
	MaxRest = 2500 * time.Millisecond

	// QuietTimeout is QUIC's max_idle_timeout, which ends a connection that neither
	// side uses or looks at. It is above DefaultIdleTimeout, which closes such a
	// connection in order.
	QuietTimeout = 45 * time.Second

	// KeepAlive is for how long nothing may come on a connection before its dialler
	// sends a keep-alive. Each wakes both processes three times, so a member that
	// wants to know sooner whether another one lives sends it frames. Address
	// translators keep a path in mind for 30 seconds or longer.
	KeepAlive = QuietTimeout / 3

	// KeepAliveOut is the same for a member that only dials out. Nobody can dial it,
	// so it must notice sooner than others that a connection is gone.
	KeepAliveOut = 2500 * time.Millisecond

	// HandshakeTimeout bounds one attempt to connect to one address. QUIC sends
	// a lost packet again after 0.2, 0.6 and 1.4 s. A group whose silence is shorter
	// waits no longer than that.
	HandshakeTimeout = 3 * time.Second

	// PreambleTimeout is how long a peer may take from the end of the handshake
	// to its preamble. An honest one writes it at once.
	PreambleTimeout = 5 * time.Second

	// StallTimeout is how long a backlog may stand still before the connection
	// is closed with CodeOverload: the peer acknowledges packets, but does not
	// read.
	StallTimeout = 30 * time.Second

	// Linger is how long a closing side waits for what it has written to
	// arrive: a revocation, the last frames before a shutdown.
	Linger = time.Second

	// MinBackOff and MaxBackOff bound the pause after a failed dial, which
	// doubles. The longest is short because a member that has come back is to
	// be found soon; it dials on its own, too.
	MinBackOff = 100 * time.Millisecond
	MaxBackOff = 5 * time.Second

	// noticeInterval is how often one class of event is logged; what comes in
	// between is counted, and the count is in the next line.
	noticeInterval = 10 * time.Second
)

// Limits on frames and memory.
const (
	// FramesPerSecond is how many frames of a peer are read in a second,
	// averaged; each KiB of a frame counts as one more. It is twice what two
	// members with 64 tokens can use when nothing else holds them up. A peer
	// that sends faster is read more slowly, so that QUIC's flow control holds
	// it back: nothing is lost.
	FramesPerSecond = 50_000

	// frameBurst is how many may come at once.
	frameBurst = FramesPerSecond

	// MaxQueueFrames and MaxQueueBytes bound what waits for one peer, for each
	// class. When 1,024 tokens move at once between two members, there are an OFFER
	// or a TRANSFER of each one and a RECEIPT of the one before, 2,048 frames; 800
	// of 641 bytes fit, and what does not is sent again. A group configuration is
	// 257 KiB.
	MaxQueueFrames = 4096
	MaxQueueBytes  = 512 << 10

	// MaxQueuedTotal bounds what waits for all peers together, in bytes.
	MaxQueuedTotal = 64 << 20

	// streamWindow and maxStreamWindow are QUIC's receive windows: how much a
	// peer can make us hold before it is read. One stream carries everything,
	// so the connection's windows are the same. At 64 KiB a page of the
	// directory needs no window update; no memory is taken before it is filled.
	streamWindow    = 64 << 10
	maxStreamWindow = 128 << 10

	// directBytes is how much is handed to QUIC without knowing that it has
	// been sent. Beyond it a writer goroutine waits for QUIC, so that a peer
	// with a large window that acknowledges nothing cannot fill our memory.
	directBytes = 32 << 10

	// writeChunk is how much of a backlog is written at a time. Custody frames
	// that come in between wait for one chunk at most.
	writeChunk = 16 << 10

	// readBuffer is what the reader of an idle connection holds: a packet and
	// the beginning of the next fit. For a larger frame, or when it is filled,
	// the reader borrows one of largeBuffer bytes, until for largeFor a small one
	// would have done. Frames that are read together are answered together: with
	// 64 tokens that saves a sixth of a handoff's processor time.
	readBuffer  = 2 << 10
	largeBuffer = wire.FrameHeader + wire.MaxFrame
	largeFor    = time.Second

	// maxPreamble bounds the preamble frame's body: 1+1+1+17+9+1 bytes.
	maxPreamble = 32

	// maxAddresses bounds the addresses tried for one member in one dial.
	maxAddresses = 16
)
