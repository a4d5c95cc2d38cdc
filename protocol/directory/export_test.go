package directory

// SetLimit replaces MaxMembers, so that a full directory can be tested.
func (d *Directory) SetLimit(n int) { d.limit = n }
