package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// When something is worth a hint.
const (
	seldom     = 1.5  // operations so many times as rare as wanted
	often      = 0.02 // share of time with more than two operations
	tokenless  = 0.05 // share of time without a token
	fewTimes   = 10   // that a member ran in a run
	fewSamples = 1000 // waits
	fewLosses  = 20   // for how long they are felt
	manyDown   = 0.05 // share of the members
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
	hours := r.calendar()
	wanted := float64(r.Members) * r.Params.OperationTime.Seconds() / (r.Every + r.Params.OperationTime).Seconds() / hours.open
	switch {
	case p.Wait == nil:
		say("nobody ran in the simulated time")
	case r.overloaded(p, wanted):
		say("overload: members want %.3g operations at once%s, one token serves one; let them want less often, "+
			"shorten operation_time, or use the policy %s if the resource bears several", wanted, whileOpen(hours), catalog.Multitoken)
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
	if a.partial {
		say("a run is bounded by what it costs: it ends before the windows begin anew, which they do every %s; shares, rates and waits depend on "+
			"which part of that it has, and are of the %s after the warm-up", duration.Format(hours.cycle), duration.Format(a.shortest.Round(time.Second)))
	}
	switch {
	case a.shortest < r.least():
		say("a run is bounded by what it costs: it is shorter than %d times what passes between two operations of a member, "+
			"which is %v or more; what takes longer than the run was not seen in it, and percentiles that were not reached "+
			"(marked with >, lower_bounds in JSON) are larger than their number", minIntervals, r.expected())
	case a.runs < r.Seeds:
		say("runs made: %d instead of %d, so that each is as long as %d times what passes between two operations of a member: %v or more",
			a.runs, r.Seeds, minIntervals, r.expected())
	}
	if each := float64(a.stats.Operations) / float64(a.runs*r.Members); each < fewTimes || a.served < fewSamples {
		say("rough figures: a run is bounded by what it costs; each member ran %.2g times in one, which makes %d waits in all",
			each, a.served)
	}
	if p.Recovery != nil && p.Recovery.Losses < fewLosses {
		say("after a loss: only %d losses were simulated, a larger time is likely", p.Recovery.Losses)
	}
	if down := r.down(); down > manyDown*float64(r.Members) {
		say("about %.0f of %d members are down at a time", down, r.Members)
	}
	if r.Loss > 0 && p.Losses < fewSamples/50 || r.Crash > 0 && p.Crashes < fewSamples/50 {
		say("only %d losses and %d crashes were met in the simulated time: the tails are rough", p.Losses, p.Crashes)
	}
	return hints
}

// down is how many members are down on average.
func (r *Request) down() float64 {
	if r.Crash == 0 {
		return 0
	}
	return r.DownFor.Seconds() / r.Crash.Seconds()
}

// overloaded reports whether a single token cannot serve what is wanted.
func (r *Request) overloaded(p *Report, wanted float64) bool {
	return r.Every > 0 && r.singleToken() && wanted > 1 && p.Interval != nil &&
		p.Interval.Mean > seldom*(r.Every+r.Params.OperationTime).Seconds()
}

// whyRare names what keeps members from running as often as they want.
func (r *Request) whyRare() string {
	var why []string
	if shortest := r.minInterval(); shortest > r.Every {
		why = append(why, fmt.Sprintf("min_interval is %v", shortest))
	}
	if c := r.calendar(); c.cycle > 0 {
		why = append(why, fmt.Sprintf("the resource is open %.3g %% of the time", 100*c.open))
	}
	if len(why) == 0 {
		return ""
	}
	return ": " + strings.Join(why, ", and ")
}

// whileOpen says, of a resource with windows, to which time something refers.
func whileOpen(c calendar) string {
	if c.cycle == 0 {
		return ""
	}
	return " while the resource is open"
}

// round is a number of seconds as people read it.
func round(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second)).Round(time.Millisecond)
}
