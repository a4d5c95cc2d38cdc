// Package evidence is proof that a member broke the rules: two objects, signed
// by the same key, that no member which keeps the handoff rules ever signs both
// of. Whoever knows the group id, and nothing else, can check it.
//
//	e, err := evidence.New(group, authorities, certificate, a, b)
//	text, err := e.Text()               // a file, or the body of a request
//	...
//	e, err := evidence.ParseText(text)
//	proof, err := e.Verify(group)       // whom it convicts, and of what
//
// It carries the statements about the CA keys, from the one whose hash is the
// group id on, the certificate of the accused, and the objects. It is not signed
// itself: who brings it makes no difference.
//
// Of tells what two objects would prove, for whoever has both at hand. A ConflictDetector
// remembers, within a bound, what it was shown, and says when something new
// contradicts it.
//
// What is not evidence: whatever a crash, a lost disk, a clock or the network
// could have caused. Nothing here depends on time.
package evidence
