package directory

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// MaxFailureQuorum bounds the failure statements that are kept about one
	// member, and so the quorum that a group can ask for. More would only
	// repeat what sixteen have said.
	MaxFailureQuorum = wire.MaxFailures
	// minFailureQuorum is the least quorum: nobody can fail anybody alone.
	minFailureQuorum = 2
)

// statement is a verified failure statement.
type statement struct {
	witness  ident.Member
	sequence uint64
	raw      string
}

func statementOf(s certificate.SignedFailure) statement {
	b := s.Body()
	return statement{witness: b.Witness, sequence: b.Sequence, raw: string(s.Raw())}
}

// beats reports whether a witness' statement takes the place of another of its
// own.
func (s statement) beats(o statement) bool {
	return cmp.Or(cmp.Compare(s.sequence, o.sequence), cmp.Compare(s.raw, o.raw)) > 0
}

// rank orders the statements about one member: who stands behind the first
// MaxFailureQuorum is dropped. A statement that takes the place of another one
// never ranks below it, so what was dropped can never come to be missed.
func rank(a, b statement) int {
	return cmp.Or(cmp.Compare(b.sequence, a.sequence), a.witness.Compare(b.witness))
}

// join is those of the statements that are kept about f: of each witness the
// one with the highest number, none below the number of the endpoint record
// that is known, the first MaxFailureQuorum by rank. Statements above that
// number wait for the record. All this only depends on the set of statements
// and on the record, not on the order in which they came.
func join(f *facts, list []statement) []statement {
	var kept []statement
	for _, s := range list {
		at := slices.IndexFunc(kept, func(o statement) bool { return o.witness == s.witness })
		switch {
		case f.mode != 0 && s.sequence < f.sequence:
		case at < 0:
			kept = append(kept, s)
		case s.beats(kept[at]):
			kept[at] = s
		}
	}
	slices.SortFunc(kept, rank)
	return slices.Clip(kept[:min(len(kept), MaxFailureQuorum)])
}

// failures are the statements against all members: how many distinct witnesses make a
// member failed, and whose word counts.
type failures struct {
	known  *Register
	quorum int
}

// speaks reports whether a statement against f counts: it is about the endpoint
// record that is known, and its witness has neither left nor is it revoked or a member by the word of a retired CA key.
func (fs *failures) speaks(s statement, f *facts) bool {
	return f.mode != 0 && s.sequence == f.sequence && !fs.isSilenced(s.witness)
}

func (fs *failures) isSilenced(m ident.Member) bool {
	f := fs.known.members[m]
	return f != nil && (f.retired || f.gone())
}

// isFailed reports whether a quorum of witnesses says that f does not answer.
func (fs *failures) isFailed(f *facts) bool {
	n := 0
	for _, s := range f.failures() {
		if fs.speaks(s, f) {
			n++
		}
	}
	return n >= fs.quorum
}

// set puts the joined list in the place of the statements against f,
// and keeps up which witness has spoken against whom.
func (fs *failures) set(f *facts, list []statement) {
	if len(list) == 0 && len(f.failures()) == 0 {
		return
	}
	for _, s := range f.failures() {
		if w := fs.known.members[s.witness]; w != nil && w.rare != nil {
			delete(w.rare.against, f)
		}
	}
	f.rarely().failures = join(f, list)
	for _, s := range f.failures() {
		w := fs.known.about(s.witness).rarely()
		if w.against == nil {
			w.against = make(map[*facts]struct{})
		}
		w.against[f] = struct{}{}
	}
}

// subjects are those against whom a member has spoken, in the order of their
// ids: what follows must not depend on the order of a map.
func (f *facts) subjects() []*facts {
	if f.rare == nil {
		return nil
	}
	return slices.SortedFunc(maps.Keys(f.rare.against), func(a, b *facts) int { return a.id.Compare(b.id) })
}

// LearnFailure takes in an encoded failure statement. news says that the
// directory changed; whether the subject has failed, Failed says. A statement
// that is out of date is no news. Errors are ErrUnknown when there is no
// certificate of the witness or of the subject yet, and those of
// certificate.ParseFailure.
func (d *Directory) LearnFailure(raw []byte) (news bool, err error) {
	m, err := certificate.FailureSigner(d.group.ID(), raw)
	if err != nil {
		return false, err
	}
	key := d.Key(m)
	if key == nil {
		return false, fmt.Errorf("%w: witness %v", ErrUnknown, m)
	}
	u, err := certificate.ReadFailure(d.group.ID(), raw, key)
	if err != nil {
		return false, err
	}
	f := d.members[u.Body().Subject]
	if f == nil || !f.known() {
		return false, fmt.Errorf("%w: %v", ErrUnknown, u.Body().Subject)
	}
	if f.hasFailure(raw) {
		return false, nil
	}
	s, err := u.Verify()
	if err != nil {
		return false, err
	}
	return d.acceptFailure(f, s), nil
}

// hasFailure reports whether a statement with these bytes is kept.
func (f *facts) hasFailure(raw []byte) bool {
	return slices.ContainsFunc(f.failures(), func(s statement) bool { return same(raw, s.raw) })
}

func (d *Directory) acceptFailure(f *facts, signed certificate.SignedFailure) (news bool) {
	s := statementOf(signed)
	d.failures.set(f, append(slices.Clone(f.failures()), s))
	if !slices.Contains(f.failures(), s) {
		return false
	}
	d.changed(f)
	return true
}

// SetQuorum says how many witnesses make a member failed until it signs an
// endpoint record with a higher number. quorum is failure_quorum of the group
// configuration; it is kept within 2 and MaxFailureQuorum, and is 2 before the
// first call. A change has effect at once, at the cost of a look at every
// member.
func (d *Directory) SetQuorum(quorum int) {
	quorum = min(max(quorum, minFailureQuorum), MaxFailureQuorum)
	if quorum == d.failures.quorum {
		return
	}
	d.failures.quorum = quorum
	for f := range d.order.from(ident.Member{}) {
		if len(f.failures()) > 0 {
			d.failures.set(f, f.failures())
			d.changed(f)
		}
	}
}

// Failures returns the encoded failure statements against m that count now.
func (d *Directory) Failures(m ident.Member) (raws [][]byte) {
	f := d.members[m]
	if f == nil {
		return nil
	}
	for _, s := range f.failures() {
		if d.failures.speaks(s, f) {
			raws = append(raws, []byte(s.raw))
		}
	}
	return raws
}
