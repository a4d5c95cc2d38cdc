package papers

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/host"
)

// The constants of the report paper's figure 1.
const (
	defaultGrowth policy.Ratio = 1500 // K1loss = 1.5
	defaultDecay  policy.Ratio = 50   // K2loss = 0.05
)

// ReportMinInterval is Δmin = 1.5·Δop·Nmax (report paper, table 1): a round of
// operations and half of one to spare. The result is exact for what
// policy.Params.Validate accepts.
func ReportMinInterval(operationTime time.Duration, membersMax int) time.Duration {
	return operationTime * time.Duration(membersMax) * 3 / 2
}

// ReportMaxInterval is Δmax = 3·Δmin (report paper, table 1).
func ReportMaxInterval(minInterval time.Duration) time.Duration { return 3 * minInterval }

// reporter is the report paper's algorithm, as its sections 4 and 4.1 tell it.
// It implements policy.Policy.
type reporter struct {
	common
	max           time.Duration // Δmax
	generation    time.Duration // Δgen
	growth, decay policy.Ratio  // K1loss, K2loss
	rests         bool          // a token that this member makes only rests here

	// enabler is the token that enabled the operation last, and enabled the
	// end of the time in which no token that it precedes may stay: Δmin after
	// the operation.
	enabler enabler
	enabled clock.Instant

	// untaken is the last token that was made here and that nobody took, until it has
	// come back: a wrong clock's, maybe. It removes no other.
	untaken ident.Token
}

func newReporter(p policy.Params) (policy.Policy, error) {
	shortest, longest := p.MinInterval, p.MaxInterval
	if shortest == 0 {
		shortest = ReportMinInterval(p.OperationTime, p.MembersMax)
	}
	if longest == 0 {
		longest = ReportMaxInterval(shortest)
	}
	if longest < shortest { // it would give up on a token that is not even wanted yet
		return nil, fmt.Errorf("%w: max_interval is %s, permitted are 0 (derived) and what is not below min_interval, %s",
			policy.ErrOutOfRange, duration.Format(longest), duration.Format(shortest))
	}
	return &reporter{
		common: newCommon(constants{min: shortest, skip: p.SkipDelay}),
		max:    longest, generation: longest,
		growth: p.GrowthFactor.Or(defaultGrowth), decay: p.DecayFactor.Or(defaultDecay),
		rests: p.GeneratorRests, enabled: host.LongAgo,
	}, nil
}

// Step implements policy.Policy. The regeneration timeout starts with the
// first event that is not a Recalled; a Timer will do.
func (r *reporter) Step(now clock.Instant, event policy.Event, actions []policy.Action) []policy.Action {
	r.Begin(now, &event, actions)
	switch event.Kind {
	case policy.Recalled:
		if event.Operated {
			r.enable(&event.Token, r.recallOperation(&event))
		}
		return actions
	case policy.Arrival:
		r.arrive(&event.Token)
	case policy.Generated:
		r.admit(&event.Token, !r.rests)
	case policy.Resumed:
		r.admit(&event.Token, true)
	case policy.PassEnded:
		if r.settled(&event) {
			if event.Token.Hop == 0 {
				r.forgo(&event.Token.ID)
			}
			r.admit(&event.Token, true)
		}
	case policy.Timer:
		r.timer()
	case policy.OperationEnded:
		if event.Operated {
			r.enable(&event.Token, now)
		}
		r.ended(&event)
	case policy.DemandChanged:
		r.Demand = event.Demand
		r.runResting()
	}
	if r.listens() {
		r.regenerate = now.Add(r.generation)
	}
	return r.Answer()
}

// arrive applies the token removal rule of section 4 before anything else: a
// token does not stay within Δmin of an operation under one that precedes it.
// Whether it stays or not, Δgen comes nearer to Δmax (section 4.1).
func (r *reporter) arrive(t *policy.Token) {
	r.generation -= r.decay.Of(r.generation - r.max)
	if t.ID == r.untaken {
		r.untaken = ident.Token{}
	}
	if r.Now <= r.enabled && r.enabler.precedes(t) && !r.holds(&t.ID) {
		r.drop(t)
	} else {
		r.admit(t, true)
	}
}

// admit decides about a token that stays. If no member has demand tokens would
// never meet, so a token that only the missing demand keeps from running
// enables what does not happen, and removes others all the same.
func (r *reporter) admit(t *policy.Token, mayRun bool) {
	if mayRun && !r.running && r.Now > max(r.early, r.enabled) {
		r.enable(t, r.Now)
	}
	r.keep(t, mayRun)
}

// enable notes which token removes others for Δmin from an instant on.
func (r *reporter) enable(t *policy.Token, at clock.Instant) {
	if until := at.Add(r.min); until >= r.enabled && t.ID != r.untaken {
		r.enabler, r.enabled = enabler{t.Born, t.Generator, t.ID}, until
	}
}

// forgo takes back what a token enabled that was made here and that nobody took.
func (r *reporter) forgo(id *ident.Token) {
	r.untaken = *id
	if r.enabler.id == *id {
		r.enabled = host.LongAgo
	}
}

// timer passes on what has rested, or generates; then Δgen grows (section 4.1).
func (r *reporter) timer() {
	if !r.overdue() {
		r.passRested()
		return
	}
	r.generation = r.grown()
	r.generate()
}

// grown is Δgen·K1loss. It ends at what no interval may exceed, or grows no
// more.
func (r *reporter) grown() time.Duration {
	longest := max(policy.MaxInterval, r.max)
	if r.generation >= longest/time.Duration(r.growth)*1000 {
		return longest
	}
	return r.growth.Of(r.generation)
}

// enabler is what precedence is decided by.
type enabler struct {
	born      uint64
	generator ident.Member
	id        ident.Token
}

// precedes: the smaller timestamp, then the smaller generator (section 4). The
// paper knows no third criterion; a generator whose clock stands still needs
// one.
func (e *enabler) precedes(t *policy.Token) bool {
	if e.born != t.Born {
		return e.born < t.Born
	}
	if c := e.generator.Compare(t.Generator); c != 0 {
		return c < 0
	}
	return e.id.Compare(t.ID) < 0
}
