package directory

import (
	"github.com/wandertoken/wander/crypto/signature"
)

// Has reports whether exactly this encoded certificate is kept here. Learn
// would say the same by news, but would decode it all first, and members hear
// most of what travels many times over.
func (d *Directory) Has(raw []byte) bool {
	f := d.holder(raw)
	if f == nil {
		return false
	}
	d.mentioned(f.id)
	return true
}

// recentKept is how many certificates are found again by their signature, without
// being decoded: 200 kB. When there are more, all are forgotten.
const recentKept = 4096

// mark is the first bytes of a certificate's signature, which tells it from all
// others. Whoever makes two with the same only has the slower way.
type mark [16]byte

// recent is of whom the certificates are that came last.
type recent map[mark]*facts

func markOf(raw []byte) (m mark, ok bool) {
	if len(raw) < signature.SignatureSize {
		return m, false
	}
	return mark(raw[len(raw)-signature.SignatureSize:]), true
}

func (s recent) find(raw []byte) *facts {
	m, ok := markOf(raw)
	if !ok {
		return nil
	}
	if f := s[m]; f != nil && f.isCertificate(raw) {
		return f
	}
	return nil
}

func (s recent) note(raw []byte, f *facts) {
	if m, ok := markOf(raw); ok {
		if len(s) >= recentKept {
			clear(s)
		}
		s[m] = f
	}
}
