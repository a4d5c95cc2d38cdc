package directory

import (
	"fmt"
	"slices"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// revocations is every revocation that is known, ascending by version.
type revocations struct {
	list  []certificate.SignedRevocation
	whole int    // how many of list, from the first, lie below the first gap
	last  uint64 // the version of the last of these
	limit int    // of list: MaxMembers; lower in tests
}

// add puts a revocation in its place that is not there yet, and moves on to
// the next gap.
func (rs *revocations) add(r certificate.SignedRevocation) {
	at, _ := slices.BinarySearchFunc(rs.list, r, compareRevocations)
	rs.list = slices.Insert(rs.list, at, r)
	for ; rs.whole < len(rs.list) && rs.list[rs.whole].Body().Version <= rs.last+1; rs.whole++ {
		rs.last = rs.list[rs.whole].Body().Version
	}
}

// LearnRevocation takes in an encoded revocation. The member that it names is
// dead from now on, also when nothing else is known of it yet. news says that
// the directory changed. Errors are those of certificate.ParseRevocation, and
// ErrFull.
func (d *Directory) LearnRevocation(raw []byte) (news bool, err error) {
	key := digestOf(envelope.Revocation, raw)
	if d.seen[key] != nil {
		return false, nil
	}
	r, err := certificate.ParseRevocation(d.group.ID(), raw, d.group)
	if err != nil {
		return false, err
	}
	if len(d.revoked.list) >= d.revoked.limit {
		return false, fmt.Errorf("%w: %d revocations", ErrFull, d.revoked.limit)
	}
	f := d.about(r.Member())
	if f.certificate != nil && f.revocation == nil {
		d.living--
	}
	d.revoked.add(r)
	d.seen[key] = f
	f.takeRevocation(r)
	d.settle(f)
	return true, nil
}

// Revocation is the encoded revocation by which m died.
func (d *Directory) Revocation(m ident.Member) (raw []byte, ok bool) {
	if f := d.members[m]; f != nil && f.revocation != nil {
		return f.revocation.Raw(), true
	}
	return nil, false
}

// RevocationVersion is the version up to which every revocation is known.
func (d *Directory) RevocationVersion() uint64 { return d.revoked.last }

// Revocations is the encoded revocations with a version above the given one,
// ascending: at most most of them. more says that higher ones remain. They are
// not to be changed.
func (d *Directory) Revocations(above uint64, most int) (raws [][]byte, more bool) {
	at, _ := slices.BinarySearchFunc(d.revoked.list, above, func(r certificate.SignedRevocation, version uint64) int {
		if r.Body().Version <= version {
			return -1
		}
		return 1
	})
	rest := d.revoked.list[at:]
	n := min(len(rest), most)
	for _, r := range rest[:n] {
		raws = append(raws, r.Raw())
	}
	return raws, n < len(rest)
}
