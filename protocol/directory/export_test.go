package directory

import (
	"fmt"
	"math/rand/v2"

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

// Wrong is what does not hold of the roles, empty if all is well: each member
// has its own, is in the pool of that, and nowhere else, and the flow is the sum
// of the peers' loads.
func (d *Directory) Wrong() (faults []string) {
	seated, flow := 0, uint64(0)
	for _, f := range d.members {
		if f.role != d.roleOf(f) {
			faults = append(faults, fmt.Sprintf("%v has role %d, not %d", f.id, f.role, d.roleOf(f)))
		}
		if f.role == nobody {
			continue
		}
		seated++
		if p := d.pools[f.role]; f.place >= len(p) || p[f.place] != f {
			faults = append(faults, fmt.Sprintf("%v is not in its place", f.id))
		}
		if f.role == peer {
			flow += uint64(d.links.busy(f.id))
		}
	}
	if seated != d.Candidates() || flow != d.links.flow {
		faults = append(faults, fmt.Sprintf("%d of %d candidates, flow %d of %d", seated, d.Candidates(), flow, d.links.flow))
	}
	return faults
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
func (d *Directory) Hear(m ident.Member) { d.sighted(m) }

// Stale is what was not kept up with the facts, empty if all is well.
func (d *Directory) Stale() (faults []string) {
	fault := func(format string, of ...any) { faults = append(faults, fmt.Sprintf(format, of...)) }
	living, listed, failed, spoken := 0, 0, 0, 0
	var whole sum
	for _, f := range d.members {
		if f.failed != d.isFailed(f) || f.shown != d.shows(f) || f.listed != f.known() {
			fault("%v: failed %v, shown %v, listed %v", f.id, f.failed, f.shown, f.listed)
		}
		if f.shown {
			whole.add(sum{1, d.fingerprint(f)})
		}
		if f.known() {
			listed++
		} else if f.revocation() == nil {
			fault("%v is kept for nothing", f.id)
		}
		if f.living {
			living++
		}
		if f.rare != nil && f.rare.place != absent {
			failed++
			if d.failed[f.rare.place] != f || !f.failed {
				fault("%v is not in its place", f.id)
			}
		}
		for _, s := range f.failures() {
			spoken++
			if _, ok := d.members[s.witness].rare.against[f]; !ok {
				fault("%v does not know that it spoke against %v", s.witness, f.id)
			}
		}
		if f.rare != nil {
			spoken -= len(f.rare.against)
		}
	}
	if living != d.living || listed != d.order.length || failed != len(d.failed) || spoken != 0 || whole != d.order.whole {
		fault("%d living of %d, %d listed of %d, %d failed of %d, %d not spoken, %v of %v",
			living, d.living, listed, d.order.length, failed, len(d.failed), spoken, whole, d.order.whole)
	}
	return append(faults, d.Wrong()...)
}
