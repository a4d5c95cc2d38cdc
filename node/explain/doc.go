// Package explain says in one sentence why nothing runs, for people who have never heard of tokens. It is
// pure: a status in, a cause and a sentence out, with the ages that the status has. The daemon puts both
// into its status (api.Why), so that every program shows the same words.
//
//	explain.Status(&st, now) // fills st.Why, and Why of each resource
//
//	st.Resources[0].Cause    // explain.RunsLong
//	st.Resources[0].Sentence // m3 runs its program, for 6m or more (4.0 s ago, says m3 itself), ...
//
// # Causes
//
// A cause is a word that does not change, and a sentence may. docs/troubleshooting.md has one section for each cause: what the sentence
// means, what to look at, and what to do.
//
// # Which cause is named
//
// Of several causes the one is named that has to go first: what ends the daemon, then what keeps it from all resources, then
// what keeps a resource from it. So a member has one cause for itself, and one for each resource:
//
//	the member    it has ended, or does not count ── it begins or stops ── its network ── its machine ── ok
//	a resource    its program ── its windows ── its gate, and votes ── the token is here ── the token is elsewhere
//
// Of a resource with several slots the slot is explained whose token comes first, as far as is known. The cause that would keep the
// next program out is named only if a program waits; a closed window and a gate that cannot be reached are named in
// any case, so that people hear of them before they need the resource.
//
// Some causes can only be said by a command, which knows that no daemon answers, or why it has ended: so package cmd/wander says
// them, and the list here has their place in the order.
//
// # What a sentence may say
//
// Each member only says what it knows itself. So a sentence about another member has who said so and how long ago; a time that
// began before the news has "or more"; and a prediction has "about". A sentence never says that a program hangs, as nobody can know, but that
// it may. A turn that takes much longer than those of late (package forecast) is a warning, too, for members that wait for
// nothing.
//
// # Who uses it
//
// Package node fills in a status. Package doctor and commands ask IsDown whether a member can do nothing before people or the network change
// something, and commands ask OfProgram why a program waits.
package explain
