package node

import (
	"time"

	"github.com/wandertoken/wander/node/hooks"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
)

// hookFarewell is how long a node that ends lets its hooks run on: a short one still tells of a lost grant.
const hookFarewell = 2 * time.Second

// teller tells the hooks what happens to the member, but for grants, which tell by themselves.
type teller struct {
	hooks    *hooks.Hooks
	engine   *engine
	isolated func() bool
	cutOff   bool // as the hooks were told; used by look only
}

// recorded tells of what goes into the journal.
func (t *teller) recorded(r journal.Record) {
	if t.hooks == nil {
		return
	}
	switch r := r.(type) {
	case *journal.Dropped:
		if policy.DropReason(r.Reason) != policy.Superseded {
			return
		}
		e := hooks.Event{Kind: hooks.Duplicate, Token: r.Token, Hop: r.Hop}
		t.engine.look(func(m *member.Member) { e.Resource = member.ResourceOf(m, r.Token) })
		t.hooks.Put(e)
	case *journal.Evidence:
		t.hooks.Put(hooks.Event{Kind: hooks.Evidence, Reason: r.What, About: r.Accused})
	}
}

// look tells when the member is cut off, and when it is no more.
func (t *teller) look() {
	if t.hooks == nil || t.isolated() == t.cutOff {
		return
	}
	t.cutOff = !t.cutOff
	e := hooks.Event{Kind: hooks.Isolated, Reason: "ended"}
	if t.cutOff {
		e.Reason = "begun"
	}
	t.hooks.Put(e)
}
