// Package policy is what every circulation policy has in common: the events a
// policy is told and the actions it answers with.
//
// A policy decides when its member runs the protected operation and when it
// passes, drops or generates a token. It knows nothing of handoffs, signatures
// or sockets; the same policy object is driven by a real member and by the
// simulator. One policy instance serves one slot of one resource at one member.
//
//	p, err := catalog.New("wandering", params, surroundings)
//	actions = p.Step(now, policy.Event{Kind: policy.DemandChanged, Demand: true}, actions[:0])
//	// perform the actions in their order
//	due := p.Deadline()          // then tell it of a Timer
//
// # Who calls it
//
// A driver calls Step: protocol/member for a real member (notice.go makes events, act.go performs
// actions), sim/circulation for policies alone. The policies below this folder implement Policy; most embed
// host.Host, which collects the answer of a step. Package catalog has them by name, and puts a keeper
// and votes around them where the preset or the configuration asks for it:
//
//	event ──▶ quorum ──▶ keeper ──▶ the policy      quorum: on_isolated is stop or majority
//	          │          │          │               keeper: replaces lost tokens
//	action ◀──┴──────────┴──────────┘
//
// Each layer is a Policy itself, answers some events alone, and passes on the rest.
//
// # Types
//
// Params are the constants of a resource, from the group configuration, so all members share them;
// Parameters describes their fields, and Validate checks their ranges. Surroundings are what a policy is made with
// beside them: the member, a source of randomness, and whom it may ask. Roster answers who takes part, and
// Electorate who votes. Token is what a policy may know of a token. Event and Action are flat values, so that a
// simulator can hand over millions of them without allocating; their Kind says which fields count.
//
// A policy may implement more: Gauger has figures to show, Isolated tells of missing votes, Observant of tokens elsewhere, and Admitter takes
// no tokens of some members. Measure and Cause are the words of a complaint.
//
// # The walk of a token
//
//	told                               may answer
//	Arrival, Generated or Resumed      Run; Prepare, so that the next hop costs no round trip; Drop; nothing yet
//	OperationEnded                     Pass, at once or when a timer comes
//	Parted                             (the token is on its way)
//	PassEnded, Delivered               nothing; a policy may set a Deadline for its return
//	PassEnded, Returned                as after Arrival
//	Timer, or Silent after a Watch     Generate, if the token counts as lost (usually the keeper does)
//
// Each Run is answered by one OperationEnded and each Pass by one PassEnded, whatever happens.
//
// # What holds
//
// A policy is a deterministic function of its events and of its Surroundings: the
// random source it was made with, and what its Roster answers. Instants never decrease. Event and its
// bytes are lent for one step; the fields of actions stay valid until the next one. Deadline changes in Step only.
//
// Messages between policies (Tell, Message) have no authority: they may be lost, repeated or
// lies, and what is malformed is ignored. Whatever a policy remembers of other members has a bound. A
// policy watches at most MaxWatched members, and a policy field has at most MaxField bytes.
//
// # What belongs elsewhere
//
// Custody is handoff's: a policy asks for a Pass and learns the Outcome. Choosing among
// members that can be reached is the driver's, where Action.To is zero. Programs and their demands are
// member's: a policy hears only whether there is demand. What two or more policies compute alike goes into package
// host, or policytest if only tests do; a rule of one policy goes into its own package. A new event or
// action is a constant here; CONTRIBUTING.md lists what else it needs.
//
// A policy is not safe for concurrent use.
package policy
