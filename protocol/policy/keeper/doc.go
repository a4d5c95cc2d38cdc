// Package keeper finds that a slot's token is lost, and replaces it. [Around] puts a [Keeper] around a
// slot's policy at each member, and is a policy itself. Under an exclusive preset only the Keeper
// generates tokens.
//
//	made, err := wandering.New(params, surroundings)
//	made = keeper.Around(made, params, surroundings, true) // exclusive: one token is the aim
//
// Package catalog does this for every preset that leaves lost tokens to a keeper
// (Preset.Kept).
//
// # Roles
//
// Every member orders the members of a slot in the same way (P-47). The first four that
// are not silent are the slot's keepers, and the first one that answers does
// the work. So one member searches at a time, and if that one fails the next one takes over. A token
// that no member waits for is not searched for.
//
//	waiter              keeper               holder
//	   |                   |  have             |   a program begins (P-52)
//	   |                   |<------------------|
//	   |  want             |                   |   a member waits (P-51)
//	   |------------------>|                   |
//	   |            noted  |                   |
//	   |<------------------|  ask              |   is it still there? (P-57)
//	   |                   |------------------>|
//	   |                   |       have, went  |   or silence
//	   |                   |<------------------|
//
// # Search
//
//	calm ──▶ following ──▶ everybody ──▶ lost ──▶ Generate
//
// calm: the token is somewhere, as far as is known. following: the keeper asks the
// last known holder, and follows the answers from member to member (have: it is here;
// went: it was passed to that member). everybody: the answers have ended at a silent member or
// at none, and the keeper asks all members. lost: no member that answers has a
// token. The keeper then waits until no program of a silent member can run any
// more, and generates a token (P-58). With on_silent_holder = "replace" it does not wait.
//
// # Promises
//
// A holder that was silent for as long may live, and must not begin a program when its
// token has been replaced. So it promises. When its token rests, the holder tells the
// keeper (rest). Before it uses or passes that token it asks for the promise back (release),
// and the keeper answers released, or other: another token is there now (P-53, P-54).
// A holder that has restarted does not know what it promised, and asks all members (returned, P-55).
//
// # Members that break the rules
//
// A token at hop 1 comes from the member that has generated it. It is kept from the
// policy until members that should know say that no other token lives (P-69).
// Members back off from one that generates tokens beside a living one.
//
// An inquest finds out which member did not pass a token on (P-70 to P-81). No
// member is believed: each one asks for itself what became of a custody, and signed
// receipts decide. The result is a strike, a bar, an excuse, a doubt, or nothing. A struck member gets no
// tokens for a while, and what it says counts for nothing. A barred one gets no tokens. The member that
// acts writes a signed complaint into its journal (P-82). It changes nothing, and convicts no member.
//
// # The parts
//
// A Keeper routes events, messages and timers to five parts. Each one has its own state, and may ask and tell
// the parts below it. All share common.
//
//	 events, messages, timers                          actions
//	          │                                           ▲
//	          ▼                                           │
//	┌───────────────────────────────────────────────────────────┐
//	│ Keeper                                             common │
//	├──────────┬────────────────────────────────────────────────┤
//	│ newborn  │ is another token alive beside this new one?    │
//	├──────────┼────────────────────────────────────────────────┤
//	│ inquests │ which member did not pass the token on?        │
//	│          │   inquest, sanctions                           │
//	├──────────┼────────────────────────────────────────────────┤
//	│ search   │ where is the token, and is it lost?            │
//	│          │   whereabouts, wants, poll, trail, loss        │
//	├──────────┼────────────────────────────────────────────────┤
//	│ holder   │ which tokens are here, and may they be used?   │
//	│          │   held, reporter, history         ◀──▶ policy  │
//	├──────────┼────────────────────────────────────────────────┤
//	│ waiter   │ does this member want a token that it has not? │
//	└──────────┴────────────────────────────────────────────────┘
//
//	common       the step, the spans (constants.go), the other members (peers.go)
//	waiter       sends wants as long as this member wants a token and has none
//	holder       is between the policy and the tokens here (held.go) and those that leave (leaving.go), and answers
//	             questions (answers.go)
//	reporter     tells the keeper of those tokens, promises that they rest, and asks promises back
//	history      remembers this member's custodies and receipts, to give account of them
//	search       looks for the token and replaces it; takes in what others say of it (observations.go)
//	whereabouts  where the token was last
//	wants        the members that wait
//	poll         the question to all members; its answers leave a trail (trail.go)
//	loss         how long a program may still run under a lost token
//	inquests     opens inquests, asks, hears and concludes; one of them is an inquest
//	sanctions    strikes, bars, excuses (excuse.go) and doubts, with back-offs (backoff.go)
//	newborn      checks tokens that have just been made (newborn_check.go)
//
// What a part needs of one above it is a small interface or a function (holderLinks, searchLinks, newborn.takes), which
// keeper.go implements.
//
// Messages (message.go) of this member to itself are handled in the same step and sent to no other one: in a
// group of one member the waiter, the holder and the keeper are that member. Messages carry no authority,
// and what is malformed is ignored. What members can gain by false ones is in spec/threat-model.md. The rules are
// P-49 to P-60 and P-69 to P-82 in spec/policy/keeper.md. The models that they were found with are X-26 to
// X-62, but for the votes', in docs/exclusion.md. Votes are another package, quorum: the keeper
// is for liveness, votes are for exclusion.
package keeper
