package node

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
)

// isolatedAfter is how long nobody must have been heard of, although
// somebody was asked, before the member calls itself cut off.
const isolatedAfter = 15 * time.Second

// handler brings the engine what the transport tells of peers.
type handler struct {
	engine   *engine
	contacts *contacts
	log      *slog.Logger
}

// Connected brings a new connection.
func (h *handler) Connected(peer certificate.Certificate) {
	h.contacts.noteHeard()
	// HELLO is to be in the queue when this returns: see transport.Handler.
	h.engine.do(member.Connected{Certificate: peer})
}

// Disconnected brings the end of a connection: in order, or broken.
func (h *handler) Disconnected(peer ident.Member, err error) {
	h.log.Debug("disconnected", "member", peer, "reason", err)
	if errors.Is(err, transport.ErrIdle) || errors.Is(err, transport.ErrNormal) || errors.Is(err, transport.ErrReplaced) {
		closed, ok := errors.AsType[*transport.CloseError](err)
		h.engine.put(item{input: member.Disconnected{Peer: peer, Lost: errors.Is(err, transport.ErrReplaced), Alive: ok && closed.Alive}})
		return
	}
	h.contacts.noteFailed(err)
	h.engine.put(item{input: unreachable(peer, err)})
}

// Unreachable brings a failed dial.
func (h *handler) Unreachable(peer ident.Member, err error) {
	h.log.Debug("unreachable", "member", peer, "reason", err)
	h.contacts.noteFailed(err)
	h.engine.put(item{input: unreachable(peer, err)})
}

// Frames brings frames that have arrived together.
func (h *handler) Frames(peer ident.Member, bodies iter.Seq[[]byte]) {
	h.contacts.noteHeard()
	h.engine.frames(peer, bodies)
}

// unreachable is what a failed dial or a broken connection shows of a peer. Where
// another member answers, the one that was dialled is not.
func unreachable(peer ident.Member, err error) member.Unreachable {
	closed, ok := errors.AsType[*transport.CloseError](err)
	return member.Unreachable{
		Peer: peer, Absent: errors.Is(err, transport.ErrAbsent), Silent: errors.Is(err, transport.ErrUnresponsive) || errors.Is(err, transport.ErrWrongMember),
		Refused: ok && closed.Remote || errors.Is(err, transport.ErrRefused) ||
			errors.Is(err, transport.ErrOverload) || errors.Is(err, transport.ErrRestarted),
	}
}

// contacts notes when peers were last heard of, and missed. The zero value has no peer
// heard of.
type contacts struct {
	heard  atomic.Int64 // clock.Instant of the last frame from any peer
	failed atomic.Int64 // clock.Instant of the last attempt to reach a peer that failed

	missed  atomic.Uint64 // attempts that failed since then
	refused atomic.Bool   // one of these had an answer, though none to go on with
}

func (c *contacts) noteHeard() {
	c.heard.Store(int64(boottime.Now()))
	if c.missed.Load() > 0 {
		c.missed.Store(0)
		c.refused.Store(false)
	}
}

func (c *contacts) noteFailed(err error) {
	c.failed.Store(int64(boottime.Now()))
	c.missed.Add(1)
	silent := errors.Is(err, transport.ErrUnresponsive) && !errors.Is(err, transport.ErrAbsent)
	if !silent && !errors.Is(err, context.DeadlineExceeded) {
		c.refused.Store(true)
	}
}

// areCutOff is cutOff now.
func (c *contacts) areCutOff() bool {
	return cutOff(clock.Instant(c.heard.Load()), clock.Instant(c.failed.Load()), boottime.Now())
}

// cutOff reports whether a member without a connection is cut off: nobody has
// been heard of for a while, and somebody was asked since. That nobody is
// connected says little by itself: connections are closed when they are idle.
// Who has never heard of anybody is cut off.
func cutOff(contact, failed, now clock.Instant) bool {
	return contact == 0 || now.Sub(contact) > isolatedAfter && failed > contact
}

// unasked reports whether nobody was ever heard of, and nobody was dialled in vain. So the first member of a group begins, and
// people are not told that it is cut off: only a program that waits for a token is.
func (c *contacts) unasked() bool { return c.heard.Load() == 0 && c.failed.Load() == 0 }

// isolated reports whether this member is cut off from every peer.
func (n *Node) isolated() bool {
	return n.transport.Stats().Connections == 0 && n.contacts.areCutOff()
}

// acquaintance is what the member knows of its peers, as the transport asks for it.
type acquaintance struct{ engine *engine }

// addresses are where a member can be dialled.
func (a acquaintance) addresses(id ident.Member) (list []string) {
	a.engine.look(func(m *member.Member) { list = m.Addresses(id) })
	return list
}

// newest is the newest certificate of a member that is known, so that open
// connections outlive its renewal.
func (a acquaintance) newest(id ident.Member) (c certificate.Certificate, known bool) {
	a.engine.look(func(m *member.Member) { c, known = m.Certificate(id) })
	return c, known
}

// revocation is the message that tells a member of its revocation.
func (a acquaintance) revocation(id ident.Member) (frame []byte, revoked bool) {
	a.engine.look(func(m *member.Member) {
		var raw []byte
		if raw, revoked = m.Revocation(id); revoked {
			frame = revocationFrame(raw)
		}
	})
	return frame, revoked
}

// announce tells the member where others can dial it.
func (n *Node) announce() error {
	var addresses []string
	if n.cfg.Listen != "" {
		var err error
		if addresses, err = n.advertised(); err != nil {
			return err
		}
	}
	n.engine.put(item{input: member.Announce{Addresses: addresses}})
	return nil
}

// advertised are the addresses that others are told: the configured ones, or
// the one listened on when it names a host.
func (n *Node) advertised() ([]string, error) {
	if len(n.cfg.Advertise) > 0 {
		return n.cfg.Advertise, nil
	}
	address := n.transport.Addr().String()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &SettingError{"listen.address", err}
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		n.log.Warn("no member can dial this member: set listen.advertise", "listen", address)
		return nil, nil
	}
	return []string{address}, nil
}

// reconfigured tells of a new group configuration.
func (n *Node) reconfigured(version uint64) {
	n.engine.look(func(m *member.Member) { n.group.Store(m.Group()) })
	n.log.Info("group configuration in force", "version", version)
	n.metrics.Shared(n.currentGroup().Config().Settings().Resources)
	n.gates.configure(n.currentGroup().Config())
	if n.authority.keyUse() == keyRetired {
		n.log.Warn(retiredKeyText)
	}
	n.transport.SetAuthorities(n.currentGroup())
	n.transport.SetSilence(n.currentGroup().Config().Settings().Silence)
	if err := n.authority.show(); err != nil {
		n.log.Warn("cannot show CA keys to peers", "error", err)
	}
	select {
	case n.authority.saves <- struct{}{}:
	default: // it will be written anyway
	}
}
