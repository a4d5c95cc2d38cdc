// Package transport carries frames between members over QUIC (RFC 9000).
//
// # What it promises
//
// A connection exists only between two members of one group: both sides
// present a certificate of the group's CA in the TLS 1.3 handshake, and who
// cannot is refused there, before a stream exists. Frames of one class arrive
// whole and in order while a connection lasts, and every frame may be lost:
// with the connection, or because a queue is full. The machines above retry.
//
// # How to drive it
//
//	t, err := transport.Open(transport.Config{…})
//	t.Send(peer, transport.ClassOf(message), body) // dials if it must; never waits for the peer
//	t.Queue(peer, class, body)                     // as Send, and held until the next Flush
//	t.Flush()
//	t.SetCertificate(renewed, vouchers)            // from now on in handshakes
//	t.Close()
//
// # How a connection lives
//
// Send dials when there is no connection. Each connection has one
// bidirectional stream, opened by the side that dialled, and every frame of
// either side goes over it (protocol/wire has the framing). The first frame
// each way is the transport's own, message type 0: rule preamble of spec/wire.cddl.
// process is drawn at random when a process opens its transport, and ordinal
// counts the preambles it has written. Together they decide which of two
// connections between the same members stays (see [Choose]): a connection whose
// preamble has been read takes the place of one without, and of two the one with the
// later preamble stays. keep asks the peer not to close the connection for
// idleness: members that only dial out say so.
//
// A connection without frames for the idle timeout is closed, and dialled
// again when there is something to say; nothing is resumed. While it lasts, a frame
// after which nothing comes for the group's silence shows that the peer is dead, and so does
// the dialler's QUIC keep-alive, which is sent when nothing has come for [KeepAlive].
// A peer that came back on the same address answers the next packet with a stateless
// reset, when that packet has more than 42 bytes, as every message's has and a
// keep-alive has not.
//
// # When a process is killed
//
// The host of a process that was killed refuses what is sent to its port. A member that
// watches another one ([Transport.Watch]) knocks there, from a socket of its own. A
// refusal has it dial the other; no answer to that either ends the connection with
// [ErrAbsent]. A refusal alone changes nothing: it may be forged.
//
// # When an address changes
//
// QUIC follows a dialler whose address changes, but no acceptor. So a connection that
// brings nothing though it should is tried out: the peer is dialled again, and when
// that succeeds while the connection is still silent, the new one takes its place.
// [Transport.Recheck] does that at once for all.
//
// # What it costs
//
// Send writes to the stream from the calling goroutine: no goroutine stands
// between a frame and QUIC until the peer's window is full. Nothing is
// allocated for a frame, and no timer is set. Each connection has one
// goroutine of this package, which reads; a second one exists while a backlog
// is being written.
package transport
