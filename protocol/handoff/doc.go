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
// any two steps. A transfer whose answer is missing is sent again, for ever by
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
// Drive a Machine like this: SetNow, one call that tells it something, Drain;
// and Tick when NextDeadline comes. Effects are to be carried out in order.
package handoff
