// Package plan answers what to expect of a policy in one's own group, from
// short simulations (sim/circulation): waits, overlap, recovery, traffic.
//
// It takes seconds, whatever the group: what is simulated is bounded by its
// cost, and the [Report] says how long that was. No run is short against the
// time between two operations of a member, unless even one costs too much. Reports are deterministic by
// the [Request].
//
//	report, err := plan.Make(ctx, plan.Request{
//		Policy: catalog.Wandering, Params: params, Members: 50,
//		Every: time.Minute, Latency: 20 * time.Millisecond,
//		First: 1, Seeds: 10,
//	}, func(done float64) {})
//	fmt.Println(report.Wait.P95, report.Two, report.Hints)
//
// # Who calls it
//
// `wander plan` prints the report. sim/cluster compares the overlap that its members show under fair with a plan's.
//
// # The types
//
//	Request   a group, how often its members want to run, and its faults
//	Report    what to expect: times in seconds, shares between 0 and 1, and Hints
//	Spread    a distribution of times in the report; LowerBounds names what the run was too short for
//	Recovery  how long it takes after a loss until there is a token again
//	effort    what all runs may cost together, in events of the simulator
//	sample    what one run measured, with a watch for waits and intervals
//	spread    times that ended, and times that were still open when the run ended
//	total     all samples, put together in the order of their seeds
//
// # The walk of one request
//
//	Make              Request.Validate refuses what is out of range
//	 ├ measure        the first run, up to all events that the effort permits
//	 ├ recover        beside it, if the effort suffices: a run in which tokens are lost, and nothing else fails
//	 ├ fitting        how many runs like the first one there may be
//	 ├ others         those runs, several at once, merged in order
//	 └ report         the figures of all, and hints on what the policy cannot do
//
//	time of one run:  0 ── warmUp, not measured ──▶ begin ── at least length ──▶ end
//
// measure stops a run when it costs too much (most), or when it is long enough and has either cost its share
// (least) or seen enough waits, losses and crashes.
//
// # Invariants
//
// Equal requests give equal reports, on any number of processors: samples are merged in the order of their seeds. A
// time that had not ended counts for as long as it was seen, and a quantile beyond what was seen is a lower
// bound (spread.quantile). No run has fewer than minIntervals times the expected interval, while there are
// several.
//
// # What it does not do
//
// It measures no real group, and it does not run the members' state machine: sim/circulation has policies and
// ways between members, and sim/cluster has members. Membership updates are not among the
// messages. A new figure is a field of Report, filled from total; a new fault is a field of Request, with its bounds in
// Validate and its place in faulty.
//
// # Concurrency
//
// Make simulates in as many goroutines as there are processors (GOMAXPROCS). From crowd members on it uses one, since
// each run needs memory for each member. It calls progress from one goroutine at a time. It ends soon after ctx does.
package plan
