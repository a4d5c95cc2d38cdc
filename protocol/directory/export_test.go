package directory

// LimitRevocations lowers the bound of revocations, so that it can be reached.
func (d *Directory) LimitRevocations(n int) { d.revoked.limit = n }

// Traces is how many places the directory keeps: of members that are known or
// revoked, and of objects that have verified.
func (d *Directory) Traces() (members, objects int) { return len(d.members), len(d.seen) }
