package member

import "github.com/wandertoken/wander/protocol/ident"

// IDs are the ids of all members with a certificate here, dead ones included, in
// their order. With Standing it lets a driver look at a large directory piece by
// piece, while the member goes on between the pieces. It costs 16 bytes and some
// nanoseconds a member.
func (m *Member) IDs() []ident.Member {
	list := make([]ident.Member, 0, m.dir.Len())
	for id := range m.dir.Members() {
		list = append(list, id)
	}
	return list
}

// Standing is nil when a member takes part, as of the last step, or why it does
// not: see directory.Directory.Status.
func (m *Member) Standing(id ident.Member) error { return m.dir.Status(id, m.now.Wall) }
