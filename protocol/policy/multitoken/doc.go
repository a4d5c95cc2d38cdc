// Package multitoken is the control of the number of tokens of A. Ciuffoletti
// and A. Asim, "Scalable Concurrency Control in a Dynamic Membership" (CoreGRID
// 2008), as a circulation policy. Sections in this package are those of that
// paper.
//
// As many tokens walk at random as it takes to visit every member about once
// in target_interval (t_wait), however many members there are. Nobody counts
// members or tokens. That is what all presets do; the paper's, [Paper] and
// [Jittered], compare the time since a member passed on its last token with two
// thresholds (§2.1):
//
//	longer than k_max·t_wait      it makes a token and uses it
//	shorter than t_wait/k_max     a token that arrives waits here until then
//	and queue_capacity wait here  one more is dropped
//
// So many operations may run at once in the group: this policy spaces the
// operations of each member and is not an exclusion among them. The number at
// once is what the resource has to bear, about
//
//	members · operation_time / target_interval
//
// and with the paper's presets half as much again: from the end of a use to the
// begin of the next it takes two thirds of t_wait.
//
// # Presets of this project
//
// Under [Split], [T3gj] and [S3gj] the mean interval is the target. Their tokens
// carry the state of a control, which a steered agent takes from them and
// writes back. A token that comes is used at once, passed on unused or dropped,
// so that the tokens are no more than it takes.
//
// T3gj makes a token after three targets of silence and drops what comes soon
// after a use; how soon is an integral of target less interval, shared over the
// tokens. With intervals as of a Poisson process a silence ends one interval in
// twenty: many tokens are made and dropped, for nothing but to know that there
// are enough. In return it answers within seconds. S3gj spaces uses by a third of
// the target, for half as many hops again, and as spaced uses say more of how many
// tokens there are, it waits for longer silences and makes a tenth of the tokens;
// where tokens get lost the integral goes on below zero, and shortens the silences.
//
// Split asks the tokens instead. Each averages, over a third of the target,
// how recently the members had another token that it comes to, so it knows within
// about 30 % how many tokens there are. Few are made or dropped for no reason: about
// a thirtieth of those of T3gj. An integral makes up for what is left, losses above
// all; a member that is new makes a token with the probability with which the
// group needs one more, so that a group that doubles is served as fast as its
// new members get their first token; of two tokens only the one with the
// larger id is dropped, so that not all go at once; and a token that is alone,
// and comes round too fast, rests. Its weak side are groups that need less than
// about two tokens when they lose some: then only a silence, of eight targets,
// brings a new one.
//
// # Events
//
// An [agent] is that at one member for one slot, as events and answers:
//
//	Arrival, Resumed, Generated,  use it, let it wait, or Drop
//	PassEnded(Returned)
//	Timer                         use the next that waits; Pass what has
//	                              rested; or Generate
//	OperationEnded                Pass
//	DemandChanged                 Run with the token that rests here
//	Recalled                      remember, without an answer
//
// A steered agent answers as it does, but that nothing waits.
//
// # Presets of the paper
//
// Paper compares with the two thresholds as they are. Members that start at
// one instant then stay in step: they make their tokens at one instant, and
// all waits end at multiples of t_wait/k_max, without end when a handoff takes
// far less than that. The resource sees them all at once.
//
// Jittered draws both thresholds anew after each use, uniformly
// within 30 % of their value. A cold start is spread out by the second round.
// The mean interval and the number of tokens stay what they are with Paper
// within a few percent: 1.66 s and 53 for 1.70 s and 50 in the paper's
// experiment.
//
// # Where it departs from the paper
//
// §2.1 names the moving average (EWMA) of the intervals as what is compared.
// With it the published figures do not come out, with the raw interval they
// do, and this is what decides here. The average is shown as a gauge.
//
// The paper's experiment gives c = 2, and its figures come out with three
// tokens waiting at a member: the mean interval of 1.71 s and the 50 tokens are
// those of three places, two give 2.0 s and 30. Here queue_capacity is how many
// wait, one more is dropped, and the default is 3.
//
// The paper's members use every token. Here nobody may want to run when a
// token comes. The visit counts all the same, or an idle group would breed
// tokens: the token rests for skip_delay, as if that were the operation, and
// walks on. Demand that appears meanwhile takes it. As no member uses a token
// sooner than t_wait/k_max after the last, an idle group passes at most about
// k_max tokens in t_wait for each of its members.
//
// A use begins at the decision and ends when its token is passed on; from there
// the paper measures the interval ("the lapse from last token passing
// operation"). What arrives during a use waits, so a member runs one operation
// at a time. A use is an operation or a rest, so an operation_time that is not
// far below target_interval slows the group down.
//
// No token is made while one is here, be it that it waits for its turn. A
// Generate that stays without an answer is repeated after another silence.
//
// A token that comes back because nobody took it was used already: it waits
// like any early one, and is dropped when too many do. The group replaces what
// it lacks.
//
// The interval continues over a restart, so restarting gives no member a
// sooner turn. Who was away for longer than the silence begins a new one: it
// was not short of tokens, it was not there.
package multitoken
