package circulation

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// The streams of randomness that a seed gives. They are apart, so that for
// instance the same faults hit different policies.
const (
	streamWorld  = iota + 1 // targets, latencies, losses, ids
	streamPolicy            // what policies draw; one for all members
	streamFaults
	streamDemand
	streamClock
	streamRoster
	streamWatch
	streamDown
)

// How many events may happen at one instant: some, and more for each member
// that there ever was. No group that makes progress needs nearly as many, and
// policies that pass tokens about in no time need more.
const (
	standstill          = 100_000
	standstillPerMember = 1000
)

// lookEvery is after how many events, or members that are set up, a Simulation looks
// whether it was cancelled: often enough for nobody to notice the delay, seldom
// enough not to be noticed itself.
const lookEvery = 4096

// Simulation is one simulated group. It is not safe for concurrent use.
type Simulation struct {
	cfg    Config
	ctx    context.Context
	look   uint64 // at how many events to look at ctx again
	now    clock.Instant
	seq    uint64
	queue  queue
	still  int // events since now changed
	err    error
	paused bool

	sites   []site
	up      []int32         // the members that are up, in no particular order
	actions []policy.Action // a policy's answer, while it is carried out
	settled policy.Event    // what a sender is told once its receiver was

	tokens     []token
	freeTokens []int32
	tokensUp   int

	messages     []message
	freeMessages []int32
	links        links
	contacts     contacts

	pcg                 *rand.PCG // streamWorld
	rng, faults, demand *rand.Rand
	make                func(member int) (policy.Policy, error)

	roster  roster
	watches watches

	losing        int // so many of the next passes lose their token
	renumbering   bool
	keepsVisits   bool
	scripts       []func(*Simulation)
	freeScripts   []int32
	observers     []Observer
	stats         Stats
	traffic       Traffic
	clocks        *rand.Rand
	operationTime Latency
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

// New makes a group at instant 0 at which everything is about to begin: each
// member's policy has been told its Neighbour, its demand and to begin
// (Timer), in the order of the members, and then the tokens are founded.
// Errors: those of this package for a Config out of range, and those of
// catalog.New.
func New(cfg Config) (*Simulation, error) { return NewContext(context.Background(), cfg) }

// NewContext is New for large groups and long runs: when ctx ends, it returns
// the context's cause, and so does Err of a Simulation that was made already, whose
// Run then returns early and does nothing any more.
func NewContext(ctx context.Context, cfg Config) (*Simulation, error) {
	return newSimulation(ctx, cfg, func(_ int, in policy.Surroundings) (policy.Policy, error) {
		return catalog.New(cfg.Policy, cfg.Params, in)
	})
}

// newSimulation is New with the policies that makePolicy makes, by a member's index.
func newSimulation(ctx context.Context, cfg Config, makePolicy Maker) (*Simulation, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	w := &Simulation{
		cfg: cfg, ctx: ctx, actions: make([]policy.Action, 0, 16),
		pcg:    rand.NewPCG(cfg.Seed, streamWorld),
		faults: rand.New(rand.NewPCG(cfg.Seed, streamFaults)),
		demand: rand.New(rand.NewPCG(cfg.Seed, streamDemand)),
		clocks: rand.New(rand.NewPCG(cfg.Seed, streamClock)),
		sites:  make([]site, 0, cfg.Members),
		up:     make([]int32, 0, cfg.Members),
		links:  newLinks(&cfg), contacts: newContacts(cfg.IdleTimeout),
	}
	w.rng = rand.New(w.pcg)
	w.roster, w.watches = newRoster(w), newWatches(&cfg)
	policies := rand.NewPCG(cfg.Seed, streamPolicy)
	w.make = func(member int) (policy.Policy, error) {
		return makePolicy(member, policy.Surroundings{
			Self: MemberID(member), Random: policies, Roster: &memberRoster{&w.roster, int32(member)}, Slot: slotID,
		})
	}
	w.queue.timers = timers{make([]timer, 0, cfg.Members), &w.sites}
	w.keepsVisits = !cfg.Forgetful && (cfg.Recall || cfg.CrashEvery > 0)
	if w.operationTime = cfg.Operation; w.operationTime.zero() {
		w.operationTime = Constant(cfg.Params.OperationTime)
	}
	for range cfg.Members {
		if err := w.admit(); err != nil {
			return nil, err
		}
		if w.cancelled(uint64(len(w.sites))) {
			return nil, w.err
		}
	}
	w.look = 0
	w.begin()
	return w, w.err
}

// cancelled reports whether the context has ended, which it looks at when as
// many things as look were done.
func (w *Simulation) cancelled(done uint64) bool {
	if done >= w.look {
		w.look = done + lookEvery
		if w.ctx.Err() != nil {
			w.err = context.Cause(w.ctx)
		}
	}
	return w.err != nil
}

// begin starts everybody and everything that comes by itself.
func (w *Simulation) begin() {
	w.downForGood()
	w.findNeighbours()
	for m := range w.sites {
		if w.cancelled(uint64(m)) {
			return
		}
		if w.Up(m) {
			w.start(int32(m))
		}
	}
	w.look = 0
	w.found()
	if w.cfg.LossEvery > 0 {
		w.schedule(w.cfg.LossEvery, loss, 0, 0, 0)
	}
	if w.cfg.CrashEvery > 0 {
		w.schedule(exponentialSpan(w.faults, w.cfg.CrashEvery), crash, 0, 0, 0)
	}
}

// found makes the tokens of the start, fewer where fewer members are up.
func (w *Simulation) found() {
	left := w.cfg.Found
	for _, m := range w.rng.Perm(w.cfg.Members) {
		if left > 0 && w.Up(m) {
			w.generate(int32(m))
			left--
		}
	}
}

// schedule makes something happen after a while.
func (w *Simulation) schedule(after time.Duration, kind eventKind, member, ref int32, epoch uint32) {
	w.scheduleAt(w.now.Add(after), kind, member, ref, epoch)
}

func (w *Simulation) scheduleAt(at clock.Instant, kind eventKind, member, ref int32, epoch uint32) {
	w.seq++
	w.queue.push(event{at, w.seq, subject{member, ref}, purpose{epoch, kind}})
}

// Run lets everything happen up to the instant until, inclusive, which then is
// the present. It returns earlier after stop, or at a standstill (see Err). It
// does not return before an until of clock.Never while anything is left to
// happen.
func (w *Simulation) Run(until clock.Instant) {
	w.paused = false
	for !w.paused && !w.cancelled(w.stats.Events) {
		e, ok := w.queue.pop(until)
		if !ok {
			break
		}
		if e.at > w.now {
			w.now, w.still = e.at, 0
		}
		w.still++
		w.stats.Events++
		w.happen(e)
		if w.still > standstill+standstillPerMember*len(w.sites) {
			w.err = ErrStandstill
		}
	}
	if !w.paused && w.err == nil && until != clock.Never {
		w.now = max(w.now, until)
	}
	for _, o := range w.observers {
		o.Advanced(w.now)
	}
}

// stop makes Run return after what happens now. It may be called from an
// Observer or from what At was given.
func (w *Simulation) stop() { w.paused = true }

// Err is nil, ErrStandstill after virtual time came to a standstill, or why the
// context of NewContext ended. Then Run does nothing any more.
func (w *Simulation) Err() error { return w.err }

// Now is the present.
func (w *Simulation) Now() clock.Instant { return w.now }

// At calls do at the instant when, or now if that is past: after what was
// scheduled for that instant before, and in the order of the calls of At.
func (w *Simulation) At(when clock.Instant, do func(*Simulation)) {
	i := int32(len(w.scripts))
	if n := len(w.freeScripts); n > 0 {
		i, w.freeScripts = w.freeScripts[n-1], w.freeScripts[:n-1]
		w.scripts[i] = do
	} else {
		w.scripts = append(w.scripts, do)
	}
	w.scheduleAt(max(when, w.now), script, 0, i, 0)
}

// Observe lets o hear of everything from now on, and first of what there is:
// the tokens (as born now), who wants to run and who runs. Observers are told
// in the order in which they were added.
func (w *Simulation) Observe(o Observer) {
	w.observers = append(w.observers, o)
	for m := range w.sites {
		if w.sites[m].wants {
			o.Demanded(w.now, m)
		}
	}
	for i := range w.tokens {
		t := &w.tokens[i]
		if t.state != absent && t.state != lost {
			o.TokenBorn(w.now, int(t.holder), t.Token.ID)
		}
		if t.state == running {
			o.OperationBegan(w.now, int(t.holder))
		}
	}
}

// LosePass makes the next n passes that begin lose their tokens, on top of
// what else is to be lost.
func (w *Simulation) LosePass(n int) { w.losing += n }

// Stats are the counts so far.
func (w *Simulation) Stats() Stats { return w.stats }

// config is what the Simulation was made with.
func (w *Simulation) config() Config { return w.cfg }

// Members is how many members there ever were: their indices are below.
func (w *Simulation) Members() int { return len(w.sites) }

// alive is how many members are up.
func (w *Simulation) alive() int { return len(w.up) }

// Tokens is how many tokens exist, those in transit and those that wait for
// the return of their holder too.
func (w *Simulation) Tokens() int { return w.tokensUp }

// Holders are the members that hold a token, ascending; tokens in transit are
// nobody's. A member that is down holds those that wait for its return.
func (w *Simulation) Holders() []int {
	var holders []int
	for i := range w.tokens {
		if t := &w.tokens[i]; t.state == held || t.state == running || t.state == waiting {
			holders = append(holders, int(t.holder))
		}
	}
	slices.Sort(holders)
	return slices.Compact(holders)
}

// below is a number from 0 to n-1. For a million its distribution is uniform
// but for 2⁻⁴⁴.
func (w *Simulation) below(n int) int {
	hi, _ := bits.Mul64(w.pcg.Uint64(), uint64(n))
	return int(hi)
}
