// Package papers is the wandering token of A. Ciuffoletti, "The Wandering
// Token: Congestion Avoidance of a Shared Resource", as its two papers have it: the
// journal paper, which is the preset [Paper], and the technical report before it, the
// preset [Report]. "Line" and "lines" in this package mean those of the journal paper's
// figure 1.
//
// # The journal paper
//
// One token walks at random over the members. Who receives it runs the
// protected operation, unless it ran less than Δmin ago: then the token is
// early, rests for Δskip and walks on. Who sees no token for Δmin and an
// exponential delay of mean γ makes one, so a lost token is replaced, and now
// and then a spurious one appears beside a token that lives. The sandwich rule
// removes it: a token that was here, and after which an older one was here,
// is dropped when it comes back.
//
// What [New] makes is figure 1 at one member for one slot, turned from a loop
// that sleeps into events and answers:
//
//	Arrival, Generated     decide: Run, or rest and Pass; Arrival may Drop;
//	                       Prepare unless it does
//	Timer                  Pass what has rested, or Generate
//	OperationEnded         Pass
//	DemandChanged          Run with a token that rests here
//	PassEnded(Returned)  decide, like an Arrival that is never dropped, nor noted
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
//
// # The technical report
//
// One token walks as above, with a Δmin three times as long by its formula.
// Two rules differ. A token that arrives within Δmin of an operation is dropped
// if the token that the operation ran under precedes it: smaller generation
// time, then smaller generator. Nearly every member has run within Δmin, so a
// spurious token is gone after a few hops, and does not have to return. But it
// may also be the only token there is: after a loss those generated soon may
// all be dropped by members that remember the lost one. And who sees no token
// for Δgen makes one; Δgen begins at Δmax = 3·Δmin, grows by the factor K1loss
// at each token made and loses the share K2loss of what it is above Δmax at
// each token received. It has no random part: members that begin together all
// make a token at Δmax, of which one remains.
//
// The printed pseudo-code (its figure 1) does not do what its text says; see
// [NewLiteral]. This is the text:
//
// The window in which tokens are dropped counts from the end of the last
// operation, and what arrives while the operation runs is in it. Whoever never
// ran drops nothing. Δper of the figure is Δmin.
//
// Whether a generator executes the operation is not said. It does, as in the
// journal paper, unless Params.GeneratorRests.
//
// A member without demand never runs, and two tokens would never meet at such
// members. So a token which finds that Δmin has passed opens the window even if
// nobody wants to run under it; demand that comes then need not wait for its
// end.
package papers
