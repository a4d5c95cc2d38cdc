package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/wandertoken/wander/gate/client"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/metrics"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
)

const (
	// gateDialTime bounds one dial: a handshake takes a few round trips.
	gateDialTime = 5 * time.Second

	// signOutWait bounds how long a connection is asked about the end of a session. The member waits for less.
	signOutWait = 15 * time.Second
)

// gateTarget is which gate stands before a resource, and where.
type gateTarget struct {
	resource string
	address  string
	gate     ident.Member
}

// gates are the connections with the gates of the configuration, and the sessions there.
type gates struct {
	dial    func(context.Context, gateTarget) (*client.Conn, error)
	engine  *engine
	metrics *metrics.Metrics
	reports *limiter
	log     *slog.Logger

	ctx    context.Context
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	mu      sync.Mutex
	links   map[string]*gateLink // by resource
	visits  map[uint64]*gateVisit
	byGrant map[ident.Grant]*gateVisit
}

func newGates(dial func(context.Context, gateTarget) (*client.Conn, error), reports *limiter, log *slog.Logger) *gates {
	ctx, cancel := context.WithCancel(context.Background())
	return &gates{
		dial: dial, reports: reports, log: log, ctx: ctx, cancel: cancel,
		links: make(map[string]*gateLink), visits: make(map[uint64]*gateVisit), byGrant: make(map[ident.Grant]*gateVisit),
	}
}

// close ends all sessions and connections.
func (g *gates) close() {
	g.mu.Lock() // from here on no task begins
	g.cancel()
	g.mu.Unlock()
	g.tasks.Wait()
}

// configure keeps a connection with each gate of the configuration in force, and with no other. Of those that it had, it tells the member
// again: what came while the member knew another configuration, and the gate of that one, counted for nothing.
func (g *gates) configure(c group.Config) {
	targets := make(map[string]gateTarget)
	for _, t := range gateTargets(c) {
		targets[t.resource] = t
	}
	for _, resource := range g.drop(targets) {
		g.tell(gateTarget{resource: resource}, nil)
	}
	for _, l := range g.begin(targets) {
		g.tellAgain(l)
	}
}

// begin begins a connection with each target that has none, and returns the others' links.
func (g *gates) begin(targets map[string]gateTarget) (kept []*gateLink) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for resource, t := range targets {
		if l := g.links[resource]; l != nil {
			kept = append(kept, l)
			continue
		}
		if g.ctx.Err() != nil {
			continue
		}
		ctx, cancel := context.WithCancel(g.ctx)
		l := &gateLink{target: t, cancel: cancel}
		g.links[resource] = l
		g.tasks.Go(func() { g.keep(ctx, l) })
	}
	return kept
}

// tellAgain says whether a gate has a connection, until that is what is so: use may say something else meanwhile.
func (g *gates) tellAgain(l *gateLink) {
	conn, current := g.state(l)
	for told := conn; current; told = conn {
		g.tell(l.target, conn)
		if conn, current = g.state(l); conn == told {
			return
		}
	}
}

// state is the connection of a gate, and whether the configuration still has it.
func (g *gates) state(l *gateLink) (conn *client.Conn, current bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return l.conn, g.links[l.target.resource] == l
}

// drop ends the connections with gates that are not among the targets, and returns their resources.
func (g *gates) drop(targets map[string]gateTarget) (list []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for resource, l := range g.links {
		if targets[resource] != l.target {
			l.cancel()
			delete(g.links, resource)
			list = append(list, resource)
		}
	}
	return list
}

// gateLink is the connection with one gate.
type gateLink struct {
	target  gateTarget
	cancel  context.CancelFunc
	conn    *client.Conn // by gates.mu; nil: there is none
	failure error        // by gates.mu: of the last dial; nil: it has succeeded, or there was none
}

// keep dials a gate again and again, until its context ends.
func (g *gates) keep(ctx context.Context, l *gateLink) {
	var pauses member.Probes
	for {
		lasted, err := g.visit(ctx, l)
		if ctx.Err() != nil {
			return
		}
		pauses.Connected(lasted)
		g.failed(l, err)
		if err != nil && g.reports.allow("gate "+l.target.resource) {
			g.log.Warn("gate does not answer", "resource", l.target.resource, "address", l.target.address, "reason", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pauses.Next(g.members(), rand.Float64())):
		}
	}
}

// failed notes how the last dial of a gate, or the connection after it, has ended.
func (g *gates) failed(l *gateLink, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l.failure = err
}

// unreached are the resources whose gate has no connection, and why.
func (g *gates) unreached() map[string]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	why := make(map[string]string)
	for resource, l := range g.links {
		if l.conn == nil && l.failure != nil {
			why[resource] = shown(unreachedText(l.failure))
		}
	}
	return why
}

// unreachedText is why a gate is not reached. To package transport it is a peer.
func unreachedText(err error) string {
	return strings.Replace(err.Error(), transport.ErrUnresponsive.Error(), "the gate does not answer", 1)
}

// maxReason bounds the reason for which a gate is not reached, in bytes: a sentence for people, a part of which may be what the other
// end has said, in up to a packet.
const maxReason = 200

// shown is a text of which a part may come from elsewhere, as a terminal may show it.
func shown(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, text)
	end := min(len(text), maxReason)
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// members is how many members this one knows.
func (g *gates) members() (n int) {
	g.engine.look(func(m *member.Member) { n = m.Len() })
	return n
}

// visit is one connection with a gate, from the dial to its end.
func (g *gates) visit(ctx context.Context, l *gateLink) (lasted time.Duration, err error) {
	dialling, cancel := context.WithTimeout(ctx, gateDialTime)
	conn, err := g.dial(dialling, l.target)
	cancel()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	g.use(l, conn)
	select {
	case <-conn.Done():
	case <-ctx.Done():
	}
	g.use(l, nil)
	return time.Since(begun), conn.Close()
}

// use tells the member that a gate has a connection, or none any more. Of a gate that is not one any more it has been told.
func (g *gates) use(l *gateLink, conn *client.Conn) {
	g.mu.Lock()
	l.conn = conn
	current := g.links[l.target.resource] == l
	g.mu.Unlock()
	if current {
		g.tell(l.target, conn)
	}
}

// tell says so of a gate; without an address, of whichever there is.
func (g *gates) tell(t gateTarget, conn *client.Conn) {
	is, raw := conn != nil, []byte(nil)
	if is {
		raw = conn.Gate().Raw()
	}
	g.log.Info("gate", "resource", t.resource, "reachable", is)
	g.metrics.GateReachable(t.resource, is)
	g.engine.put(item{input: member.GateReachable{Resource: t.resource, Is: is, Certificate: raw, Gate: t.gate, Address: t.address}})
}

// gateVisit is what has become of one sign-in.
type gateVisit struct {
	resource string
	out      chan struct{} // closed: the member signs out
	signOut  func()        // closes it, once
	over     chan struct{} // closed: there is no session any more, nor a wait for one

	sent    chan struct{}   // closed: the sign-in was sent
	session *client.Session // by gates.mu; nil before the sign-in was sent
	isOpen  bool            // by gates.mu
	isOver  bool            // by gates.mu: over is closed
	watched bool            // by gates.mu: the gate only observes, so that its word ends nothing
}

// signIn asks a gate for a session. It does not wait.
func (g *gates) signIn(e effect.SignIn) {
	v := &gateVisit{resource: e.Resource, out: make(chan struct{}), over: make(chan struct{}), sent: make(chan struct{}), watched: e.Observed}
	v.signOut = sync.OnceFunc(func() { close(v.out) })
	g.mu.Lock()
	var conn *client.Conn
	if l := g.links[e.Resource]; l != nil {
		conn = l.conn
	}
	if conn != nil && g.ctx.Err() == nil {
		g.visits[e.Entry] = v
		g.tasks.Go(func() { g.attend(conn, v, e) })
	}
	g.mu.Unlock()
	if conn == nil {
		g.say(e.Entry, v, wire.AnswerBody{}, nil)
	}
}

// attend brings the member what the gate says of one sign-in, until that is over.
func (g *gates) attend(conn *client.Conn, v *gateVisit, e effect.SignIn) {
	defer g.forget(e.Entry, v)
	session, err := conn.SignIn(e.Title, e.Before, acquaintance{g.engine}.raw, e.Length)
	if err != nil {
		if g.reports.allow("sign-in " + e.Resource) {
			g.log.Warn("cannot sign in at the gate", "resource", e.Resource, "reason", err)
		}
		g.say(e.Entry, v, wire.AnswerBody{}, nil)
		return
	}
	g.mu.Lock()
	v.session = session
	g.mu.Unlock()
	close(v.sent)
	for out := v.out; ; {
		select {
		case a, ok := <-session.Answers():
			if !ok {
				g.say(e.Entry, v, wire.AnswerBody{}, nil)
				return
			}
			if !g.say(e.Entry, v, a.Body(), a.Raw()) {
				continue
			}
			if g.isWatched(v) { // its streams go on
				select {
				case <-v.out:
				case <-conn.Done():
				}
			}
			return
		case <-out:
			out = nil
			g.cut(v)
			g.tasks.Go(func() {
				ctx, cancel := context.WithTimeout(g.ctx, signOutWait)
				defer cancel()
				_, _ = session.SignOut(ctx) // what comes of it is among the answers
			})
		}
	}
}

// say hands an answer over, and reports whether it is the last one. The zero value says that the connection is lost.
func (g *gates) say(entry uint64, v *gateVisit, body wire.AnswerBody, signed []byte) (isLast bool) {
	word := "lost"
	switch a := body.Answer.(type) {
	case gate.OpenAnswer:
		word = "open"
		g.mu.Lock()
		v.isOpen = !v.isOver // a gate may say OPEN again, or cross a sign-out
		g.mu.Unlock()
	case gate.BusyAnswer:
		word = "busy"
		if a.Stuck {
			word, isLast = "stuck", true
		}
	case gate.RefuseAnswer:
		word, isLast = "refused", true
	case gate.ClosedAnswer:
		word, isLast = "closed", true
	default:
		isLast = true
	}
	if isLast && (body.Answer == nil || !g.isWatched(v)) {
		g.cut(v)
	}
	g.metrics.GateSaid(v.resource, word)
	g.engine.put(item{input: member.GateSaid{Entry: entry, Answer: body.Answer, At: body.Time, Signed: signed}})
	return isLast
}

// isWatched reports whether the gate of a sign-in only observes.
func (g *gates) isWatched(v *gateVisit) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return v.watched
}

// cut ends the streams of a session.
func (g *gates) cut(v *gateVisit) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !v.isOver {
		v.isOpen, v.isOver = false, true
		close(v.over)
	}
}

// forget removes what is over.
func (g *gates) forget(entry uint64, v *gateVisit) {
	g.cut(v)
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.visits, entry)
	for id, o := range g.byGrant {
		if o == v {
			delete(g.byGrant, id)
		}
	}
}

// signOut ends a session, or the wait for one. It does not wait.
func (g *gates) signOut(e effect.SignOut) {
	g.mu.Lock()
	v := g.visits[e.Entry]
	g.mu.Unlock()
	if v != nil {
		v.signOut()
	}
}

// granted notes under which sign-in a program runs.
func (g *gates) granted(e effect.Grant) {
	if e.Entry == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if v := g.visits[e.Entry]; v != nil {
		g.byGrant[e.Grant] = v
		v.watched = v.watched || e.Session == 0 // it may have begun to observe while the member knocked
	}
}

// connect opens a stream to the resource within the session of a grant.
func (g *gates) connect(ctx context.Context, id ident.Grant, target string) (api.Tunnel, error) {
	session, v, err := g.sessionOf(ctx, id)
	if err != nil {
		return nil, err
	}
	stream, err := session.ConnectTo(ctx, target)
	if err != nil {
		return nil, tunnelError(err)
	}
	return &gateTunnel{stream, v.over}, nil
}

// tunnelError gives an error of a stream its reason for a program. The loss of the connection, which has many errors, is that of the session.
func tunnelError(err error) error {
	for _, passing := range []error{client.ErrTarget, client.ErrTooManyCon, os.ErrDeadlineExceeded, context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, passing) {
			return fmt.Errorf("%w: %w", api.ErrUnavailable, err)
		}
	}
	if errors.Is(err, client.ErrNoTarget) {
		return fmt.Errorf("%w: %w", api.ErrBadRequest, err)
	}
	return fmt.Errorf("%w: %w", api.ErrNoSession, err)
}

// sessionOf is the session of a grant, or the sign-in at a gate that only observes, which may still have to be sent.
func (g *gates) sessionOf(ctx context.Context, id ident.Grant) (*client.Session, *gateVisit, error) {
	g.mu.Lock()
	v := g.byGrant[id]
	waits := v != nil && v.watched
	g.mu.Unlock()
	if waits {
		select {
		case <-v.sent:
		case <-v.over:
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("%w: %w", api.ErrUnavailable, ctx.Err())
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if v == nil || v.session == nil || v.isOver || !v.isOpen && !v.watched {
		return nil, nil, api.ErrNoSession
	}
	return v.session, v, nil
}

// gateTunnel is a stream that ends with its session.
type gateTunnel struct {
	*client.Stream
	over <-chan struct{}
}

// Read reads what the resource has written.
func (t *gateTunnel) Read(p []byte) (int, error) {
	n, err := t.Stream.Read(p)
	if err != nil && err != io.EOF {
		err = tunnelError(err)
	}
	return n, err
}

// Close ends both directions. After the session a Write that the gate keeps waiting ends, too.
func (t *gateTunnel) Close() error {
	select {
	case <-t.over:
		_ = t.SetWriteDeadline(time.Unix(1, 0))
	default:
	}
	return t.Stream.Close()
}

// Done is closed when the session has ended.
func (t *gateTunnel) Done() <-chan struct{} { return t.over }

// Connect opens a stream to a resource through its gate, within the session of a grant.
func (n *Node) Connect(ctx context.Context, r api.ConnectRequest) (api.Tunnel, error) {
	return n.gates.connect(ctx, r.Grant, r.Target)
}
