package node

import (
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/window"
)

// windowStatus shows windows, with times as the clocks of their zones show them.
func windowStatus(l window.Windows, h member.HoursStatus, now time.Time) *api.WindowStatus {
	w := &api.WindowStatus{Text: l.String(), Closed: h.Closed, ByGate: h.ByGate}
	if !h.Opens.IsZero() {
		w.Opens = l.Local(h.Opens)
		left := max(0, h.Opens.Sub(now).Seconds())
		w.OpensS = &left
	}
	if !h.Closes.IsZero() {
		w.Closes = l.Local(h.Closes)
	}
	return w
}

// putOff adds the time until a resource opens to what is predicted for its tokens.
func putOff(r *api.ResourceStatus) {
	if r.Windows.OpensS == nil {
		return
	}
	for i := range r.Slots {
		if e := r.Slots[i].Eta; e != nil {
			e.P50S, e.P95S = e.P50S+*r.Windows.OpensS, e.P95S+*r.Windows.OpensS
		}
	}
}

// showWindows adds to a status when resources are open that have windows.
func (n *Node) showWindows(st *api.Status, s member.Status) {
	config := n.currentGroup().Config()
	for i := range st.Resources {
		to := &st.Resources[i]
		r, ok := config.Resource(to.Name)
		if !ok || len(r.Windows) == 0 {
			continue
		}
		for j := range s.Slots {
			if s.Slots[j].Resource == to.Name {
				to.Windows = windowStatus(r.Windows, s.Slots[j].Hours, n.cfg.Now())
				putOff(to)
				break
			}
		}
	}
}
