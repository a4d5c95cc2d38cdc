package experiment

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/policy/multitoken"
	"github.com/wandertoken/wander/sim/circulation"
)

const multitokenSizesNotes = `The policy without the ramp: all members are there from the beginning and know each other, with a token for every fourth.
Operations take no time. Ten minutes pass before twenty are measured. *Two tokens*, and one, have the control switched off (k_max = 1000).`

// steady is a group of constant size.
type steady struct {
	preset  string
	members int
	tokens  int
	latency circulation.Latency
	factor  policy.Ratio
	crashes time.Duration // mean time between two, of a member that forgets all; 0: none
	down    time.Duration // until it returns

	warm, length, bin time.Duration
}

// steadily is what it shows.
type steadily struct{ interval, tokens, perMember float64 }

func (s steady) run(seed uint64) (steadily, error) {
	w, err := circulation.New(circulation.Config{
		Policy: catalog.Multitoken, Members: s.members, Found: s.tokens, Seed: seed, Passing: s.latency, Operation: noTime,
		CrashEvery: s.crashes, DownFor: s.down, Forgetful: true,
		Params: policy.Params{
			Preset: s.preset, OperationTime: policy.MinDuration, MembersMax: s.members, SkipDelay: policy.MinDuration,
			TargetInterval: gridTarget, IntervalFactor: s.factor,
		},
	})
	if err != nil {
		return steadily{}, err
	}
	meter := circulation.NewMeter(circulation.MeterConfig{Start: clock.Instant(s.warm), Bin: s.bin, Limit: gridLimit})
	w.Observe(meter)
	w.Run(clock.Instant(s.warm + s.length))
	tokens := 0.0
	for k := range meter.MostTokens() + 1 {
		tokens += float64(k) * meter.TokensAlive(k)
	}
	return steadily{meter.Operations.Mean().Seconds(), tokens, tokens / float64(s.members)}, w.Err()
}

func (s steady) runs(l *Lab) ([]steadily, error) { return Gather(l, s.run) }

// steadyGroup is a steady group in the paper's conditions.
func steadyGroup(l *Lab, members int, latency circulation.Latency) steady {
	return steady{
		preset: multitoken.Paper, members: members, tokens: max(1, int(float64(members)*l.number(steadyTokens))), latency: latency,
		down: l.span(steadyDown), warm: l.span(steadyWarm), length: l.span(steadyLength), bin: l.span(gridBin),
	}
}

func steadyInterval(s steadily) float64  { return s.interval }
func steadyPerMember(s steadily) float64 { return s.perMember }

const smallGroup = "in a group of 20 six tokens are the equilibrium, and chance moves their number by a third; " +
	"a lack of tokens is answered at the first silence, a surplus only when some queue is full."

func multitokenSizes(l *Lab) error {
	usual, err := steadyGroup(l, gridMembers, circulation.Constant(gridLatency)).runs(l)
	if err != nil {
		return err
	}
	for _, n := range []int{20, 50, 1000} {
		runs, err := steadyGroup(l, n, circulation.Constant(gridLatency)).runs(l)
		if err != nil {
			return err
		}
		id := fmt.Sprintf("-%d", n)
		l.Row(Claim{
			ID: "multitoken-decoupled" + id, Source: "many-token paper §1, §2", Says: "the interval does not depend on the number of members",
			Quantity: fmt.Sprintf("mean interval with %d members over that with 191", n), Unit: Number, Holds: About(1, 0.05),
			Why: smallGroup,
		}, ratio(column(runs, steadyInterval), column(usual, steadyInterval)))
		l.Row(Claim{
			ID: "multitoken-linear" + id, Source: "many-token paper §2, §4", Says: "the number of tokens changes linearly with system size",
			Quantity: fmt.Sprintf("tokens for each member, %d members over 191", n), Unit: Number, Holds: About(1, 0.1),
			Why: smallGroup,
		}, ratio(column(runs, steadyPerMember), column(usual, steadyPerMember)))
	}
	return multitokenNetworks(l)
}

// multitokenNetworks are other latencies, and crashes.
func multitokenNetworks(l *Lab) error {
	for _, n := range []struct {
		id, text string
		latency  circulation.Latency
	}{
		{"-3ms", "3 ms", circulation.Constant(3 * time.Millisecond)},
		{"-300ms", "300 ms", circulation.Constant(300 * time.Millisecond)},
		{"-exponential", "exponential, 30 ms on average", circulation.Exponential(gridLatency)},
	} {
		runs, err := steadyGroup(l, gridMembers, n.latency).runs(l)
		if err != nil {
			return err
		}
		l.Row(Claim{
			ID: "multitoken-robust" + n.id, Source: "many-token paper §3", Says: "c and k_max need not be chosen anew for each network",
			Quantity: "mean interval, token latency " + n.text, Unit: Seconds, Holds: AtMost(gridTarget.Seconds()),
			Why: "handoffs that slow leave too few tokens at the members.",
		}, column(runs, steadyInterval))
		l.Row(Claim{
			ID: "multitoken-robust-tokens" + n.id, Source: "many-token paper §3", Says: "c and k_max need not be chosen anew for each network",
			Quantity: "mean number of tokens, token latency " + n.text, Unit: Number, Holds: Reported(),
		}, column(runs, func(s steadily) float64 { return s.tokens }))
	}
	crashes := steadyGroup(l, gridMembers, circulation.Constant(gridLatency))
	crashes.crashes = l.span(steadyCrashes)
	runs, err := crashes.runs(l)
	if err != nil {
		return err
	}
	l.Row(Claim{
		ID: "multitoken-crashes", Source: "many-token paper §2.2", Says: "crashed members do little harm",
		Quantity: "mean interval, a member crashes every 10 s with its tokens and returns a minute later", Unit: Seconds, Holds: AtMost(gridTarget.Seconds()),
		Why: "more tokens are lost than made.",
	}, column(runs, steadyInterval))
	return multitokenUncontrolled(l)
}

// uncontrolled is a group whose tokens are never made nor removed.
func uncontrolled(l *Lab, members, tokens int) steady {
	s := steadyGroup(l, members, circulation.Constant(gridLatency))
	s.tokens, s.factor = tokens, policy.MaxRatio
	return s
}

// multitokenUncontrolled are the claims about a number of tokens that stays.
func multitokenUncontrolled(l *Lab) error {
	two, err := uncontrolled(l, gridMembers, 2).runs(l)
	if err != nil {
		return err
	}
	l.Row(Claim{
		ID: "multitoken-expected/uncontrolled", Source: "many-token paper §3", Says: "two tokens are expected for an interval of 2.63 s",
		Quantity: "mean interval with two tokens that are never made nor removed", Reading: "two tokens", Unit: Seconds, Holds: About(gridTarget.Seconds(), 0.1),
		Why: "191 · 30 ms / 2 = 2.87 s.",
	}, column(two, steadyInterval))
	many, err := uncontrolled(l, gridMembers, 1).runs(l)
	if err != nil {
		return err
	}
	few, err := uncontrolled(l, 20, 1).runs(l)
	if err != nil {
		return err
	}
	l.Row(Claim{
		ID: "multitoken-alone", Source: "many-token paper §2", Says: "with one token the interval depends on the number of members",
		Quantity: "mean interval with one token, 191 members over 20; in proportion is 9.55", Unit: Number, Holds: About(gridMembers/20.0, 0.05),
		Why: "the token is lost or does not walk evenly.",
	}, ratio(column(many, steadyInterval), column(few, steadyInterval)))
	return nil
}
