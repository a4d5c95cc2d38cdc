// Package quorum has a member ask others for votes before it runs a program, so that no
// two programs of a slot run at once, even where two tokens of the slot circulate: the
// resource's on_isolated is stop or majority.
//
//	made = keeper.Around(made, params, in, exclusive)
//	made = quorum.Around(made, params, in)   // package catalog does both
//
// It is around a policy, and around its keeper. The keeper is for liveness: it
// replaces a lost token. Votes are for exclusion. Neither relies on the other. Under stop the slot's first member votes;
// under majority all do, and more than half of them are needed.
//
// # The votes for one program
//
// A voter gives one vote of a slot at a time, to one custody, and is bound by it until the holder says that the
// program has ended, or until it must have ended.
//
//	holder                               voter
//	  | the policy answers Run             |
//	  |  ask ----------------------------->| the vote is free: it is given, and binds
//	  |<---------------------------- vote  |
//	  | enough votes: Run goes on          |
//	  |                                    | another holder asks: its ask is kept, and
//	  |<---------------------------- free  | the first one is asked whether it still needs it
//	  | (no answer while the program runs) |
//	  | OperationEnded                     |
//	  |  ended --------------------------->| the vote goes to the one that waits
//
// When too few votes have come within the patience, the policy hears OperationEnded without Operated, as if
// the program had not begun, and the token moves on to members that possibly reach the voters. Isolated tells
// for how long that has been so, and whose votes are missing.
//
// # Clocks
//
// No clock is compared with another one. Each member measures on its own clock, from
// its own end of the message: the holder from the sending of its first ask, the voter from the
// receipt.
//
//	ask sent         Run.At: the program is killed
//	|-------- H --------|-- killTime --|
//	    |---- H + killTime, and 1/driftRatio of it ----|
//	ask received                                    the vote binds no more
//
// H is the longest program. The voter hears of the ask later than it was sent, and waits longer: so the
// program is dead before its vote can be given to another one.
//
// # Types
//
// A Quorum is a policy.Policy around the inner one. Its two roles are holder, which asks for votes for
// programs here, and voter, which has this member's vote of the slot. They meet only in messages: what a member says to
// itself is handled at the end of the step (handleOwn). A message is of one of four kinds (message.go), and names a
// request: custody, life and serial. A life is one start of the asker's policy, so votes of an earlier life are
// told apart. CheckBody is for test vectors and for who looks at messages.
//
// # What holds
//
// A program begins only in holder's begins, after enough. A voter that has begun its work gives no vote until
// those that it may have given before have ceased to bind (quiet): it writes nothing down. Under majority a
// vote counts only beside so many others that they are more than half of the members that its voter knows, so
// that two members that know different members do not both win. Each role keeps one entry per token here, or
// per vote: nothing grows with what peers send.
//
// # What it does not do
//
// It does not detect lost tokens, judge members, or protect the resource from a program that outlives its kill.
// It trusts voters: one that votes twice can let two programs run. Who the voters are is policy.Electorate's to
// say. A new rule about votes is modelled first (docs/exclusion.md), then written as P-61 to P-68 in
// spec/policy/quorum.md, and then goes to the role that it binds.
//
// A Quorum is not safe for concurrent use.
package quorum
