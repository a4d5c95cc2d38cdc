package directory

import (
	"fmt"

	"github.com/wandertoken/wander/protocol/certificate"
)

// LearnLeave takes in an encoded leave statement: its member has departed from
// now on, and its statements about others no longer count. news says that the
// directory changed. Errors are ErrUnknown when there is no certificate of the
// member yet, and those of certificate.ParseLeave.
func (d *Directory) LearnLeave(raw []byte) (news bool, err error) {
	m, err := certificate.LeaveSigner(d.group.ID(), raw)
	if err != nil {
		return false, err
	}
	f := d.members[m]
	if f == nil || !f.known() {
		return false, fmt.Errorf("%w: %v", ErrUnknown, m)
	}
	if f.hasLeave(raw) {
		return false, nil
	}
	l, err := certificate.ParseLeave(d.group.ID(), raw, d.Key(m))
	if err != nil {
		return false, err
	}
	return d.acceptLeave(f, l), nil
}

// hasLeave reports whether this is the notice that is kept.
func (f *facts) hasLeave(raw []byte) bool {
	l := f.leave()
	return l != nil && same(raw, l.raw)
}

func (d *Directory) acceptLeave(f *facts, l certificate.SignedLeave) (news bool) {
	if !f.takeLeave(l) {
		return false
	}
	d.changed(f)
	d.heard(f)
	return true
}
