// Command loss measures how soon a group goes on after a member was lost, and how many
// programs ran at once meanwhile. Each member is a real process on a machine of its own,
// as in a soak run, and what counts is what the protected programs write of themselves.
// docs/recovery.md has what came out.
//
//	go run ./soak/loss -cases rests,power -presets fair -modes durable -runs 5
//	go run ./soak/loss -check                  all cases; exit code 70 if a median misses its goal
//
// prints a table with one line for each case, preset, mode and value of on_silent_holder.
//
// # Who calls it
//
// An engineer who changes keepers, probing or the handoff: docs/recovery.md promises times, and this command shows
// whether they hold on real processes.
//
// # The types
//
//	options   the command line
//	kase      one way to lose a member: what happens, when, and the goal
//	goal      how soon another member is to run: alive, silent, granted or unknown; none is no goal
//	band      a group of members for one line of the table, on rig.Group
//	loss      one loss in progress: the victim, the members that want, the instant, and what undoes it
//	outcome   what came of it: gap, overlap, tokens made and dropped
//	row       one line of the table, with the outcomes of all runs
//
// # The walk of one loss
//
//	measure           one band; loses a member -runs times, and tries again what could not be arranged
//	 └ lose
//	    ├ arrange     the token rests at the victim, or its program runs and others wait
//	    │  └ happens  kill, power off, cut, revoke, fill the disk; at is this instant
//	    ├ measure     until a program of another member begins: the gap
//	    ├ back        undoes it, and waits until all members know each other
//	    └ busy        all want for a while: a second token would show by two programs at once
//
//	victim   runs ──────────┤ at
//	grant    ├──────────────────────┤ deadline
//	other                               ├── runs
//	gap                             ├───┤ if the group waits for the deadline (goal granted), otherwise from at on
//
// The cases with delayed are to hit a handoff: packets take so long (slow) that a handoff is in progress when the
// member is lost. arrange waits until the program has ended, and but for offers until the sender's status has a
// transfer in doubt. If that does not come about, the run does not count (errArranged), and measure tries again,
// three times -runs at most.
//
// # Invariants
//
//   - The gap and the overlap come from the log of the programs (judge.Run), on one clock. No daemon is asked about
//     them. The counts of tokens made and dropped come from the daemons' status; counts and since allow for a daemon
//     that was restarted.
//   - Each line has a group of its own, in a folder of its own. Losses of one line follow one another in the same
//     group, after it is whole again; a revoked member stays away, so such a group has spare members.
//   - Victim and waiters are drawn at random, and are no function of a seed: a line is a sample, and says how many
//     runs it has.
//
// # What belongs elsewhere
//
// A new way to lose a member is a line of cases and a case of loss.happens; a new limit is a goal and a case of
// row.limit. Machines and paths are in package world, the group's files in package rig. What a long run with
// many faults does is for the command soak.
//
// One loss is arranged at a time. The programs of members that want run in goroutines (loss.wants), and back waits for
// them. The command needs Linux.
package main
