// Package directory is one member's knowledge of who else is a member: their
// certificates, where they can be reached, who has left, who does not answer,
// and who is revoked.
//
// # Merging
//
// What is known about a member is a set of parts, each with an order in which
// it only ever moves up: of two certificates the one that expires later stays,
// of two endpoint records the one with the higher sequence number, and a leave
// and a revocation are final. Of failure statements the newest of each witness
// stays, as long as no newer endpoint record refutes it. So directories merge as
// a join-semilattice by member id: the same objects, learned in any order, any
// grouping and any number of times, give the same directory, and members need
// not agree on who told whom. What must come first is the certificate of whoever
// signed an object, because nothing unverified is kept; on a page (LearnPage)
// even that may come later.
//
// Forgetting is no part of this order. Forget drops those whose certificate
// ended long ago, and remembers the time, so that members that forget at
// different times do not teach each other again (ErrForgotten).
//
// # Failed members
//
// A failure statement names the subject's endpoint record by its sequence
// number. When a quorum of distinct witnesses that are not revoked name the
// record that is known, the member has failed: it is drawn no more. Nobody fails
// anybody alone, and a member that lives ends it by signing a higher number. A
// quorum of members that lie together can keep others failed; sixteen that name future numbers can keep a dead member from
// counting as failed, which costs those who try to reach it some time.
//
// # Comparing
//
// Every member has a fingerprint, a hash over its objects, and a range of ids
// has the XOR of those of its members. Two directories whose Fingerprint differs
// compare parts of the whole range (Split), then parts of those parts that
// differ (Range), and exchange pages (Page, LearnPage) where few members are
// left. Statements by witnesses that are revoked, and revoked members, are left
// out: revocations travel by version, and a witness that is revoked is on no page
// that could prove its word. Only where more than MaxFailureQuorum witnesses
// spoke against one member and some of them were revoked later can two
// directories differ in which statements they keep, until the member's next
// endpoint record.
//
// The CA numbers its revocations 1, 2, 3 and so on. They travel one by one and
// out of order, so the version that a directory states, RevocationVersion, is
// the last one without a gap before it: whoever asks a peer for all above it
// misses none.
//
// # Who is drawn
//
// Expired certificates and those of dead members stay for a while: what a member
// signed while alive is settled after its death (handoff rules §4). They are not
// chosen as receivers any more. Choose draws the next holder so that all members
// are visited equally often; see there, and SetSample for those who know only a
// part of a large group.
//
// # Types
//
// A Directory is a Register of what it has verified, and three views of it that say what
// follows:
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
// facts is all that is known of one member: its objects, each with the take method that
// keeps the greater of two, and what follows from them. Directory takes objects in and
// calls changed for each member whose facts have changed; nothing else writes what
// follows. Register answers what is known of a member. Pages is what peers are shown and
// compare. Selector draws members at random, in proportion to links (who is attached to
// whom) and, in a large group, from a sample. Ring is the cycle of rule P-17. Check says
// whether all that follows still fits the facts.
//
// # Memory
//
// Objects are kept as the bytes that travel, and read again when they are asked
// for; MaxMembers says what that comes to. The public keys that were asked for
// last are ready to be used.
package directory
