package multitoken

import (
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/host"
)

// steered is the policy of one slot at one member under the presets that are
// not the paper's. It implements policy.Policy and policy.Gauger; after
// newSteered it does not allocate.
//
// A token that comes is used at once, or passed on unused, or dropped. The interval is measured from the begin of a use to the begin of the
// next, so that its mean is the target whatever an operation takes. Only tokens wait that no
// member took, and those made here while another one was used.
type steered struct {
	uses
	law    law
	rng    rand.Rand
	target time.Duration
	skip   time.Duration
	intervals

	last     clock.Instant // when the last use began; host.LongAgo before the first
	open     clock.Instant // since when the member can use a token, unless it uses one
	generate clock.Instant // when to make a token if none is used until then
	made     clock.Instant // when it last asked for one; host.LongAgo before

	before  ident.Token   // the token of the last use
	unused  bool          // the token in use is kept until it can be used
	first   bool          // the token in use was made here, in place of lost ones as far as is known
	next    ident.Member  // who gets the token in use, if that is known
	visited visit         // what the law is told of, here so as not to be allocated
	kept    clock.Instant // before when the token in use is not passed on

	out     ident.Token   // the token that was used and passed on last, until it has arrived
	hop     time.Duration // average time from the begin of a use to its token's arrival elsewhere; 0 at first
	fresh   bool          // the use that out is of was the first ever
	splits  bool          // a token is to be made when none is here
	splitID bool          // the token that is made next is passed on unused

	field   [fieldSize]byte // of the token in use, when it is passed on
	carried [fieldSize]byte // of a token that is passed on unused
}

// hopWeight is the share of the latest hop in the average of a member: its own
// few have to do.
const hopWeight = 4

var (
	_ policy.Policy = (*steered)(nil)
	_ policy.Gauger = (*steered)(nil)
)

// newSteered makes an agent that has seen nothing, of the presets Split (also
// where none is named), T3gj and S3gj. It draws from rng, which it may share
// with other agents of the same goroutine. Errors: policy.ErrOutOfRange, also
// when target_interval is zero, and policy.ErrPreset.
func newSteered(params policy.Params, rng rand.Source) (*steered, error) {
	if err := check(params); err != nil {
		return nil, err
	}
	a := &steered{
		rng: *rand.New(rng), target: params.TargetInterval, skip: params.SkipDelay,
		last: host.LongAgo, made: host.LongAgo, generate: clock.Never,
		uses: uses{waiting: make([]ident.Token, 0, capacity)},
	}
	switch params.Preset {
	case T3gj:
		a.law = newIntegral(ruleT3gj)
	case S3gj:
		a.law = newIntegral(ruleS3gj)
	case Split, "":
		a.law = &splitting{}
	default:
		return nil, unknownPreset(params.Preset)
	}
	return a, nil
}

// Step implements policy.Policy.
func (a *steered) Step(now clock.Instant, event policy.Event, actions []policy.Action) []policy.Action {
	if a.Begin(now, &event, actions) {
		a.open = now
		if a.last != host.LongAgo {
			a.open = a.last.Add(of(a.target, a.law.gap()))
		}
		a.listen()
	}
	switch event.Kind {
	case policy.Recalled:
		a.last = max(a.last, a.RecalledAt(&event))
	case policy.Arrival:
		a.receive(&event.Token)
	case policy.Resumed:
		a.returned(&event.Token)
	case policy.Generated:
		a.generated(event.Token.ID)
	case policy.PassEnded:
		a.settled(&event)
	case policy.Timer:
		a.proceed()
		a.makeToken()
	case policy.OperationEnded:
		a.ended(&event)
	case policy.DemandChanged:
		a.Demand = event.Demand
		a.run()
	case policy.Wanted:
		a.hasten(event.From)
	case policy.Sought:
		if a.before == event.Token.ID { // the other one may be in its place
			a.before = ident.Token{}
		}
	}
	return a.Answer()
}

// receive uses a token, passes it on unused or drops it.
func (a *steered) receive(t *policy.Token) {
	if a.holds(t.ID) { // told twice
		return
	}
	a.proceed() // what a late Timer has not told yet
	if a.phase != idle || a.Now < a.open {
		a.forward(t)
		return
	}
	use, split := a.law.meet(a.visit(t), &a.rng)
	if !use {
		a.Drop(t.ID, policy.Overflow)
		return
	}
	a.splits = split && a.mayMake()
	a.use(t.ID)
}

// forward passes on a token that is not used, with what it carries. The field of
// an event is only borrowed, so it is copied, and cut where no law wrote it. The
// token in use may leave in the same step, with a field of its own.
func (a *steered) forward(t *policy.Token) {
	n := copy(a.carried[:], t.Field)
	a.Pass(t.ID, ident.Member{}, a.carried[:n])
}

func (a *steered) visit(t *policy.Token) *visit {
	a.visited = visit{
		field: t.Field, open: a.share(a.Now.Sub(a.open)), used: a.last != host.LongAgo, hop: a.hopShare(),
		same: a.before == t.ID, outranked: a.before != (ident.Token{}) && a.before.Compare(t.ID) < 0,
	}
	return &a.visited
}

// share is a span as a share of the target.
func (a *steered) share(d time.Duration) float64 { return float64(d) / float64(a.target) }

// hopShare is a hop as a share of the target, at most all of it.
func (a *steered) hopShare() float64 { return min(1, a.share(a.hop)) }

// mayMake reports whether the last token that was made here is long enough ago.
func (a *steered) mayMake() bool {
	return a.made == host.LongAgo || a.Now.Sub(a.made) >= a.target
}

// use begins a use, which ends the interval.
func (a *steered) use(t ident.Token) {
	a.fresh = a.last == host.LongAgo
	if !a.fresh {
		a.intervals.add(a.Now.Sub(a.last))
		a.law.observe(min(a.share(a.Now.Sub(a.last)), 2*silenceLongest), a.hopShare())
	}
	a.last, a.before, a.used, a.phase, a.unused, a.first = a.Now, t, t, resting, false, false
	a.kept = a.Now.Add(of(a.target, a.law.pause()))
	a.until = max(a.Now.Add(a.skip), a.kept)
	a.listen()
	a.Prepare(t, ident.Member{})
	a.run()
}

// ended passes on the token that ran, whether or not it ran, when it has stayed
// for long enough.
func (a *steered) ended(event *policy.Event) {
	switch {
	case a.phase == running && a.used == event.Token.ID:
		a.phase, a.until = keeping, a.kept
		a.proceed()
	case event.Operated: // one that an earlier life of this policy began
		a.last, a.open = a.Now, max(a.open, a.Now)
		a.listen()
	}
}

// proceed passes on what has stayed long enough.
func (a *steered) proceed() {
	if a.phase != resting && a.phase != keeping || a.Now < a.until {
		return
	}
	if a.unused {
		a.use(a.used)
		return
	}
	a.phase, a.out = idle, a.used
	a.open = max(a.Now, a.last.Add(of(a.target, a.law.gap())))
	a.pass(a.used, a.next)
	a.next = ident.Member{}
	if len(a.waiting) > 0 {
		a.keep(a.unqueue())
	}
}

// pass passes on a token with the law's state, to a member; zero: to any one.
func (a *steered) pass(t ident.Token, to ident.Member) {
	n := a.law.write(&a.field)
	a.Pass(t, to, a.field[:n])
}

// generated uses a token that a silence or the founding made, and passes on one
// that was made because another one asked for it.
func (a *steered) generated(t ident.Token) {
	split := a.splitID
	a.splitID = false
	switch {
	case a.holds(t):
	case split:
		a.pass(t, ident.Member{})
	case a.phase != idle: // it may be there to replace the one in use
		a.queue(t)
	default:
		a.use(t)
		a.first = true
	}
}

// hasten passes on a token that was made here, and is not used, to who waits for it.
func (a *steered) hasten(to ident.Member) {
	if a.first && a.phase == resting && !to.IsZero() {
		a.until, a.next = a.Now, to
		a.proceed()
	}
}

func (a *steered) settled(e *policy.Event) {
	t := e.Token.ID
	switch e.Outcome {
	case policy.Returned:
		a.returned(&e.Token)
	case policy.Abandoned:
		if a.lose(t) && len(a.waiting) > 0 { // one that waits takes its place
			a.use(a.unqueue())
		}
	case policy.Delivered:
		if t == a.out {
			a.arrived()
		}
		a.split()
	}
}

// arrived measures a hop. A member that is new may ask for a token then.
func (a *steered) arrived() {
	a.out = ident.Token{}
	took := max(1, a.Now.Sub(a.last))
	if a.hop == 0 {
		a.hop = took
	}
	a.hop += (took - a.hop) / hopWeight
	if a.fresh {
		a.fresh = false
		a.splits = a.splits || a.mayMake() && a.law.welcome(a.hopShare(), &a.rng)
	}
}

// split makes the token that was asked for, now that none is here.
func (a *steered) split() {
	if a.splits && a.phase == idle {
		a.splits, a.splitID, a.made = false, true, a.Now
		a.Generate()
	}
}

// returned lets a token that nobody took, or that is here since before a restart,
// be used when it is time, and stay until then.
func (a *steered) returned(t *policy.Token) {
	if a.holds(t.ID) {
		return
	}
	a.proceed()
	switch {
	case a.phase != idle:
		a.queue(t.ID)
	case a.Now >= a.open && a.Now > a.last:
		a.receive(t)
	default:
		a.keep(t.ID)
	}
}

// keep lets a token that cannot be used yet, and that nobody else took, stay
// until it can.
func (a *steered) keep(t ident.Token) {
	a.used, a.phase, a.unused = t, keeping, true
	a.until = max(a.Now.Add(a.skip), a.open)
}

// makeToken asks for a token if none was used for too long. The answer may stay
// out, so the silence starts over.
func (a *steered) makeToken() {
	if a.phase == idle && a.Now >= a.generate {
		a.listen()
		a.splitID, a.made = false, a.Now
		a.Generate()
	}
}

// listen starts a silence.
func (a *steered) listen() {
	a.generate = a.Now.Add(of(a.target, a.law.patience(&a.rng)))
}

// Deadline implements policy.Policy.
func (a *steered) Deadline() clock.Instant {
	switch a.phase {
	case resting, keeping:
		return a.until
	case running:
		return clock.Never
	}
	return a.generate
}
