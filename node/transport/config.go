package transport

import (
	"crypto/rand"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// Class is how a frame is treated when not everything can be sent.
type Class uint8

// The classes. Each has its own queue for each peer; order is kept within a
// class only.
const (
	// Rest is everything that can be said again later: directory pages,
	// gossip, policy messages.
	Rest Class = iota
	// Custody frames go first: the messages of a handoff, HELLO and REVOCATIONS.
	Custody

	classes = 2
)

// ClassOf is the class of a message of this type. One that is not known is Rest, and
// overtakes nothing.
func ClassOf(t wire.Type) Class {
	if t.Urgent() {
		return Custody
	}
	return Rest
}

func (c Class) String() string {
	if c == Custody {
		return "custody"
	}
	return "rest"
}

// Handler is what a transport calls. The calls about one peer come one at a
// time, from goroutines of the transport: Connected, then Frames any number of
// times, then Disconnected. Calls about different peers come in parallel.
//
// A handler may call every method of the transport except Close and
// DialAddress, which would wait for it. While it runs, nothing else is read
// from that peer.
type Handler interface {
	// Connected says that there is a connection with this member, whose
	// certificate has been verified. What is sent to the member until it returns
	// goes before everything that was sent earlier, so HELLO belongs here. On
	// the dialling side the peer has not yet said that it accepts.
	Connected(peer certificate.Certificate)

	// Disconnected says that the connection is gone, and why: an error that
	// matches one of this package's sentinels. Another connection with the
	// same member may follow at once. Frames in transit are lost.
	Disconnected(peer ident.Member, err error)

	// Frames hands over the bodies of frames that have arrived together (1 to
	// wire.MaxFrame bytes each, otherwise unchecked), in their order. They are
	// valid only until Frames returns. From a member that has revoked us they
	// can come without HELLO before them.
	Frames(peer ident.Member, bodies iter.Seq[[]byte])

	// Unreachable says that the member could not be reached, and that what
	// waited for it is dropped. It comes after a failed dial, and for frames
	// that are sent during the pause that follows one. It never comes while a
	// connection with the member is in use.
	Unreachable(peer ident.Member, err error)
}

// Config says what a transport needs. Conn, Certificate, Key, Authorities and
// Handler must be given.
type Config struct {
	// Conn is the one UDP socket. The transport owns it once Open has
	// succeeded. For the best speed it is a *net.UDPConn.
	Conn net.PacketConn

	// DialOnly makes a member that accepts no connections: it keeps those that
	// it dials, and asks its peers to keep them too.
	DialOnly bool

	Group       ident.Group
	Certificate certificate.Certificate // this member's own
	Key         *signature.PrivateKey   // of Certificate
	Handler     Handler

	// Authorities are the group's CA keys in force; see SetAuthorities. They must
	// be safe for concurrent use. A *group.Group also learns from the statements
	// that a peer presents with a certificate of a newer key.
	Authorities certificate.Authorities

	// Vouchers are the statements about CA keys that are presented along with
	// Certificate (group.Group.Vouchers); see SetCertificate.
	Vouchers [][]byte

	// Vouched is told when a peer was let in thanks to statements about CA keys
	// that this member did not know: some of them are in force now and news. It
	// is called on a goroutine of the handshake and must not block. Nil means
	// that nobody wants to know.
	Vouched func(statements [][]byte)

	// Addresses tells where a member can be reached ("host:port", at most
	// maxAddresses are tried, in order). Without it Send reaches only members
	// that are connected. It must be safe for concurrent use.
	Addresses func(ident.Member) []string

	// Newest gives the newest certificate that is known of a member, verified. It
	// is asked for when the one that was shown on an open connection counts no
	// more: with a newer one that does, the connection stays. It must be safe for
	// concurrent use. Nil means that nothing newer is ever known.
	Newest func(ident.Member) (certificate.Certificate, bool)

	// Revocation tells whether a member is revoked, and gives the frame body
	// that says so. It is asked for each new connection; for open ones there is
	// Expel. It must be safe for concurrent use.
	Revocation func(ident.Member) (frame []byte, revoked bool)

	// ResetKey makes this member's stateless resets. It must be secret, and the
	// same in every process that uses the same address, or peers notice a
	// restart only by silence.
	ResetKey [32]byte

	// IdleTimeout closes connections without frames. 0 means
	// DefaultIdleTimeout. Too short makes each handoff dial; too long keeps
	// memory for members that are seldom met.
	IdleTimeout time.Duration

	// Silence is for how long a connection may bring nothing although something was sent
	// on it; see SetSilence. 0 means DefaultSilence.
	Silence time.Duration

	// Pulse is called each time that the connections have been looked at, with the
	// time until the next look: a second while something is awaited, and more than two
	// otherwise. It lets other periodic work share the wake-up. It is called on a
	// goroutine of the transport and must not call Close. Nil means that nobody wants
	// to know.
	Pulse func(next time.Duration)

	// Now reads the wall clock, for the validity of certificates only. Nil
	// means time.Now.
	Now func() time.Time

	// Rand is the source of the process's identity. Nil means crypto/rand.
	Rand io.Reader

	// Log is where refusals go, each class at most once each ten seconds. Nil
	// means nowhere.
	Log *slog.Logger

	limits   limits   // for tests; zero values mean the constants
	knockers knockers // for tests; nil: those of the system, where Conn is a *net.UDPConn
}

// limits are the limits that tests make smaller.
type limits struct {
	connections int
	handshakes  float64 // per second
	burst       float64
	frames      float64 // per second and peer
}

func (c *Config) fill() error {
	switch {
	case c.Conn == nil:
		return fmt.Errorf("%w: no socket", ErrConfig)
	case c.Key == nil:
		return fmt.Errorf("%w: no key", ErrConfig)
	case c.Authorities == nil:
		return fmt.Errorf("%w: no authorities", ErrConfig)
	case c.Handler == nil:
		return fmt.Errorf("%w: no handler", ErrConfig)
	case c.IdleTimeout < 0:
		return fmt.Errorf("%w: negative idle timeout", ErrConfig)
	case c.Silence < 0:
		return fmt.Errorf("%w: negative silence", ErrConfig)
	}
	if c.IdleTimeout == 0 {
		c.IdleTimeout = DefaultIdleTimeout
	}
	if c.Silence == 0 {
		c.Silence = DefaultSilence
	}
	if local, ok := c.Conn.(*net.UDPConn); ok && c.knockers == nil {
		c.knockers = udpKnockers(local)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Addresses == nil {
		c.Addresses = func(ident.Member) []string { return nil }
	}
	if c.Newest == nil {
		c.Newest = func(ident.Member) (certificate.Certificate, bool) { return certificate.Certificate{}, false }
	}
	if c.Pulse == nil {
		c.Pulse = func(time.Duration) {}
	}
	if c.Vouched == nil {
		c.Vouched = func([][]byte) {}
	}
	if c.Revocation == nil {
		c.Revocation = func(ident.Member) ([]byte, bool) { return nil, false }
	}
	c.limits.fill()
	return nil
}

func (l *limits) fill() {
	if l.connections == 0 {
		l.connections = MaxConnections
	}
	if l.handshakes == 0 {
		l.handshakes = HandshakesPerSecond
	}
	if l.burst == 0 {
		l.burst = HandshakeBurst
	}
	if l.frames == 0 {
		l.frames = FramesPerSecond
	}
}
