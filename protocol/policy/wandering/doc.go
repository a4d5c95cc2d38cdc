// Package wandering is the wandering token of A. Ciuffoletti, "The Wandering
// Token: Congestion Avoidance of a Shared Resource", as a circulation policy, and
// what this project makes of it. The presets of its two papers are in package papers.
// Under the presets [Light] and [Fair] no member makes a token by itself; under
// Fair, members are besides served nearly in turn.
//
// # Light and fair
//
// Both are a walker: one token at a time, and
//
//	holding    the token here: when it runs, rests and leaves, and which of two stays
//	observations  tokens that were here or told of, and which of them is believed
//	baggage    what the token carries
//	body       what walkers tell each other under fair
//
// A walker makes no token. The slot's keeper (package keeper) is around each walker: it finds that the token is
// lost, and makes another one.
//
// A token is dropped when one that precedes it (later, then smaller id) was here, or
// was told of by three members independently, within the freshness and after it was
// made. What was heard of before that may be the token in whose place it was made. The
// freshness is what the configuration leads to expect.
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
// All share common: the step in progress, the token here and the observations. A search has the walker run, or pass
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
