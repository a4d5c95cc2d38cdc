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
//	   are not served: at most n messages a request
//	D  the token searches, serves, and then makes one tour to look for more;
//	   requests behind other requests stop: less traffic before one is served
//	E  D without its two states: a tour from the last request on
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
// Links have to be FIFO for token and requests together, which the paper does
// not say. With one message overtaking another the algorithms fail.
//
// Withdraw, Repeat, Return and Lose are not in the paper: it knows no faults, and
// everybody who asked waits. Its bounds on messages hold only without them.
// While no token exists, a request of Q goes round for ever, as nobody stops it;
// whoever carries the messages over a network has to end that.
package ring
