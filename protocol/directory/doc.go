// Package directory is one member's knowledge of the members of its group: their
// certificates, their addresses, and which of them have left, have failed or are
// revoked. Rule numbers such as D-47 are those of the specification in spec/, and
// docs/glossary.md has the terms.
//
// # Merging
//
// A directory keeps five kinds of objects about a member, and each kind has an order
// in which it only moves up. Of two certificates the one that expires later stays.
// Of two endpoint records (the member's signed addresses) the one with the higher
// sequence number stays. A leave and a revocation are final. Of failure statements
// (a witness has signed that the member does not answer) the newest of each witness
// stays, as long as no newer endpoint record refutes it. So directories merge as a
// join-semilattice by member id: the same objects, learned in any order, any
// grouping and any number of times, give the same directory. A directory keeps
// nothing unverified, so it needs the signer's certificate before any other object
// of that signer. Only on a page of a peer's directory (LearnPage) may the
// certificate come later.
//
// Forgetting is no part of this order. Forget drops the members whose certificate
// ended long ago, and remembers the time. Objects from before that time are refused
// (ErrForgotten), so that two members that forget at different times do not teach
// each other again what one of them has forgotten.
//
// # Failed members
//
// A failure statement names the subject's endpoint record by its sequence number.
// When a quorum of distinct witnesses that are not revoked name the record that is
// known, the member has failed, and is no longer drawn as a receiver. One member
// alone cannot make another one failed. A member that lives ends its failure: it
// signs an endpoint record with a higher number. A quorum of members that lie
// together can keep others failed. Sixteen liars that name future numbers can keep a
// silent member from counting as failed, which costs the members that try to reach
// it some time.
//
// # Comparing
//
// Two members compare their directories by fingerprints. A member's fingerprint is a
// hash over its objects, and the fingerprint of a range of ids is the XOR of those
// of its members. Two directories whose Fingerprint differs compare parts of the
// whole range (Split), then parts of the parts that differ (Range). Where few
// members are left, they exchange pages: lists of members with their objects (Page,
// LearnPage). Revoked members are on no page, as revocations travel by version.
// Statements by revoked witnesses are on none either, since a reader could not
// verify them without the witness's certificate. Two directories can differ in which
// statements they keep only if more than MaxFailureQuorum witnesses spoke against
// one member and some of these were revoked later; the member's next endpoint record
// ends the difference.
//
// The CA numbers its revocations 1, 2, 3 and so on. They travel one by one and out
// of order. So the version that a directory states, RevocationVersion, is the last
// one without a gap before it, and a member that asks a peer for all above its own
// version misses none.
//
// # Who is drawn
//
// The certificates of expired and departed members stay for a while, because
// handoffs that such a member has signed are still to be finished (spec/protocol.md,
// chapter 8, §4). These members are no longer drawn as receivers. Choose draws the
// next holder so that all members are visited equally often. In a large group a
// member may know a random sample only (SetSample).
//
// # Types
//
// A Directory has a Register of the facts that it has verified, and three views that
// are derived from them:
//
//	Learn, LearnPage, Forget ...
//	         │
//	     Directory ── authorities, failures, revocations: whose word counts
//	      │  │  changed: each view draws its conclusions anew
//	      │  └────────┬──────────────┬─────────────────┐
//	      │         Pages         Selector            Ring
//	      │       shown to     drawn from: pools,   follow each other
//	      │         peers       links, sample          by id
//	      │           │              │                 │
//	  Register: facts of each member, by id and in order ┘
//
// The type facts has all that is known of one member: its objects, each with a take
// method that keeps the greater of two, and the states derived from them. Directory
// takes objects in, and calls changed for each member whose facts have changed; only
// changed writes derived states. Register answers questions about one member. Pages
// has what peers see and compare. Selector draws members at random, in proportion to
// links (which member is attached to which) and, in a large group, from a sample.
// Ring is the cycle of rule P-17. Check verifies that every derived state fits the
// facts.
//
// # Memory
//
// A directory keeps objects as the bytes that travel, and decodes them at each use;
// MaxMembers says how much memory that takes. It also caches the public keys that
// were used last.
package directory
