// Package ringcheck tries the algorithms of protocol/policy/ring: all schedules
// of small rings, the worst schedules of large ones, and random ones.
//
// A [Schedule] is a run of a ring. It begins with a quiet ring whose token
// rests at processor 0, and each word of it is one step: rp, a request at
// processor p; dp, the first message on the link from p to the next processor
// arrives; xp, p leaves its critical section; wp, p no longer waits; op, a message overtakes one of
// the other kind on the link from p, and arrives. [Play] makes its steps.
//
// [Check] tries every schedule there is, of any length: processors ask again
// and again, each whenever it was served. It finds all states to which
// schedules lead, breadth first, so the counterexamples that it shows are as
// short as they can be. From the graph of states it computes, without
// approximation, the most messages a request can cost and the most that can
// be exchanged before a request is served.
//
// For larger rings there are schedules made by hand that attain these numbers
// ([NearRequests], [VainSearches], [BothWays], [AskingBehind], [Chasing],
// [OldRequests]; [FarRequests] is the paper's lower bound), and [Random].
//
//	run, err := ringcheck.Play(alg, 4, schedule)                   // one schedule
//	report, err := ringcheck.Check(ringcheck.Options{…})           // all of them
//	if !report.Live() { fmt.Println(report.Starvation) }           // a counterexample is a Schedule
//
// # Who calls it
//
// `wander-lab ring` checks and plays rings for a reader. lab/experiment compares the worst and the random schedules
// with what the papers say.
//
// # The types
//
//	Schedule  the steps of a run, each with its processor; it can be written as text
//	Ring      processors, and what is on the links between them
//	Run       a Ring on which steps are made, and what they cost
//	Options   what Check explores, and how much memory it may take
//	Report    what all schedules together show; a Schedule that is nil says that there is no such run
//	Ratio     messages for a number of requests, and a run that attains it
//	Traffic   the largest service traffic, by each way of counting
//	explorer  finds the states; codec turns a Ring into a key and back
//	graph     all states and the steps between them, in pages that grow without being copied
//
// # The walk of one state
//
//	explorer.try     makes every step that is possible in the state and that the Options permit
//	codec.encode     the key of the ring, turned so that the token is at position 0: rings that
//	                 differ only in where they begin are one state
//	explorer.enter   a new key becomes a state, with the step that led there; a known one is found
//	graph.edge       notes the step and its cost
//	graph.nearest    afterwards: a shortest schedule to a state with a flag (exclusion, deadlock)
//	graph.circulation  a cycle of deliveries only: messages that go round for nobody
//	graph.perRequest   the dearest run for each request (Dinkelbach's method)
//
// # Invariants
//
// State 0 is the quiet ring. A number in a Report comes with a Schedule that attains it, or comes near to it, which Play can make
// again. An exploration that needs more memory than was permitted ends with ErrMemory, and shows nothing.
//
// # What it does not do
//
// It has no clock, no loss and no crash. The algorithms are in
// protocol/policy/ring, which the members use too; nothing here changes them. A new worst case is a
// function on an adversary; a new question about all schedules is a method of graph and a field of Report.
//
// A Run is for one goroutine.
package ringcheck
