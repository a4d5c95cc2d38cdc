// Package audit compares the journals of many members: which member had custody of which
// token from when to when, what became of each token, which rules were broken, and for
// how long operations ran at once.
//
//	trust := audit.NewTrust(group, extra)      // the CA keys of the group file
//	for each frame of each journal {
//		trust.Learn(frame.Body)            // certificates, CA keys, revocations
//	}
//	trust.Settle()                             // now it is only read
//
//	books := audit.New(group.ID(), audit.Options{Trust: trust})
//	for each journal {
//		r := books.Journal(member)
//		for each segment {
//			r.Segment(follows)         // does it continue the one before?
//			for each frame { r.Frame(frame) }
//		}
//	}
//	report := books.Report()
//
// Journals are read twice, first for keys and then for custody, so that an object
// can be verified with a certificate that is in another journal. The package is pure;
// opening files, and telling two versions of one journal apart, is the business of
// cmd/wander/internal/auditing.
//
// # What is believed
//
// An [Auditor] verifies every signature, with the keys that [Trust] has: those that the
// group's CA vouches for, directly or through statements in the journals. From there on it
// distinguishes three degrees:
//
//	a signed object            its signer said so
//	a record of a journal      its owner wrote so
//	a time                     its writer's clock said so
//
// A [Finding] is proved if it has Exhibits: two signed objects that no member which keeps
// the rules signs both of. Anybody can check them without believing a journal or a clock,
// and Extract gets them out of the frames. Every other finding is a suspicion, and says
// which members and records it rests on. A complaint proves only who complains.
//
// Journals may be missing, cut, or copied while they are being written. The Auditor holds
// nothing against a member for a record that is not at hand: a token that went where no journal
// covers it is OutOfSight and not lost, and a custody that ends there is Unseen.
//
// # The pieces
//
//	Custody     one member had one token at one hop; ended by a transfer, a drop, or
//	            the end of the member's custody memory
//	Token       where a token is in the end (Fate); the lost ones by the cases V1 to V4
//	            of the handoff rules
//	Finding     one broken rule (Kind)
//	Resource    operations, gaps and shares of each member
//	Overlaps    operations that ran at once, between two bounds
//	Clocks      by how much the clocks of two members are apart
//
// They are made in two steps:
//
//	Auditor ── intake ── Reader, one for each journal
//	   │         │          │ cursor: takes in the objects of a record
//	   │         └────┬─────┘
//	   │            books ──── findings
//	   │              │            │
//	   └─ Report: leads ─┬─ judge ─┘
//	                     └─ concurrency ─ summary
//
// First journals come in. The intake reads and verifies many frames at once (verify.go,
// objects.go), and hands each record to its Reader, which turns the records of one journal
// into custodies (read.go, resume.go) and operations (operations.go). The books are what
// all journals say together.
//
// Then Report compares. The leads are by how much clocks are apart (clocks.go). The judge
// compares transfers with custodies (contradictions.go) and geneses with what a policy
// permits (quota.go), and says what became of each token (fate.go): each broken rule is
// one of the findings (acts.go). The concurrency is what ran at once (overlap.go,
// unseen.go), and the summary counts by members and resources (sums.go).
//
// # Overlap and clocks
//
// Each journal has a clock of its own. Every handoff measures by how much two clocks are
// apart, since a transfer is not taken before it is sent; between handoffs clocks may
// drift by one part in driftPart. So overlap has two bounds. It is
// certain while two programs ran for every clock difference that the handoffs permit: a
// program was running from the first to the last time that it was seen so (journal.Ended).
// It is possible while two can have run for some difference: a program can have run from
// its grant to the record of its end, or to its deadline, and wherever a token was that no
// journal at hand covers.
//
// Programs under one token are taken to follow each other, since its custody is exclusive,
// unless there is a finding about it. The bounds hold if programs are dead at
// their deadline, if clocks without a measured difference are within Options.Skew, and if
// members wrote down what they did.
//
// # Check
//
// [Check] is for a simulator that has written the journals itself: it verifies nothing,
// takes the journals for whole and for written by one clock, and measures no overlap. No
// auditor of real members may use it.
package audit
