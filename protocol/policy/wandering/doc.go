// Package wandering is the wandering token of A. Ciuffoletti, "The Wandering
// Token: Congestion Avoidance of a Shared Resource", as a circulation policy, and
// what this project makes of it. There are two papers of that title: the journal
// paper, which is the preset [Paper], and the technical report before it, the preset
// [Report]. Under the presets [Light] and [Fair] no member makes a token by itself; under
// Fair, members are besides served nearly in turn. "Line" and "lines" in
// this package mean those of the journal paper's figure 1.
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
//	PassSettled(Returned)  decide, like an Arrival that is never dropped, nor noted
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
//
// # Light and fair
//
// Both are a walker: one token at a time, and
//
//	holding    the token here: when it runs, rests and leaves, and which of two stays
//	sightings  tokens that were here or told of, and which of them is believed
//	baggage    what the token carries
//	body       what walkers tell each other under fair
//
// A walker makes no token. The slot's keeper (package keeper) is around each walker: it finds that the token is
// lost, and makes another one.
//
// A token is dropped when one that precedes it (later, then smaller id) was here, or
// was told of by three members independently, within the window and after it was
// made. What was heard of before that may be the token in whose place it was made. The
// window is what the configuration leads to expect.
//
// Light passes the token on at random. It does not rest at members that do not run,
// unless it has met 32 of them in a row.
//
// Under fair each member has twelve timekeepers, which it does not choose
// (policy.Roster). The member that has passed the token to another one tells the timekeepers of that one that it
// is served now. They report to it those of their members that have waited longer than the
// eighth of the sixteen candidates on the token. While the operation runs there, it
// asks two other timekeepers of the oldest candidate, and the candidate itself: the
// latest time at which one of them says that it was served counts. So a member gains
// nothing by what it says of itself, and a few together hardly anything: all three
// timekeepers would have to be theirs. If no member is due the token rests, and members
// at random are asked now and then, and the member that the slot's keeper says is
// waiting. If members that were asked are silent, the holder asks all members which
// ones wait before it runs once more itself: most timekeepers of a living member may have failed.
// A member's own part in this is to tell its timekeepers when it wants the token:
//
//	walker ──────────▶ fair
//	the token here      ├── announcement  what the timekeepers know of this member's demand
//	   ▲                ├── timekeeper    the turns of other members (store)
//	   │                └── search        which member is next: candidates, choice,
//	   └── bearer ───────────┘            and the canvass of all if some are silent
//
// All share common: the step in progress, the token here and the sightings. A search has the walker run, or pass
// the token, through the interface bearer.
//
// A member that says falsely that another one was served keeps it from a turn, once. A member that
// has waited for half a round longer than any should tells its timekeepers, and they do
// not believe the liar about it any more. Two such members are contradicted, no more:
// a member that denied each of its turns would gain as many.
//
// What is not bounded by it: a holder passes the token to any member it likes, and three
// members together keep a fourth one from its turns.
package wandering
