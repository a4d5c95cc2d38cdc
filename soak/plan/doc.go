// Package plan says what happens in a soak run: which members take part, what they want,
// and which faults come when. A plan is data, and a function of its name, its
// options and a seed.
//
//	p, err := plan.Make("mixed", plan.Options{Seed: 7, Members: 8, For: 2 * time.Minute})
//	for _, s := range p.Steps {
//		fmt.Println(s) // the first: 5s kill holder of ring, or [0] for 12.992s
//	}
//	path := plan.PathUnder(active, from, to) // while some steps are in effect
//
// # Who calls it
//
// The command soak only: it shows a plan (-show), writes it to plan.json, makes the group from Resources and
// Members, and does each Step at its time. PathUnder tells it what the steps that are in effect do to each path.
//
// # The types
//
//	Options    seed, members, length, silence
//	Plan       one run: the resources, the members, the steps, and how long its end is without faults (Calm)
//	Resource   settings for the group configuration, and the limits for package judge: MaxStall, MaxTurn, Alone…
//	Member     what is special about a member (volatile, dials out only, small disk), and its demands
//	Demand     one resource that a member wants again and again
//	Step       one Fault from At for For, and the members that it hits
//	Voter      where a step leaves the member that votes
//	Path       what the faults do to the packets from one member to another
//
// A step cannot name the member that will hold a token at that moment. So it names a resource (Holder), and for the
// case that nobody runs a program under it a member. The command finds out at the time of the step. In the same way
// Keeper and Voter name members that follow from the ids, which exist only once the group is made.
//
// # The walk of one plan
//
//	Make        checks name and options
//	newMaker    the members, without demands; the length of Calm
//	plans[name] a method of maker:
//	 ├ group, busy, exclusive   the resources, with limits, and the demands
//	 └ aim, inTurn, limit…      the steps, in the order of At
//
// # The plans
//
//	mixed, calm           five resources; every fault again and again; no faults       make.go
//	quiet                 nothing fails; each kind of demand under each policy         honest.go
//	half-dead             half of the members lose power, later all but two            honest.go
//	dial-only, dial-two   members that only dial out                                   honest.go
//	cut                   the holder is parted from all, its keeper or half            honest.go
//	rollback, clone       journals go back; members run twice                          honest.go
//	votes                 the holder is parted from the voters in each way             votes.go
//
// # Invariants
//
//   - The same name and Options give the same plan: the only randomness is maker.rng, from the seed.
//   - A step ends before Calm begins, so that the group can agree in the end.
//   - In mixed, at most a quarter of the members, and at least one, has a fault of its own at one moment.
//   - Members are named by their places in Plan.Members everywhere: names appear in no step.
//
// # What belongs elsewhere
//
// A plan does nothing: the command inflicts faults, package world has the machines, and package judge has the
// verdicts. A new plan is a method of maker with a line in the map plans. A new fault is a constant of Fault; if it
// is one of the network, it gets a case in PathUnder and stands in OfNetwork. A fault that loses a member's journal
// or its records stands in forgetful, so that the judge expects lost tokens.
//
// A Plan is a value with slices: callers share it, and must not change it while others read.
package plan
