// Package quorum has a member ask others for votes before it runs a program, so that no
// two programs of a slot run at once, even where two tokens of the slot circulate: the
// resource's on_isolated is stop or majority.
//
// It stands around a policy, and around its keeper. The keeper is for liveness: it
// replaces a lost token. Votes are for exclusion. A voter gives one vote of a slot at a
// time, to one custody, and is bound by it until the holder says that the program has
// ended, or until it must have ended. Each member measures that on its own clock, from
// its own end of the message: the holder from the sending, the voter from the receipt.
package quorum
