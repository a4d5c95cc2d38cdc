package directory

import (
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
)

// Be makes the directory that of another member, as far as the ring is concerned.
func (d *Directory) Be(m ident.Member) { d.self = m }

// LimitRevocations lowers the bound of revocations, so that it can be reached.
func (d *Directory) LimitRevocations(n int) { d.revoked.limit = n }

// LimitKeys lowers the bound of the keys that are ready to be used.
func (d *Directory) LimitKeys(n int) { d.keys.most = n }

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

// Trust is LearnEndpoint of a record that has been verified.
func (d *Directory) Trust(e certificate.SignedEndpoint) {
	d.acceptEndpoint(d.members[e.Body().Member], e)
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

// Draw is a Refresh after having heard of enough members.
func (d *Directory) Draw(rng rand.Source) {
	if d.sample != nil {
		d.sample.shown += d.sample.least
		d.Refresh(rng)
	}
}

// Take takes in an endpoint record that was verified elsewhere.
func (d *Directory) Take(e certificate.SignedEndpoint) {
	d.acceptEndpoint(d.members[e.Body().Member], e)
}

// Hear is what a page of a peer does that tells of a member.
func (d *Directory) Hear(m ident.Member) { d.mentioned(m) }

// Breaks are changes that break one invariant each, by what Check says. The member a
// can be dialled, and has failed by the word of the member b.
var Breaks = map[string]func(d *Directory, a, b ident.Member){
	"failed is":              func(d *Directory, _, b ident.Member) { d.members[b].failed = true },
	"shown is":               func(d *Directory, _, b ident.Member) { d.forgotten = time.Unix(1<<40, 0) },
	"living is":              func(d *Directory, a, _ ident.Member) { d.members[a].living = false },
	"retired is":             func(d *Directory, a, _ ident.Member) { d.authorities.retired[0] = true },
	"another fingerprint":    func(d *Directory, a, _ ident.Member) { d.members[a].fingerprint[0]++ },
	"members live":           func(d *Directory, _, _ ident.Member) { d.living++ },
	"members are shown":      func(d *Directory, _, _ ident.Member) { d.order.whole.members++ },
	"in the place of":        func(d *Directory, a, b ident.Member) { d.members[ident.Member{}] = d.members[a] },
	"in order":               func(d *Directory, _, _ ident.Member) { d.order.length++ },
	"block 0 shows":          func(d *Directory, _, _ ident.Member) { d.order.blocks[0].sum.members++ },
	"has role":               func(d *Directory, _, b ident.Member) { d.members[b].role = client },
	"in its place of pool":   func(d *Directory, _, b ident.Member) { d.members[b].place += 1 },
	"place among the":        func(d *Directory, a, _ ident.Member) { d.members[a].rare.place = 1 },
	"can be drawn":           func(d *Directory, a, _ ident.Member) { d.pools[spare].add(&facts{}) },
	"the flow is":            func(d *Directory, _, _ ident.Member) { d.links.flow++ },
	"on the ring, not":       func(d *Directory, _, b ident.Member) { d.members[b].ring = guest },
	"on the ring, 4 counted": func(d *Directory, _, _ ident.Member) { d.roles[host]++ },
	"that it spoke against":  func(d *Directory, a, b ident.Member) { delete(d.members[b].rare.against, d.members[a]) },
	"revocations are whole":  func(d *Directory, _, _ ident.Member) { d.revoked.last++ },
}
