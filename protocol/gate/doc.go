// Package gate lets members into a resource: one session per slot at a time, for members that show that they hold
// a token, and the next session only after the last one has ended. It is a pure machine; a driver has the
// connections, the hooks and the journal.
//
// A token says whose turn it is. The gate decides whether that turn is real, and whether the one before is over. It
// grants nothing by itself and asks nobody: a permit is a signed chain of who gave the token to whom.
//
//	        CHOOSE              OPENED            CUT
//	IDLE ───────────▶ OPENING ─────────▶ OPEN ─────────▶ CLOSING ──SETTLED──▶ IDLE
//	                     │ OPEN FAILED, CUT                 │  ▲
//	                     └──────────────────────────────────┤  │ CLEAR (the operator)
//	                                           CLOSE FAILED ▼  │
//	                                                      STUCK
//
// # Use
//
//	g, effects, err := gate.Restore(settings, records, now) // or Begin, without a journal
//	effects = g.Step(now, gate.SignIn{...})                 // perform in their order
//	deadline := g.NextDeadline()                            // then Step with a Tick
//
// # The walk of a sign-in
//
// The driver verifies permit and statement, and hands over what PermitOf reads of them. admits refuses what opens nothing:
// another configuration, a revoked member, a signature that does not count any more, a stale or used title, a member that comes
// too soon. signIn refuses a member that has its turn at the slot under another token. A permit that shows the open
// session's title given away by the session member's own signature cuts that session; nothing else that another member
// shows does. Then the sign-in waits, at most MaxWaiters at a slot. When the slot is IDLE, choose takes the waiter whose
// member was served longest ago; behind a session it first waits for the linked successor, for Settings.Keep. open
// journals the session, and only then runs the open hook. What else the member has waiting is refused: it has one turn. The gate says
// OPEN once the hook has succeeded.
//
// A slot of the resource has Settings.Sessions places, each with states of its own, and one queue. The machine's slots are the places.
//
// Each session ends in CLOSING: close runs until it confirms that work has ended, or the slot is STUCK. Its connection hears
// CLOSED then, and the slot settles before it is IDLE.
//
// # Types
//
//	Gate      the machine: choosing, cutting, waiting       machine.go, entry.go, closing.go
//	views     configuration, revocations, clock             views.go
//	slot      state, session, hook, and the queue           slot.go, waiters.go
//	memory    members: number of the last session, titles used or given away (MaxTitles), ration
//	          generators: the last tokens (MaxTokens), and the ration of new ones
//	replay    reads a journal                               restore.go
//
// Only a journalled session changes the memory; a refused permit leaves no trace. A member's title is stale by that member's own
// signature alone, so nobody can make another one's title stale, whatever hops it invents.
//
// # After a crash
//
// Restore closes every session that is journalled and not closed, and counts all members as served now. A slot that was stuck stays
// so. Begin starts without a journal: shut for MaxHold and Settle, and until close has confirmed that nothing is there. A slot
// that the journal does not know begins in the same way.
//
// # What does not belong here
//
// Verifying signatures (package token, and its callers), signing answers, hooks, tunnels and timers. Records use the
// frames of package journal, with kinds of their own: a gate's journal has no custody in it, and the format of a member's stays as it is
// when a gate learns something new.
//
// The rules have their numbers in spec/gate.md; spec/model/gate.pml and places.pml are their models.
package gate
