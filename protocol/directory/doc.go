// Package directory is one member's knowledge of who else is a member: their
// certificates, where they can be reached, and which of them are dead.
//
// What is known about a member is a set of independent parts, each with an
// order in which it only ever moves up: of two certificates the one that
// expires later stays, of two endpoint records the one with the higher sequence
// number, and a revocation is final. So directories merge as a join-semilattice
// by member id: the same objects, learned in any order, any grouping and any
// number of times, give the same directory, and members need not agree on who
// told whom. A leave or a failure statement is one more such part beside these
// three. The one thing that must come first is a member's certificate before
// its endpoint record, because nothing unverified is kept.
//
// Expired certificates and those of revoked members stay: what a member signed
// while alive is settled after its death (handoff rules §4). They are not
// chosen as receivers any more.
//
// The CA numbers its revocations 1, 2, 3 and so on. They travel one by one and
// out of order, so the version that a directory states, RevocationVersion, is
// the last one without a gap before it: whoever asks a peer for all above it
// misses none.
package directory
