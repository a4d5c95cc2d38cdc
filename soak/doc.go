// Command soak runs a group of real members on machines of their own, injects the faults of a plan, and judges
// what happened: it compares the log that the protected programs have written themselves with the audit of the
// members' journals.
//
//	$ go run ./soak -show -plan cut -for 3m -members 6
//	plan cut, seed 1: 6 members for 3m0s, the last 20s without faults
//	  10s cut holder of fair, or [4] for 40s
//	  1m20s part holder of ring, or [1 5] for 40s
//	$ go run ./soak -plan cut -for 3m -members 6
//
// The second command runs this plan and prints the verdicts. docs/soak.md explains the plans, the verdicts and the
// files that a run leaves.
//
// # Who calls it
//
// An engineer, and .ci/run, which makes a run of two minutes with a new seed each time. The members are wander
// processes, and `wander ca` makes the group: the command tests what an operator installs. It asks the daemons over
// node/api, as `wander status` does.
//
// # The processes
//
//	soak (main, outer)            folder, copies of the programs, lock of the folder
//	└ first process               of the namespaces: package world; ends everything with itself
//	  └ soak (runInner, inner)    the run
//	    ├ wander node             one for each member, on a machine of its own
//	    └ wander run              one for each demand at a time
//	      └ soak (package probe)  the protected program; it writes to programs.log
//
// # The types
//
//	options    the command line
//	run        one soak run: the plan, the machines, the observer, and what has happened until now
//	demander   one demand of one member: it starts a wander run after the other
//	event      one line of events.ndjson, for people
//	report     report.json: the verdicts, and how many faults of each kind there were
//
// What happens, who takes part and which machines there are is decided elsewhere: plan.Plan, world.World and
// judge.Evidence are the inputs and the output of run.
//
// # The walk of one run
//
//	inner          makes the plan again from the options
//	 ├ prepare     plan.json, the observer, the machines
//	 ├ makeGroup   the authority, certificates and settings; identify reads the members' ids
//	 ├ startAll    the daemons; the run begins when each answers its API
//	 ├ play        one goroutine for each demand (demander.loop) and for each fault (step), and one for audits
//	 │  └ step     awaitHolder ─▶ claim ─▶ inflict ─▶ pause ─▶ undo ─▶ release, which notes the outage
//	 └ finish      views, stop all, audit, save evidence.json, judge.Judge, tell
//
// A step may name the member that runs a program at that moment. claim asks the observer for it, and skips the step
// if a fault has hit every member that the step could hit. Steps that need the keeper or the voter of a token are
// completed by aim, since the ids of the members decide which ones these are (group_linux.go).
//
// # Invariants
//
//   - One seed gives one plan. What the members do with it depends on the machine's speed.
//   - A member counts as not to be served from the beginning of its fault until it answers again: no verdict
//     blames the group for a fault.
//   - Nothing but files is left when a run ends, however it ends: a context ends the run in order, and the process
//     namespace ends it at once.
//   - The folder is enough to judge a run again (-judge): evidence.json, programs.log and the copies of the journals.
//     It is judged with new audits of these copies, so a repaired audit can be tried on an old run.
//
// # What belongs elsewhere
//
// A new fault is a constant of package plan, a case of inflict, and a method of world.Machine if none does it yet. A
// new plan is for package plan alone, a new verdict for package judge alone. The steps from a folder to the
// namespaces, which soak/hostile and soak/loss need too, are in package rig.
//
// run.mu guards what the goroutines of play note; it is not held while a fault lasts.
// The run needs Linux: elsewhere outer returns exitUnsupported.
package main
