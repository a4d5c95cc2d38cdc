package directory

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wandertoken/wander/protocol/certificate"
)

// revocation is a verified revocation.
type revocation struct {
	version uint64
	raw     string
}

func compareRevocations(a, b *revocation) int {
	return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(a.raw, b.raw))
}

// revocations is every revocation that is known, ascending by version.
type revocations struct {
	list  []*revocation
	whole int    // how many of list, from the first, lie below the first gap
	last  uint64 // the version of the last of these, or the floor
	floor uint64 // up to here none are kept
	limit int    // of list: MaxMembers; lower in tests
}

// add puts a revocation in its place, unless it is there, and moves on to the
// next gap.
func (rs *revocations) add(r *revocation) (news bool) {
	at, found := slices.BinarySearchFunc(rs.list, r, compareRevocations)
	if found {
		return false
	}
	rs.list = slices.Insert(rs.list, at, r)
	rs.advance()
	return true
}

func (rs *revocations) advance() {
	for ; rs.whole < len(rs.list) && rs.list[rs.whole].version <= rs.last+1; rs.whole++ {
		rs.last = max(rs.last, rs.list[rs.whole].version)
	}
}

// above is the place of the first revocation with a higher version.
func (rs *revocations) above(version uint64) int {
	at, _ := slices.BinarySearchFunc(rs.list, version, func(r *revocation, version uint64) int {
		if r.version <= version {
			return -1
		}
		return 1
	})
	return at
}

// has reports whether a revocation is kept.
func (rs *revocations) has(r *revocation) bool {
	_, found := slices.BinarySearchFunc(rs.list, r, compareRevocations)
	return found
}

// LearnRevocation takes in an encoded revocation. The member that it names has
// departed from now on, even if nothing else is known of that member yet. news
// says that the directory changed; a revocation that the CA has given up (see
// ForgetRevocations) changes nothing. Errors are those of
// certificate.ParseRevocation, and ErrFull.
func (d *Directory) LearnRevocation(raw []byte) (news bool, err error) {
	body, err := certificate.PeekRevocation(d.group.ID(), raw)
	if err != nil {
		return false, err
	}
	r := &revocation{version: body.Version, raw: string(raw)}
	if d.revoked.has(r) {
		return false, nil
	}
	if r.version <= d.revoked.floor {
		return false, nil // whoever has signed it
	}
	if _, err := certificate.ParseRevocation(d.group.ID(), raw, d.group); err != nil {
		return false, err
	}
	if len(d.revoked.list) >= d.revoked.limit {
		return false, fmt.Errorf("%w: %d revocations", ErrFull, d.revoked.limit)
	}
	d.revoked.add(r)
	d.revoke(d.about(body.Member), r)
	return true, nil
}

// revoke kills a member, and silences it: what it said against others counts no
// more.
func (d *Directory) revoke(f *facts, r *revocation) {
	f.takeRevocation(r)
	d.changed(f)
	d.heard(f)
}

// ForgetRevocations drops the revocations with versions up to the floor, which
// is revocation_floor of the group configuration. The CA raises the floor only
// over members whose certificates have all ended. A revoked member that is
// still known here stays revoked until Forget drops its certificate. A floor
// never sinks.
func (d *Directory) ForgetRevocations(floor uint64) {
	rs := &d.revoked
	if floor <= rs.floor {
		return
	}
	rs.floor, rs.last = floor, max(rs.last, floor)
	n := rs.above(floor)
	rs.list, rs.whole = slices.Clip(slices.Clone(rs.list[n:])), max(rs.whole-n, 0)
	rs.advance()
	for _, f := range d.members {
		if r := f.revocation(); r != nil && r.version <= floor && !f.known() {
			f.rare.revocation = nil
			d.tidy(f)
		}
	}
}

// RevocationVersion returns the version up to which every revocation is known
// here, or given up by the CA.
func (d *Directory) RevocationVersion() uint64 { return d.revoked.last }

// Revocations returns the encoded revocations with a version above the given
// one, in ascending order: at most most of them. more says that higher ones
// remain.
func (d *Directory) Revocations(above uint64, most int) (raws [][]byte, more bool) {
	rest := d.revoked.list[d.revoked.above(above):]
	n := min(len(rest), most)
	for _, r := range rest[:n] {
		raws = append(raws, []byte(r.raw))
	}
	return raws, n < len(rest)
}
