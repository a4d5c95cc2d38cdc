package member

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// roster answers what the policy of a slot asks about who takes part.
type roster struct {
	m    *Member
	slot slotKey
}

// Draw is policy.Roster's. It leaves out members that have not answered of late. A
// policy that draws one member passes it the token, so that Choose draws it.
func (r roster) Draw(n int, to []ident.Member) []ident.Member {
	start := len(to)
	if n != 1 {
		to = r.m.dir.DrawSome(r.m.sources.member, n, r.m.now.Wall, r.m.shunned, to)
	} else if id, ok := r.m.dir.Choose(r.m.sources.member, r.m.now.Wall, r.m.shunned); ok {
		to = append(to, id)
	}
	r.asked(policy.Asked{N: n, Answer: to[start:]})
	return to
}

// Size is policy.Roster's. It counts as Draw draws.
func (r roster) Size() int {
	n := r.m.dir.Count(r.m.now.Wall, r.m.shunned)
	r.asked(policy.Asked{Size: n})
	return n
}

// Others is policy.Roster's. It leaves out members that have not answered of late.
func (r roster) Others(n int, to []ident.Member) []ident.Member {
	start := len(to)
	to = r.m.dir.DrawSome(r.m.sources.member, n, r.m.now.Wall, r.m.live.detector.isUnresponsive, to)
	r.asked(policy.Asked{N: n, Others: true, Answer: to[start:]})
	return to
}

// Witnesses is policy.Roster's (rule D-47). Who has not answered of late has none.
func (r roster) Witnesses(of ident.Member, n int, to []ident.Member) []ident.Member {
	start := len(to)
	if !r.m.shunned(of) {
		to = r.m.dir.Witnesses(of, min(n, policy.MaxWitnesses), r.m.now.Wall, to)
	}
	r.asked(policy.Asked{Of: of, N: n, Answer: to[start:]})
	return to
}

func (r roster) asked(a policy.Asked) {
	if o := r.m.cfg.Observer; o != nil {
		o.PolicyAsked(r.slot.resource, r.slot.number, a)
	}
}

// electorate answers whom the policy of a slot may ask for votes.
type electorate struct {
	m    *Member
	slot ident.Member
}

// Voters is policy.Electorate's.
func (e electorate) Voters(n int, to []ident.Member) ([]ident.Member, int) {
	return e.m.dir.Voters(e.slot, n, to)
}
