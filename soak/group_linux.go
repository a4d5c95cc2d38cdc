package main

import (
	"bytes"
	"path/filepath"
	"slices"

	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/soak/plan"
)

// settingsFile is that of a member, in its folder.
const settingsFile = "wander.toml"

// identify reads the ids of all members, and chooses those that only dial out if the plan
// wants them to follow each other in the order of ids.
func (r *run) identify() error {
	for _, m := range r.world.Machines {
		file := func(name string) string { return filepath.Join(m.Dir, name) }
		id, err := node.LoadIdentity(file("member.crt"), file("member.key"), file("group.crt"))
		if err != nil {
			return err
		}
		r.group, r.ids = id.Group.ID(), append(r.ids, id.Certificate.Member())
	}
	if !r.plan.Adjacent {
		return nil
	}
	order := make([]int, len(r.ids))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return bytes.Compare(r.ids[a][:], r.ids[b][:]) })
	n := 0
	for i := range r.plan.Members {
		if r.plan.Members[i].DialOnly {
			r.plan.Members[i].DialOnly = false
			n++
		}
	}
	for _, i := range order[:n] {
		r.plan.Members[i].DialOnly = true
	}
	return nil
}

// keeperOf is the member that finds that the token of a resource's first slot is lost when
// another one has it: the first one in the order of D-47 that can be dialled.
func (r *run) keeperOf(resource string, holder int) int {
	return r.firstOf(resource, func(i int) bool { return i != holder && !r.plan.Members[i].DialOnly })
}

// voterOf is the member that votes in a resource's first slot where one does.
func (r *run) voterOf(resource string) int {
	return r.firstOf(resource, func(int) bool { return true })
}

// firstOf is the first one of some members in the order of D-47 for a resource's first slot.
func (r *run) firstOf(resource string, among func(i int) bool) int {
	ranks := directory.NewWitnessRank(r.group, directory.SlotID(resource, 0))
	best, rank := -1, [2]uint64{}
	for i, id := range r.ids {
		if of := ranks.Of(id); among(i) && (best < 0 || directory.Above(of, rank)) {
			best, rank = i, of
		}
	}
	return best
}

// aimAtKeeper completes a step that parts a holder from the keeper of its token.
func (r *run) aimAtKeeper(s *plan.Step, holder int) {
	keeper := r.keeperOf(s.Holder, holder)
	if s.Fault == plan.Part {
		s.Member = []int{holder, keeper}
		return
	}
	s.Member = moved(s.Member, holder, keeper)
	s.Member = r.without(s.Member, keeper, holder)
}

// aimAtVoter completes a step that hits the voter of a holder, or says on which side it is.
func (r *run) aimAtVoter(s *plan.Step, holder int) {
	voter := r.voterOf(s.Holder)
	switch {
	case s.Voter == plan.Hit:
		s.Member, s.Holder = []int{voter}, ""
	case voter == holder && s.Fault != plan.Split: // it is parted from all others instead
		s.Member = []int{holder}
		for i := range r.plan.Members {
			if i != holder {
				s.Member = append(s.Member, i)
			}
		}
	case s.Voter == plan.Unheard:
		s.Member = []int{voter, holder}
	case s.Fault != plan.Split:
		s.Member = []int{holder, voter}
	default:
		s.Member = moved(s.Member, holder, voter)
		if s.Voter == plan.Along && len(s.Member) > 1 {
			s.Member = moved(s.Member, voter, holder)
		} else if voter != holder {
			s.Member = r.without(s.Member, voter, holder)
		}
	}
}

// without has a member change places with one from the other side, if it is on this one.
func (r *run) without(side []int, member, stays int) []int {
	var others []int
	for i := range r.plan.Members {
		if !slices.Contains(side, i) {
			others = append(others, i)
		}
	}
	rest := moved(others, member, stays)
	return slices.DeleteFunc(append(slices.Clone(side), others...), func(i int) bool { return slices.Contains(rest, i) })
}

// moved has a member take the place of another one on a side, but not of the one that stays.
func moved(side []int, member, stays int) []int {
	if slices.Contains(side, member) {
		return side
	}
	side = slices.Clone(side)
	at := slices.IndexFunc(side, func(i int) bool { return i != stays })
	side[max(at, 0)] = member
	return side
}
