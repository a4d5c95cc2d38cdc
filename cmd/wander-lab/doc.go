// Command wander-lab studies wander: it measures the papers' claims and this
// project's goals in virtual time, breaks whole members in every way, tries all
// schedules of small rings, and tests other implementations. See
// docs/simulation.md and docs/conformance.md.
//
//	$ wander-lab ring --processors 2 --algorithm q --published --play "r0 r1 d1 d0"
//	requests         2, 2 served
//	messages         2 sent, 2 delivered
//	service traffic  2 sent, 2 delivered at most
//	inside at once   2 at most
//	stuck            false
//
// This schedule breaks algorithm Q as it was published: two processors are inside at once.
//
// # The commands
//
//	command      file                       what does it                  what it runs
//	list         list.go                    lab/experiment                nothing
//	run          run.go                     lab/experiment                policies alone, once for each seed
//	sweep        sweep.go                   lab/experiment                the same, with other constants
//	merge        merge.go, shard.go         lab/shard                     nothing: it puts shards of the others together
//	page         page.go                    lab/experiment                nothing: it renders saved results
//	scenario     scenario*.go, values.go    lab/experiment                the group that a file describes
//	ring         ring*.go                   lab/ringcheck                 all schedules of one small ring
//	cluster      cluster.go                 sim/cluster                   whole members under faults
//	conformance  conformance*.go            spec/vector, spec/conformance test vectors, or a running member
//
// # Who calls it
//
// A person who studies the protocol or implements it, .ci/run (vectors, a short cluster campaign, one seed of some
// experiments), and the commands in CONTRIBUTING.md that make docs/data and the pages. The program that members
// run is cmd/wander; it links nothing of this.
//
// # The walk of a command
//
//	main         cli.Process is the environment; run is the whole program, which tests call
//	 cli.Run     flags, arguments, help; errors with hints; one exit code
//	  new…Command  names, help and flags of one command
//	   check, options, setting   flags become options of a package; a wrong flag is a usage error (64)
//	   run, Check, makeRuns      the package works; ProgressLine shows how far it is; Ctrl-C ends it
//	   print…, …Report           text for people, or JSON with "v" for programs (--output json)
//
// wander-lab run journal-fig2 --out DIR, for example: experimentsNamed finds the experiment, makeFolder makes DIR
// before anything is measured, experiment.Run makes the runs, experiment.Write and Save write figures, tables and
// pages, and printResult prints one line for each claim.
//
// # The types
//
//	runFlags           seeds, parallel runs and output of run, sweep and scenario
//	shardFlags         which part of a job to make; jobArgs are the arguments that its parts have in common
//	scenarioFile       the TOML of scenario; share, latency and demand are its values
//	clusterFlags       the flags of cluster; campaign makes its runs and appends their lines
//	ringFlags          the flags of ring
//	conformanceFlags   the flags of conformance; peerFlags are those for a running member
//	listing, scenarioReport, sweepReport, clusterSummary, ringReport, peerReport   the JSON answers
//	number             a number in JSON, rounded to nine digits; null where it is none
//
// # What holds
//
//   - The same seeds give the same files, whatever --parallel says. Only the times that runs took differ. Exceptions
//     are cluster --for, which makes as many runs as the time permits, and conformance --peer, which meets a real
//     member.
//   - A command is thin: what is simulated, judged or checked is in a package that has neither flags nor exit codes.
//   - A run that breaks a rule, a vector that fails and a check that fails give exit code 1. A claim of a paper that
//     does not hold is a result, and gives 0.
//   - The merge of all shards prints, writes and exits as the unsplit command does, since it is that command with the runs taken
//     from the shards. An interrupted shard leaves nothing.
//   - A campaign goes on where an earlier one ended: campaign.open skips the runs whose lines are in the file, and cuts
//     off a line that a crash left incomplete.
//
// # What belongs elsewhere
//
// A new experiment is for lab/experiment, a new fault for sim/cluster, a new check for spec/conformance; none needs
// a line here. A new key of a scenario is a field of scenarioFile, a line of the help of scenario, and a field of
// experiment.Scenario or circulation.Config. A new command is a file with a new…Command and a line in
// newRootCommand. Package cmd/internal has the code that both commands share.
//
// Commands run one at a time. experiment.Run and cluster.Campaign use many goroutines, and call back with progress and
// results one call at a time.
package main
