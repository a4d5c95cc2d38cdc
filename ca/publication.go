package ca

// Publication is what members are to know of their group: signed objects, the
// same as in the group file. The caller must not change what they hold.
type Publication struct {
	Authorities   [][]byte // statements about CA keys, each behind the one that vouches for it
	Configuration []byte   // nil before the first one
	Revocations   [][]byte // ascending by version; the newest, and none that may be forgotten
	Leaves        [][]byte // of members whose certificates may still be valid

	ConfigVersion     uint64
	RevocationVersion uint64 // of the last revocation there was
	// RevocationFloor is the version up to which revocations are left out.
	RevocationFloor uint64
}

// maxPublished and maxLeaves bound the revocations and the leaves that are
// published: the newest ones. With them the group file stays below 6 MB and
// 12,300 blocks, which a reader of such files accepts. Members pass older ones on
// among themselves.
const (
	maxPublished = 8192
	maxLeaves    = 4096
)

// Publication is what is published now, with what other processes have added.
// Errors: those of List.
func (a *Authority) Publication() (Publication, error) {
	var p Publication
	err := a.locked(func(l *ledger) error { p = l.state.publication(); return nil })
	return p, err
}

func (s *state) publication() Publication {
	p := Publication{
		Configuration: s.config.Raw(), ConfigVersion: s.config.Version(), RevocationVersion: s.revocationVersion(),
		RevocationFloor: s.config.Settings().RevocationFloor,
	}
	for _, a := range s.chain() {
		p.Authorities = append(p.Authorities, a.Raw())
	}
	for _, r := range s.revocations[min(p.RevocationFloor, p.RevocationVersion):] {
		p.Revocations = append(p.Revocations, r.raw)
	}
	for _, gone := range s.leaves {
		if newest, _ := s.lastOf(gone.Member); s.last.Time.Before(newest.NotAfter) {
			p.Leaves = append(p.Leaves, gone.raw)
		}
	}
	p.Revocations = p.Revocations[max(0, len(p.Revocations)-maxPublished):]
	p.Leaves = p.Leaves[max(0, len(p.Leaves)-maxLeaves):]
	return p
}
