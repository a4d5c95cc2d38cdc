package audit

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

const (
	// quotaBurst is over how many tokens of one member the rate is looked at, so
	// that a few restarts, each of which may begin a wait anew, do not count.
	quotaBurst = 8
	// quotaExcess is how many times faster than its policy a member has to be.
	quotaExcess = 2
)

// slot is one slot of a resource.
type slot struct {
	resource string
	number   uint64
}

// founding is a token that was made because the group was being founded.
type founding struct {
	member ident.Member
	token  ident.Token
	in     RecordRef
	at     uint64
}

// checkQuota looks for members that made tokens faster than any known
// configuration lets them, tokens of what no configuration has, and slots that
// were founded twice.
func (j *judge) checkQuota(order []*genesis) {
	slices.SortFunc(order, func(x, y *genesis) int {
		return cmp.Or(x.generator.Compare(y.generator), cmp.Compare(x.resource, y.resource), cmp.Compare(x.slot, y.slot),
			cmp.Compare(x.born, y.born), x.token.Compare(y.token))
	})
	for i, g := range order {
		shortest, shared := j.quota(g.resource, g.slot)
		if !shared {
			j.add(Finding{
				Kind: Foreign, Token: g.token, Members: []ident.Member{g.generator}, At: fromMillis(g.born), Records: refs(g.shown.RecordRef),
				Detail: fmt.Sprintf("resource %q, slot %d", g.resource, g.slot),
			})
			continue
		}
		if i < quotaBurst {
			continue
		}
		first := order[i-quotaBurst]
		if first.generator != g.generator || first.resource != g.resource || first.slot != g.slot {
			continue
		}
		took := time.Duration(min(g.born-first.born, lastTime/1_000_000)) * time.Millisecond
		if took < shortest*quotaBurst/quotaExcess {
			j.addOnce(Finding{
				Kind: Excess, Token: g.token, Members: []ident.Member{g.generator}, At: fromMillis(g.born), Records: refs(first.shown.RecordRef, g.shown.RecordRef),
				Detail: fmt.Sprintf("%d tokens of resource %q, slot %d within %v; its policy waits %v before each",
					quotaBurst, g.resource, g.slot, took, shortest),
			})
		}
	}
	j.checkFoundings()
}

func (j *judge) checkFoundings() {
	for k, list := range j.founded {
		if len(list) < 2 {
			continue
		}
		f := Finding{Kind: Refounded, Token: list[1].token, At: list[1].at, Detail: fmt.Sprintf("resource %q, slot %d", k.resource, k.number)}
		for _, one := range list[:min(len(list), quotaBurst)] {
			f.Members, f.Records = append(f.Members, one.member), append(f.Records, one.in)
		}
		j.add(f)
	}
}

// quota is the shortest time between two tokens that one member makes of a slot,
// by whichever configuration permits most; shared is false when none has the
// slot.
func (j *judge) quota(resource string, slot uint64) (shortest time.Duration, shared bool) {
	for _, c := range j.trust.configs {
		for _, r := range c.Resources {
			if r.Name != resource || slot >= uint64(r.Slots) {
				continue
			}
			if wait := catalog.LeastWait(r.Policy, r.PolicyParams()); !shared || wait < shortest {
				shortest = wait
			}
			shared = true
		}
	}
	return shortest, shared
}
