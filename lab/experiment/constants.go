package experiment

// constants are all numbers of the experiments that no paper gives, in the order
// of the documents. Limits and tolerances of rows are not among them: they stand
// in the rows themselves (Check.ours, About, Between).
var constants []*constant

// declare adds a constant.
func declare(c constant) *constant {
	constants = append(constants, &c)
	return &c
}

// The report's losses.
var (
	lossSpacing = declare(constant{
		name: "loss spacing", value: 50_000, unit: Seconds, used: []string{"report-fig4"}, others: []float64{3600, 10_000, 25_000, 100_000, 200_000},
		why: "from a recovery to the next loss. Δgen loses 5 % of its excess at each visit, of which a member has 70 in this time among 300: 3 % are left, " +
			"so that losses are nearly independent",
	})
	lossPatience = declare(constant{
		name: "patience", value: 200_000, unit: Seconds, used: []string{"report-fig4"}, others: halfAndDouble(200_000),
		why: "after which a recovery is given up and counts as infinite",
	})
	lossStep = declare(constant{
		name: "loss wait", value: 5, unit: Seconds, used: []string{"report-fig4", "policies"}, others: halfAndDouble(5),
		why: "how long at most to wait for the pass that is to lose a token: longer than an operation",
	})
	lossLook = declare(constant{
		name: "look step", value: 600, unit: Seconds, used: []string{"report-fig4"}, others: halfAndDouble(600),
		why: "how often it is looked whether the group has recovered; the length of the transient is exact, the next loss later by up to this",
	})
)

// The journal paper and the slides.
var (
	gammaRun = declare(constant{
		name: "γ run", value: 10_000_000, unit: Seconds, used: []string{"journal-setup"}, others: halfAndDouble(10_000_000),
		why: "55 mean timeouts of each of 300 members",
	})
	coldGroups = declare(constant{
		name: "cold starts", value: 200, unit: Number, used: []string{"journal-generation"}, others: halfAndDouble(200),
		why: "groups of which a run takes the mean, for an error of 7 % of the exponential part",
	})
	blindRun = declare(constant{
		name: "run without visits", value: 1_000_000, unit: Seconds, used: []string{"journal-generation"}, others: halfAndDouble(1_000_000),
		why: "1660 timeouts",
	})
	wrongClocks = declare(constant{
		name: "wrong clocks", value: 100_000, unit: Seconds, used: []string{"journal-removal"}, others: halfAndDouble(100_000),
		why: "by how much clocks are wrong at most: the length of the run, so that the order of timestamps is nearly random",
	})
	walkVisits = declare(constant{
		name: "visits", value: 100, unit: Number, used: []string{"journal-walk"}, others: halfAndDouble(100),
		why: "of each member in a run of the walk alone",
	})
	acquaintanceRings = declare(constant{
		name: "acquaintance rings", value: 3, unit: Number, used: []string{"journal-walk"}, others: []float64{2, 4},
		why: "through all members; each is known to two others in each, so 3 make about log 300 acquaintances",
	})
	longDays = declare(constant{
		name: "long run", value: 10, unit: Number, used: []string{"journal-walk"}, others: halfAndDouble(10),
		why: "how many times as long the run is that fairness is compared in",
	})
	settleSpan = declare(constant{
		name: "time after a recovery", value: 1200, unit: Seconds, used: []string{"slides-tokens"}, others: halfAndDouble(1200),
		why: "in which a transient would show: 2·Δmin, in which every member times out once",
	})
)

// The report's removal rule.
var (
	intrusions = declare(constant{
		name: "spurious tokens", value: 300, unit: Number, used: []string{"report-removal"}, others: halfAndDouble(300),
		why: "made in a run, one after the other",
	})
	intrusionSpacing = declare(constant{
		name: "spurious spacing", value: 1200, unit: Seconds, used: []string{"report-removal"}, others: halfAndDouble(1200),
		why: "between them: 2·Δmin, after which no member's last operation was under the one before",
	})
	clockLosses = declare(constant{
		name: "losses with wrong clocks", value: 10_000, unit: Seconds, used: []string{"report-removal"}, others: halfAndDouble(10_000),
		why: "between two losses, after which several new tokens compare their times; the journal paper's",
	})
	smallOffset = declare(constant{
		name: "small clock error", value: 60, unit: Seconds, used: []string{"report-removal"}, others: halfAndDouble(60),
		why: "a thirtieth of Δmax, to which the report calls it small",
	})
)

// The many-token paper.
var (
	gridStable = declare(constant{
		name: "begin of stability", value: 3600, unit: Seconds, used: []string{"multitoken-fig1", "multitoken-fig2", "multitoken-fig3"},
		others: []float64{2700, 5400},
		why:    "twice the ramp: the registries have time to fill, for which figure 3 says 25 minutes",
	})
	gridBin = declare(constant{
		name: "bin of intervals", value: 0.01, unit: Seconds, used: []string{"multitoken-fig1", "multitoken-fig2", "multitoken-fig3", "multitoken-sizes"},
		others: halfAndDouble(0.01),
		why:    "it divides 3 s and 3·t_wait = 7.89 s, and tells 0.8767 s from its neighbours",
	})
	waveWidth = declare(constant{
		name: "width of a wave", value: 0.2, unit: Seconds, used: []string{"multitoken-fig1"}, others: halfAndDouble(0.2),
		why: "a quarter of the distance of two waves",
	})
	decayBin = declare(constant{
		name: "bin of the decay", value: 0.1, unit: Seconds, used: []string{"multitoken-fig1"}, others: halfAndDouble(0.1),
		why: "in which the logarithm of frequencies is taken: 65 points",
	})
	lastTokens = declare(constant{
		name: "last tokens", value: 1800, unit: Seconds, used: []string{"multitoken-fig2"}, others: halfAndDouble(1800),
		why: "the end of the run, held against the half hour after the ramp",
	})
	burstGrowth = declare(constant{
		name: "burst", value: 60, unit: Seconds, used: []string{"multitoken-fig3"}, others: halfAndDouble(60),
		why: "in which 190 members join: three a second, so that the ten news of a list are old after three seconds",
	})
	controlStep = declare(constant{
		name: "step of the model", value: 0.01, unit: Seconds, used: []string{"multitoken-control"}, others: []float64{0.005, 0.015},
		why: "it divides the token latency, and rounds t_wait/k_max by less than half a percent",
	})
	controlWarm = declare(constant{
		name: "warm-up of the model", value: 600, unit: Seconds, used: []string{"multitoken-control"}, others: halfAndDouble(600),
		why: "eleven mean lives of a token",
	})
	controlLength = declare(constant{
		name: "length of the model's run", value: 1800, unit: Seconds, used: []string{"multitoken-control"}, others: []float64{1200, 3600},
		why: "700 intervals of each member after the warm-up",
	})
	controlWindow = declare(constant{
		name: "window of convergence", value: 10, unit: Seconds, used: []string{"multitoken-control"}, others: halfAndDouble(10),
		why: "of which the mean interval is within a tenth of the final one: 1100 intervals",
	})
	shownWeight = declare(constant{
		name: "weight of the average", value: 0.125, unit: Number, used: []string{"multitoken-control"}, others: halfAndDouble(0.125),
		why: "of the latest interval in an average that is only shown; TCP's for the round trip",
	})
	steadyTokens = declare(constant{
		name: "tokens at first", value: 0.25, unit: Number, used: []string{"multitoken-sizes"}, others: halfAndDouble(0.25),
		why: "for each member: about what there are in the end",
	})
	steadyWarm = declare(constant{
		name: "warm-up of steady groups", value: 600, unit: Seconds, used: []string{"multitoken-sizes"}, others: halfAndDouble(600),
		why: "ten mean lives of a token",
	})
	steadyLength = declare(constant{
		name: "length of steady runs", value: 1200, unit: Seconds, used: []string{"multitoken-sizes"}, others: halfAndDouble(1200),
		why: "700 intervals of each member",
	})
	steadyCrashes = declare(constant{
		name: "crashes of steady groups", value: 10, unit: Seconds, used: []string{"multitoken-sizes"}, others: halfAndDouble(10),
		why: "mean time between two: with a minute of absence 3 % of the members are down",
	})
	steadyDown = declare(constant{
		name: "absence after a crash", value: 60, unit: Seconds, used: []string{"multitoken-sizes"}, others: halfAndDouble(60),
		why: "a restart",
	})
	coldMembers = declare(constant{
		name: "members of a cold start", value: 100, unit: Number, used: []string{"multitoken-coldstart"}, others: halfAndDouble(100),
		why: "enough for a mean resultant length of 0.1 by chance alone",
	})
	coldTarget = declare(constant{
		name: "target of a cold start", value: 60, unit: Seconds, used: []string{"multitoken-coldstart"}, others: halfAndDouble(60),
		why: "long against the handoff of 30 ms",
	})
	coldWait = declare(constant{
		name: "targets before", value: 100, unit: Number, used: []string{"multitoken-coldstart"}, others: halfAndDouble(100),
		why: "target intervals until it is looked whether members are still in step",
	})
	coldMeasured = declare(constant{
		name: "targets measured", value: 10, unit: Number, used: []string{"multitoken-coldstart"}, others: halfAndDouble(10),
		why: "30 operations of each member",
	})
)

// The rings.
var (
	ringExplored = declare(constant{
		name: "rings explored", value: 6, unit: Number, used: []string{"ring-exhaustive"}, others: []float64{4, 5},
		why: "the largest ring whose schedules are all tried here; `wander-lab ring` was run up to 9 and continues every row",
	})
	overtakenRing = declare(constant{
		name: "ring with overtaking", value: 3, unit: Number, used: []string{"ring-exhaustive"}, others: []float64{2, 4},
		why: "the smallest in which a message passes a third processor",
	})
	overtakenBacklog = declare(constant{
		name: "requests on a link", value: 2, unit: Number, used: []string{"ring-exhaustive"}, others: []float64{1, 3},
		why: "beside the token, at most: without a bound the schedules do not end",
	})
	ringLarge = declare(constant{
		name: "large ring", value: 64, unit: Number, used: []string{"ring-worst"}, others: halfAndDouble(64),
		why: "far beyond what can be explored",
	})
	ringRounds = declare(constant{
		name: "rounds of a worst run", value: 10, unit: Number, used: []string{"ring-worst", "ring-random"}, others: halfAndDouble(10),
		why: "which are taken from twice as many, so that the cheaper beginning does not count",
	})
	farRequests = declare(constant{
		name: "far requests", value: 20, unit: Number, used: []string{"ring-worst"}, others: halfAndDouble(20),
		why: "in a run; each costs the same",
	})
	idleTours = declare(constant{
		name: "idle tours", value: 1000, unit: Number, used: []string{"ring-worst"}, others: halfAndDouble(1000),
		why: "of S's token before the only request, as an example of any number",
	})
	ringSteps = declare(constant{
		name: "steps of a random run", value: 20_000, unit: Number, used: []string{"ring-random"}, others: halfAndDouble(20_000),
		why: "about 1000 requests, 16 of each of 64 processors",
	})
	ringAsking = declare(constant{
		name: "probability of a request", value: 0.05, unit: Share, used: []string{"ring-random"}, others: halfAndDouble(0.05),
		why: "at each step of a processor that may ask: some requests meet a quiet ring, and some each other",
	})
)

// The policies side by side.
var (
	policiesLength = declare(constant{
		name: "length of the comparison", value: 30_000, unit: Seconds, used: []string{"policies"}, others: halfAndDouble(30_000),
		why: "25 rounds of 300 members",
	})
	policiesWarm = declare(constant{
		name: "warm-up of the comparison", value: 0.2, unit: Share, used: []string{"policies"}, others: halfAndDouble(0.2),
		why: "of the length: five rounds of 300 members",
	})
	policiesPassing = declare(constant{
		name: "handoff of the comparison", value: 0.05, unit: Seconds, used: []string{"policies"}, others: halfAndDouble(0.05),
		why: "a wide area network: not quite three ways of 20 ms",
	})
	policiesTelling = declare(constant{
		name: "message of the comparison", value: 0.02, unit: Seconds, used: []string{"policies"}, others: halfAndDouble(0.02),
		why: "one way over such a network",
	})
	policiesDown = declare(constant{
		name: "absence in the comparison", value: 600, unit: Seconds, used: []string{"policies"}, others: halfAndDouble(600),
		why: "longer than a restart, and than most policies wait before they replace a token",
	})
	rareLoad = declare(constant{
		name: "rare load", value: 0.02, unit: Share, used: []string{"policies"}, others: halfAndDouble(0.02),
		why: "of the time in which the resource would be used",
	})
	halfLoad = declare(constant{
		name: "half load", value: 0.5, unit: Share, used: []string{"policies"},
		why: "of the time in which the resource would be used", whyFixed: "only the table has it, no row",
	})
	oftenCrashes = declare(constant{
		name: "hourly crashes", value: 3600, unit: Seconds, used: []string{"policies"}, others: halfAndDouble(3600),
		why: "mean time between two crashes of a member: machines that are switched off",
	})
	rareCrashes = declare(constant{
		name: "daily crashes", value: 86_400, unit: Seconds, used: []string{"policies"},
		why: "mean time between two crashes of a member", whyFixed: "only the table has it, no row",
	})
	recoveryLosses = declare(constant{
		name: "losses of the comparison", value: 5, unit: Number, used: []string{"policies"},
		why: "of all tokens in a run for the recovery", whyFixed: "only the table has it, no row",
	})
	recoveryRounds = declare(constant{
		name: "rounds between losses", value: 30, unit: Number, used: []string{"policies"},
		why: "of operations before each loss", whyFixed: "only the table has it, no row",
	})
)

// The membership updates.
var (
	updateJoins = declare(constant{
		name: "joinings", value: 32, unit: Number, used: []string{"updates"}, others: halfAndDouble(32),
		why: "in a run: five minutes at the paper's rate",
	})
	largeJoins = declare(constant{
		name: "joinings of ten thousand", value: 10, unit: Number, used: []string{"updates"}, others: halfAndDouble(10),
		why: "in a run, which costs as much as all others together",
	})
	joinsWarm = declare(constant{
		name: "before the first joining", value: 30, unit: Seconds, used: []string{"updates"}, others: halfAndDouble(30),
		why: "founded with a quarter as many tokens as members, the number is steady by then",
	})
	joinsTail = declare(constant{
		name: "after the last joining", value: 45, unit: Seconds, used: []string{"updates"}, others: halfAndDouble(45),
		why: "in which the last joiner gets known: more than the goal, and one comparison of directories",
	})
	joinsBefore = declare(constant{
		name: "joinings before traffic counts", value: 4, unit: Number, used: []string{"updates"},
		why: "those who hear of one tell it on for up to half a minute", whyFixed: "only rows without a limit have it",
	})
	joinContacts = declare(constant{
		name: "contacts", value: 3, unit: Number, used: []string{"updates"}, others: []float64{1, 2, 6},
		why: "with how many members a joiner connects, of which some may just be gone",
	})
	compareEvery = declare(constant{
		name: "gossip interval", value: 30, unit: Seconds, used: []string{"updates"}, others: halfAndDouble(30),
		why: "the members' own default",
	})
	churnEvery = declare(constant{
		name: "churn", value: 1, unit: Seconds, used: []string{"updates"}, others: halfAndDouble(1),
		why: "between two joinings: 9 times the paper's rate",
	})
	churnJoins = declare(constant{
		name: "joinings of the churn", value: 100, unit: Number, used: []string{"updates"}, others: halfAndDouble(100),
		why: "more than the lists hold by far",
	})
)
