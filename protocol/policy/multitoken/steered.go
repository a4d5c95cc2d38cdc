package multitoken

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// steered is the policy of one slot at one member under the presets that are
// not the paper's. It implements policy.Policy and policy.Gauger; after
// newSteered it does not allocate.
//
// A token that comes is used at once, or passed on unused, or dropped: none
// waits. The interval is measured from the begin of a use to the begin of the
// next, so that its mean is the target whatever an operation takes.
type steered struct {
	law    law
	rng    rand.Rand
	target time.Duration
	skip   time.Duration
	intervals

	last     clock.Instant // when the last use began; longAgo before the first
	open     clock.Instant // since when the member can use a token, unless it uses one
	generate clock.Instant // when to make a token if none is used until then
	made     clock.Instant // when it last asked for one; longAgo before
	asked    clock.Instant // the instant of the last Wait

	before  ident.Token // the token of the last use
	used    ident.Token // the token in use, unless idle
	phase   phase
	unused  bool          // the token in use is kept until it can be used
	first   bool          // the token in use was made here, in place of lost ones as far as is known
	next    ident.Member  // who gets the token in use, if that is known
	visited visit         // what the law is told of, here so as not to be allocated
	until   clock.Instant // when what rests is passed on, or what is kept used
	kept    clock.Instant // before when the token in use is not passed on

	// waiting are tokens that nobody took, and tokens made here, while another one
	// is used. Its capacity does not change.
	waiting []ident.Token

	out     ident.Token   // the token that was used and passed on last, until it has arrived
	hop     time.Duration // average time from the begin of a use to its token's arrival elsewhere; 0 at first
	fresh   bool          // the use that out is of was the first ever
	splits  bool          // a token is to be made when none is here
	splitID bool          // the token that is made next is passed on unused

	demand, started bool
	field           [fieldSize]byte
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
		last: longAgo, made: longAgo, asked: clock.Never, waiting: make([]ident.Token, 0, capacity),
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
	if event.Kind == policy.Recalled {
		a.last = max(a.last, min(event.At, now)) // what comes from the future is a wrong clock's
		return actions
	}
	if !a.started {
		a.started, a.open = true, now
		if a.last != longAgo {
			a.open = a.last.Add(of(a.target, a.law.gap()))
		}
		a.listen(now)
	}
	switch event.Kind {
	case policy.Arrival:
		actions = a.receive(now, &event.Token, actions)
	case policy.Resumed:
		actions = a.returned(now, &event.Token, actions)
	case policy.Generated:
		actions = a.generated(now, event.Token.ID, actions)
	case policy.PassSettled:
		actions = a.settled(now, &event, actions)
	case policy.Timer:
		actions = a.makeToken(now, a.proceed(now, actions))
	case policy.OperationEnded:
		actions = a.ended(now, &event, actions)
	case policy.DemandChanged:
		a.demand = event.Demand
		actions = a.run(actions)
	case policy.Wanted:
		actions = a.hasten(now, event.From, actions)
	case policy.Sought:
		if a.before == event.Token.ID { // the other one may be in its place
			a.before = ident.Token{}
		}
	}
	return a.wait(event.Kind == policy.Timer, actions)
}

// receive uses a token, passes it on unused or drops it.
func (a *steered) receive(now clock.Instant, t *policy.Token, actions []policy.Action) []policy.Action {
	if a.holds(t.ID) { // told twice
		return actions
	}
	actions = a.proceed(now, actions) // what a late Timer has not told yet
	if a.phase != idle || now < a.open {
		return append(actions, a.forward(t))
	}
	use, split := a.law.meet(a.visit(now, t), &a.rng)
	if !use {
		return append(actions, policy.Action{Kind: policy.Drop, Reason: policy.Overflow, Token: t.ID})
	}
	a.splits = split && a.mayMake(now)
	return a.use(now, t.ID, actions)
}

func (a *steered) holds(t ident.Token) bool {
	return a.phase != idle && a.used == t || slices.Contains(a.waiting, t)
}

// forward passes on a token that is not used, with what it carries. The field of
// an event is only borrowed, so it is copied, and cut where no law wrote it.
func (a *steered) forward(t *policy.Token) policy.Action {
	n := copy(a.field[:], t.Field)
	return policy.Action{Kind: policy.Pass, Token: t.ID, Field: a.field[:n]}
}

func (a *steered) visit(now clock.Instant, t *policy.Token) *visit {
	a.visited = visit{
		field: t.Field, open: a.share(now.Sub(a.open)), used: a.last != longAgo, hop: a.hopShare(),
		same: a.before == t.ID, outranked: a.before != (ident.Token{}) && a.before.Compare(t.ID) < 0,
	}
	return &a.visited
}

// share is a span as a share of the target.
func (a *steered) share(d time.Duration) float64 { return float64(d) / float64(a.target) }

// hopShare is a hop as a share of the target, at most all of it.
func (a *steered) hopShare() float64 { return min(1, a.share(a.hop)) }

// mayMake reports whether the last token that was made here is long enough ago.
func (a *steered) mayMake(now clock.Instant) bool {
	return a.made == longAgo || now.Sub(a.made) >= a.target
}

// use begins a use, which ends the interval.
func (a *steered) use(now clock.Instant, t ident.Token, actions []policy.Action) []policy.Action {
	a.fresh = a.last == longAgo
	if !a.fresh {
		a.intervals.add(now.Sub(a.last))
		a.law.observe(min(a.share(now.Sub(a.last)), 2*silenceLongest), a.hopShare())
	}
	a.last, a.before, a.used, a.phase, a.unused, a.first = now, t, t, resting, false, false
	a.kept = now.Add(of(a.target, a.law.pause()))
	a.until = max(now.Add(a.skip), a.kept)
	a.listen(now)
	return a.run(append(actions, policy.Action{Kind: policy.Prepare, Token: t}))
}

// run runs the operation under the token in use, if it rests and somebody
// wants it.
func (a *steered) run(actions []policy.Action) []policy.Action {
	if a.phase != resting || !a.demand {
		return actions
	}
	a.phase = running
	return append(actions, policy.Action{Kind: policy.Run, Token: a.used})
}

// ended passes on the token that ran, whether or not it ran, when it has stayed
// for long enough.
func (a *steered) ended(now clock.Instant, event *policy.Event, actions []policy.Action) []policy.Action {
	switch {
	case a.phase == running && a.used == event.Token.ID:
		a.phase, a.until = keeping, a.kept
		return a.proceed(now, actions)
	case event.Operated: // one that an earlier life of this policy began
		a.last, a.open = now, max(a.open, now)
		a.listen(now)
	}
	return actions
}

// proceed passes on what has stayed long enough.
func (a *steered) proceed(now clock.Instant, actions []policy.Action) []policy.Action {
	if a.phase != resting && a.phase != keeping || now < a.until {
		return actions
	}
	if a.unused {
		return a.use(now, a.used, actions)
	}
	a.phase, a.out = idle, a.used
	a.open = max(now, a.last.Add(of(a.target, a.law.gap())))
	p := a.pass(a.used)
	p.To, a.next = a.next, ident.Member{}
	actions = append(actions, p)
	if len(a.waiting) > 0 {
		a.keep(now, a.unqueue())
	}
	return actions
}

// pass passes on a token with the law's state.
func (a *steered) pass(t ident.Token) policy.Action {
	n := a.law.write(&a.field)
	return policy.Action{Kind: policy.Pass, Token: t, Field: a.field[:n]}
}

// generated uses a token that a silence or the founding made, and passes on one
// that was made because another one asked for it.
func (a *steered) generated(now clock.Instant, t ident.Token, actions []policy.Action) []policy.Action {
	split := a.splitID
	a.splitID = false
	if a.holds(t) {
		return actions
	}
	switch {
	case split:
		return append(actions, a.pass(t))
	case a.phase != idle: // it may be there to replace the one in use
		return a.queue(t, actions)
	}
	actions = a.use(now, t, actions)
	a.first = true
	return actions
}

// hasten passes on a token that was made here, and is not used, to who waits for it.
func (a *steered) hasten(now clock.Instant, to ident.Member, actions []policy.Action) []policy.Action {
	if !a.first || a.phase != resting || to.IsZero() {
		return actions
	}
	a.until, a.next = now, to
	return a.proceed(now, actions)
}

// queue lets a token wait until the one in use is gone.
func (a *steered) queue(t ident.Token, actions []policy.Action) []policy.Action {
	if len(a.waiting) == cap(a.waiting) {
		return append(actions, policy.Action{Kind: policy.Drop, Reason: policy.Overflow, Token: t})
	}
	a.waiting = append(a.waiting, t)
	return actions
}

func (a *steered) settled(now clock.Instant, e *policy.Event, actions []policy.Action) []policy.Action {
	t := e.Token.ID
	switch e.Outcome {
	case policy.Returned:
		return a.returned(now, &e.Token, actions)
	case policy.Abandoned:
		return a.lose(now, t, actions)
	case policy.Delivered:
		if t == a.out {
			a.arrived(now)
		}
		return a.split(now, actions)
	}
	return actions
}

// arrived measures a hop. A member that is new may ask for a token then.
func (a *steered) arrived(now clock.Instant) {
	a.out = ident.Token{}
	took := max(1, now.Sub(a.last))
	if a.hop == 0 {
		a.hop = took
	}
	a.hop += (took - a.hop) / hopWeight
	if a.fresh {
		a.fresh = false
		a.splits = a.splits || a.mayMake(now) && a.law.welcome(a.hopShare(), &a.rng)
	}
}

// split makes the token that was asked for, now that none is here.
func (a *steered) split(now clock.Instant, actions []policy.Action) []policy.Action {
	if !a.splits || a.phase != idle {
		return actions
	}
	a.splits, a.splitID, a.made = false, true, now
	return append(actions, policy.Action{Kind: policy.Generate})
}

// returned lets a token that nobody took, or that is here since before a restart,
// be used when it is time, and stay until then.
func (a *steered) returned(now clock.Instant, t *policy.Token, actions []policy.Action) []policy.Action {
	if a.holds(t.ID) {
		return actions
	}
	actions = a.proceed(now, actions)
	switch {
	case a.phase != idle:
		return a.queue(t.ID, actions)
	case now >= a.open && now > a.last:
		return a.receive(now, t, actions)
	}
	a.keep(now, t.ID)
	return actions
}

// keep lets a token that cannot be used yet, and that nobody else took, stay
// until it can.
func (a *steered) keep(now clock.Instant, t ident.Token) {
	a.used, a.phase, a.unused = t, keeping, true
	a.until = max(now.Add(a.skip), a.open)
}

// lose forgets a token that the driver had to remove. One that waits takes the
// place of one in use.
func (a *steered) lose(now clock.Instant, t ident.Token, actions []policy.Action) []policy.Action {
	if i := slices.Index(a.waiting, t); i >= 0 {
		a.waiting = slices.Delete(a.waiting, i, i+1)
	}
	if a.phase != resting && a.phase != keeping || a.used != t {
		return actions
	}
	a.phase = idle
	if len(a.waiting) == 0 {
		return actions
	}
	return a.use(now, a.unqueue(), actions)
}

// unqueue is the token that has waited longest.
func (a *steered) unqueue() ident.Token {
	t := a.waiting[0]
	a.waiting = append(a.waiting[:0], a.waiting[1:]...) // moves a few: the capacity stays
	return t
}

// makeToken asks for a token if none was used for too long. The answer may stay
// out, so the silence starts over.
func (a *steered) makeToken(now clock.Instant, actions []policy.Action) []policy.Action {
	if a.phase != idle || now < a.generate {
		return actions
	}
	a.listen(now)
	a.splitID, a.made = false, now
	return append(actions, policy.Action{Kind: policy.Generate})
}

// listen starts a silence.
func (a *steered) listen(now clock.Instant) {
	a.generate = now.Add(of(a.target, a.law.patience(&a.rng)))
}

// wait asks for the earliest of all that is due later, when that has changed.
// After a Timer it always does, as it does not know which Wait that answered.
func (a *steered) wait(timer bool, actions []policy.Action) []policy.Action {
	next := a.generate
	switch a.phase {
	case resting, keeping:
		next = a.until
	case running:
		next = clock.Never
	}
	if next == a.asked && !timer {
		return actions
	}
	a.asked = next
	return append(actions, policy.Action{Kind: policy.Wait, At: next})
}
