// Package member implements one group member as a deterministic state machine:
// its directory, its handoffs, and one policy for each slot.
//
//	m, effects, err := member.Restore(cfg, past, now) // past: the journal's records
//	for {
//		// Perform the effects in their order; see package effect.
//		deadline := m.NextDeadline()
//		input := … // what happens before the deadline, or member.Tick{} then
//		effects = m.Step(now, input)
//	}
//
// Step depends only on the configuration, the seed, the time that it is given and
// the inputs before. So the daemon and the simulator run the same code, and one
// seed is one run. New is Restore with an empty journal. A Member is not safe for
// concurrent use.
//
// # One step
//
// A message that grants a token to a waiting program takes this way:
//
//	Step
//	 ├ handle       one input: Received goes to receive, message, and the
//	 │              handoff, the slot's policy or the directory
//	 ├ tick         every timer that is due, whatever the input was
//	 ├ lookAround   a change of the next member on the ring
//	 ├ settle       repeats until neither side has anything to say:
//	 │                handoff.Drain ─ notices ─▶ notice ─ events ─▶ policy.Step
//	 │                handoff calls ◀─ actions ─ act, actOn ◀──────────┘
//	 ├ sendUrgent   updates that cannot wait for a token
//	 └ drain        the effects, in the order in which they arose
//
// The order of the effects is part of the protocol. A receiver that takes a token
// and lets a program run returns
//
//	Persist Held (sync)    custody is here
//	Send RECEIPT           the sender may forget it
//	Persist Started (sync) a restart knows of the program
//	Grant                  the program starts
//	Send OFFER             the next holder is looked for meanwhile
//
// and a driver that stops between any two of them leaves a state from which
// Restore continues without a second holder.
//
// # Three parts
//
// Membership: the directory, and what keeps it equal to those of others. Verified
// objects are taken in by learn.go. News travels on tokens and receipts
// (updates.go), urgent news at once; every gossip_interval the member compares its
// directory with a random peer's (exchange.go, repair.go). endpoint.go signs where
// this member can be dialled.
//
// Liveness: members that do not answer. detector.go probes them and signs failure
// statements, a quorum of which makes a member failed. monitors.go tells a
// policy that a member it watches has been silent for the group's silence. lateness.go
// makes both wait longer while this member itself runs late, since a member that
// hears late takes others for dead.
//
// Circulation: slots, tokens and programs. slot.go turns what happens to custody
// into events for a policy, and a policy's actions into calls of the handoff.
// grants.go has the programs that wait and run. tells.go sends what policies say to
// each other. founding.go makes the first token of a slot that a configuration adds.
//
// The handoff decides about custody, by token and hop. The member's holds only
// say to which slot a token here belongs and what runs under it, and are rebuilt
// from the handoff after a restart. A policy decides when to run, pass, drop and
// generate, and knows neither handoffs nor signatures.
//
// # Restart
//
// A durable member on the machine where its journal began continues its custody
// memory; any other one begins a new incarnation with an empty memory. A member
// cannot see in its journal whether it is the newest one. So after a restart it
// waits for greetings (recall.go): each peer shows it the latest object that this
// member has signed. Until then it neither uses nor takes a token. If a peer shows
// an object that the journal lacks, the member gives up that memory.
//
// Checkpoint returns the shortest journal that rebuilds the member.
//
// # What peers may do
//
// Every input from a peer is bounded: the size of a message by package wire, the
// rate of each kind by a budget in peer, what is remembered by a constant beside
// it. A message that does not fit is counted by its reason (Status.Rejected) and
// changes nothing. A peer that hands over a forged object is at fault itself, since
// every member verifies what it passes on (faults.go). No input makes Step panic.
package member
