package directory

import (
	"errors"
	"fmt"
)

// Check returns an error for the first invariant of the directory that does not
// hold, or nil: every derived state fits the facts. Tests and simulations call
// it after every step. A member does not call it, since it costs a look at
// every member, with a hash over its objects.
func (d *Directory) Check() error {
	for _, check := range []func() error{
		d.Register.check, d.checkFacts, d.checkOrder, d.Selector.check, d.Ring.check, d.failures.check, d.revoked.check,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkFacts checks that the conclusions drawn about each member are the ones to draw now.
func (d *Directory) checkFacts() error {
	living := 0
	var whole sum
	for _, f := range d.members {
		switch {
		case f.failed != d.failures.isFailed(f):
			return fmt.Errorf("%v: failed is %v", f.id, f.failed)
		case f.shown != d.shows(f):
			return fmt.Errorf("%v: shown is %v", f.id, f.shown)
		case f.living != (f.known() && !f.gone()):
			return fmt.Errorf("%v: living is %v", f.id, f.living)
		case f.known() && f.retired != d.authorities.retired[f.authority]:
			return fmt.Errorf("%v: retired is %v", f.id, f.retired)
		case f.shown && f.fingerprint != d.fingerprint(f):
			return fmt.Errorf("%v has another fingerprint", f.id)
		}
		if f.living {
			living++
		}
		if f.shown {
			whole.add(sum{1, f.fingerprint})
		}
	}
	if living != d.living {
		return fmt.Errorf("%d members live, %d counted", living, d.living)
	}
	if whole != d.order.whole {
		return fmt.Errorf("%d members are shown, %d counted, or their sums differ", whole.members, d.order.whole.members)
	}
	return nil
}

// check: members are in their places, and in the order of ids those with a certificate.
func (reg *Register) check() error {
	listed := 0
	for id, f := range reg.members {
		switch {
		case f.id != id:
			return fmt.Errorf("%v is in the place of %v", f.id, id)
		case f.listed != f.known():
			return fmt.Errorf("%v: listed is %v", id, f.listed)
		case !f.known() && f.revocation() == nil:
			return fmt.Errorf("%v is kept for nothing", id)
		}
		if f.listed {
			listed++
		}
	}
	if listed != reg.order.length {
		return fmt.Errorf("%d members are known, %d in order", listed, reg.order.length)
	}
	return nil
}

// checkOrder: ids ascend, and each block has the sum of its members.
func (reg *Register) checkOrder() error {
	o := &reg.order
	n := 0
	var last *facts
	for i := range o.blocks {
		b := &o.blocks[i]
		var shown sum
		if len(b.list) == 0 || len(b.list) > blockSize || len(b.ids) != len(b.list) || b.first != b.list[0].id {
			return fmt.Errorf("block %d has %d members, and %d ids", i, len(b.list), len(b.ids))
		}
		for k, f := range b.list {
			switch {
			case reg.members[f.id] != f || b.ids[k] != f.id:
				return fmt.Errorf("%v is in the order and not known", f.id)
			case last != nil && last.id.Compare(f.id) >= 0:
				return fmt.Errorf("%v comes before %v", last.id, f.id)
			}
			if last = f; f.shown {
				shown.add(sum{1, f.fingerprint})
			}
		}
		if shown != b.sum {
			return fmt.Errorf("block %d shows %d members, %d counted, or their sums differ", i, shown.members, b.sum.members)
		}
		n += len(b.list)
	}
	if n != o.length {
		return fmt.Errorf("%d members in blocks, %d counted", n, o.length)
	}
	return nil
}

// check: each member is in the pool of its role and nowhere else, and the flow is the
// sum of the peers' loads.
func (s *Selector) check() error {
	drawn, failed, flow := 0, 0, uint64(0)
	for _, f := range s.known.members {
		if f.role != s.roleOf(f) {
			return fmt.Errorf("%v has role %d, not %d", f.id, f.role, s.roleOf(f))
		}
		if f.role != nobody {
			drawn++
			if p := s.pools[f.role]; f.place >= len(p) || p[f.place] != f {
				return fmt.Errorf("%v is not in its place of pool %d", f.id, f.role)
			}
		}
		if f.role == peer {
			flow += uint64(s.links.busy(f.id))
		}
		if s.mayDialFailed(f) != (f.rare != nil && f.rare.place != absent) {
			return fmt.Errorf("%v: failed and can be dialled is %v", f.id, s.mayDialFailed(f))
		}
		if f.rare != nil && f.rare.place != absent {
			failed++
			if f.rare.place >= len(s.failed) || s.failed[f.rare.place] != f {
				return fmt.Errorf("%v is not in its place among the failed", f.id)
			}
		}
	}
	switch {
	case drawn != s.Candidates():
		return fmt.Errorf("%d members can be drawn, %d are in pools", drawn, s.Candidates())
	case failed != len(s.failed):
		return fmt.Errorf("%d members have failed, %d are in the pool", failed, len(s.failed))
	case flow != s.links.flow:
		return fmt.Errorf("the flow is %d, not %d", flow, s.links.flow)
	}
	return s.sample.check()
}

// check: the members of the sample are those of its slots.
func (s *sample) check() error {
	if s == nil {
		return nil
	}
	used, drawn := 0, 0
	for i := range s.slots {
		if m := s.slots[i].use(); !m.IsZero() {
			used++
			if !s.holds(m) {
				return fmt.Errorf("%v is in a slot and not in the sample", m)
			}
		}
		if !s.slots[i].next.IsZero() {
			drawn++
		}
	}
	for _, n := range s.used {
		used -= n
	}
	for _, n := range s.drawn {
		drawn -= n
	}
	if used != 0 || drawn != 0 {
		return errors.New("slots and their counts differ")
	}
	return nil
}

// check: the roles are counted.
func (r *Ring) check() error {
	var count [ringRoles]int
	for _, f := range r.known.members {
		if f.ring != ringRoleOf(f) {
			return fmt.Errorf("%v has role %d on the ring, not %d", f.id, f.ring, ringRoleOf(f))
		}
		count[f.ring]++
	}
	for _, role := range []ringRole{host, guest} {
		if count[role] != r.roles[role] {
			return fmt.Errorf("%d members have role %d on the ring, %d counted", count[role], role, r.roles[role])
		}
	}
	return nil
}

// check: each witness knows against whom it has spoken, and the statements that are
// kept are the join of themselves.
func (fs *failures) check() error {
	spoken := 0
	for _, f := range fs.known.members {
		list := f.failures()
		spoken += len(list)
		if len(list) > MaxFailureQuorum {
			return fmt.Errorf("%d statements against %v", len(list), f.id)
		}
		for i, s := range list {
			w := fs.known.members[s.witness]
			if w == nil || w.rare == nil {
				return fmt.Errorf("%v is not known, and has spoken against %v", s.witness, f.id)
			}
			if _, ok := w.rare.against[f]; !ok {
				return fmt.Errorf("%v does not know that it spoke against %v", s.witness, f.id)
			}
			if f.mode != 0 && s.sequence < f.sequence || i > 0 && rank(list[i-1], s) >= 0 {
				return fmt.Errorf("statement %d of %v against %v is out of date, or out of order", i, s.witness, f.id)
			}
		}
		if f.rare != nil {
			spoken -= len(f.rare.against)
		}
	}
	if spoken != 0 {
		return fmt.Errorf("%d statements too many, or too few, are known to their witnesses", spoken)
	}
	return nil
}

// check: versions ascend, and last is the one before the first gap.
func (rs *revocations) check() error {
	last := rs.floor
	for i, r := range rs.list {
		if i > 0 && compareRevocations(rs.list[i-1], r) >= 0 || r.version <= rs.floor {
			return fmt.Errorf("revocation %d is out of order, or below the floor %d", r.version, rs.floor)
		}
		if i < rs.whole {
			last = max(last, r.version)
		}
	}
	if rs.whole > len(rs.list) || last != rs.last {
		return fmt.Errorf("revocations are whole up to %d, not %d", last, rs.last)
	}
	return nil
}
