// Command bench measures what a handoff costs, side by side with a straw man
// that does the unavoidable work and nothing else:
//
//	go run ./lab/bench throughput
//	go run ./lab/bench latency
//	go run ./lab/bench regression
//
// and what it costs in a whole group, with what policies say to each other:
//
//	go run ./lab/bench walk
//
// and what a member costs while nobody wants anything:
//
//	go run ./lab/bench idle
//
// docs/benchmarks.md says what is measured, how to read it, and what came out.
//
// # Who calls it
//
// An engineer, for the figures in docs/benchmarks.md, and .ci/run, for which regression fails above its limit and
// idle above -max-switches. The members are nodes as the daemon has them (node.Open), without programs behind an
// API socket: a grant is taken by the bench itself.
//
// # The measurements
//
//	command      type        file            members                          what is read
//	throughput   plan        throughput.go   two processes                    handoffs, processor time, syncs
//	regression   regression  regression.go   two pairs of processes, in turn  processor time for each handoff
//	latency      latencies   latency.go      two nodes here, behind relays    release to grant, in round trips
//	walk         walk        walk.go         a crew of nodes here             messages, connections, gaps, overlap
//	idle         idleness    idle.go         one process for each             context switches, packets
//
// Each type implements measurement: flags, and run, which prints a Markdown table or a line.
//
// # The types
//
//	role, sample      what a child process is told, as JSON in its argument, and what it answers to each line
//	player            one end of a measurement within a child: a member or a straw man
//	process, pair     a child, and two of them, seen from the process that measures
//	straw, script     the straw man, and the four messages that it repeats
//	crew, tally       the members of walk, all in this process, and what they have done
//	occupancy         when operations run anywhere in a crew: gaps and overlap, by one clock
//	reading, costs, walked, idleReading, visit   what one measurement has found
//
// # The walk of one throughput measurement
//
//	plan.run               rounds × numbers of tokens × subjects, so that a busy machine meets all alike
//	 └ measure             makeGroup: a CA that is thrown away, and two members' files
//	    ├ startPair        this program again, twice: bench child ROLE
//	    │   └ runChild     subjects[r.Subject] makes the player; a line on standard input asks for a sample
//	    ├ pair.sample      before and after the window
//	    └ difference       rate, processor time and syncs for each handoff
//
// report prints medians, and the ratio to the straw man's (yardstick) in the same round:
//
//	member       sign, verify, encode, QUIC     + journal, custody, directory, policy
//	straw man    sign, verify, encode, QUIC
//
// # What holds
//
//   - A straw man does the same signatures, encoding and transport as a member. It checks nothing but signatures, and
//     remembers nothing. So a ratio says what the protocol adds, on any machine.
//   - Subjects are compared in turns: a change of the machine's speed meets both. regression stops one pair with
//     SIGSTOP while the other runs, and compares the turns that were disturbed least.
//   - Processor time is that of whole processes (cpuTime); a measurement without a handoff is an error (errNoHandoff).
//   - A child ends with its standard input, so none outlives the process that measures.
//   - The groups, their keys and their journals are in a temporary folder, which is removed. -dir of throughput, walk
//     and idle names where it is.
//
// # What belongs elsewhere
//
// Packages have benchmarks of their own (go test -bench). Waits and overlap under many policies are simulated by
// lab/experiment; faults are for soak. Bad networks are package relay. A new measurement is a type with flags and run
// and a line of measurements; a new subject is a player and a line of subjects.
//
// A straw man and a node have goroutines of their own; samples are taken from one goroutine. occupancy is safe for
// concurrent use. idle reads /proc and so needs Linux; cpu_*.go and slack_*.go have what differs between systems.
package main
