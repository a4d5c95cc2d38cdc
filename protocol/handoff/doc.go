// Package handoff moves custody of a token from one member to another: the
// 4-way handoff, as a deterministic state machine without I/O. docs/glossary.md
// has the terms.
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
// any two steps. A sender sends an unanswered transfer again; a durable sender
// does so without end. The receiver answers from its memory: RECEIPT if it took
// the transfer, VOID if it declined it, UNKNOWN if its memory does not reach
// back so far. Only VOID returns custody, and it burns the hop number: no
// transfer uses that number again.
//
// While a token is in HOLD, a sender whose offer is refused or unanswered, or
// whose peer is unreachable, offers the token to another member. Once the token
// is SENT, only VOID brings it back.
//
// The rules are those of chapter 8 of spec/protocol.md, whose sections the
// comments here cite as "handoff rules §1" to "§8"; the model in spec/model
// checks them.
//
// # Use
//
// To drive a Machine, call SetNow, then one method that passes an input, then
// Drain; call Tick when NextDeadline comes. Perform the effects in order.
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
// Book has a record for each hop of each token that this member knows of. It
// alone moves a record from one State to another, by the table Transitions, and
// counts the records in each state. The Sender moves records from HOLD on, the
// Receiver moves them to HOLD.
//
// The offering finds the next holder of each token in HOLD: its search has the
// peers that were asked and the ACCEPTs that came. It signs nothing. The
// recipients are what the Sender has promised to each incarnation of a peer:
// that transfers below a number are settled, that is, answered, so the peer may
// forget them. An offerer is the other side of that promise: what the Receiver
// remembers of a peer's transfers, from the promised number (its floor) on.
//
// Both roles share one struct: output (the effects and notices, and with them
// the openings of the journal), numbers, certificates, and conflicts (signed
// objects that contradict each other). An opening is one start of the member
// with its journal. Replay rebuilds a Machine from its journal. Check verifies
// the invariants of all these.
package handoff
