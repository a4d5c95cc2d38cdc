package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
	"github.com/wandertoken/wander/soak/liar/report"
)

const (
	// reportEvery is how often the report is written.
	reportEvery = time.Second
	// meetEvery is how often peers are dialled that have not answered yet, and meetWithin
	// bounds one dial.
	meetEvery, meetWithin = 2 * time.Second, 5 * time.Second
	// programTime is how long a program of a bad member that wants takes.
	programTime = 300 * time.Millisecond
	// firstSequence numbers the geneses that a bad member makes up itself: its honest
	// machine counts from 0 on.
	firstSequence = 1 << 32
)

// agent is a bad member: an honest machine, the transport, and what a kind does between
// the two. All but step and machine belongs to the loop.
type agent struct {
	options
	id          node.Identity
	self        ident.Member
	kind        kind
	report      *report.Report
	desk        desk
	incarnation ident.Incarnation // of the machine
	verifier    *token.Verifier
	transport   *transport.Transport
	frames      frames // the transport, or a test's
	reset       [32]byte
	life        *life
	connected   []certificate.Certificate
	requests    uint64
	sequence    uint64
	ended       error

	inbox inbox

	step    sync.Mutex
	machine *member.Member
}

// frames is where what is said goes to.
type frames interface {
	Send(to ident.Member, class transport.Class, body []byte)
}

// life is one connection of an agent with the group: until its machine begins anew.
type life struct {
	*agent
	over chan struct{}
}

// inbox is what waits for the loop. It has no bound, as the loop itself brings inputs; what
// comes over the network is bounded by the transport.
type inbox struct {
	mu    sync.Mutex
	list  []func()
	ready chan struct{}
}

func (b *inbox) put(f func()) {
	b.mu.Lock()
	b.list = append(b.list, f)
	b.mu.Unlock()
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

func (b *inbox) take() []func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.list
	b.list = nil
	return list
}

// live is the life of a bad member until ctx ends.
func live(ctx context.Context, o options, r *report.Report) error {
	id, err := identity(o.dir)
	if err != nil {
		return err
	}
	a, err := newAgent(o, id, r)
	if err != nil {
		return err
	}
	if err := a.begin(ctx); err != nil {
		return err
	}
	defer func() { a.end() }()
	a.loop(ctx)
	return a.ended
}

func newAgent(o options, id node.Identity, r *report.Report) (*agent, error) {
	a := &agent{
		options: o, id: id, self: id.Certificate.Member(), report: r, sequence: firstSequence, inbox: inbox{ready: make(chan struct{}, 1)},
		desk: desk{make(map[ident.Token]*heldToken)},
	}
	a.verifier = token.NewVerifier(id.Group.ID(), a)
	if _, err := rand.Read(a.reset[:]); err != nil {
		return nil, err
	}
	var err error
	a.kind, err = kinds[o.kind](a)
	return a, err
}

func identity(dir string) (node.Identity, error) {
	file := func(name string) string { return filepath.Join(dir, name) }
	return node.LoadIdentity(file("member.crt"), file("member.key"), file("group.crt"))
}

// begin opens the transport and makes a machine.
func (a *agent) begin(ctx context.Context) error {
	address, err := net.ResolveUDPAddr("udp4", a.listen)
	if err != nil {
		return err
	}
	conn, err := net.ListenUDP("udp4", address)
	if err != nil {
		return err
	}
	effects, err := a.makeMachine()
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	a.life = &life{a, make(chan struct{})}
	a.transport, err = transport.Open(transport.Config{
		Conn: conn, Group: a.id.Group.ID(), Authorities: a.id.Group, Vouchers: a.id.Group.Vouchers(),
		Certificate: a.id.Certificate, Key: a.id.Key, Handler: a.life, Addresses: a.addresses, Newest: a.newest,
		Revocation: a.revocation, ResetKey: a.reset, Silence: a.id.Group.Config().Settings().Silence,
	})
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	a.frames = a.transport
	a.perform(effects)
	extra := a.id.Extra
	a.tell(member.Learn{Certificates: extra.Certificates, Endpoints: extra.Endpoints, Revocations: extra.Revocations, Leaves: extra.Leaves})
	a.tell(member.Announce{Addresses: []string{a.listen}})
	if a.kind.wants() {
		a.demand()
	}
	go a.meet(ctx, a.transport, a.life)
	return nil
}

// makeMachine makes a machine with an empty memory, and returns what it wants done.
func (a *agent) makeMachine() ([]effect.Effect, error) {
	cfg := member.Config{Group: a.id.Group, Certificate: a.id.Certificate, Key: a.id.Key, Machine: a.listen, Boot: boottime.ID()}
	if _, err := rand.Read(cfg.Seed[:]); err != nil {
		return nil, err
	}
	machine, effects, err := member.New(cfg, now())
	if err != nil {
		return nil, err
	}
	a.step.Lock()
	defer a.step.Unlock()
	a.machine = machine
	return effects, nil
}

// end closes all connections.
func (a *agent) end() {
	close(a.life.over)
	_ = a.transport.Close()
	a.connected = nil
}

// meet dials the honest members until each has answered once.
func (a *agent) meet(ctx context.Context, t *transport.Transport, l *life) {
	met := make(map[string]bool)
	for {
		for _, peer := range a.peers {
			if met[peer] {
				continue
			}
			dial, cancel := context.WithTimeout(ctx, meetWithin)
			_, err := t.DialAddress(dial, peer)
			cancel()
			met[peer] = err == nil
		}
		select {
		case <-ctx.Done():
			return
		case <-l.over:
			return
		case <-time.After(meetEvery):
		}
	}
}

// loop does all that is to be done, one thing after the other.
func (a *agent) loop(ctx context.Context) {
	acts := time.NewTicker(time.Duration(float64(time.Second) / a.rate))
	defer acts.Stop()
	reports := time.NewTicker(reportEvery)
	defer reports.Stop()
	alarm := time.NewTimer(0)
	defer alarm.Stop()
	for a.ended == nil {
		select {
		case <-ctx.Done():
			return
		case <-a.inbox.ready:
			for _, f := range a.inbox.take() {
				f()
			}
		case <-acts.C:
			if len(a.honest()) > 0 {
				a.kind.act()
			}
		case <-reports.C:
			if a.options.report != "" {
				if err := a.report.Write(a.options.report); err != nil {
					a.ended = err
				}
			}
		case <-alarm.C:
			a.tell(member.Tick{})
		}
		a.step.Lock()
		deadline := a.machine.NextDeadline()
		a.step.Unlock()
		alarm.Reset(min(time.Second, max(time.Millisecond, deadline.Sub(boottime.Now()))))
	}
}

// again begins another life, with a new incarnation.
func (a *agent) again(ctx context.Context) {
	a.end()
	a.report.Restarts++
	if err := a.begin(ctx); err != nil {
		a.ended = err
	}
}

func now() clock.Reading { return clock.Reading{Boot: boottime.Now(), Wall: time.Now()} }

// tell gives the machine an input, and does what it wants done.
func (a *agent) tell(input member.Input) {
	a.step.Lock()
	effects := a.machine.Step(now(), input)
	a.step.Unlock()
	a.perform(effects)
}

func (a *agent) perform(effects []effect.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case effect.Send:
			if hello, ok := e.Message.(*wire.Hello); ok {
				a.incarnation = hello.Incarnation
			}
			if a.kind.says(e.To, e.Message) {
				a.say(e.To, e.Message)
			}
		case effect.Grant:
			a.granted(e)
		case effect.Expel:
			a.transport.Expel(e.Member, nil)
		case effect.Watch:
			a.transport.Watch(e.Peer, e.On)
		case effect.Report:
			fmt.Println(e.Kind, e.About, e.Detail)
		case effect.Stop:
			a.ended = e.Reason
		}
	}
}

// say sends a message.
func (a *agent) say(to ident.Member, m wire.Message) {
	body, err := wire.Encode(m)
	if err != nil {
		fmt.Println("not sent:", m.Type(), err)
		return
	}
	a.frames.Send(to, transport.ClassOf(m.Type()), body)
}

// demand wants the resource.
func (a *agent) demand() {
	a.requests++
	a.tell(member.Demand{Request: a.requests, Resource: a.resource})
}

// granted runs nothing, for a while, and wants again.
func (a *agent) granted(g effect.Grant) {
	from, l := boottime.Now(), a.life
	time.AfterFunc(programTime, func() {
		a.inbox.put(func() {
			if a.life == l {
				a.tell(member.Ended{Grant: g.Grant, Operated: true, SeenFrom: from, SeenTo: boottime.Now()})
				a.demand()
			}
		})
	})
}

// received is told of each frame.
func (a *agent) received(from ident.Member, body []byte) {
	m, err := wire.Decode(body)
	if err == nil && (a.desk.heard(a, from, m) || !a.kind.heard(from, m)) {
		return
	}
	a.tell(member.Received{From: from, Body: body})
}

// honest are the connected members that are not bad, in the order in which they were met.
func (a *agent) honest() (list []ident.Member) {
	for _, c := range a.connected {
		if !slices.Contains(a.bad, c.Name()) {
			list = append(list, c.Member())
		}
	}
	return list
}

// put brings an input of this life.
func (l *life) put(f func()) {
	l.inbox.put(func() {
		if l.agent.life == l {
			f()
		}
	})
}

// Connected implements transport.Handler. HELLO is sent when it returns.
func (l *life) Connected(peer certificate.Certificate) {
	done := make(chan struct{})
	l.inbox.put(func() {
		defer close(done)
		if l.agent.life != l {
			return
		}
		l.connected = slices.DeleteFunc(l.connected, func(c certificate.Certificate) bool { return c.Member() == peer.Member() })
		l.connected = append(l.connected, peer)
		l.tell(member.Connected{Certificate: peer})
	})
	select {
	case <-done:
	case <-l.over:
	}
}

// Disconnected implements transport.Handler.
func (l *life) Disconnected(peer ident.Member, err error) {
	l.put(func() {
		l.connected = slices.DeleteFunc(l.connected, func(c certificate.Certificate) bool { return c.Member() == peer })
		if errors.Is(err, transport.ErrIdle) || errors.Is(err, transport.ErrNormal) || errors.Is(err, transport.ErrReplaced) {
			l.tell(member.Disconnected{Peer: peer, Lost: errors.Is(err, transport.ErrReplaced)})
			return
		}
		l.tell(member.Unreachable{Peer: peer, Silent: errors.Is(err, transport.ErrUnresponsive)})
	})
}

// Unreachable implements transport.Handler.
func (l *life) Unreachable(peer ident.Member, err error) {
	l.put(func() { l.tell(member.Unreachable{Peer: peer, Silent: errors.Is(err, transport.ErrUnresponsive)}) })
}

// Frames implements transport.Handler.
func (l *life) Frames(peer ident.Member, bodies iter.Seq[[]byte]) {
	for body := range bodies {
		body = bytes.Clone(body)
		l.put(func() { l.received(peer, body) })
	}
}

// look reads the machine from another goroutine.
func (a *agent) look(f func(*member.Member)) {
	a.step.Lock()
	defer a.step.Unlock()
	f(a.machine)
}

func (a *agent) addresses(id ident.Member) (list []string) {
	a.look(func(m *member.Member) { list = m.Addresses(id) })
	return list
}

func (a *agent) newest(id ident.Member) (c certificate.Certificate, known bool) {
	a.look(func(m *member.Member) { c, known = m.Certificate(id) })
	return c, known
}

func (a *agent) revocation(id ident.Member) (frame []byte, revoked bool) {
	a.look(func(m *member.Member) { _, revoked = m.Revocation(id) })
	return nil, revoked
}

// Key implements token.Keys.
func (a *agent) Key(id ident.Member) *signature.PublicKey {
	if c, known := a.newest(id); known {
		return c.Key()
	}
	return nil
}
