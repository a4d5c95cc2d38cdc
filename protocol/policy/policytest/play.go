// Package policytest plays golden scenario scripts: what a policy is told, line
// by line, and what it answers. The tests of each policy keep theirs in
// testdata, and compare what Play makes of a script with the script itself.
//
// A script has lines
//
//	# comment
//	agent NAME=VALUE...   a new policy: policy.Parameters by their names, preset, seed
//	TIME EVENT ...        what it is told, at the time since the start of the boot
//	  ANSWER ...          what it answers, which Play writes anew
//
// The events, with a token as a letter and its birth in milliseconds, which
// [generator], [hop], [policy field], [who passed it, or took it] and [who was skipped] may follow:
//
//	arrival b@2 by=M hop=3 field=c0ff from=M skipped=M
//	generated, resumed, recalled, recalled-run, delivered, returned, abandoned,
//	ended, did-not-begin TOKEN
//	timer · demand · no-demand · neighbour M n=5 · neighbour n=1 · message M c0ff · silent M
//	gauges                no event: lists the figures of a policy.Gauger
//
// A member is a letter too. Of a recalled event the time is when it happened,
// which may be negative. The answers:
//
//	run b · prepare b [to M] · pass b [to M] [field c0ff] · drop b REASON
//	generate · tell M c0ff · watch M · unwatch M
//	wait until TIME · wait for nothing: the policy's Deadline, after a timer and when it has changed
package policytest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/policy"
)

// ErrScript is a line that is not in a script's language. What wraps it says
// which line, and what is wrong with it.
var ErrScript = errors.New("wrong line of a script")

// Play answers a script with policies from make, and leaves everything else in
// it as it is. Errors: ErrScript, and those of make.
func Play[P policy.Policy](script string, make func(policy.Params, rand.Source) (P, error)) (string, error) {
	p := player{make: func(params policy.Params, rng rand.Source) (policy.Policy, error) { return make(params, rng) }}
	for number, line := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		if strings.HasPrefix(line, "  ") {
			continue // an old answer
		}
		fmt.Fprintln(&p.out, line)
		if err := p.play(strings.Fields(line)); err != nil {
			return "", fmt.Errorf("line %d: %w", number+1, err)
		}
	}
	return p.out.String(), nil
}

type player struct {
	make   func(policy.Params, rand.Source) (policy.Policy, error)
	policy policy.Policy
	now    clock.Instant
	due    clock.Instant // the policy's Deadline, as last written
	out    strings.Builder
}

// play performs one line, given as its words.
func (p *player) play(words []string) (err error) {
	switch {
	case len(words) == 0 || words[0] == "#":
		return nil
	case words[0] == "agent":
		return p.agent(words[1:])
	case p.policy == nil:
		return fmt.Errorf("%w: no agent yet", ErrScript)
	case len(words) == 2 && words[1] == "gauges":
		return p.gauges()
	}
	now, event, err := parseEvent(words)
	if err != nil {
		return err
	}
	if now < p.now {
		return fmt.Errorf("%w: time runs backwards", ErrScript)
	}
	p.now = now
	for _, a := range p.policy.Step(now, event, nil) {
		fmt.Fprintln(&p.out, "  "+render(a))
	}
	if due := p.policy.Deadline(); due != p.due || event.Kind == policy.Timer {
		p.due = due
		fmt.Fprintln(&p.out, "  "+wait(due))
	}
	return nil
}

// agent makes the policy that the following lines are about.
func (p *player) agent(words []string) error {
	params, seed, err := parseAgent(words)
	if err != nil {
		return err
	}
	p.now, p.due = math.MinInt64, clock.Never
	p.policy, err = p.make(params, rand.NewPCG(seed, 0))
	return err
}

func (p *player) gauges() error {
	g, ok := p.policy.(policy.Gauger)
	if !ok {
		return fmt.Errorf("%w: this policy has no gauges", ErrScript)
	}
	g.Gauges(func(name string, value float64) { fmt.Fprintf(&p.out, "  %s %v\n", name, value) })
	return nil
}
