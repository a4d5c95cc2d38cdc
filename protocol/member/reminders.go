package member

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// maxBroken bounds the members whose broken connections are kept in mind. Without one,
// what was lost with it is said again later.
const maxBroken = 1024

// reminders have policies say again what was lost with a connection that broke.
type reminders struct {
	*core
	slots  *slotTable
	events *events
	broken map[ident.Member]struct{} // whose connection broke, until the next one
}

// breaks notes that a connection broke: what was in progress is lost.
func (r *reminders) breaks(id ident.Member) {
	if len(r.broken) >= maxBroken {
		clear(r.broken)
	}
	r.broken[id] = struct{}{}
}

// remind tells the policies again that somebody wants to run, when a member is there
// again whose connection broke: what they have said may be lost.
func (r *reminders) remind(id ident.Member) {
	if _, broken := r.broken[id]; !broken {
		return
	}
	delete(r.broken, id)
	for _, s := range r.slots.order {
		if s.demand {
			r.events.notify(s, policy.Event{Kind: policy.DemandChanged, Demand: true})
		}
	}
}
