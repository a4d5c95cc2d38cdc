package transport

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

const (
	// knockEvery is how often the port of a member is knocked at that has been watched for
	// less than knockUntil. Each knock wakes both processes. Later they ride along with
	// what is sent to the member, each second at least, and wake nobody.
	knockEvery = 300 * time.Millisecond

	knockUntil = 5 * time.Second

	// knockPause is at least between two knocks. It is short: of what is sent to a host after
	// its process has ended, the knock has to be among the first that it refuses.
	knockPause = 50 * time.Millisecond

	// firstKnock is after what time a watch begins with that: one that is shorter, as most
	// answers come sooner, costs nothing. QUIC has sent three packets by then to a process
	// that has ended.
	firstKnock = 30 * time.Millisecond

	// knockSooner is how often the port is knocked at while nothing comes on the connection
	// although something was sent. The host may have spent its refusals on that: of what
	// comes when it may refuse again, the knock has to be the first.
	knockSooner = 100 * time.Millisecond

	// maxKnocked bounds the watched members that are knocked at; each takes a socket.
	maxKnocked = 64

	// knockFrom is how long after the beginning of a dial of a watched member the port is
	// knocked at again, and knockAgain how often then, until that is refused. A process that
	// is started again at once is back by then. Hosts refuse about six datagrams at once, and
	// then one each second: QUIC has sent three by then.
	knockFrom  = 300 * time.Millisecond
	knockAgain = 100 * time.Millisecond

	// minVerdict and unknownVerdict are after what time a dial is given up that was not
	// answered, and whose port the host refuses. QUIC's second try, after 200 ms, has twice
	// the round trip of the connection that there is, and a quarter of a second at least;
	// without a connection, a round trip around the earth.
	minVerdict     = 450 * time.Millisecond
	unknownVerdict = 600 * time.Millisecond

	// minUnanswered is for how long, less than the verdict's time, a packet must not have been
	// answered that says the same as a second refusal.
	minUnanswered = 150 * time.Millisecond

	// minFalsePause and maxFalsePause bound for how long no refusal counts of a member
	// that a refusal was not true of. It doubles, so that forged ones make a member dial
	// one that it is connected with about 12 times an hour.
	minFalsePause = 10 * time.Second
	maxFalsePause = 5 * time.Minute
)

// watches are the members whose ports are knocked at.
type watches struct {
	some   atomic.Bool // there is one
	mu     sync.Mutex
	of     map[ident.Member]*watch
	closed bool
}

// watch is one member that is watched.
type watch struct {
	t     *Transport
	id    ident.Member
	begun time.Duration
	timer *time.Timer // of the next knock, while the watch is young

	mu    sync.Mutex
	last  time.Duration // when it was knocked last
	heard uint64        // packets that had come on the connection when all was well
	sent  uint64        // packets that had been sent on it then
	mute  bool          // something was sent since, and nothing has come
	at    string        // where the knocker knocks
	port  knocker       // nil: nowhere, now
	ended bool
}

// hint says that a host refuses what is sent to the peer's end of a connection.
type hint struct {
	about   *conn
	at      net.Addr
	heard   uint64        // packets that had come on the connection
	sent    uint64        // packets that were sent on it
	verdict time.Duration // see expectRefusal
	asked   time.Duration // since when it is known that one sent later is not answered; 0: none
}

// isUnanswered reports whether the peer did not answer on the connection either. What is
// sent on it takes up what the host refuses, so that no second refusal may come. Of two
// packets one at most is an acknowledgement, which is not answered. It is called again and
// again while the peer is dialled.
func (h *hint) isUnanswered(now time.Duration) bool {
	s := h.about.quic.ConnectionStats()
	switch {
	case s.PacketsReceived != h.heard || s.PacketsSent < h.sent+2:
		return false
	case h.asked == 0:
		h.asked = now
	}
	return now-h.asked >= h.verdict-minUnanswered
}

// Watch says whether this member wants to know soon that a peer is gone. While it does, and
// the two are connected, the peer's port is knocked at. If its host refuses that, the peer
// is dialled there at once. If that is not answered, either, and is refused, too, while
// nothing comes on the connection, it ends with ErrAbsent. So does a dial of a
// watched member that is not connected, if that is refused. Where no refusals arrive,
// nothing is different.
func (t *Transport) Watch(id ident.Member, on bool) {
	s := &t.watches
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.of[id]
	switch {
	case s.closed:
	case w != nil && !on:
		delete(s.of, id)
		s.some.Store(len(s.of) > 0)
		w.end()
	case w == nil && on && len(s.of) < maxKnocked:
		if s.of == nil {
			s.of = make(map[ident.Member]*watch)
		}
		w = &watch{t: t, id: id, begun: t.now()}
		s.of[id] = w
		s.some.Store(true)
		w.mu.Lock()
		w.timer = time.AfterFunc(firstKnock, w.again)
		w.mu.Unlock()
	}
}

// sends notes that something is about to be sent to a member. Who is watched is looked at
// before, so that what was answered until then is told from what comes now, and
// knocked at.
func (s *watches) sends(id ident.Member) {
	if !s.some.Load() {
		return
	}
	s.mu.Lock()
	w := s.of[id]
	s.mu.Unlock()
	if w != nil {
		w.knock()
	}
}

// has reports whether a member is watched.
func (s *watches) has(id ident.Member) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[id] != nil
}

// close ends all watches for good.
func (s *watches) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, w := range s.of {
		w.end()
	}
	clear(s.of)
}

func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.timer.Stop()
	w.leave()
}

// leave stops knocking where the peer was. Needs w.mu.
func (w *watch) leave() {
	if w.port != nil {
		_ = w.port.Close()
		w.port = nil
	}
}

// again knocks, and sets the time of the next knock.
func (w *watch) again() {
	w.knock()
	w.mu.Lock()
	defer w.mu.Unlock()
	pause := knockEvery
	if w.mute {
		pause = knockSooner
	}
	if !w.ended && w.t.now()-w.begun < knockUntil {
		w.timer.Reset(pause)
	}
}

// knock looks at the connection with the peer, and knocks where its end is, unless it has
// just done so.
func (w *watch) knock() {
	w.mu.Lock()
	now := w.t.now()
	early := w.ended || now-w.begun < firstKnock || w.last != 0 && now-w.last < knockPause
	if !early {
		w.last = now
	}
	w.mu.Unlock()
	if early {
		return
	}
	at, heard, sent := w.t.lookAt(w.id)
	w.mu.Lock()
	if w.ended {
		w.mu.Unlock()
		return
	}
	if at == nil || w.at != at.String() {
		w.leave()
	}
	if w.mute = heard == w.heard && sent > w.sent; !w.mute {
		w.heard, w.sent = heard, sent
	}
	if at != nil && w.port == nil && w.t.cfg.knockers != nil {
		w.at = at.String()
		if port, err := w.t.cfg.knockers(at, func() { w.t.refused(w.id, at) }); err == nil {
			w.port = port
		}
	}
	port := w.port
	w.mu.Unlock()
	if port != nil {
		port.knock()
	}
}

// lookAt looks at the connection with a peer. It returns the peer's end of it if a new dial
// there is answered by a peer that lives, as one that only dials out does not listen, and how
// many packets have come and were sent.
func (t *Transport) lookAt(id ident.Member) (at *net.UDPAddr, heard, sent uint64) {
	t.mu.Lock()
	p := t.peers[id]
	t.mu.Unlock()
	if p == nil {
		return nil, 0, 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.attend(t.now())
	if c := p.current; c != nil && c.Confirmed && (!c.keep || t.cfg.DialOnly) {
		at, _ = c.quic.RemoteAddr().(*net.UDPAddr)
		s := c.quic.ConnectionStats()
		heard, sent = s.PacketsReceived, s.PacketsSent
	}
	return at, heard, sent
}

// refused takes in that a host has refused a knock at a watched member's port: the peer is
// dialled there, unless that was in vain of late.
func (t *Transport) refused(id ident.Member, at *net.UDPAddr) {
	t.mu.Lock()
	p := t.peers[id]
	t.mu.Unlock()
	if p == nil || !t.watches.has(id) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.current
	if c == nil || !c.Confirmed || p.dialling || t.now() < max(p.hints.countFrom, p.redial.at) || c.quic.RemoteAddr().String() != at.String() {
		t.counters.hintsIgnored.Add(1)
		return
	}
	s := c.quic.ConnectionStats()
	p.dialAt(&hint{about: c, at: at, heard: s.PacketsReceived, sent: s.PacketsSent, verdict: max(minVerdict, knockFrom+2*s.SmoothedRTT)})
}

// judgeHint ends the connection that a hint is about when the dial that it led to was
// given up, and nothing has come since. Otherwise the next hints count for nothing.
// Needs p.mu.
func (p *peer) judgeHint(h *hint, err error) {
	absent := errors.Is(err, ErrAbsent)
	switch {
	case p.t.ctx.Err() != nil || h == nil && !absent:
		return
	case h == nil:
	case p.restarted(h.about):
		p.hints.restore()
	case !absent || h.about.quic.ConnectionStats().PacketsReceived != h.heard:
		p.hints.refute(p.t.now())
		p.t.counters.hintsRefuted.Add(1)
		return
	case p.current == h.about:
		h.about.lost = ErrAbsent
		p.end(h.about, CodeOverload)
	}
	p.t.counters.hintsConfirmed.Add(1)
}

// restarted reports whether a connection was replaced by one of another process of the peer.
// Needs p.mu.
func (p *peer) restarted(old *conn) bool {
	c := p.current
	return c != nil && c != old && c.Confirmed && old.Confirmed && c.Process != old.Process
}

// hintTrust says from when on refusals of a peer's host count, since the transport's start.
type hintTrust struct {
	countFrom time.Duration
	pause     time.Duration // the last one before that
}

// refute takes in that a refusal was false: the next ones do not count for a while.
func (h *hintTrust) refute(now time.Duration) {
	h.pause = min(max(2*h.pause, minFalsePause), maxFalsePause)
	h.countFrom = now + h.pause
}

// restore lets refusals count again, as the peer's process has ended indeed.
func (h *hintTrust) restore() { h.countFrom, h.pause = 0, 0 }

// expectation is a dial of a watched member that may be refused.
type expectation struct {
	t     *Transport
	at    *net.UDPAddr
	to    target
	began time.Duration
	give  context.CancelCauseFunc

	mu      sync.Mutex
	port    knocker // nil: the peer has not been watched yet
	timer   *time.Timer
	refused bool // a knock
	ended   bool
}

// expectRefusal knocks at an address while it is dialled, from when its peer is watched. When
// the host has refused that, or the peer is silent on its connection, too, and the verdict's
// time has passed since the dial began, it gives the dial up with ErrAbsent.
func (t *Transport) expectRefusal(at *net.UDPAddr, to target, give context.CancelCauseFunc) (stop func()) {
	nothing := func() { give(nil) }
	if to.verdict == 0 || t.cfg.knockers == nil {
		return nothing
	}
	e := &expectation{t: t, at: at, to: to, began: t.now(), give: give}
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.open() {
		return nothing
	}
	e.timer = time.AfterFunc(knockFrom, e.look)
	return e.end
}

// open makes the socket to knock with, if the peer is watched, or reports false when that
// fails. Needs e.mu.
func (e *expectation) open() bool {
	if e.port != nil || !e.t.watches.has(*e.to.want) {
		return true
	}
	port, err := e.t.cfg.knockers(e.at, e.refuse)
	if err != nil {
		return false
	}
	e.port = port
	return true
}

func (e *expectation) refuse() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.refused || e.ended {
		return
	}
	e.refused = true // this knock was sent after knockFrom
	e.timer.Reset(max(0, e.to.verdict-(e.t.now()-e.began)))
}

// look gives the dial up, or knocks again.
func (e *expectation) look() {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.t.now()
	h := e.to.hint
	unanswered := h != nil && h.isUnanswered(now)
	switch {
	case e.ended || !e.open():
	case e.port == nil:
		e.timer.Reset(knockFrom)
	case now-e.began >= e.to.verdict && (e.refused || unanswered):
		e.give(ErrAbsent)
	default:
		e.timer.Reset(knockAgain)
		if !e.refused {
			go e.port.knock() // which may call refuse
		}
	}
}

func (e *expectation) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended = true
	e.timer.Stop()
	if e.port != nil {
		_ = e.port.Close()
	}
	e.give(nil)
}
