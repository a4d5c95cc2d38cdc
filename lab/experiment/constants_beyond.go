package experiment

// The goals about one token.
var (
	walkExperiments = []string{
		"beyond-walk", "beyond-walk-losses", "beyond-walk-load", "beyond-walk-stress", "beyond-walk-together", "beyond-walk-liars", "beyond-walk-trade",
	}
	walkLength = declare(constant{
		name: "measured time", value: 100_000, unit: Seconds, used: walkExperiments, others: halfAndDouble(100_000),
		why: "of a run at least: 25,000 operations, of which 25 are above the 99.9th percentile",
	})
	walkRounds = declare(constant{
		name: "measured rounds", value: 8, unit: Number, used: walkExperiments,
		why: "of a run at least", whyFixed: "from 3000 members on a run is longer for it; a sweep has 300",
	})
	walkWarm = declare(constant{
		name: "rounds of warm-up", value: 3, unit: Number, used: walkExperiments, others: []float64{2, 6},
		why: "by then nobody remembers the start",
	})
	walkDown = declare(constant{
		name: "absence of a holder", value: 60, unit: Seconds, used: walkExperiments, others: halfAndDouble(60),
		why: "longer than it takes to find out, and short against a round",
	})
	walkDetect = declare(constant{
		name: "detection", value: 10, unit: Seconds, used: walkExperiments, others: halfAndDouble(10),
		why: "how long it takes to find out that a member crashed: about what a member's connections take",
	})
	lossRetry = declare(constant{
		name: "loss retry", value: 0.5, unit: Seconds, used: walkExperiments, others: halfAndDouble(0.5),
		why: "until a token to lose is looked for again, where there is none",
	})
	spareMembers = declare(constant{
		name: "members with time to spare", value: 75, unit: Number, used: []string{"beyond-walk-load"}, others: []float64{38, 110},
		why: "of a group that is configured for 300: half of the load",
	})
	colludingLiars = declare(constant{
		name: "liars together", value: 15, unit: Number, used: []string{"beyond-walk-liars", "beyond-walk-stress"}, others: []float64{8, 30},
		why: "5 % of the members",
	})
	lossesLength = declare(constant{
		name: "measured time with losses", value: 300_000, unit: Seconds, used: []string{"beyond-walk-losses"}, others: halfAndDouble(300_000),
		why: "ten losses of each kind",
	})
	stressExperiments = []string{"beyond-walk-stress", "beyond-walk-together", "beyond-walk-trade"}
	downLength        = declare(constant{
		name: "measured time with members down", value: 30_000, unit: Seconds, used: []string{"beyond-down-walk"},
		why: "a loss of each kind", whyFixed: "beyond-walk has longer runs, without members down",
	})
	downComparison = declare(constant{
		name: "length of the comparison with members down", value: 15_000, unit: Seconds, used: []string{"beyond-down-policies"},
		why: "twelve rounds of 300 members", whyFixed: "policies has longer runs, without members down",
	})
	slowHandoff = declare(constant{
		name: "slow handoffs", value: 0.05, unit: Seconds, used: stressExperiments, others: halfAndDouble(0.05),
		why: "how long a handoff and a small message take: one way between continents",
	})
	stressCrashes = declare(constant{
		name: "crashes", value: 100, unit: Seconds, used: stressExperiments, others: halfAndDouble(100),
		why: "mean time between two in the group, so that 0.2 % of 300 members are down at a time",
	})
	stressLoss = declare(constant{
		name: "lost messages", value: 0.01, unit: Share, used: stressExperiments, others: halfAndDouble(0.01),
		why: "share of small messages",
	})
	stressKnown = declare(constant{
		name: "small directories", value: 64, unit: Number, used: stressExperiments, others: halfAndDouble(64),
		why: "others that a member knows: a member's own sample in large groups",
	})
	stressSuspicion = declare(constant{
		name: "false suspicion", value: 1e-4, unit: Share, used: stressExperiments, others: halfAndDouble(1e-4),
		why: "share of watches: one in 11 hours of operations of 4 s",
	})
)

// The goals about many tokens.
var (
	manyExperiments = []string{"beyond-many-steady", "beyond-many-stress", "beyond-many-change", "beyond-many-coldstart"}
	manyWarm        = declare(constant{
		name: "warm-up of many tokens", value: 180, unit: Seconds, used: manyExperiments, others: halfAndDouble(180),
		why: "68 target intervals",
	})
	manyLength = declare(constant{
		name: "measured time of many tokens", value: 600, unit: Seconds, used: manyExperiments, others: halfAndDouble(600),
		why: "228 target intervals of each member",
	})
	manyLoss = declare(constant{
		name: "lost tokens", value: 0.01, unit: Share, used: []string{"beyond-many-stress"}, others: halfAndDouble(0.01),
		why: "share of hops: far more than handoffs lose",
	})
	tailExponent = declare(constant{
		name: "exponent of latencies", value: 1.5, unit: Number, used: []string{"beyond-many-stress"}, others: []float64{1.2, 2},
		why: "of their Pareto distribution, whose variance is infinite below 2",
	})
	tailMost = declare(constant{
		name: "longest latency", value: 2, unit: Seconds, used: []string{"beyond-many-stress"}, others: halfAndDouble(2),
		why: "where the distribution is cut, after scaling to the mean",
	})
	manyKnown = declare(constant{
		name: "known members", value: 64, unit: Number, used: []string{"beyond-many-stress"}, others: halfAndDouble(64),
		why: "others that a member knows, drawn for good",
	})
	coldFrom = declare(constant{
		name: "targets before it is looked", value: 30, unit: Number, used: []string{"beyond-many-coldstart"}, others: halfAndDouble(30),
		why: "since the start, whether members are still in step",
	})
	changeSpan = declare(constant{
		name: "time to be back", value: 10, unit: Seconds, used: []string{"beyond-many-change"}, others: halfAndDouble(10),
		why: "after the change, and as long again in which the interval is measured: the goal's own",
	})
)
