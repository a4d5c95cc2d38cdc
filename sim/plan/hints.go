package plan

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/wandering"
)

// When something is worth a hint.
const (
	seldom     = 1.5  // operations so many times as rare as wanted
	often      = 0.02 // share of time with more than two operations
	tokenless  = 0.05 // share of time without a token
	fewTimes   = 10   // that a member ran in a run
	fewSamples = 1000 // waits
)

// preset is the one that is meant.
func (r *Request) preset() string {
	if r.Params.Preset != "" {
		return r.Params.Preset
	}
	return catalog.Presets(r.Policy)[0].Name
}

// hints say what the policy cannot do, and what the figures cannot.
func (r *Request) hints(p *Report, a *total) (hints []string) {
	say := func(format string, args ...any) { hints = append(hints, fmt.Sprintf(format, args...)) }
	wanted := float64(r.Members) * r.Params.OperationTime.Seconds() / (r.Every + r.Params.OperationTime).Seconds()
	switch {
	case p.Wait == nil:
		say("nobody ran in the simulated time")
	case r.overloaded(p, wanted):
		say("overload: members want %.3g operations at once, one token serves one; let them want less often, "+
			"shorten operation_time, or use the policy %s if the resource bears several", wanted, catalog.Multitoken)
	case r.Every > 0 && p.Interval != nil && p.Interval.Mean > seldom*(r.Every+r.Params.OperationTime).Seconds():
		say("members run every %v on average, they want to every %v%s",
			round(p.Interval.Mean), (r.Every + r.Params.OperationTime).Round(time.Millisecond), r.whyRare())
	}
	if p.More > often {
		say("more than two operations run at once %.1f %% of the time: see that the resource bears it", 100*p.More)
	}
	if p.NoToken != nil && *p.NoToken > tokenless {
		say("there is no token %.0f %% of the time: losses are too frequent for how soon a token is replaced", 100**p.NoToken)
	}
	if each := float64(a.stats.Operations) / float64(r.Seeds*r.Members); each < fewTimes || a.waits.Count() < fewSamples {
		say("rough figures: a run is bounded by what it costs; each member ran %.2g times in one, which makes %d waits in all",
			each, a.waits.Count())
	}
	if r.Loss > 0 && p.Losses < fewSamples/50 || r.Crash > 0 && p.Crashes < fewSamples/50 {
		say("only %d losses and %d crashes were met in the simulated time: the tails are rough", p.Losses, p.Crashes)
	}
	return hints
}

// overloaded reports whether a single token cannot serve what is wanted.
func (r *Request) overloaded(p *Report, wanted float64) bool {
	return r.Every > 0 && r.singleToken() && wanted > 1 && p.Interval != nil &&
		p.Interval.Mean > seldom*(r.Every+r.Params.OperationTime).Seconds()
}

// whyRare names what keeps members from running as often as they want.
func (r *Request) whyRare() string {
	shortest := r.Params.MinInterval
	if shortest == 0 && r.Policy == catalog.Wandering && r.preset() == wandering.Paper {
		shortest = wandering.MinInterval(r.Params.OperationTime, r.Params.MembersMax)
	}
	if shortest <= r.Every {
		return ""
	}
	return fmt.Sprintf(": min_interval is %v", shortest)
}

// round is a number of seconds as people read it.
func round(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second)).Round(time.Millisecond)
}
