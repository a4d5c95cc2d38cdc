// Package form draws objects from the shapes that the CDDL gives them. A Form says in
// words how an object is drawn, and a Stream what becomes of each draw. Objects makes the
// forms of messages, membership updates and journal records from wire.cddl and
// journal.cddl, so that tests, fuzz seeds and vectors need no lists of examples:
//
//	for _, o := range form.Objects() {
//		least, full := o.Sample(form.Least()), o.Sample(form.Full())
//	}
package form
