// Package keeper replaces lost tokens. [Around] puts a [Keeper] around a slot's policy
// at each member, and is a policy itself. Under an exclusive preset only the Keeper generates
// tokens.
//
//	made, err := wandering.New(params, surroundings)
//	made = keeper.Around(made, params, surroundings, true) // exclusive: one token is the aim
//
// Package catalog does this for every preset that leaves lost tokens to a keeper
// (Preset.Kept).
//
// # Who does the work
//
// Every member orders the members of a slot in the same way (P-47). The first four that
// are not known to be dead are the slot's keepers, and the first one that answers does
// the work. So one member searches at a time, and if that one dies the next one takes over. Nobody
// searches for a token that nobody wants.
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
// # The search
//
//	calm ──▶ following ──▶ everybody ──▶ lost ──▶ Generate
//
// calm: the token is somewhere, as far as is known. following: the keeper asks the
// last known holder, and follows the answers from member to member (have: it is here;
// went: it was passed to that member). everybody: the answers have ended at a silent member or
// at nobody, and the keeper asks all members. lost: no member that answers has a
// token. The keeper then waits until no program of a silent member can run any
// more, and generates a token (P-58). With on_silent_holder = "replace" it does not wait.
//
// # Promises
//
// A holder that was silent for as long may live, and must not begin a program when its
// token has been replaced. So it promises. When its token rests, the holder tells the
// keeper (rest). Before it uses or passes that token it asks for the promise back (ask),
// and the keeper answers released, or other: another token is there now (P-53, P-54).
// A holder that has restarted does not know what it promised, and asks all members (P-55).
//
// # Members that break the rules
//
// A token at hop 1 comes from the member that has generated it. It is kept from the
// policy until members that should know say that no other token lives (P-69, newborn.go).
// Members back off from one that generates tokens beside a living one (backoff.go).
//
// An inquest finds out which member did not pass a token on (P-70 to P-81). No
// member is believed: each one asks for itself what became of a custody, and signed
// receipts decide.
//
//	inquest.go  opens an inquest, and asks
//	account.go  the answers to it, and this member's own
//	verdict.go  the result: a strike, a back-off, a doubt, or nothing, where a
//	            broken link or a restart explains it
//	excuse.go   members that explained a loss without proof
//	blame.go    tells the others what to find out
//
// A struck member gets no tokens for a while, and what it says counts for nothing. The member that
// strikes writes a signed complaint into its journal (P-82, complain.go). It changes nothing,
// and convicts nobody.
//
// # In the code
//
// A Keeper has three parts, which share its state:
//
//	waiter.go   tells the keeper that this member wants the token
//	holder.go   tells the keeper of the tokens here, promises, and answers questions
//	search.go   as the slot's keeper: what is known of the token, and the search
//
// keeper.go routes: Step gets an event, tells the parts, and lets the policy inside
// answer what concerns it. Actions of that policy on a promised token wait until the
// promise is given back. In a group of one member all three parts are that
// member; what it tells itself is handled in the same step and sent to nobody.
//
// The messages (message.go) carry no authority, and what is malformed is ignored. What
// members can gain by false ones is in spec/threat-model.md. The rules are P-49 to P-60
// and P-69 to P-82 in spec/policy/keeper.md; the models that they were found with are X-26 to
// X-59, but for the votes', in docs/exclusion.md. Votes are another package, quorum: the keeper
// is for liveness, votes are for exclusion.
package keeper
