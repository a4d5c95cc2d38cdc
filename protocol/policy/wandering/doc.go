// Package wandering is the wandering token of A. Ciuffoletti, "The Wandering
// Token: Congestion Avoidance of a Shared Resource" (the journal paper), as a
// circulation policy. "Line" and "lines" in this package mean those of its
// figure 1.
//
// One token walks at random over the members. Who receives it runs the
// protected operation, unless it ran less than Δmin ago: then the token is
// early, rests for Δskip and walks on. Who sees no token for Δmin and an
// exponential delay of mean γ makes one, so a lost token is replaced, and now
// and then a spurious one appears beside a token that lives. The sandwich rule
// removes it: a token that was here, and after which an older one was here,
// is dropped when it comes back.
//
// An [Agent] is figure 1 at one member for one slot, turned from a loop that
// sleeps into events and answers:
//
//	Arrival, Generated     decide: Run, or rest and Pass; Arrival may Drop
//	Timer                  Pass what has rested, or Generate
//	OperationEnded         Pass
//	DemandChanged          Run with a token that rests here
//	PassSettled(Returned)  decide, like an Arrival that is never dropped
//	Resumed                the same
//	Recalled               remember, without an answer
//
// # Where it says more than the paper
//
// The paper's agents always want to run. Here a member may have no demand;
// then every token is early for it. It regenerates a lost token all the same,
// for the others.
//
// The paper's loop holds one token at a time and lets a second one queue. Here
// a token that arrives while the operation runs is early: it rests beside it
// and walks on. Nothing else is decided about a token that rests, except that
// demand which appears takes it.
//
// The paper compares timestamps only, so two tokens of the same millisecond
// would never remove each other. Here the smaller token id decides a tie.
//
// Line 12 reads the whole past. An agent remembers the tokens seen last, at
// most historySize of them; what that may change is said there.
//
// After a removal the loop starts over (the pseudo-code of line 15 goes on to
// use the token; the text says it is gone). "poisson(γ)" is an exponentially
// distributed delay of mean γ: a Poisson-distributed number of that mean would
// hardly ever fall near zero, and no token would be replaced in time.
package wandering
