package member

import (
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// roster answers what the policy of a slot asks about who takes part.
type roster struct {
	from *candidates
	slot slotKey
}

// Draw is policy.Roster's. It leaves out members that have not answered of late. A
// policy that draws one member passes it the token, so that Choose draws it.
func (r roster) Draw(n int, to []ident.Member) []ident.Member {
	start := len(to)
	if n != 1 {
		to = r.from.dir.DrawSome(r.from.sources.member, n, r.from.now.Wall, r.from.avoids, to)
	} else if id, ok := r.from.dir.Choose(r.from.sources.member, r.from.now.Wall, r.from.avoids); ok {
		to = append(to, id)
	}
	r.asked(policy.Asked{N: n, Answer: to[start:]})
	return to
}

// Size is policy.Roster's. It counts as Draw draws.
func (r roster) Size() int {
	n := r.from.size()
	r.asked(policy.Asked{Size: n})
	return n
}

// Others is policy.Roster's. It leaves out members that have not answered of late.
func (r roster) Others(n int, to []ident.Member) []ident.Member {
	start := len(to)
	to = r.from.dir.DrawSome(r.from.sources.member, n, r.from.now.Wall, r.from.live.detector.isUnresponsive, to)
	r.asked(policy.Asked{N: n, Others: true, Answer: to[start:]})
	return to
}

// Witnesses is policy.Roster's (rule D-47). Who has not answered of late has none.
func (r roster) Witnesses(of ident.Member, n int, to []ident.Member) []ident.Member {
	start := len(to)
	if !r.from.avoids(of) {
		to = r.from.dir.Witnesses(of, min(n, policy.MaxWitnesses), r.from.now.Wall, to)
	}
	r.asked(policy.Asked{Of: of, N: n, Answer: to[start:]})
	return to
}

func (r roster) asked(a policy.Asked) {
	if o := r.from.cfg.Observer; o != nil {
		o.PolicyAsked(r.slot.resource, r.slot.number, a)
	}
}

// electorate answers whom the policy of a slot may ask for votes.
type electorate struct {
	dir  *directory.Directory
	slot ident.Member
}

// Voters is policy.Electorate's.
func (e electorate) Voters(n int, to []ident.Member) ([]ident.Member, int) {
	return e.dir.Voters(e.slot, n, to)
}
