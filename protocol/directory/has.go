package directory

import (
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// Has reports whether this very certificate, encoded, is kept here. Learn would
// say that it is no news, and read it all: members hear most of what travels many
// times over.
func (d *Directory) Has(raw []byte) bool {
	claims, err := certificate.Peek(d.group.ID(), raw)
	if err != nil {
		return false
	}
	m := ident.MemberOf(claims.Group, claims.Key[:])
	f := d.members[m]
	if f == nil || !f.isCertificate(raw) {
		return false
	}
	d.sighted(m)
	return true
}
