package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/cmd/internal/groupfile"
	"github.com/wandertoken/wander/internal/counted"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/window"
	"github.com/wandertoken/wander/sim/plan"
)

// planFlags are the flags of wander plan, as they are written.
type planFlags struct {
	request         plan.Request
	loss, output    string
	set             []string // NAME=VALUE
	compare         bool
	weights         []int
	group, resource string
	windows         []string
	begin           cli.Instant
	note            string // on what the group's file has and the plan does not
}

func newPlanCommand(env *environment) *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan --members N {--operation-time DUR | --group FILE.toml}",
		Short: "Predict waiting times and overlap for your group by simulation",
		Long: `Predict by simulation how long members wait, how long the resource is idle or used by
several members at once, how soon a lost token is replaced, and how many messages it
costs.

--latency is the one-way delay of the network, half of what ping shows. A message
between policies takes one delay. A handoff takes one delay after the end of the
operation, because its receiver accepts while the operation runs. The policy must
choose the receiver two delays earlier; otherwise the handoff takes up to three.

--group takes the settings of a resource from the file that wander ca config signs,
its windows and weights too; a flag prevails over the file. With windows, operations
run only while one of them is open, and waits go on while all are closed. Each run
then begins at --begin and has whole weeks, or whole days if the windows are the same
every day. Idle and overlap are shares of the open time.

The cost of the simulation is bounded, and the output shows how much was simulated.
The command makes fewer runs than --seeds if they would be too short. A value marked
with > is larger than its number. Very large groups and long pauses give rough
figures. The same command gives the same figures; --first gives others.`,
		Example: `  wander plan --members 50 --operation-time 4s
  wander plan --members 50 --operation-time 4s --every 10m --loss 0.1% --latency 20ms
  wander plan --members 50 --operation-time 4s --compare
  wander plan --members 60 --operation-time 4s --weights 1,2,5
  wander plan --members 50 --operation-time 4m --every 20h --windows "Mon-Fri 22:00-06:00 Europe/Rome"
  wander plan --members 50 --group group.toml --resource ftp --every 10m
  wander plan --members 200 --operation-time 30s --policy multitoken --target-interval 20m
  wander plan --members 30 --operation-time 10m --every 24h --policy ring --set request_timeout=1h`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runPlan(env, &f, cmd.Flags().Changed) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.request.Members, "members", 0, fmt.Sprintf("number of members, 2 to %d; under fair at most %d", policy.MaxMembers, plan.MaxFair))
	cli.DurationVar(flags, &f.request.Params.OperationTime, "operation-time", 0, "duration of one operation")
	flags.StringVar(&f.group, "group", "", "take the settings of a resource from `FILE.toml`, as wander ca config does; - is standard input")
	flags.StringVar(&f.resource, "resource", "", "the resource in the file of --group (default its only one)")
	flags.StringVar(&f.request.Policy, "policy", catalog.Wandering, "one of "+strings.Join(catalog.Names(), ", "))
	flags.StringVar(&f.request.Params.Preset, "preset", "", "preset of the policy (default its first)")
	cli.DurationVar(flags, &f.request.Params.SkipDelay, "skip-delay", group.DefaultSkipDelay, "dwell: time that a member keeps a token that it does not need")
	cli.DurationVar(flags, &f.request.Params.MinInterval, "min-interval", 0, "minimum time between two operations of a member (default the policy's formula)")
	cli.DurationVar(flags, &f.request.Params.TargetInterval, "target-interval", 0, "time between two tokens at a member, for multitoken")
	flags.IntVar(&f.request.Params.MembersMax, "members-max", 0, "members_max of the group configuration (default the members)")
	flags.StringArrayVar(&f.set, "set", nil, "set a parameter of the policy as in the group configuration, `NAME=VALUE`; may be repeated")
	cli.DurationVar(flags, &f.request.Every, "every", 0, "mean time after an operation until a member wants to run again (default immediately)")
	flags.IntSliceVar(&f.weights, "weights", nil, fmt.Sprintf("weights of classes with equally many members each, for fair, for example 1,2,5; 1 to %d", policy.MaxWeight))
	flags.StringArrayVar(&f.windows, "windows", nil, fmt.Sprintf("a window in which operations run, such as `\"Mon-Fri 22:00-06:00 Europe/Rome\"`; may be repeated, up to %d times", window.Max))
	flags.Var(&f.begin, "begin", "the moment at which each run begins, with windows (default "+plan.DefaultBegin.Format(time.DateOnly)+", a Monday)")
	flags.StringVar(&f.loss, "loss", "0%", "ratio of handoffs that lose the token")
	cli.DurationVar(flags, &f.request.Crash, "crash", 0, "mean time between two crashes in the group, at most half of which is down at a time (default never)")
	cli.DurationVar(flags, &f.request.DownFor, "down-for", time.Minute, "time until a crashed member restarts, with --crash")
	flags.BoolVar(&f.request.Volatile, "volatile", false, "simulate volatile members: a crash loses the tokens they hold; with --crash")
	cli.DurationVar(flags, &f.request.Latency, "latency", 0, "one-way delay of the network, half of a round trip")
	flags.IntVar(&f.request.Seeds, "seeds", 8, fmt.Sprintf("maximum number of runs, 1 to %d", plan.MaxSeeds))
	flags.Uint64Var(&f.request.First, "first", 1, "the seed of the first run; the others follow it")
	flags.BoolVar(&f.compare, "compare", false, "compare all presets of the policy")
	cli.AddOutputFlag(cmd, &f.output)
	return cmd
}

func runPlan(env *environment, f *planFlags, given func(flag string) bool) error {
	if err := cli.CheckOutput(f.output); err != nil {
		return err
	}
	r, err := f.read(env, given)
	if err != nil {
		return err
	}
	if f.compare {
		return comparePresets(env, f, r)
	}
	p, err := simulatePlan(env, r, "simulating")
	if err != nil {
		return err
	}
	f.addNote(p)
	if f.output == "json" {
		return cli.WriteJSON(env.Out, p)
	}
	printPlan(env.Out, r, p)
	for _, h := range p.Hints {
		fmt.Fprintf(env.Out, "hint: %s\n", cli.OneLine(h))
	}
	return nil
}

// addNote adds to the hints what the plan leaves out of the group's file.
func (f *planFlags) addNote(p *plan.Report) {
	if f.note != "" {
		p.Hints = append(p.Hints, f.note)
	}
}

// simulatePlan makes a report, and shows meanwhile what it does.
func simulatePlan(env *environment, r *plan.Request, does string) (*plan.Report, error) {
	show, clear := cli.ProgressLine(env.Err)
	defer clear()
	show("%s …", does)
	ctx, stop := cli.Interruptible()
	defer stop()
	p, err := plan.Make(ctx, *r, func(done float64) { show("%s … %.0f %%", does, 100*done) })
	if ctx.Err() != nil {
		return nil, cli.Interrupted()
	}
	if err != nil {
		return nil, planError(err)
	}
	return p, nil
}

// planComparison is the answer of plan --compare.
type planComparison struct {
	V     int            `json:"v"`
	Plans []*plan.Report `json:"plans"`
}

// comparePresets reports about each preset of the policy that takes the parameters
// that were set.
func comparePresets(env *environment, f *planFlags, r *plan.Request) error {
	all := planComparison{V: 1}
	var unused []string
	var why error
	for _, preset := range catalog.Presets(r.Policy) {
		one := *r
		one.Params.Preset = preset.Name
		if err := one.Validate(); errors.Is(err, policy.ErrUnused) {
			unused, why = append(unused, preset.Name), err
			continue
		}
		p, err := simulatePlan(env, &one, "simulating preset "+preset.Name)
		if err != nil {
			return err
		}
		f.addNote(p)
		all.Plans = append(all.Plans, p)
	}
	switch {
	case len(all.Plans) == 0:
		return planError(why)
	case f.output == "json":
		return cli.WriteJSON(env.Out, all)
	}
	if err := printComparison(env.Out, r, all.Plans); err != nil {
		return err
	}
	for _, name := range unused {
		fmt.Fprintf(env.Out, "hint: preset %s is omitted: it does not use a parameter that was set\n", name)
	}
	return nil
}

func printComparison(w io.Writer, r *plan.Request, plans []*plan.Report) error {
	fmt.Fprintf(w, "%s, policy %s%s\n%s\n%s\n", groupText(r), r.Policy, setText(r), faultsText(r), hoursText(plans[0]))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "preset\tidle\ttwo or more\twait p99\tbetween runs p50\tp99\tafter a loss\tmessages per operation\twith gossip")
	for _, p := range plans {
		wait, between50, between99, recovery := "-", "-", "-", "-"
		if p.Wait != nil {
			wait = percentileText(p.Wait, "p99", p.Wait.P99)
		}
		if p.Interval != nil {
			between50, between99 = percentileText(p.Interval, "p50", p.Interval.P50), percentileText(p.Interval, "p99", p.Interval.P99)
		}
		if p.Recovery != nil {
			recovery = inSeconds(p.Recovery.Median)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.3g\t%.3g\n", p.Preset, percent(p.Idle), percent(p.Two+p.More),
			wait, between50, between99, recovery, p.MessagesPerOperation, p.AllPerOperation)
	}
	return t.Flush()
}

// percentileText marks a percentile that is larger than its number.
func percentileText(s *plan.Spread, name string, value float64) string {
	if slices.Contains(s.LowerBounds, name) {
		return "> " + inSeconds(value)
	}
	return inSeconds(value)
}

// read makes the request of the flags, and checks it.
func (f *planFlags) read(env *environment, given func(flag string) bool) (*plan.Request, error) {
	if err := f.missing(given); err != nil {
		return nil, err
	}
	if err := f.effectless(given); err != nil {
		return nil, err
	}
	r := f.request
	r.Events = env.planEvents
	for _, text := range f.windows {
		w, err := groupfile.ParseWindow(text)
		if err != nil {
			return nil, cli.UsageError("--windows: %v", err)
		}
		r.Windows = append(r.Windows, w)
	}
	if f.group != "" {
		if err := f.takeGroup(env, &r, given); err != nil {
			return nil, err
		}
	}
	if r.Begin = f.begin.Time; given("begin") && len(r.Windows) == 0 {
		return nil, cli.UsageError("--begin has no effect without windows: add --windows, or --group with a resource that has some")
	}
	if err := setParameters(&r.Params, f.set, given); err != nil {
		return nil, err
	}
	if r.Params.MembersMax == 0 {
		r.Params.MembersMax = r.Members
	}
	if len(f.weights) > 0 {
		if err := r.SetWeights(f.weights); err != nil {
			return nil, planError(err)
		}
	}
	var err error
	if r.Loss, err = cli.ParseShare(f.loss); err != nil {
		return nil, cli.UsageError("--loss %v", err)
	}
	if err := r.Validate(); err != nil && !(f.compare && errors.Is(err, policy.ErrUnused)) {
		return nil, planError(err)
	}
	return &r, nil
}

// missing refuses a command line that lacks what it needs.
func (f *planFlags) missing(given func(flag string) bool) error {
	var names []string
	if !given("members") {
		names = append(names, "--members")
	}
	if !given("operation-time") && f.group == "" {
		names = append(names, "--operation-time")
	}
	if len(names) == 0 {
		return nil
	}
	return &cli.Error{Code: cli.ExitUsage, Err: errors.New("required flags missing: " + strings.Join(names, ", ")), Hint: "wander plan --help shows the flags"}
}

// effectless refuses what would be ignored.
func (f *planFlags) effectless(given func(flag string) bool) error {
	if f.compare && given("preset") {
		return cli.UsageError("--compare and --preset cannot be combined")
	}
	for _, flag := range []string{"down-for", "volatile"} {
		if given(flag) && f.request.Crash == 0 {
			return cli.UsageError("--%s has no effect without --crash DUR", flag)
		}
	}
	if given("resource") && f.group == "" {
		return cli.UsageError("--resource has no effect without --group FILE.toml")
	}
	if given("members-max") && f.request.Params.MembersMax < 1 {
		return cli.UsageError("--members-max %d: must be greater than 0", f.request.Params.MembersMax)
	}
	return nil
}

// planError is what is wrong with the numbers that were given.
func planError(err error) error {
	hint := "wander plan --help shows the flags"
	switch {
	case errors.Is(err, group.ErrWindows):
		hint = fmt.Sprintf("give at most %d windows, each at least as long as an operation", window.Max)
	case errors.Is(err, plan.ErrTarget):
		hint = "add --target-interval DUR"
	case errors.Is(err, policy.ErrUnused):
		hint = "wander ca config explains which policy uses which parameter"
	}
	return &cli.Error{Code: cli.ExitUsage, Err: err, Hint: hint}
}

func printPlan(w io.Writer, r *plan.Request, p *plan.Report) {
	fmt.Fprintln(w, groupText(r))
	fmt.Fprintf(w, "policy %s, preset %s%s\n", p.Policy, p.Preset, setText(r))
	fmt.Fprintf(w, "%s\n%s\n", faultsText(r), hoursText(p))
	printSpread(w, "wait", p.Wait)
	of := "time"
	if p.Hours != nil {
		printSpread(w, "wait if open", p.Hours.Wait)
		of = "open time"
	}
	printSpread(w, "between runs", p.Interval)
	fmt.Fprintf(w, "idle          %s of the %s; although somebody waits %s of the %s\n", percent(p.Idle), of, percent(p.IdleWaiting), of)
	fmt.Fprintf(w, "two at once   %s of the %s\n", percent(p.Two), of)
	fmt.Fprintf(w, "more at once  %s of the %s\n", percent(p.More), of)
	if p.NoToken != nil {
		fmt.Fprintf(w, "no token      %s of the %s\n", percent(*p.NoToken), of)
	}
	if p.Recovery != nil {
		apart := "simulated apart"
		if p.Hours != nil {
			apart += ", always open"
		}
		fmt.Fprintf(w, "after a loss  a new token within %s (median), %s (largest of %s, %s)\n",
			inSeconds(p.Recovery.Median), inSeconds(p.Recovery.Largest), counted.Of(p.Recovery.Losses, "loss"), apart)
	}
	fmt.Fprintf(w, "messages      %s an hour from each member; %s handoffs and %s operations an hour in all\n",
		plain(p.MessagesPerHour), plain(p.HandoffsPerHour), plain(p.OperationsPerHour))
	if p.Hours != nil {
		fmt.Fprintf(w, "open hour     %s operations in each\n", plain(p.Hours.Operations))
	}
	fmt.Fprintf(w, "per operation %.3g messages, %.3g of them between policies; %.3g with %.3g of gossip and %.3g HELLO\n",
		p.MessagesPerOperation, p.SmallPerOperation, p.AllPerOperation, p.GossipPerOperation, p.HelloPerOperation)
	for _, s := range p.Shares {
		fmt.Fprintf(w, "weight %-6d %s: %s of the operations, asked %s: %+.2f %% of that\n", s.Weight, counted.Of(s.Members, "member"), percent(s.Share), percent(s.Asked), 100*(s.Share/s.Asked-1))
	}
	fmt.Fprintf(w, "simulated     %s of %s each from seed %d on, after %s of warm-up; %s, %s\n",
		counted.Of(p.Seeds, "run"), inSeconds(p.Simulated), p.First, inSeconds(p.WarmUp), counted.Of(p.Losses, "loss"), counted.Of(p.Crashes, "crash"))
}

// groupText says who wants what.
func groupText(r *plan.Request) string {
	wants := "who want to run again at once"
	if r.Every > 0 {
		wants = fmt.Sprintf("who want to run again %s after an operation, on average", duration.Format(r.Every))
	}
	return fmt.Sprintf("%s, operations of %s, %s", counted.Of(r.Members, "member"), duration.Format(r.Params.OperationTime), wants)
}

// setText names the optional parameters that were set.
func setText(r *plan.Request) (text string) {
	for _, p := range policy.Parameters {
		if p.Wire(&r.Params) != 0 && p.Optional {
			text += fmt.Sprintf(", %s %v", p.Name, p.Value(&r.Params))
		}
	}
	return text
}

// hoursText is a line on the windows, empty without any.
func hoursText(p *plan.Report) string {
	h := p.Hours
	if h == nil {
		return ""
	}
	return fmt.Sprintf("windows %s: open %s of the time from %s on\n", h.Text, percent(h.Open), h.Begin.Format(time.RFC3339))
}

// faultsText says what goes wrong, and how slow the network is.
func faultsText(r *plan.Request) string {
	loss, crash := "no loss", "no crash"
	if r.Loss > 0 {
		loss = fmt.Sprintf("%s of the handoffs lose the token", percent(r.Loss))
	}
	if r.Crash > 0 {
		kind := "durable"
		if r.Volatile {
			kind = "volatile"
		}
		crash = fmt.Sprintf("a crash of a %s member every %s on average, down for %s", kind, duration.Format(r.Crash), duration.Format(r.DownFor))
	}
	return fmt.Sprintf("%v one way, %s, %s", r.Latency, loss, crash)
}

func printSpread(w io.Writer, name string, s *plan.Spread) {
	if s == nil {
		fmt.Fprintf(w, "%-13s nobody ran\n", name)
		return
	}
	percentile := func(name string, value float64) string { return name + " " + percentileText(s, name, value) }
	fmt.Fprintf(w, "%-13s %s, %s, %s, mean %s\n", name,
		percentile("p50", s.P50), percentile("p95", s.P95), percentile("p99", s.P99), inSeconds(s.Mean))
}

// plain is a number with three digits at least, and without an exponent.
func plain(x float64) string {
	if x >= 100 {
		return strconv.FormatFloat(math.Round(x), 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// percent shows a share of time.
func percent(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }

// inSeconds shows a time with about three digits.
func inSeconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	unit := time.Duration(1)
	for limit := 1000 * unit; limit <= d && unit < time.Second; limit *= 10 {
		unit *= 10
	}
	return duration.Format(d.Round(unit))
}
