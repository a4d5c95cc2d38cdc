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

// Standing is nil when a member takes part, as of the last step, or why it does
// not: see directory.Directory.Status.
func (m *Member) Standing(id ident.Member) error { return m.dir.Status(id, m.now.Wall) }

// Standings goes through the members known here whose ids are from or above, in
// their order, with the Standing of each. With it a driver looks at a large
// directory in pieces, while the member goes on between them. See
// directory.Directory.Standings.
func (m *Member) Standings(from ident.Member) iter.Seq2[ident.Member, error] {
	return m.dir.Standings(from, m.now.Wall)
}
