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
	ranks := directory.NewWitnessRank(r.group, directory.SlotID(resource, 0))
	best, rank := -1, [2]uint64{}
	for i, id := range r.ids {
		if of := ranks.Of(id); i != holder && !r.plan.Members[i].DialOnly && (best < 0 || directory.Above(of, rank)) {
			best, rank = i, of
		}
	}
	return best
}

// aimAtKeeper completes a step that parts a holder from the keeper of its token.
func (r *run) aimAtKeeper(s *plan.Step, holder int) {
	if !s.Keeper {
		return
	}
	if holder < 0 {
		holder = s.Member[0]
	}
	keeper := r.keeperOf(s.Holder, holder)
	if s.Fault == plan.Part {
		s.Member = []int{holder, keeper}
		return
	}
	// Whoever takes the place of the one that changes sides comes from that side.
	out := slices.Clone(s.Member)
	swap := func(in, to int) {
		for i, m := range out {
			if m == to {
				out[i] = in
			}
		}
	}
	if slices.Contains(out, keeper) {
		for i := range r.plan.Members {
			if i != keeper && !slices.Contains(out, i) {
				swap(i, keeper)
				break
			}
		}
	}
	if !slices.Contains(out, holder) {
		swap(holder, out[0])
	}
	s.Member = out
}
