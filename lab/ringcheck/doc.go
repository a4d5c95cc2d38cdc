// Package ringcheck tries the algorithms of protocol/policy/ring: all schedules
// of small rings, the worst schedules of large ones, and random ones.
//
// A [Schedule] is a run of a ring. It begins with a quiet ring whose token
// rests at processor 0, and each word of it is one step: rp, a request at
// processor p; dp, the first message on the link from p to the next processor
// arrives; xp, p leaves its critical section; wp, p no longer waits; op, a message overtakes one of
// the other kind on the link from p, and arrives. [Play] makes its steps.
//
// [Check] tries every schedule there is, of any length: processors ask again
// and again, each whenever it was served. It finds all states to which
// schedules lead, breadth first, so the counterexamples that it shows are as
// short as they can be. From the graph of states it computes, without
// approximation, the most messages a request can cost and the most that can
// be exchanged before a request is served.
//
// For larger rings there are schedules made by hand that attain these numbers
// ([NearRequests], [VainSearches], [BothWays], [AskingBehind], [Chasing],
// [OldRequests]; [FarRequests] is the paper's lower bound), and [Random].
package ringcheck
