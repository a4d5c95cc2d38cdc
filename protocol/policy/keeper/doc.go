// Package keeper finds that a slot's token is lost, and makes another one. It does so
// under every policy that leaves this to it: [Around] puts a [Keeper] around the slot's
// policy at each member, and is a policy itself.
//
// The order of a slot's members is the same for all of them (the protocol's P-47). The
// first four that are not known to be dead are the slot's keepers, and the first that
// answers does the work. A member that wants the token tells the keeper, and a holder
// tells it of a program. Nobody looks for a token that nobody wants.
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
// The keeper follows the token from member to member by the answers (have: it is here;
// went: it was passed to that member). If they end at a member that is silent, or at
// nobody, the keeper asks all members. If no member that answers has a token, it is lost.
// The keeper then waits until no program of a silent member can run any more, unless the
// group prefers speed (on_silent_holder), and generates a token (P-58).
//
// A holder that was silent for as long, and lives, must not begin a program then. So it
// promises: when its token rests, it tells the keeper (rest), and before it acts with that
// token again it asks for the promise back (ask, answered by released or by other; P-53,
// P-54). A holder that has restarted does not know what it promised, and asks all (P-55).
//
// A Keeper has three parts, which share one state:
//
//	waiter   tells the keeper that this member wants the token
//	holder   tells the keeper of this member's tokens, promises, and answers questions
//	search   as the slot's keeper: what is known of the token, and the search for it
//
// A token that comes from the member that has made it is looked at before it is used (P-69,
// newborn.go): a member that makes tokens while another one lives is backed off from.
//
// Who does not pass tokens on is found out by inquests (P-70 to P-80). Nobody is believed: each member
// asks for itself what became of a custody, and signed receipts decide.
//
//	inquest.go  opens an inquest, and asks
//	account.go  the answers to it, and this member's own
//	verdict.go  what follows: a strike, a back-off, a doubt, or nothing, as a cut or a restart explains it
//	blame.go    the others are told what to find out
//
// With one member alone in the group, all three are that member, and nothing is sent:
// what a member tells itself is handled at once.
//
// The rules and the models behind them are in docs/exclusion.md, but for the votes'; P-49 to P-60
// and P-69 to P-80 in spec/protocol.md are the same for those who implement them. A message carries no
// authority; what members can gain by false ones is in spec/threat-model.md.
package keeper
