// Package handoff moves custody of a token from one member to another: the
// 4-way handoff, as a pure machine.
//
//	sender                               receiver
//	  HOLD   ── OFFER ──────────────────▶  may I?
//	         ◀─ (NEED, then again) ─────
//	         ◀────────────── ACCEPT ────  LIVE: a reservation with a number
//	  sign, journal, sync
//	  SENT   ── TRANSFER ───────────────▶  verify, journal, sync
//	         ◀───────────── RECEIPT ────  HOLD
//	  CLOSED
//
// At most one member has custody of a token in every interleaving of messages
// that are lost, repeated, reordered and delayed at will and of crashes between
// any two steps. A transfer whose answer is missing is sent again, without end by
// a durable sender; the receiver answers from its memory: RECEIPT when it took
// it, VOID when it declined it, UNKNOWN when its memory does not reach back.
// Only VOID returns custody, and it burns the hop number.
//
// Refused, unanswered and unreachable all mean: ask somebody else, as long as
// the token is in HOLD. Once it is SENT there is no way back but VOID.
//
// The rules and their numbers are those of the handoff chapter in
// spec/protocol.md; the model in spec/model checks them.
//
// # Use
//
// Drive a Machine like this: SetNow, one call that tells it something, Drain;
// and Tick when NextDeadline comes. Perform the effects in order.
//
//	m.SetNow(now)
//	err := m.OnTransfer(from, msg)
//	effects, notices := m.Drain()
//
// # Types
//
// A Machine is a Sender and a Receiver that work on one Book:
//
//	             Machine            connections, time, openings, checkpoint
//	            /       \
//	       Sender       Receiver    messages to and from the other role
//	      /   |   \       |    \
//	offering  |  recipients    |    macs
//	      \   |           |    |
//	       \  |           |   offerer
//	        Book of records
//
// Book is the book of custody: a record for each hop of each token, by token and hop.
// It alone moves a record from one State to another, by the table Transitions, and
// counts them. The Sender moves records from HOLD on, the Receiver moves them to HOLD.
//
// An offering finds the next holder of each token in HOLD: a search has the peers that
// were asked and the ACCEPTs in hand. It signs nothing. The recipients are what the
// Sender has promised to each incarnation of a peer: transfers below a number are
// settled. An offerer is the other side of that promise: what the Receiver remembers of
// a peer, from its floor on.
//
// What both roles share is in one struct: output (the effects and notices, and with
// them the openings of the journal), numbers, certificates, and conflicts (signed
// objects that contradict each other). Replay rebuilds a Machine from its journal.
// Check says whether the invariants of all these hold.
package handoff
