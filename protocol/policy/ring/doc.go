// Package ring is token-based control of a unidirectional ring: E. Feuerstein,
// S. Leonardi, A. Marchetti-Spaccamela, N. Santoro, "Efficient Token-Based
// Control in Rings" (1997). "Section", "rule" and "theorem" in this package mean
// those of that paper.
//
// There is one token. Who needs it and has not got it sends an anonymous
// request message to the next processor; messages and token travel the same way
// round. The algorithms differ in who stops a request and in how long the token
// moves once a request has reached it:
//
//	S  nobody asks, the token always moves
//	Q  the token counts the requests that reach it and moves while some of them
//	   are not served
//	D  the token searches, serves, and then makes one tour to look for more;
//	   requests behind other requests stop
//	E  D without its two states: a tour from the last request on
//
// What they cost at most in a ring of n, over all schedules (tried for n up to 9
// by lab/ringcheck, which also has schedules for larger n that attain it):
//
//	   messages a request   messages sent from a request to its token
//	S  any number           n-1
//	Q  n                    2n²-3n+1
//	D  (5n-4)/2             3n-2
//	E  2n-2                 3n-3
//
// The theorems say (3/2)n² for the traffic of Q, and for D 2n and 3n-3.
//
// A [Station] is one processor: events in, an [Output] out. It knows nothing of
// networks and of members; both the policy of this package and the explorer of
// all schedules drive it.
//
// # Where it departs from the paper
//
// To the letter, Q and D are neither exclusive nor live. What was corrected is
// said at rulesQ and rulesD, each with a schedule that shows why. In a schedule
// the token begins at processor 0, and rp is a request at processor p, dp the
// delivery of the message that is first on the link from p to the next
// processor, xp the end of p's critical section.
//
// No request may overtake the token on a link, which the paper does not say:
// else the token of Q goes round without end, and that of D and E rests while
// somebody waits. A token that overtakes requests changes nothing for Q; D and E
// stay exclusive and live, but their requests can pile up.
//
// Withdraw, repeat, Return and lose are not in the paper: it knows no faults, and
// everybody who asked waits. The bounds on messages bear withdrawals, but no
// faults. While no token exists, a request of Q goes round without end, as nobody stops it;
// whoever carries the messages over a network has to end that.
package ring
