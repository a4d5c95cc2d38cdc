// Package gossip models how news of members travel on tokens, as in §2.2 of
// A. Ciuffoletti and A. Asim, "Scalable Concurrency Control in a Dynamic
// Membership" (CoreGRID 2008): what each member knows of the others, and to
// whom it can pass a token because of that.
//
// Each member has a registry of the members it knows, and a short list of the
// news it heard last. A token that is passed carries the sender's list. The
// receiver enters what it did not know into its registry and into its own
// list, where it pushes out the oldest. Who joins knows its contact; its own
// joining is the only news on its list.
//
// A [Directory] is that for all members of a simulated group. Where the paper
// is silent, [Config] has the readings. News are a member's number and whether
// it left: that they are signed costs bytes, not rounds.
//
// A token's list is read when the token arrives, not when it was sent. What
// the sender heard within one handoff makes no difference that can be
// measured.
package gossip
