package directory

import (
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// Forget drops the members whose last certificate ended before the given time,
// so that a directory does not fill up. It drops everything known of such a
// member except a revocation, and also its statements about others. Call it now
// and then, with a time so far back that nothing that these members signed can
// still be in transit. This member itself, members with a live connection and
// members that are needed stay. With a sample Forget also drops the members
// that are not in it. It costs a look at every member.
//
// From then on Learn refuses certificates that ended before that time with
// ErrForgotten, and so does LearnPage. The members that stay nevertheless are
// on no page. The reason is that peers do not forget at the same time and would
// teach each other again. The time given last holds, so that a clock that was
// wrong does no lasting harm.
func (d *Directory) Forget(before time.Time, needed func(ident.Member) bool) {
	d.forgotten = before
	var gone, other []*facts
	for f := range d.order.from(ident.Member{}) {
		if (d.isForgotten(f.notAfter) || d.unsampled(f)) && f.id != d.self && !f.connected && !needed(f.id) {
			gone = append(gone, f)
		} else if f.shown != d.shows(f) {
			other = append(other, f)
		}
	}
	for _, f := range other {
		d.changed(f)
	}
	for _, f := range gone {
		d.forget(f)
	}
	clear(d.recent) // it would keep them
}

// forget drops what is known of a member but its revocation, and that, too,
// where the CA has given it up.
func (d *Directory) forget(f *facts) {
	d.failures.set(f, nil)
	d.dropStatementsOf(f)
	f.certificate, f.notBefore, f.notAfter = certificate.Packed{}, 0, 0
	f.endpoint, f.sequence, f.mode = certificate.PackedEndpoint{}, 0, 0
	if f.rare != nil {
		f.rare.leave = nil
	}
	if r := f.revocation(); r != nil && r.version <= d.revoked.floor {
		f.rare.revocation = nil
	}
	d.changed(f)
	d.tidy(f)
}

// dropStatementsOf takes back what a member has said against others. Who never
// knew it could not verify that, and would differ permanently.
func (d *Directory) dropStatementsOf(f *facts) {
	for _, subject := range f.subjects() {
		var rest []statement
		for _, s := range subject.failures() {
			if s.witness != f.id {
				rest = append(rest, s)
			}
		}
		d.failures.set(subject, rest)
		d.changed(subject)
	}
}
