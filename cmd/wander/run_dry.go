package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/explain"
	"github.com/wandertoken/wander/protocol/duration"
)

// say tells what happens, with --verbose.
func (r *runner) say(format string, args ...any) {
	if r.verbose {
		fmt.Fprintf(r.env.Err, "wander: %s\n", cli.OneLine(fmt.Sprintf(format, args...)))
	}
}

// tookGrant takes in a grant that this program has got.
func (r *runner) tookGrant(g api.Grant) {
	r.report.Fence = &g.Fence
	if g.GateFence > 0 {
		r.report.GateFence = &g.GateFence
	}
	r.say("granted %s after %.1f s: token %s, hop %d, fence %d, until %s", g.Resource, r.report.WaitedS, g.Token.Short(), g.Hop, g.Fence, g.Deadline.Format(time.RFC3339))
}

// describe is --dry-run: what would be run, and how the resource is now. Nothing is asked for.
func (r *runner) describe(path string) error {
	ctx, cancel := patiently(context.Background())
	defer cancel()
	st, err := r.client.Status(ctx)
	if err != nil {
		return r.fail(outcomeUnavailable, cli.ExitUnavailable, err)
	}
	i := slices.IndexFunc(st.Resources, func(s api.ResourceStatus) bool { return s.Name == r.resource })
	if i < 0 {
		r.report.Outcome = outcomeRefused
		return noResource(st, r.resource)
	}
	res := st.Resources[i]
	fmt.Fprintf(r.env.Out, "would run   %s\n", cli.OneLine(strings.Join(append([]string{path}, r.command[1:]...), " ")))
	fmt.Fprintf(r.env.Out, "under       a token of %s, of member %s (%s)\n", r.resource, st.Name, r.socket)
	fmt.Fprintf(r.env.Out, "waits       %s%s\n", r.patience(), r.expected(res))
	why := res.Sentence
	if explain.IsDown(st.Cause, explain.Holds(&res)) {
		why = st.Sentence
	}
	fmt.Fprintf(r.env.Out, "now         %s\n", cli.OneLine(why))
	if r.held.text != "" {
		fmt.Fprintf(r.env.Out, "within      %s\n", cli.OneLine(r.held.text))
	}
	r.report.Outcome = outcomeDryRun
	return nil
}

// patience is how long this run would wait.
func (r *runner) patience() string {
	switch {
	case r.waitFor.forever:
		return "until it is granted"
	case r.waitFor.Duration == 0:
		return "not at all"
	}
	return "at most " + duration.Format(r.waitFor.Duration)
}

// expected is after what time the daemon expects the token, if it can tell.
func (r *runner) expected(res api.ResourceStatus) string {
	best := (*api.EtaStatus)(nil)
	for _, s := range res.Slots {
		if s.Eta != nil && (best == nil || s.Eta.P50S < best.P50S) {
			best = s.Eta
		}
	}
	if best == nil {
		return ""
	}
	return fmt.Sprintf("; it comes in about %v, in 19 of 20 cases within %v", seconds(best.P50S), seconds(best.P95S))
}
