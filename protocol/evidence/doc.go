// Package evidence is proof that a member, or a gate, broke the rules: two objects, signed
// by the same key, that nobody who keeps the handoff rules, or those of gates, ever signs both
// of. Whoever knows the group id, and nothing else, can check it.
//
//	e, err := evidence.New(group, authorities, certificate, a, b)
//	text, err := e.Text()               // a file
//	...
//	e, err := evidence.ParseText(text)
//	proof, err := e.Verify(group)       // whom it convicts, and of what
//
// An Evidence has the statements about the CA keys, from the one whose hash is the
// group id on, the certificate of the accused, and the objects. It is not signed
// itself: who brings it makes no difference.
//
// # The seven kinds
//
//	Kind           the two objects        what an honest member never does
//	Fork           TRANSFER, TRANSFER     give one hop of a token away twice, by the same title
//	Contradiction  VOID, RECEIPT          decline a transfer and take it
//	Reclaimed      VOID, TRANSFER         decline a transfer and pass the token on by it
//	DoubleMint     GENESIS, GENESIS       make two tokens with one number of one incarnation
//	Misfit         TRANSFER, and what     pass a token on by a transfer that does not follow from
//	               its hashes name        the genesis, transfer or void that it names
//	TwoAnswers     GATE ANSWER, twice     (a gate) open two sessions for one sign-in, or open one and refuse it
//	NumberTwice    GATE ANSWER, twice     (a gate) give one session to two sign-ins, holders or tokens
//
// An answer of a gate does not name that gate: New takes it from the certificate. The kinds against gates are found by audits alone,
// which have what several members were told.
//
// Of a Misfit's second object only the hash counts, so its signature is blanked, and who signed it does
// not matter. Kind.Convicts is the rule of each kind; all who judge what members have signed go by it.
//
// What is not evidence: whatever a crash, a lost disk, a clock or the network
// could have caused. Nothing here depends on time, and a retired CA key counts: whoever has a
// member's key has signed both objects.
//
// # Who calls it
//
// Package handoff shows each verified object of a member to a ConflictDetector, through an
// interface of its own. When that finds a contradiction, handoff writes the two objects into the journal, and
// member makes Evidence of them; node keeps that as a file and brings it to the CA; ca verifies it, and its
// operator may revoke the accused with it. Package audit finds contradictions in journals with Convicts, and
// `wander audit` and `wander inspect` write and read the files.
//
// # Types
//
// An Object is encoded and of a known kind. A Statement is what it says that another one can
// contradict. Of tells what two objects would prove, and looks at no signature. New does too, packs
// them into an Evidence and verifies that; Evidence.Verify gives a Proof. Recover finds the objects again
// that a journal has written down as evidence.
//
// A ConflictDetector remembers, within a bound, what it was shown, and says when something new
// contradicts it. It keeps each object under at most two traces, which say by what it can be contradicted, so
// one object costs a few look-ups however many are remembered:
//
//	shown      is kept under                        is looked up under
//	genesis    its number                           its number
//	transfer   its hop; the transfer before it      its hop; a void of the transfer before it
//	void       the declined transfer                its receipt; a transfer that follows it
//	receipt    the taken transfer                   its void
//
// What has been forgotten escapes it; finding that is what the audit of journals is for.
//
// # The walk of brought evidence
//
// ParseText demands one block within MaxText, and Parse one strict encoding within MaxSize, of a
// known kind. Verify then goes from the group id down: the chain of CA keys (ErrAuthority),
// the certificate (ErrCertificate) of the accused (ErrAccused), the signatures (ErrObject), the order of two objects
// of one kind (ErrOrder), and the contradiction (ErrNoProof). ID names what is proved: the same
// two objects give the same id, whoever brought them.
//
// # What belongs elsewhere
//
// Suspicions, which rest on clocks, journals or what somebody says, are findings of package audit or
// complaints of package token. What happens to the accused is the CA's to decide. A new kind of
// evidence is a constant, its name and its objects in kind.go, its rule in Convicts, its traces and
// rivals in detector.go, and its line in account.
//
// An Evidence is data that is safe to read concurrently. A ConflictDetector is not safe for concurrent use.
package evidence
