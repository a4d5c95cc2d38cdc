package driver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// journalFolder is the journal within the state folder.
const journalFolder = "journal"

// Gate is a gate that serves. All methods are safe for concurrent use.
type Gate struct {
	cfg      Config
	known    *knowledge
	journal  journal
	engine   *engine
	tunnel   *tunnel
	entrance *transport.Entrance
	budgets  *budgets
	counts   *counts
	notes    *notes
	keyID    [envelope.KeyIDSize]byte
	visitors *visitors
	started  time.Time

	listening chan struct{} // closed when entrance is there: a handshake may teach it before
	showing   sync.Mutex    // held while what is known goes to the entrance, so that the newest is the last
	unsaved   chan struct{} // has an item when what is known has changed since the last save

	ctx    context.Context // ends when everything is to stop
	cancel context.CancelFunc
	tasks  sync.WaitGroup // goroutines of connections
	done   chan struct{}
	closed sync.Once

	mu     sync.Mutex
	cert   certificate.Certificate // the gate's own, the newest
	misfit string                  // why a configuration of the group is not in force here
}

// Open takes the state folder, restores the gate from its journal, closes what that has open, and serves. Errors match ErrConfig, ErrResource, ErrOther,
// ErrJournal (with store.ErrLocked, or core.ErrFloor for a gate without a journal and a floor), or those of package transport.
func Open(ctx context.Context, cfg Config) (*Gate, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	known, err := newKnowledge(&cfg)
	if err != nil {
		return nil, err
	}
	_, r := known.current()
	j, err := openJournal(ctx, &cfg, r, cfg.reading)
	if err != nil {
		return nil, err
	}
	g := &Gate{
		cfg: cfg, cert: cfg.Certificate, known: known, journal: j.journal, counts: newCounts(), started: time.Now(), keyID: wire.KeyID(cfg.Key.Public()),
		budgets: &budgets{now: time.Now, of: make(map[ident.Member]*budget)},
		notes:   &notes{log: cfg.Log, last: make(map[string]time.Time), more: make(map[string]uint64)},
		done:    make(chan struct{}), listening: make(chan struct{}), unsaved: make(chan struct{}, 1),
	}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	g.visitors = newVisitors(g)
	g.tunnel = newTunnel(g.ctx, cfg.targets(), cfg.CloseHook == nil)
	const slots = core.MaxSlots // a newer configuration may bring more than there are now
	g.engine = &engine{
		cfg: &g.cfg, known: known, journal: j.journal, machine: j.machine, tunnel: g.tunnel, counts: g.counts, budgets: g.budgets, log: cfg.Log, key: cfg.Key, rules: r,
		inputs: make(chan func(), inputRoom), stopped: make(chan struct{}), signIns: make(map[core.Connection]*signIn), slots: make([]view, slots),
		places: &places{
			ctx: g.ctx, tunnel: g.tunnel, open: cfg.OpenHook, close: cfg.CloseHook, ends: make(chan core.HookEnded, 2*slots), took: g.counts.hook,
			slots: make([]place, slots),
		},
	}
	for i := range g.engine.slots {
		g.engine.slots[i].opening = j.last[i]
	}
	g.engine.enforce = g.visitors.enforce
	if err := g.listen(); err != nil {
		g.cancel()
		return nil, errors.Join(err, j.journal.Close())
	}
	close(g.listening)
	go g.run(j.effects)
	return g, nil
}

func (g *Gate) listen() (err error) {
	current, _ := g.known.current()
	g.entrance, err = transport.OpenEntrance(transport.EntranceConfig{
		Conn: g.cfg.Conn, Protocol: wire.ALPN, Group: current.ID(), Certificate: g.cfg.Certificate, Key: g.cfg.Key, Authorities: current,
		Vouchers: current.Vouchers(), ResetKey: g.cfg.ResetKey, Now: g.cfg.Now, Log: g.cfg.Log,
		Vouched: func(statements [][]byte) { go g.vouched(statements) },
		QUIC: &quic.Config{
			Versions: []quic.Version{quic.Version1}, HandshakeIdleTimeout: handshakeTimeout, MaxIdleTimeout: silence,
			InitialStreamReceiveWindow: firstWindow, MaxStreamReceiveWindow: streamWindow,
			InitialConnectionReceiveWindow: 2 * firstWindow, MaxConnectionReceiveWindow: connectionWindow,
			MaxIncomingStreams: 1 + MaxStreams, MaxIncomingUniStreams: -1,
		},
	})
	return err
}

// run serves until the engine ends.
func (g *Gate) run(first []core.Effect) {
	ctx, stop := context.WithCancel(g.ctx)
	g.tasks.Go(func() { g.accept(ctx) })
	if g.cfg.Sync != nil {
		g.tasks.Go(func() { g.keepUp(ctx) })
	}
	g.tasks.Go(func() { g.keepSaved(ctx) })
	g.engine.run(ctx, first)
	stop()
	if err := g.engine.err; err != nil {
		g.cfg.Log.Error("the gate stops", "error", err)
	}
	g.cancel() // hooks are killed
	g.tunnel.close()
	_ = g.entrance.Close()
	g.tasks.Wait()
	g.saveRest()
	g.engine.places.workers.Wait()
	if err := g.journal.Close(); err != nil && g.engine.err == nil {
		g.engine.err = fmt.Errorf("%w: %w", ErrJournal, err)
	}
	close(g.done)
}

// accept takes in connections.
func (g *Gate) accept(ctx context.Context) {
	for {
		q, cert, err := g.entrance.Accept(ctx)
		if err != nil {
			return
		}
		v, err := g.visitors.enter(q, cert)
		if err != nil {
			(&visitor{quic: q}).drop(err)
			continue
		}
		g.tasks.Go(func() {
			defer g.visitors.leave(v)
			v.serve(q.Context())
		})
	}
}

// vouched takes in the statements about CA keys that came with a handshake.
func (g *Gate) vouched(statements [][]byte) {
	select {
	case <-g.listening:
		_ = g.learn(nil, statements, nil, false)
	case <-g.ctx.Done():
	}
}

// learn takes in what a member or the CA says.
func (g *Gate) learn(config []byte, authorities, revocations [][]byte, fresh bool) error {
	configured, revoked, err := g.known.learn(config, authorities, revocations)
	g.changed(configured, revoked, fresh)
	return err
}

// changed puts what has been learned into force.
func (g *Gate) changed(configured, revoked, fresh bool) {
	if !configured && !revoked && !fresh {
		return
	}
	if configured {
		g.show()
		g.unfit(nil)
	}
	g.engine.put(g.ctx, func() { g.engine.learned(configured, revoked, fresh) })
	if revoked {
		g.visitors.expel()
	}
	if configured || revoked {
		select {
		case g.unsaved <- struct{}{}:
		default: // it is saved with what has changed before
		}
	}
}

// show puts the CA keys that count now into force at the entrance.
func (g *Gate) show() {
	g.showing.Lock()
	defer g.showing.Unlock()
	current, _ := g.known.current()
	g.entrance.SetAuthorities(current)
	if err := g.entrance.SetCertificate(g.certificate(), current.Vouchers()); err != nil {
		g.cfg.Log.Error("cannot show the gate's certificate with newer CA keys", "error", err)
	}
}

// keepSaved keeps what is known: one save after the other, so that the newest is the last. A slow disk keeps no connection waiting.
func (g *Gate) keepSaved(ctx context.Context) {
	for {
		select {
		case <-g.unsaved:
			g.save()
		case <-ctx.Done():
			return
		}
	}
}

// saveRest keeps what has changed while the gate stopped.
func (g *Gate) saveRest() {
	select {
	case <-g.unsaved:
		g.save()
	default:
	}
}

func (g *Gate) save() {
	current, _ := g.known.current()
	if err := g.cfg.Save(current, g.known.above(0, maxRevocations)); err != nil {
		g.cfg.Log.Warn("cannot save the group; it is fetched again after a restart", "error", err)
	}
}

// unfit notes why a configuration of the group is not in force here, or that all is well.
func (g *Gate) unfit(why *unfitError) {
	g.mu.Lock()
	defer g.mu.Unlock()
	text := ""
	if why != nil {
		text = why.Error()
	}
	if text != g.misfit && text != "" {
		g.counts.alarm(core.AlarmConfiguration)
		g.cfg.Log.Error("the gate needs an operator", "alarm", core.AlarmConfiguration, "error", text, "hint", alarmHint(core.AlarmConfiguration))
	}
	g.misfit = text
}

// keepUp asks the CA each syncEvery, and again soon when it does not answer.
func (g *Gate) keepUp(ctx context.Context) {
	for ctx.Err() == nil {
		next := time.NewTimer(syncEvery)
		asking, cancel := context.WithTimeout(ctx, syncTimeout)
		configured, revoked, err := g.known.sync(asking, g.cfg.Sync)
		cancel()
		if unfit := (*unfitError)(nil); errors.As(err, &unfit) {
			g.unfit(unfit)
			err = nil // the revocations came along
		}
		if err != nil && ctx.Err() == nil {
			g.notes.note("CA unreachable; sessions go on without it", "error", err)
			next.Reset(syncAgain)
		}
		g.changed(configured, revoked, err == nil)
		select {
		case <-next.C:
		case <-ctx.Done():
		}
		next.Stop()
	}
}

// certificate is the gate's own, the newest.
func (g *Gate) certificate() certificate.Certificate {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.cert
}

// SetCertificate shows another certificate from the next handshake on: a renewed one of the same key. Error: ErrConfig.
func (g *Gate) SetCertificate(c certificate.Certificate) error {
	if c.Key() == nil || !c.Key().Equal(g.cfg.Key.Public()) {
		return fmt.Errorf("%w: the certificate is for another key", ErrConfig)
	}
	g.showing.Lock()
	defer g.showing.Unlock()
	current, _ := g.known.current()
	g.mu.Lock()
	g.cert = c
	g.mu.Unlock()
	return g.entrance.SetCertificate(c, current.Vouchers())
}

// Resource is the name of the resource.
func (g *Gate) Resource() string { return g.cfg.Resource }

// Group is the group as the gate knows it.
func (g *Gate) Group() *group.Group {
	current, _ := g.known.current()
	return current
}

// Addr is the local address of the socket.
func (g *Gate) Addr() string { return g.entrance.Addr().String() }

// Done is closed when the gate has ended.
func (g *Gate) Done() <-chan struct{} { return g.done }

// Err is why the gate has ended by itself: it matches ErrJournal. Nil after Close. It may be called once Done is closed.
func (g *Gate) Err() error { return g.engine.err }

// Clear lets the close hook of a slot that is stuck run again. Errors match ErrSlot, ErrNotStuck, ErrClosed.
func (g *Gate) Clear(ctx context.Context, slot int) (err error) {
	if !g.engine.ask(ctx, func() { err = g.engine.clear(slot) }) {
		return ErrClosed
	}
	return err
}

// closeLook is how often Close looks whether all sessions have ended.
const closeLook = 20 * time.Millisecond

// Close closes all sessions as if their connections were lost, waits for their close hooks or until ctx ends, and stops. The next start closes
// the sessions that are open then.
func (g *Gate) Close(ctx context.Context) error {
	g.closed.Do(func() {
		g.visitors.shut()
		g.settle(ctx)
		g.cancel()
	})
	<-g.done
	return g.Err()
}

// settle waits until no session is open and no hook runs.
func (g *Gate) settle(ctx context.Context) {
	t := time.NewTicker(closeLook)
	defer t.Stop()
	for {
		quiet := false
		if !g.engine.ask(ctx, func() { quiet = len(g.engine.signIns) == 0 && g.engine.quiet() }) || quiet {
			return
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return
		}
	}
}
