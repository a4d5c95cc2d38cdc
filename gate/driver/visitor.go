package driver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/permit"
)

// errBroken says that a member broke the protocol, errForged that its permit or statement does not hold.
var (
	errBroken = errors.New("member broke the protocol")
	errForged = errors.New("permit or statement does not verify")
)

// visitor is a connection of a member.
type visitor struct {
	gate     *Gate
	quic     *quic.Conn
	cert     certificate.Certificate
	member   ident.Member
	exporter [permit.ExporterSize]byte
	number   uint64 // of the last sign-in; by read
	out      chan wire.Frame
	passage  *passage     // when the gate observes: streams without a session
	asked    atomic.Int64 // when the member was asked for it, ns since 1970
	living   atomic.Int64 // sign-ins that live
	heard    atomic.Int64 // when a frame came last, ns since 1970

	live map[uint64]core.Connection // by the engine
}

// gone reports whether the connection has ended.
func (v *visitor) gone() bool { return v.quic.Context().Err() != nil }

// drop closes the connection for a reason.
func (v *visitor) drop(why error) {
	code := transport.CodeInternal
	switch {
	case errors.Is(why, errBroken), errors.Is(why, errForged):
		code = transport.CodeProtocol
	case errors.Is(why, transport.ErrOverload):
		code = transport.CodeOverload
	case errors.Is(why, transport.ErrRevoked):
		code = transport.CodeRevoked
	case errors.Is(why, transport.ErrShuttingDown):
		code = transport.CodeShuttingDown
	}
	v.quic.CloseWithError(quic.ApplicationErrorCode(code), "")
}

// send queues a frame. A member that does not read loses its connection.
func (v *visitor) send(f wire.Frame) {
	select {
	case v.out <- f:
	default:
		v.gate.notes.note("a member does not read its answers", "member", v.member)
		v.drop(transport.ErrOverload)
	}
}

// inform sends the configuration in force.
func (v *visitor) inform(k *knowledge) {
	g, _ := k.current()
	v.send(&wire.Update{Configuration: g.Config().Raw(), Authorities: g.Vouchers()})
}

// hello is what the gate has.
func hello(k *knowledge) *wire.Hello {
	g, _ := k.current()
	return &wire.Hello{
		Versions: [2]uint64{wire.Version, wire.Version}, Resource: k.resource, Configuration: g.Config().Version(), Revocations: k.version(),
	}
}

// greet asks the member for what is newer, at most once in askEvery.
func (v *visitor) greet(k *knowledge) {
	now := time.Now().UnixNano()
	if last := v.asked.Load(); now-last < int64(askEvery) || !v.asked.CompareAndSwap(last, now) {
		return
	}
	v.send(hello(k))
}

// serve runs the connection to its end.
func (v *visitor) serve(ctx context.Context) {
	defer v.gate.engine.put(v.gate.ctx, func() { v.gate.engine.lost(v) })
	err := v.talk(ctx)
	if errors.Is(err, errBroken) || errors.Is(err, errForged) {
		v.gate.counts.broken.Add(1)
		v.gate.notes.note("connection of a member refused", "member", v.member, "remote", v.quic.RemoteAddr(), "error", err)
	}
	v.drop(err)
}

// talk reads the control stream.
func (v *visitor) talk(ctx context.Context) error {
	greeting, cancel := context.WithTimeout(ctx, helloTimeout)
	defer cancel()
	control, err := v.quic.AcceptStream(greeting)
	if err != nil {
		return err
	}
	_ = control.SetReadDeadline(time.Now().Add(helloTimeout))
	in := bufio.NewReader(control)
	large := func() (done func()) { return v.gate.visitors.large(ctx, control) }
	first, err := wire.Read(in, large)
	if err != nil {
		return broken(err)
	}
	h, ok := first.(*wire.Hello)
	if !ok || h.Versions[0] > wire.Version || h.Versions[1] < wire.Version {
		return fmt.Errorf("%w: no HELLO of this version", errBroken)
	}
	_ = control.SetReadDeadline(time.Time{})
	v.gate.tasks.Go(func() { v.write(control) })
	v.send(hello(v.gate.known))
	if names := v.gate.cfg.Targets; len(names) > 0 {
		v.send(&wire.Targets{Names: slices.Sorted(maps.Keys(names))})
	}
	v.met(h)
	v.gate.tasks.Go(func() { v.streams(ctx) })
	for {
		f, err := wire.Read(in, large)
		if err != nil {
			return broken(err)
		}
		v.heard.Store(time.Now().UnixNano())
		if err := v.frame(ctx, f); err != nil {
			return err
		}
	}
}

// broken is errBroken for what is no frame, and else the error itself.
func broken(err error) error {
	for _, e := range []error{wire.ErrFrame, wire.ErrFrameSize, wire.ErrFrameType} {
		if errors.Is(err, e) {
			return fmt.Errorf("%w: %w", errBroken, err)
		}
	}
	return err
}

// write writes what is queued until the connection ends.
func (v *visitor) write(control *quic.Stream) {
	var raw []byte
	for {
		select {
		case f := <-v.out:
			var err error
			if raw, err = wire.Append(raw[:0], f); err != nil {
				v.drop(err)
				return
			}
			_ = control.SetWriteDeadline(time.Now().Add(writeTimeout))
			if _, err = control.Write(raw); err != nil {
				v.drop(transport.ErrOverload)
				return
			}
		case <-v.quic.Context().Done():
			return
		}
	}
}

// frame handles one frame.
func (v *visitor) frame(ctx context.Context, f wire.Frame) error {
	switch f := f.(type) {
	case *wire.Hello:
		if err := v.gate.budgets.wait(ctx, v.member, updates); err != nil {
			return err
		}
		v.met(f)
	case *wire.Update:
		if err := v.gate.budgets.wait(ctx, v.member, updates); err != nil {
			return err
		}
		return v.update(f)
	case *wire.SignIn:
		if err := v.gate.budgets.wait(ctx, v.member, signIns); err != nil {
			return err
		}
		return v.signIn(ctx, f)
	case *wire.SignOut:
		if err := v.gate.budgets.wait(ctx, v.member, signOuts); err != nil {
			return err
		}
		v.gate.engine.put(ctx, func() { v.gate.engine.signOut(v, f.Number) })
	default:
		return fmt.Errorf("%w: a frame that only gates write", errBroken)
	}
	return nil
}

// met takes in what the member has, and tells it what it lacks.
func (v *visitor) met(h *wire.Hello) {
	k := v.gate.known
	g, _ := k.current()
	if h.Configuration < g.Config().Version() && v.gate.budgets.spare(v.member, copies) {
		v.inform(k)
	}
	if page := k.above(h.Revocations, wire.MaxRevocations); len(page) > 0 {
		v.send(&wire.Update{Revocations: page}) // the rest it hears from other members, and in its next HELLO
	}
}

// update takes in what the member has and the gate has not.
func (v *visitor) update(f *wire.Update) error {
	err := v.gate.learn(f.Configuration, f.Authorities, f.Revocations, false)
	if unfit := (*unfitError)(nil); errors.As(err, &unfit) {
		v.gate.unfit(unfit)
		return nil // it is no fault of the member's
	}
	if errors.Is(err, certificate.ErrUnknownCA) || errors.Is(err, group.ErrParameter) {
		v.gate.notes.note("cannot use a configuration that a member shows", "member", v.member, "error", err)
		return nil // this gate may have missed a key, or be older than the configuration
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errForged, err)
	}
	return nil
}

// signIn verifies permit and statement, and hands the sign-in to the engine.
func (v *visitor) signIn(ctx context.Context, f *wire.SignIn) error {
	if f.Number != v.number+1 {
		return fmt.Errorf("%w: sign-in %d behind %d", errBroken, f.Number, v.number)
	}
	if v.living.Load() >= MaxSignIns {
		return fmt.Errorf("%w: more than %d sign-ins", errBroken, MaxSignIns)
	}
	v.number++
	in, of, err := v.verify(f)
	if err != nil {
		return fmt.Errorf("%w: %w", errForged, err)
	}
	v.living.Add(1)
	if !v.gate.engine.put(ctx, func() { v.gate.engine.begin(v, f.Number, in, of) }) {
		return ctx.Err()
	}
	return nil
}

// verify is what the machine is told of a sign-in whose permit and statement hold for this connection, and the statement. Whether anybody was revoked, and whether
// there is such a slot, the machine judges.
func (v *visitor) verify(f *wire.SignIn) (in core.SignIn, of permit.StatementBody, err error) {
	done := v.gate.visitors.verifying()
	defer done()
	form, err := permit.Decode(f.Permit)
	if err != nil {
		return in, of, err
	}
	g, _ := v.gate.known.current()
	p, err := permit.Verify(form, permit.Conditions{
		Group: g.ID(), Authorities: g, At: v.gate.cfg.Now(),
		Certificate: func(raw []byte) (certificate.Certificate, error) { return v.gate.visitors.signers.parse(g, raw) },
		Memory:      v.gate.visitors.seen,
		Settings:    group.Settings{Resources: []group.Resource{{Name: v.gate.known.resource, Slots: group.MaxSlots}}},
	})
	if err != nil {
		return in, of, err
	}
	if p.Title().Holder() != v.member {
		return in, of, fmt.Errorf("%w: the connection is %v's", permit.ErrPresenter, v.member)
	}
	st, err := p.Statement(f.Statement, permit.Session{Gate: v.gate.keyID, Exporter: v.exporter, Number: f.Number})
	if err != nil {
		return in, of, err
	}
	b := st.Body()
	return core.SignIn{
		Slot: int(min(b.Slot, core.MaxSlots)), Permit: core.PermitOf(p.Title(), p.Before(), p.Expires), Configuration: b.Configuration,
		Length: clock.Millis(b.Length),
	}, b, nil
}

// streams serves the data streams.
func (v *visitor) streams(ctx context.Context) {
	for {
		s, err := v.quic.AcceptStream(ctx)
		if err != nil {
			return
		}
		v.gate.tasks.Go(func() { v.stream(ctx, s) })
	}
}

// stream serves one data stream.
func (v *visitor) stream(ctx context.Context, s *quic.Stream) {
	_ = s.SetReadDeadline(time.Now().Add(connectTimeout))
	c, err := wire.ReadConnect(s)
	if err != nil {
		(&link{stream: s}).reset(wire.StreamNotOpen)
		return
	}
	_ = s.SetReadDeadline(time.Time{})
	var id core.Connection
	observe, open := false, false
	if !v.gate.engine.ask(ctx, func() { id, observe, open = v.gate.engine.session(v, c.Number) }) {
		(&link{stream: s}).reset(wire.StreamNotOpen)
		return
	}
	t := v.gate.tunnel
	to, known := t.targets[c.Target]
	if !known {
		(&link{stream: s}).reset(wire.StreamUnknown)
		return
	}
	if observe && !open {
		v.gate.counts.observed.Add(1)
		v.gate.notes.note("a connection that the gate would have refused", "member", v.member, "sign_in", c.Number)
	}
	p, l, streaming, err := t.enter(id, v.passage, observe, s)
	if r := refusal(0); errors.As(err, &r) {
		(&link{stream: s}).reset(wire.StreamCode(r))
		return
	}
	if observe {
		defer context.AfterFunc(v.quic.Context(), func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			l.cut()
		})()
	}
	t.carry(streaming, to, p, l)
}
