package node

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/hooks"
	"github.com/wandertoken/wander/node/metrics"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
)

// waiter is a program that waits for a grant.
type waiter struct {
	demand  member.Demand // its Request changes when it is made anew
	minHold time.Duration
	answer  chan result // holds one
	left    bool        // waits no more, and takes what answer comes next
}

type result struct {
	grant *heldGrant
	err   error
}

func (w *waiter) grant(h *heldGrant) { w.answer <- result{grant: h} }
func (w *waiter) refuse(err error)   { w.answer <- result{err: err} }

// waiters are the programs that wait. The zero value is ready.
type waiters struct {
	mu   sync.Mutex
	last uint64
	byID map[uint64]*waiter
}

// add makes a waiter and numbers its demand.
func (ws *waiters) add(d member.Demand, minHold time.Duration) (*waiter, member.Demand) {
	w := &waiter{demand: d, minHold: minHold, answer: make(chan result, 1)}
	d, _ = ws.again(w)
	return w, d
}

// again lets a waiter that was taken wait on, and returns its demand under a new
// number; or it says that the waiter has left meanwhile.
func (ws *waiters) again(w *waiter) (d member.Demand, ok bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.left {
		return d, false
	}
	ws.last++
	w.demand.Request = ws.last
	if ws.byID == nil {
		ws.byID = make(map[uint64]*waiter)
	}
	ws.byID[ws.last] = w
	return w.demand, true
}

// take removes a waiter. Only who took it may answer it.
func (ws *waiters) take(request uint64) *waiter {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.byID[request]
	delete(ws.byID, request)
	return w
}

// leave ends a wait, and returns the number of the demand. When somebody has
// taken the waiter, an answer is on its way instead.
func (ws *waiters) leave(w *waiter) (request uint64, ok bool) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	request = w.demand.Request
	w.left = true
	ok = ws.byID[request] == w
	delete(ws.byID, request)
	return request, ok
}

// refuseAll answers everybody.
func (ws *waiters) refuseAll(err error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for request, w := range ws.byID {
		delete(ws.byID, request)
		w.refuse(err)
	}
}

// heldGrant is a grant in force at this node. It implements api.HeldGrant.
type heldGrant struct {
	metrics *metrics.Metrics         // nil of an ended one
	hooks   *hooks.Hooks             // as well
	release func(api.ReleaseRequest) // tells the member of its end
	grant   api.Grant
	ended   func() // notes its end in the history
	over    func() // notes that its program had not ended at the deadline; nil of an ended one
	begun   clock.Instant
	until   clock.Instant // the token stays at least so long (min_hold)
	across  bool          // it lasts across a restart of the machine, and so across the daemon's end
	lost    chan api.LostReason
	once    sync.Once
	expires *time.Timer
}

// Grant is what was granted.
func (h *heldGrant) Grant() api.Grant { return h.grant }

// Lost delivers a reason if the grant is lost, and is closed when it has ended.
func (h *heldGrant) Lost() <-chan api.LostReason { return h.lost }

// Release ends the grant.
func (h *heldGrant) Release(operated bool, exit int) {
	h.release(api.ReleaseRequest{Grant: h.grant.ID, Operated: operated, Exit: exit})
}

// close ends the grant: how, and for a reason if it was lost.
func (h *heldGrant) close(how metrics.Operation, reason api.LostReason) {
	h.once.Do(func() {
		h.metrics.Ended(h.grant.Resource, how, boottime.Now().Sub(h.begun), string(reason))
		h.ended()
		if reason != "" {
			h.lost <- reason
			h.tell(hooks.Lost, string(reason))
		}
		close(h.lost)
		h.expires.Stop()
	})
}

// overran ends a grant at its deadline.
func (h *heldGrant) overran() {
	if h.over != nil {
		h.over()
	}
	h.close(metrics.OperationOver, "")
}

// tell tells the hooks of the grant.
func (h *heldGrant) tell(kind hooks.Kind, reason string) {
	g := &h.grant
	h.hooks.Put(hooks.Event{
		Kind: kind, Resource: g.Resource, Token: g.Token, Hop: g.Hop, Fence: g.Fence,
		Deadline: g.Deadline, Until: g.DeadlineBoot, Reason: reason,
	})
}

// heldGrants are the grants in force. The zero value is ready.
type heldGrants struct {
	mu   sync.Mutex
	byID map[ident.Grant]*heldGrant
}

// add takes a grant in that expires after so long.
func (hs *heldGrants) add(h *heldGrant, left time.Duration) {
	id := h.grant.ID
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.byID == nil {
		hs.byID = make(map[ident.Grant]*heldGrant)
	}
	hs.byID[id] = h
	h.metrics.Granted(h.grant.Resource)
	h.expires = time.AfterFunc(left, func() {
		hs.take(id).overran()
	})
}

// take removes a grant; of one that is not there it returns an ended one.
func (hs *heldGrants) take(id ident.Grant) *heldGrant {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if h := hs.byID[id]; h != nil {
		delete(hs.byID, id)
		return h
	}
	return endedGrant()
}

func endedGrant() *heldGrant {
	h := &heldGrant{lost: make(chan api.LostReason, 1), expires: time.NewTimer(0), ended: func() {}}
	h.close("", "")
	return h
}

// loseAll ends every grant for a reason, and returns those whose programs are told.
func (hs *heldGrants) loseAll(reason api.LostReason) (told []ident.Grant) {
	hs.mu.Lock()
	all := hs.byID
	hs.byID = nil
	hs.mu.Unlock()
	for id, h := range all {
		if h.across && reason == api.LostStopped {
			h.close(metrics.OperationOver, "") // the daemon's end is not that of the grant
			continue
		}
		h.close(metrics.OperationLost, reason)
		told = append(told, id)
	}
	return told
}

// apiError is a member's refusal in the words of the local API.
func apiError(err error) error {
	switch {
	case errors.Is(err, member.ErrRevoked), errors.Is(err, member.ErrExpired):
		return fmt.Errorf("%w: %w", api.ErrRevoked, err)
	case errors.Is(err, member.ErrResource):
		return fmt.Errorf("%w: %w", api.ErrRefused, err)
	case errors.Is(err, member.ErrVolatile):
		return &api.Error{
			Code: "refused", Message: fmt.Sprintf("%v: %v", api.ErrRefused, err),
			Hint: `set mode = "durable" in the daemon's settings`,
		}
	case errors.Is(err, member.ErrHeld):
		return api.ErrHeld
	case errors.Is(err, member.ErrNotDue):
		return fmt.Errorf("%w: %w", api.ErrNotDue, err)
	case errors.Is(err, member.ErrWaiters), errors.Is(err, member.ErrStopping):
		return fmt.Errorf("%w: %w", api.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: %w", api.ErrInternal, err)
}
