package circulation

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// The streams of randomness that a seed gives. They are apart, so that for
// instance the same faults hit different policies.
const (
	streamGroup  = iota + 1 // targets, latencies, losses, ids
	streamPolicy            // what policies draw; one for all members
	streamFaults
	streamDemand
	streamClock
	streamRoster
	streamWatch
	streamDown
)

// lookEvery is after how many events, or members that are set up, a Simulation
// looks whether it was cancelled: often enough for nobody to notice the delay,
// seldom enough not to be noticed itself.
const lookEvery = 4096

// Simulation is one simulated group. It is not safe for concurrent use.
type Simulation struct {
	group
	ctx  context.Context
	look uint64 // at how many events to look at ctx again
	err  error

	tokens     tokens
	handoffs   handoffs
	operations operations
	hours      hours
	mail       mail
	network    network
	watches    watches
	roster     roster
	membership membership
	faults     faults
	agents     agents
	scripts    table[func(*Simulation)]
}

// Stats are counts since the start.
type Stats struct {
	// Hops are passes that arrived. Operations are those that began.
	Hops, Operations uint64
	// Generated counts tokens that were made, those of the start too.
	Generated uint64
	// Dropped counts tokens that policies dropped, by policy.DropReason.
	Dropped [policy.Spent + 1]uint64
	// Lost counts tokens lost in transit or with their holder.
	Lost uint64
	// Refused counts passes to a member that was down.
	Refused uint64
	// Crashed counts crashes.
	Crashed uint64
	// Messages counts messages between policies that were sent.
	Messages uint64
	// Events counts everything that happened: what a run has cost.
	Events uint64
}

// New returns a group at instant 0, when everything is about to begin: each
// member's policy has been told its Neighbour, its demand and to begin (Timer),
// in the order of the members, and then the tokens were founded. Errors: those
// of this package for a Config out of range, and those of catalog.New.
func New(cfg Config) (*Simulation, error) { return NewContext(context.Background(), cfg) }

// NewContext is New for large groups and long runs. If ctx ends meanwhile,
// NewContext returns the context's cause. If it ends later, Err of the
// Simulation returns the cause, and Run returns early and does nothing any
// more.
func NewContext(ctx context.Context, cfg Config) (*Simulation, error) {
	return newSimulation(ctx, cfg, func(_ int, in policy.Surroundings) (policy.Policy, error) {
		return catalog.New(cfg.Policy, cfg.Params, in)
	})
}

// newSimulation is New with the policies that makePolicy makes, by a member's
// index.
func newSimulation(ctx context.Context, cfg Config, makePolicy Maker) (*Simulation, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if cfg.Operation.zero() {
		cfg.Operation = Constant(cfg.Params.OperationTime)
	}
	if cfg.DetectAfter == 0 {
		cfg.DetectAfter = defaultDetectAfter
	}
	if cfg.Begin.IsZero() {
		cfg.Begin = time.Unix(defaultBegin, 0).UTC()
	}
	s := assemble(ctx, cfg)
	policies := rand.NewPCG(cfg.Seed, streamPolicy)
	s.membership.make = func(member int) (policy.Policy, error) {
		return makePolicy(member, policy.Surroundings{
			Self: MemberID(member), Random: policies, Roster: &memberRoster{&s.roster, int32(member)}, Slot: slotID, Class: cfg.classOf,
		})
	}
	for range cfg.Members {
		if err := s.membership.admit(); err != nil {
			return nil, err
		}
		if s.cancelled(uint64(len(s.sites))) {
			return nil, s.err
		}
	}
	s.look = 0
	s.begin()
	return s, s.err
}

// assemble makes the parts of a Simulation and lets them know each other.
func assemble(ctx context.Context, cfg Config) *Simulation {
	stream := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(cfg.Seed, n)) }
	s := &Simulation{ctx: ctx, network: newNetwork(&cfg)}
	g := &s.group
	g.cfg, g.pcg = cfg, rand.NewPCG(cfg.Seed, streamGroup)
	g.rng = rand.New(g.pcg)
	g.sites, g.up = make([]site, 0, cfg.Members), make([]int32, 0, cfg.Members)
	g.queue.timers = timers{make([]timer, 0, cfg.Members), &g.sites}
	s.tokens = tokens{group: g}
	s.handoffs = handoffs{group: g, tokens: &s.tokens, network: &s.network, roster: &s.roster, agents: &s.agents}
	s.operations = operations{group: g, tokens: &s.tokens, agents: &s.agents, hours: &s.hours, stream: stream(streamDemand)}
	s.hours = hours{group: g, operations: &s.operations}
	s.mail = mail{group: g, network: &s.network, roster: &s.roster, watches: &s.watches, agents: &s.agents}
	s.watches = watches{group: g, agents: &s.agents, stream: stream(streamWatch)}
	s.roster = roster{group: g, stream: stream(streamRoster)}
	s.membership = membership{
		group: g, tokens: &s.tokens, handoffs: &s.handoffs, operations: &s.operations, watches: &s.watches,
		roster: &s.roster, agents: &s.agents, stream: stream(streamClock),
	}
	s.faults = faults{group: g, tokens: &s.tokens, handoffs: &s.handoffs, membership: &s.membership, stream: stream(streamFaults)}
	s.agents = agents{
		group: g, tokens: &s.tokens, handoffs: &s.handoffs, operations: &s.operations, mail: &s.mail, watches: &s.watches,
		actions: make([]policy.Action, 0, 16),
	}
	return s
}

// cancelled reports whether the context has ended, which it looks at when as
// many things as look were done.
func (s *Simulation) cancelled(done uint64) bool {
	if done >= s.look {
		s.look = done + lookEvery
		s.lookAgain()
	}
	return s.err != nil
}

// lookAgain is apart from cancelled, so that the compiler inlines that.
func (s *Simulation) lookAgain() {
	if s.ctx.Err() != nil {
		s.err = context.Cause(s.ctx)
	}
}

// begin starts everybody and everything that comes by itself.
func (s *Simulation) begin() {
	s.hours.begin()
	s.faults.downForGood()
	s.membership.findNeighbours()
	for m := range s.sites {
		if s.cancelled(uint64(m)) {
			return
		}
		if s.Up(m) {
			s.membership.start(int32(m))
		}
	}
	s.look = 0
	s.tokens.found()
	s.faults.begin()
}

// Run lets everything happen up to the instant until, inclusive, which then is
// the present. It returns earlier at a standstill (see Err). With an until of
// clock.Never it returns only when nothing is left to happen.
func (s *Simulation) Run(until clock.Instant) {
	for !s.cancelled(s.stats.Events) {
		e, ok := s.queue.pop(until)
		if !ok {
			break
		}
		s.advance(e.at)
		s.stats.Events++
		s.happen(e)
		if s.still > standstill+standstillPerMember*len(s.sites) {
			s.err = ErrStandstill
		}
	}
	if s.err == nil && until != clock.Never {
		s.now = max(s.now, until)
	}
	for _, o := range s.observers {
		o.Advanced(s.now)
	}
}

// happen is the turn of one event.
func (s *Simulation) happen(e event) {
	switch e.kind {
	case timerFirst:
		s.agents.firstTimer()
	case timerNear:
		s.agents.timerDue(e.member, e.at, e.seq)
	case arrival:
		s.handoffs.arrive(e)
	case ended:
		s.operations.finish(e)
	case told:
		s.mail.deliver(e)
	case returned:
		s.handoffs.comesBack(&s.tokens.list[e.ref], e.ref)
	case parted:
		s.handoffs.part(e)
	case abandoned:
		s.handoffs.abandon(e)
	case hoursPassed:
		s.hours.pass()
	case script:
		do := s.scripts.list[e.ref]
		s.scripts.list[e.ref] = nil
		s.scripts.release(e.ref)
		do(s)
	case neighbours:
		s.membership.tellNeighbours()
	case loss:
		s.faults.losePass()
	case crash:
		s.faults.crashSomebody()
	case fallForGood:
		s.faults.fallForGood(e.member)
	default:
		if s.sites[e.member].epoch == e.epoch {
			s.happenAt(e)
		}
	}
}

// happenAt is the turn of an event that a crash of its member would undo.
func (s *Simulation) happenAt(e event) {
	switch e.kind {
	case generated, notRun:
		s.agents.answered(e)
	case demandTold:
		s.operations.tellDemand(e.member)
	case demandRise:
		s.operations.rise(e.member)
	case comeBack:
		s.membership.comeBack(e.member)
	case silent:
		s.watches.silent(e.member, e.ref)
	case suspected:
		s.watches.suspected(e.member, e.ref)
	}
}

// Err returns nil, ErrStandstill after virtual time came to a standstill, or
// why the context of NewContext ended. After an error Run does nothing any
// more.
func (s *Simulation) Err() error { return s.err }

// Now returns the present instant.
func (s *Simulation) Now() clock.Instant { return s.now }

// At has the Simulation call do at the instant when, or now if that is past:
// after everything that was scheduled for that instant before, and in the order
// of the calls of At.
func (s *Simulation) At(when clock.Instant, do func(*Simulation)) {
	i := s.scripts.place()
	s.scripts.list[i] = do
	s.scheduleAt(max(when, s.now), script, 0, i, 0)
}

// Observe has o told of all events from now on, and first of the present state:
// the windows if they are closed, the tokens (as born now), and the members that
// want to run or run. Observers are told in the order in which they were added.
func (s *Simulation) Observe(o Observer) {
	s.observers = append(s.observers, o)
	if !s.hours.open() {
		o.WindowsChanged(s.now, false)
	}
	for m := range s.sites {
		if s.sites[m].wants {
			o.Demanded(s.now, m)
		}
	}
	for i := range s.tokens.list {
		t := &s.tokens.list[i]
		if t.state != absent && t.state != lost {
			o.TokenBorn(s.now, int(t.holder), t.Token.ID)
		}
		if t.state == running {
			o.OperationBegan(s.now, int(t.holder))
		}
	}
}

// LosePass makes the next n passes that begin lose their tokens, in addition to
// the losses of the Config.
func (s *Simulation) LosePass(n int) { s.handoffs.losing += n }

// Stats returns the counts so far.
func (s *Simulation) Stats() Stats { return s.stats }

// Traffic returns what was sent so far.
func (s *Simulation) Traffic() Traffic { return s.network.traffic }

// Members returns how many members there ever were; their indices are below
// that number.
func (s *Simulation) Members() int { return len(s.sites) }

// Up reports whether a member is up: neither crashed nor gone.
func (s *Simulation) Up(member int) bool { return s.sites[member].place >= 0 }

// Tokens returns how many tokens exist, including those in transit and those
// that wait for the return of their holder.
func (s *Simulation) Tokens() int { return s.tokens.alive }

// Holders returns the members that hold a token, ascending. Tokens in transit
// are nobody's. A member that is down holds the tokens that wait for its
// return.
func (s *Simulation) Holders() []int {
	var holders []int
	for _, m := range s.tokens.holders() {
		holders = append(holders, int(m))
	}
	return holders
}

// Generate makes a token at a member, as if its policy had asked for it. It
// reports whether it did: it does not at a member that is down or holds a
// token.
func (s *Simulation) Generate(member int) bool { return s.tokens.generate(int32(member)) }

// Want makes a member want to run the operation now, if it is up and does not
// already. It is meant for Scripted demand.
func (s *Simulation) Want(member int) { s.operations.wantNow(int32(member)) }

// Join adds a member that knows only the contact (a Directory says what that
// means), and returns its index. The member begins its work at once, without a
// token; see Generate.
func (s *Simulation) Join(contact int) int { return s.membership.join(contact) }

// Leave lets a member leave for good: it passes on all tokens, also those
// under which the operation runs, to members drawn at random. It reports
// whether the member was up.
func (s *Simulation) Leave(member int) bool { return s.membership.leave(int32(member)) }

// Crash stops a member that is up for a while, forever if it is not to return.
// It reports whether the member was up.
func (s *Simulation) Crash(member int, downFor time.Duration) bool {
	return s.membership.crash(int32(member), downFor)
}
