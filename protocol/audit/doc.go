// Package audit compares the journals of many members. It finds out which member had
// custody of which token from when to when, what became of each token, which rules
// members broke, and for how long operations ran at once. docs/glossary.md has the
// terms, and docs/audit.md shows what an operator does with the result.
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
// The caller reads journals twice, first for keys and then for custody, so that an
// object can be verified with a certificate that is in another journal. The package
// is pure: cmd/wander/internal/auditing opens the files, and tells two versions of
// one journal apart.
//
// # What is believed
//
// An [Auditor] verifies every signature, with the keys that [Trust] has: those that
// the group's CA vouches for, directly or through statements in the journals. What
// it reports then rests on one of three things:
//
//	a signed object            its signer said so
//	a record of a journal      its owner wrote so
//	a time                     its writer's clock said so
//
// A [Finding] is proved if it has Exhibits: two signed objects of one member, where
// a member that keeps the rules signs at most one of the two. Anybody can check them
// without believing a journal or a clock, and Extract gets them out of the frames.
// Every other finding is a suspicion, and says which members and records it rests
// on. A complaint (a member's signed statement that it acts against another one)
// proves only that its signer complains.
//
// Journals may be missing, cut, or copied while they are being written. The Auditor
// holds nothing against a member for a record that is not at hand. A token that went
// where no journal covers it is OutOfSight and not lost, and a custody that ends
// there is Unseen.
//
// # The pieces
//
//	Custody     one member had one token at one hop; ended by a transfer, a drop, or
//	            the end of the member's custody memory
//	Token       where a token is in the end (Fate); a lost one with the reason, V1 to
//	            V4, as spec/journal.md numbers them in §7
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
// First the intake reads and verifies many frames at once (verify.go, objects.go),
// and hands each record to its Reader. A Reader turns the records of one journal
// into custodies (read.go, resume.go) and operations (operations.go). The books have
// what all journals say together.
//
// Then Report compares. The leads say by how much clocks are apart (clocks.go). The
// judge compares transfers with custodies (contradictions.go), and geneses with what
// a policy permits (quota.go). It says what became of each token (fate.go), and adds
// a finding for each broken rule (acts.go). The concurrency measures what ran at
// once (overlap.go, unseen.go), and the summary counts by members and resources
// (sums.go).
//
// # Overlap and clocks
//
// Each journal has a clock of its own. Every handoff measures by how much two clocks
// are apart, because no member takes a transfer before it is sent. Between handoffs
// clocks may drift by one part in driftPart (1000). So overlap has two bounds.
// Certain is the time in which two programs ran under every clock difference that
// the handoffs permit; a program surely ran from the first to the last time that its
// member saw it run (journal.Ended). Possible is the time in which two programs can
// have run under some permitted difference. A program can have run from its grant to
// the record of its end, or to its deadline. It can also have run wherever a token
// was that no journal at hand covers.
//
// The Auditor assumes that programs under one token follow each other, since custody
// is exclusive, unless there is a finding about the token. The bounds hold if
// programs are dead at their deadline, if clocks without a measured difference are
// within Options.Skew, and if members wrote down what they did.
//
// # Check
//
// [Check] is for a simulator that has written the journals itself. It verifies
// nothing, assumes whole journals and one clock, and measures no overlap. An audit
// of real members uses [New].
package audit
