package node

import (
	"context"
	"errors"
	"iter"
	"net"
	"slices"
	"time"

	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
)

const (
	// bootstrapPause and bootstrapRest are how long the node waits before it
	// asks the bootstrap peers again: while it knows nobody, and otherwise.
	bootstrapPause = time.Second
	bootstrapRest  = 30 * time.Second
	// dialTimeout bounds one attempt at one bootstrap peer, name resolution
	// included.
	dialTimeout = 10 * time.Second
	// isolatedAfter is how long nobody must have been heard of, although
	// somebody was asked, before the member calls itself cut off.
	isolatedAfter = 15 * time.Second
)

// handler is the node as its transport sees it.
type handler Node

// Connected brings a new connection.
func (h *handler) Connected(peer certificate.Certificate) {
	h.heard()
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
	h.failed.Store(int64(boottime.Now()))
	h.engine.put(item{input: unreachable(peer, err)})
}

// Unreachable brings a failed dial.
func (h *handler) Unreachable(peer ident.Member, err error) {
	h.log.Debug("unreachable", "member", peer, "reason", err)
	h.failed.Store(int64(boottime.Now()))
	h.engine.put(item{input: unreachable(peer, err)})
}

// unreachable is what a failed dial or a broken connection shows of a peer. Where
// another member answers, the one that was dialled is not.
func unreachable(peer ident.Member, err error) member.Unreachable {
	closed, ok := errors.AsType[*transport.CloseError](err)
	return member.Unreachable{
		Peer: peer, Absent: errors.Is(err, transport.ErrAbsent), Silent: errors.Is(err, transport.ErrSilent) || errors.Is(err, transport.ErrWrongMember),
		Refused: ok && closed.Remote || errors.Is(err, transport.ErrRefused) ||
			errors.Is(err, transport.ErrOverload) || errors.Is(err, transport.ErrRestarted),
	}
}

// Frames brings frames that have arrived together.
func (h *handler) Frames(peer ident.Member, bodies iter.Seq[[]byte]) {
	h.heard()
	h.engine.frames(peer, bodies)
}

func (h *handler) heard() { h.contact.Store(int64(boottime.Now())) }

// isolated reports whether this member is cut off from every peer.
func (n *Node) isolated() bool {
	contact, failed := clock.Instant(n.contact.Load()), clock.Instant(n.failed.Load())
	return n.transport.Stats().Connections == 0 && cutOff(contact, failed, boottime.Now())
}

// cutOff reports whether a member without a connection is cut off: nobody has
// been heard of for a while, and somebody was asked since. That nobody is
// connected says little by itself: connections are closed when they are idle.
// Who has never heard of anybody is cut off.
func cutOff(contact, failed, now clock.Instant) bool {
	return contact == 0 || now.Sub(contact) > isolatedAfter && failed > contact
}

func (n *Node) addresses(id ident.Member) (list []string) {
	n.engine.look(func(m *member.Member) { list = m.Addresses(id) })
	return list
}

// newest is the newest certificate of a member that is known, so that open
// connections outlive its renewal.
func (n *Node) newest(id ident.Member) (c certificate.Certificate, known bool) {
	n.engine.look(func(m *member.Member) { c, known = m.Certificate(id) })
	return c, known
}

func (n *Node) revocation(id ident.Member) (frame []byte, revoked bool) {
	n.engine.look(func(m *member.Member) {
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

// bootstrap meets the configured peers: once each at the start, and again
// while nobody is connected.
func (n *Node) bootstrap(ctx context.Context) {
	met := make(map[string]bool)
	for ctx.Err() == nil {
		pause := bootstrapRest
		for _, address := range n.cfg.Bootstrap {
			if n.isOwn(address) || (met[address] && n.transport.Stats().Connections > 0) {
				continue
			}
			met[address] = n.meet(ctx, address) || met[address]
			if !met[address] && n.transport.Stats().Connections == 0 {
				pause = bootstrapPause
			}
		}
		select {
		case <-ctx.Done():
		case <-n.done:
			return
		case <-time.After(pause):
		}
	}
}

// isOwn reports whether an address is known to be this member's: one list of
// bootstrap peers may serve a whole group.
func (n *Node) isOwn(address string) bool {
	return address == n.Address() || slices.Contains(n.cfg.Advertise, address)
}

// meet dials one bootstrap peer. Its own address among them is no error: all
// members may have one list.
func (n *Node) meet(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	_, err := n.transport.DialAddress(ctx, address)
	if err == nil || errors.Is(err, transport.ErrSelf) {
		return true
	}
	n.failed.Store(int64(boottime.Now()))
	if ctx.Err() == nil && n.transport.Stats().Connections == 0 && n.reports.allow("bootstrap "+address) {
		n.log.Warn("bootstrap peer unreachable", "address", address, "reason", err)
	}
	return false
}

// reconfigured tells of a new group configuration.
func (n *Node) reconfigured(version uint64) {
	n.engine.look(func(m *member.Member) { n.group.Store(m.Group()) })
	n.log.Info("group configuration in force", "version", version)
	n.metrics.Shared(n.currentGroup().Config().Settings().Resources)
	if n.authority.keyUse() == keyRetired {
		n.log.Warn(retiredKeyWarning)
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
