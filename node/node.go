package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/wandertoken/wander/internal/takeover"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/history"
	"github.com/wandertoken/wander/node/hooks"
	"github.com/wandertoken/wander/node/metrics"
	"github.com/wandertoken/wander/node/page"
	"github.com/wandertoken/wander/node/store"
	"github.com/wandertoken/wander/node/transport"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
)

// Node is a running member. All methods are safe for concurrent use.
type Node struct {
	cfg     Config
	self    ident.Member
	log     *slog.Logger
	started time.Time

	journal   *journalKeeper
	transport *transport.Transport
	engine    *engine
	authority *authority
	evidence  *evidenceKeeper
	group     atomic.Pointer[group.Group] // the CA keys and the configuration in force
	server    *api.Server
	programs  programs
	gates     *gates
	reports   limiter
	metrics   *metrics.Metrics // nil when none are kept
	historian *historian
	scrapes   scrapes
	web       web
	fleet     fleet
	lookout   lookout
	outbox    outbox
	contacts  contacts
	hooks     teller

	done   chan struct{} // closed when the node has failed or is closed
	once   sync.Once
	err    error // set before done is closed
	cancel context.CancelFunc
	tasks  sync.WaitGroup

	released sync.Once // of what Open has opened
}

// Open starts a node. It runs until Close, or until Done says that it failed;
// ctx only bounds the start. Errors match ErrConfig, ErrIdentity, ErrJournal
// or those of the network.
func Open(ctx context.Context, cfg Config) (*Node, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	n := &Node{
		cfg: cfg, self: cfg.Certificate.Member(), log: cfg.Log, started: time.Now(),
		done: make(chan struct{}),
	}
	n.programs = programs{
		self: n.self, name: cfg.Certificate.Body().Name, now: cfg.Now,
		isolated: n.isolated, done: n.done, err: n.Err,
	}
	n.lookout = lookout{addresses: cfg.seams.addresses, tellQuiet: cfg.Quiet, reports: &n.reports, log: n.log}
	n.historian = &historian{log: history.New(n.self), self: n.self, next: cfg.Observer}
	n.programs.historian, n.lookout.historian = n.historian, n.historian
	n.gates = newGates(n.dialGate, &n.reports, n.log)
	n.authority = newAuthority(n)
	n.evidence = newEvidenceKeeper(evidenceFolder{cfg.StateDir}, n.authority, &n.reports, n.log)
	if cfg.Metrics != "" {
		n.metrics = metrics.New(boottime.Now)
		n.programs.metrics, n.gates.metrics = n.metrics, n.metrics
	}
	n.hooks = teller{hooks: hooks.New(cfg.Hooks, cfg.Now, n.metrics), isolated: func() bool { return n.isolated() && !n.contacts.unasked() }}
	n.programs.hooks = n.hooks.hooks
	if err := n.open(ctx); err != nil {
		n.fail(fmt.Errorf("%w: %w", ErrClosed, err))
		n.release()
		return nil, err
	}
	return n, nil
}

func (n *Node) open(ctx context.Context) error {
	if err := os.MkdirAll(n.cfg.StateDir, 0o700); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if err := n.openMember(ctx); err != nil {
		return err
	}
	if err := n.openTransport(ctx); err != nil {
		return err
	}
	extra := n.cfg.Extra
	n.engine.put(item{input: member.Learn{
		Certificates: extra.Certificates, Endpoints: extra.Endpoints,
		Revocations: extra.Revocations, Leaves: extra.Leaves,
	}})
	if err := n.announce(); err != nil {
		return err
	}
	n.engine.start()
	if err := n.Err(); err != nil {
		return err
	}
	return n.startTasks(ctx)
}

// openMember opens the journal and rebuilds the member from it.
func (n *Node) openMember(ctx context.Context) error {
	dir := filepath.Join(n.cfg.StateDir, "journal")
	o := n.cfg.seams.journal
	o.Group, o.Member, o.Mode, o.Log = n.cfg.Group.ID(), n.self, n.cfg.Mode, n.log
	kept, past, err := openJournal(ctx, dir, o, n.metrics)
	if err != nil {
		if !errors.Is(err, store.ErrLocked) && !errors.Is(err, ErrLink) && prepareLastWord(n.cfg.StateDir) == nil { // the folder is no other daemon's
			sayLastWordSoon(n.cfg.StateDir, newLastWord(n.cfg.Now(), n.self, err))
		}
		return err
	}
	n.journal = kept
	if err := prepareLastWord(n.cfg.StateDir); err != nil {
		n.log.Warn("wander status cannot show later why this daemon has ended", "error", err)
	}
	if _, err := os.Stat(filepath.Join(n.cfg.StateDir, resetKeyFile)); err == nil && len(past) == 0 {
		n.log.Warn("the journal is missing: this member starts a new one, and has lost the tokens that it held or was receiving", "journal", dir)
	}
	if len(past) == 0 {
		if err := n.cfg.checkOperation(); err != nil {
			return err
		}
	}
	cfg := member.Config{
		Group: n.cfg.Group, Certificate: n.cfg.Certificate, Key: n.cfg.Key,
		Durable: n.cfg.Mode == store.Durable, NewIncarnation: n.cfg.NewIncarnation,
		Found: n.cfg.Found, Machine: placeOf(dir), Boot: boottime.ID(),
		Sample: n.cfg.Sample, Tuning: n.cfg.Tuning, NoPreOffer: n.cfg.NoPreOffer, Observer: n.metrics.Watch(n.historian),
	}
	if _, err := rand.Read(cfg.Seed[:]); err != nil {
		return err
	}
	m, effects, err := member.Restore(cfg, past, n.now())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrJournal, err)
	}
	n.group.Store(m.Group()) // the journal's may be newer than the file's
	n.engine = newEngine(n, m, effects)
	n.programs.engine, n.lookout.engine, n.gates.engine, n.historian.engine, n.hooks.engine = n.engine, n.engine, n.engine, n.engine, n.engine
	return nil
}

func (n *Node) openTransport(ctx context.Context) error {
	conn, err := n.listen(ctx)
	if err != nil {
		return &SettingError{"listen.address", err}
	}
	reset, err := resetKey(n.cfg.StateDir) // which says from now on that this member has been up
	if err != nil {
		conn.Close()
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	known := acquaintance{n.engine}
	n.transport, err = transport.Open(transport.Config{
		Conn: conn, DialOnly: n.cfg.Listen == "", Group: n.cfg.Group.ID(), Authorities: n.currentGroup(),
		Vouchers: n.currentGroup().Vouchers(), Vouched: n.vouched,
		Certificate: n.cfg.Certificate, Key: n.cfg.Key, Handler: n.cfg.seams.handler(&handler{n.engine, &n.contacts, n.log}), Now: n.cfg.Now,
		Addresses: known.addresses, Newest: known.newest, Revocation: known.revocation, Pulse: n.beat, ResetKey: reset, Log: n.log,
		Silence: n.currentGroup().Config().Settings().Silence,
	})
	if err != nil {
		_ = conn.Close()
		return err
	}
	n.outbox = outbox{transport: n.transport, metrics: n.metrics}
	n.lookout.transport, n.lookout.address = n.transport, n.Address()
	return nil
}

// listen opens the socket to listen on and to dial from.
func (n *Node) listen(ctx context.Context) (net.PacketConn, error) {
	if n.cfg.Conn != nil {
		return n.cfg.Conn, nil
	}
	address := n.cfg.Listen
	if address == "" {
		address = ":0"
	}
	var lc net.ListenConfig
	return takeover.Open(ctx, func() (net.PacketConn, error) {
		return lc.ListenPacket(ctx, "udp", address)
	}, syscall.EADDRINUSE)
}

// startTasks begins what runs beside the engine.
func (n *Node) startTasks(start context.Context) error {
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	shown := page.New(n)
	var listening net.Listener
	if n.cfg.Socket != "-" {
		l, err := takeover.Open(start, func() (net.Listener, error) { return api.Listen(n.cfg.Socket, n.cfg.Access) }, api.ErrInUse)
		switch {
		case errors.Is(err, api.ErrNotInGroup):
			return &SettingError{"api.group", err}
		case errors.Is(err, api.ErrFolder), errors.Is(err, api.ErrFolderChanged):
			return &SettingError{"api.socket", err}
		case err != nil:
			return fmt.Errorf("%w: local socket: %w", ErrConfig, err)
		}
		n.server, listening = api.NewServer(desk{n}, n.log), l
		n.server.Show(shown.Handler(), page.Prefix)
	}
	if err := n.fleet.open(start, n, n.server, &n.tasks, n.log); err != nil {
		return err
	}
	if listening != nil {
		n.tasks.Go(func() {
			if err := n.server.Serve(listening); err != nil {
				n.fail(err)
			}
		})
	}
	if err := n.serveMetrics(start); err != nil {
		return err
	}
	if err := n.web.open(start, n.cfg.Web, shown, &n.tasks, n.log); err != nil {
		return err
	}
	n.lookout.start(n.cfg.seams.addressNews)
	n.gates.configure(n.currentGroup().Config())
	peers := &bootstrap{n.cfg.Bootstrap, append(slices.Clone(n.cfg.Advertise), n.Address()), n.transport, &n.contacts, &n.reports, n.log}
	n.tasks.Go(func() { peers.run(ctx, n.done) })
	n.tasks.Go(func() { n.journal.prune(ctx) })
	n.tasks.Go(func() { n.authority.run(ctx) })
	n.tasks.Go(func() { n.evidence.run(ctx) })
	if n.cfg.Operation.Run != nil {
		standing := &operator{n.cfg.Operation, &n.programs, &n.reports, n.log}
		n.tasks.Go(func() { standing.run(ctx) })
	}
	return nil
}

// beat is called each time that the transport has looked at its connections.
func (n *Node) beat(next time.Duration) {
	if n.lookout.beat(next) {
		n.authority.beat()
		n.hooks.look()
	}
}

// ID is the member's identifier.
func (n *Node) ID() ident.Member { return n.self }

// Address is where the node listens, empty when it only dials out.
func (n *Node) Address() string {
	if n.cfg.Listen == "" {
		return ""
	}
	return n.transport.Addr().String()
}

// Done is closed when the node has failed or was closed; Err says why.
func (n *Node) Done() <-chan struct{} { return n.done }

// Err is why the node ended, or nil while it runs.
func (n *Node) Err() error {
	select {
	case <-n.done:
		return n.err
	default:
		return nil
	}
}

// fail ends the node: nothing is handled from now on. It does not wait, so
// that the engine's own work may call it.
func (n *Node) fail(err error) {
	n.once.Do(func() {
		n.err = err
		if !errors.Is(err, ErrClosed) {
			n.log.Error("node stopped", "error", err)
		}
		if n.engine != nil {
			n.engine.close()
		}
		reason := api.LostStopped
		if errors.Is(err, ErrRevoked) {
			reason = api.LostRevoked
		}
		n.programs.held.loseAll(reason)
		if n.journal != nil { // the folder is this node's
			sayLastWordSoon(n.cfg.StateDir, newLastWord(n.cfg.Now(), n.self, err))
		}
		close(n.done)
		n.programs.waiters.refuseAll(err) // last: who is told why sees that the node has ended
	})
}

const (
	// shutdownWait is how long a node that ends waits for tokens to be passed on and for
	// transfers to be answered, unless its context is shorter. A durable member
	// does the rest after its restart.
	shutdownWait = 5 * time.Second
	// programsWait is how long Close waits in their place if programs run: wander run kills
	// its command after a grace of up to 5 s, and the token is passed on when the program has ended.
	programsWait = 2 * shutdownWait
)

// Close takes the grants of programs away, passes on what the member holds, as far as that goes within ctx and a
// few seconds, and stops. Calls at the same time all wait for the end.
func (n *Node) Close(ctx context.Context) error {
	n.passOn(ctx, programsWait)
	n.fail(ErrClosed)
	n.released.Do(n.release)
	if errors.Is(n.err, ErrClosed) {
		return nil
	}
	return n.err
}

// passOn has nothing new begin, and waits until the tokens have been passed on. Programs are told first: a token under which a
// program runs stays here, and after the end of this process nobody could release it before its deadline. If programs were told, it waits for
// up to withPrograms.
func (n *Node) passOn(ctx context.Context, withPrograms time.Duration) {
	n.engine.put(item{input: member.Shutdown{}})
	wait, told := shutdownWait, n.programs.stop()
	if len(told) > 0 {
		wait = withPrograms
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	n.drain(ctx, told)
}

// Abandon ends the node as the death of its process would: it passes nothing on, and writes nothing more. Its grants are lost here and in force
// elsewhere, until it is opened again. It is for tests of programs (package wandertest).
func (n *Node) Abandon() {
	n.fail(ErrClosed)
	n.released.Do(n.release)
}

const (
	// drainTick is how often a closing node looks whether it is idle.
	drainTick = 20 * time.Millisecond
	// drainAlone is after how many looks without a connection it stops
	// waiting: nobody is there to take anything.
	drainAlone = 25
)

// drain waits until the member is idle, or is alone and the programs have ended.
func (n *Node) drain(ctx context.Context, programs []ident.Grant) {
	tick := time.NewTicker(drainTick)
	defer tick.Stop()
	for alone := 0; alone < drainAlone; alone++ {
		programs = append(programs, n.programs.stop()...) // of grants that were on their way to the disk
		idle, executing := false, false
		n.engine.look(func(m *member.Member) {
			idle = m.Idle()
			executing = slices.ContainsFunc(programs, func(g ident.Grant) bool { return member.InForce(m, g) })
		})
		if idle { // what it has decided may still wait for the disk
			carriedOut := make(chan struct{})
			n.engine.put(item{then: func() { close(carriedOut) }})
			select {
			case <-carriedOut:
			case <-ctx.Done():
			case <-n.done:
			}
			return
		}
		if executing || n.transport.Stats().Connections > 0 {
			alone = -1
		}
		select {
		case <-ctx.Done():
			return
		case <-n.done:
			return
		case <-tick.C:
		}
	}
}

// release frees what the node has opened.
func (n *Node) release() {
	if n.cancel != nil {
		n.cancel()
	}
	if n.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_ = n.server.Shutdown(ctx)
		cancel()
	}
	n.hooks.hooks.Close(hookFarewell)
	n.scrapes.close()
	n.web.close()
	n.fleet.close()
	n.gates.close()
	if n.transport != nil {
		_ = n.transport.Close()
	} else if n.cfg.Conn != nil {
		_ = n.cfg.Conn.Close()
	}
	n.lookout.paths.news.close() // nothing beats any more
	n.tasks.Wait()
	if n.engine != nil {
		n.engine.rest()
	}
	if n.journal != nil {
		_ = n.journal.store.Close()
	}
}

func (n *Node) now() clock.Reading {
	return clock.Reading{Boot: boottime.Now(), Wall: n.cfg.Now().Round(0)} // without the monotonic clock, which is not set
}

func stateOf(ineligible error) string {
	switch {
	case ineligible == nil:
		return "valid"
	case errors.Is(ineligible, directory.ErrRevoked):
		return "revoked"
	case errors.Is(ineligible, directory.ErrLeft):
		return "left"
	case errors.Is(ineligible, directory.ErrFailed):
		return "failed"
	case errors.Is(ineligible, directory.ErrRetired):
		return "retired key"
	case errors.Is(ineligible, certificate.ErrExpired):
		return "expired"
	case errors.Is(ineligible, certificate.ErrNotYetValid):
		return "not yet valid"
	}
	return "unknown"
}
