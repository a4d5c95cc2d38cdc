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
// # Three machines
//
// A Member routes each input to three machines and has almost no state of its own.
// Each machine is a few types, one file each. A type has its own fields, reaches
// only what its fields name, and embeds the core, which all share: the member's
// identity, the time of the step, the settings, the directory, the connected peers,
// and the effects so far.
//
//	         Input                        Effect
//	           │                             ▲
//	    ┌──────▼─────────────────────────────┴──────┐
//	    │ Member: receive, route, restore, roll back │
//	    └──┬────────────────┬───────────────────┬───┘
//	       ▼                ▼                   ▼
//	┌────────────┐   ┌────────────┐   ┌───────────────────┐
//	│ liveness   │◀──│ membership │◀──│ circulation       │
//	├────────────┤   ├────────────┤   ├───────────────────┤
//	│ health     │   │ learner    │   │ slots   policies  │
//	│ detector   │   │ exchange   │   │ custody (handoff) │
//	│ monitors   │   │ repairs    │   │ demands grants    │
//	│ absences   │   │ news       │   │ messenger founders│
//	└─────┬──────┘   │ endpoints  │   │ candidates ring   │
//	      │          │ configs …  │   │ recall memory …   │
//	      │          └─────┬──────┘   └─────────┬─────────┘
//	      └────────────────┼────────────────────┘
//	          ┌────────────▼────────────┐
//	          │ core   events   greeter │
//	          └─────────────────────────┘
//
// An arrow points at what is called; circulation calls liveness as well. Three calls go
// against the arrows, each through a narrow border: membership has its owner do three
// things, endpoints asks a debtor about custody, and detector publishes its statements
// through one func. events is the queue of what the policies are to be told in this step.
// greeter sends GOSSIP, which asks a member for a sign of life.
//
// Liveness (liveness.go) answers whether a member lives. health is how late this
// member itself runs: a member that hears late suspects others without cause, so it waits
// longer. detector probes members that do not answer, and signs failure statements,
// a quorum of which makes a member failed. monitors tells the policies that a member
// which they watch has been silent for the group's silence. absences passes a member
// over for a while that could not be reached or took no token.
//
// Membership (membership.go) keeps the directory equal to those of others. learner
// takes in signed objects, and faults counts the peers that handed over forged ones. News
// (dissemination.go) travels on tokens and receipts; urgent news goes out at once. Every
// gossip_interval exchange compares the directory with a random peer's, and repairs
// asks for what differs. endpoints signs where this member can be dialled.
// configuration.go and revocations.go take in what the CA publishes. records writes
// into the journal what is worth keeping over a restart.
//
// Circulation (circulation.go) has slots, tokens and programs. notice.go turns what
// happens to custody into events for a policy, act.go a policy's actions into calls
// of the handoff, and configure.go makes and ends the slots. demands are the programs
// that wait and grants those that run. entries are the sessions at the gates of resources. candidates selects the next holder, and ring the
// next member on a ring. messenger sends what policies say to each other. mint makes tokens;
// founders agree on the member that makes the first one of a slot that a configuration adds.
//
// The handoff decides about custody, by token and hop. The member's holds only
// say to which slot a token here belongs and what runs under it, and are rebuilt
// from the handoff after a restart. A policy decides when to run, pass, drop and
// generate, and knows neither handoffs nor signatures.
//
// # One step
//
// A message that grants a token to a waiting program takes this way:
//
//	Step
//	 ├ handle       one input. Received goes to receive, which decodes it; judge,
//	 │              which knows every limit on a peer's messages; and message,
//	 │              which hands it to membership or circulation
//	 ├ tick         every timer that is due, whatever the input was
//	 ├ lookAround   a change of the next member on the ring
//	 ├ settle       repeats until neither side has anything to say:
//	 │                handoff.Drain ─ notices ─▶ notice ─ events ─▶ policy.Step
//	 │                handoff calls ◀─ actions ─ act, actOn ◀──────────┘
//	 ├ flush        updates that cannot wait for a token
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
// # Restart
//
// A durable member on the machine where its journal began continues its custody
// memory; any other one begins a new incarnation with an empty memory (memory.go). A
// member cannot see in its journal whether it is the newest one. So after a restart it
// waits for greetings (recall.go): each peer shows it the latest object that this
// member has signed, as it was kept there (memories.go). Until then it neither uses nor
// takes a token. If a peer shows an object that the journal lacks, the member gives up
// that memory (rollback.go).
//
// Checkpoint returns the shortest journal that rebuilds the member.
//
// # What peers may do
//
// Every input from a peer is bounded: the size of a message by package wire, the
// rate of each kind by the table in limits.go, what is remembered by a constant beside
// it. A message that does not fit is counted by its reason (Status.Rejected) and
// changes nothing. A peer that hands over a forged object is at fault itself, since
// every member verifies what it passes on (faults.go). No input makes Step panic.
package member
