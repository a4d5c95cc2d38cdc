package member

import (
	"iter"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// IDs are the ids of all members with a certificate here, dead ones included, in
// their order.
func (m *Member) IDs() []ident.Member {
	list := make([]ident.Member, 0, m.dir.Len())
	for id := range m.dir.Members() {
		list = append(list, id)
	}
	return list
}

// Len is the number of members with a certificate here, dead ones included.
func (m *Member) Len() int { return m.dir.Len() }

// Certificate is the newest certificate of a member that is known here.
func (m *Member) Certificate(id ident.Member) (certificate.Certificate, bool) {
	return m.dir.Certificate(id)
}

// Eligible is nil when a member is eligible, as of the last step, or why it is
// not: see directory.Directory.Eligible.
func (m *Member) Eligible(id ident.Member) error { return m.dir.Eligible(id, m.now.Wall) }

// States goes through the members known here whose ids are from or above, in
// their order, with what Eligible says of each. With it a driver looks at a large
// directory in pieces, while the member goes on between them. See
// directory.Directory.States.
func (m *Member) States(from ident.Member) iter.Seq2[ident.Member, error] {
	return m.dir.States(from, m.now.Wall)
}
