package directory

import "github.com/wandertoken/wander/protocol/ident"

// LimitRevocations lowers the bound of revocations, so that it can be reached.
func (d *Directory) LimitRevocations(n int) { d.revoked.limit = n }

// Traces is how many places the directory keeps: of members that are known or
// revoked, and in the order of ids.
func (d *Directory) Traces() (members, objects int) { return len(d.members), d.order.length }

// Row is the chances with which Choose draws each member, from the weights that
// it draws by, while everybody is eligible. They sum to 1.
func (d *Directory) Row() map[ident.Member]float64 {
	row := map[ident.Member]float64{}
	everybody := func(*facts) bool { return true }
	owed, rest := d.chances(everybody)
	sum := 0.0
	for _, f := range d.pools[peer] {
		w, _ := d.weight(f)
		row[f.id] = float64(w)
		sum += float64(w)
	}
	for m := range row {
		if sum > 0 {
			row[m] *= float64(rest) / float64(owed+rest) / sum
		} else {
			row[m] = float64(rest) / float64(owed+rest) / float64(len(row))
		}
	}
	for _, f := range d.pools[client] {
		row[f.id] = float64(d.links.part(f.id)) / float64(owed+rest)
		if len(d.pools[peer]) == 0 {
			row[f.id] = float64(d.links.part(f.id)) / float64(owed)
		}
	}
	return row
}

// KeptFailures is every failure statement about m that is kept, whether or not
// it counts.
func (d *Directory) KeptFailures(m ident.Member) (raws [][]byte) {
	if f := d.members[m]; f != nil {
		for _, s := range f.failures() {
			raws = append(raws, []byte(s.raw))
		}
	}
	return raws
}
