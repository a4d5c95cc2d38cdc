// Package updates simulates how news of joinings spread among the members of a
// large group when they travel as protocol/update has them: on tokens and on
// their receipts, each told a limited number of times, with joiners that are
// given snapshots, and directories that are compared now and then.
//
// A [Directory] is that for all members of a simulated group: a
// circulation.Directory whose lists are the very lists of the protocol, and
// whose updates are real encoded ones, so that bytes can be counted. That
// signatures are checked is left out: it costs no rounds. lab/gossip is the
// paper's list in its place.
//
// A handoff takes no time of its own here: what a TRANSFER brings is taken in,
// and the RECEIPT's answer with it, at the instant at which the token arrives.
package updates
