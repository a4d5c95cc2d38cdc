package node

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
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
	lease *lease
	err   error
}

func (w *waiter) grant(l *lease)   { w.answer <- result{lease: l} }
func (w *waiter) refuse(err error) { w.answer <- result{err: err} }

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
// taken the waiter, an answer is under way instead.
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

// lease is a grant in force at this node. It implements api.Lease.
type lease struct {
	metrics *metrics.Metrics         // nil of an ended one
	release func(api.ReleaseRequest) // tells the member of its end
	grant   api.Grant
	begun   clock.Instant
	until   clock.Instant // the token stays at least so long (min_hold)
	lost    chan api.LostReason
	once    sync.Once
	expires *time.Timer
}

// Grant is what was granted.
func (l *lease) Grant() api.Grant { return l.grant }

// Lost delivers a reason if the grant is lost, and is closed when it has ended.
func (l *lease) Lost() <-chan api.LostReason { return l.lost }

// Release ends the grant.
func (l *lease) Release(operated bool, exit int) {
	l.release(api.ReleaseRequest{Grant: l.grant.ID, Operated: operated, Exit: exit})
}

// close ends the lease: how, and for a reason if it was lost.
func (l *lease) close(how metrics.Operation, reason api.LostReason) {
	l.once.Do(func() {
		l.metrics.Ended(l.grant.Resource, how, boottime.Now().Sub(l.begun), string(reason))
		if reason != "" {
			l.lost <- reason
		}
		close(l.lost)
		l.expires.Stop()
	})
}

// leases are the grants in force. The zero value is ready.
type leases struct {
	mu   sync.Mutex
	byID map[ident.Grant]*lease
}

// add takes a lease in that expires after so long.
func (ls *leases) add(l *lease, left time.Duration) {
	id := l.grant.ID
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.byID == nil {
		ls.byID = make(map[ident.Grant]*lease)
	}
	ls.byID[id] = l
	l.metrics.Granted(l.grant.Resource)
	l.expires = time.AfterFunc(left, func() { ls.take(id).close(metrics.OperationOver, "") })
}

// take removes a lease; of one that is not there it returns an ended one.
func (ls *leases) take(id ident.Grant) *lease {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if l := ls.byID[id]; l != nil {
		delete(ls.byID, id)
		return l
	}
	return endedLease()
}

func endedLease() *lease {
	l := &lease{lost: make(chan api.LostReason, 1), expires: time.NewTimer(0)}
	l.close("", "")
	return l
}

// loseAll ends every lease for a reason.
func (ls *leases) loseAll(reason api.LostReason) {
	ls.mu.Lock()
	all := ls.byID
	ls.byID = nil
	ls.mu.Unlock()
	for _, l := range all {
		l.close(metrics.OperationLost, reason)
	}
}

// apiError is a member's refusal in the words of the local API.
func apiError(err error) error {
	switch {
	case errors.Is(err, member.ErrRevoked), errors.Is(err, member.ErrExpired):
		return fmt.Errorf("%w: %w", api.ErrRevoked, err)
	case errors.Is(err, member.ErrResource):
		return fmt.Errorf("%w: %w", api.ErrRefused, err)
	case errors.Is(err, member.ErrHeld):
		return api.ErrHeld
	case errors.Is(err, member.ErrNotDue):
		return fmt.Errorf("%w: %w", api.ErrNotDue, err)
	case errors.Is(err, member.ErrWaiters), errors.Is(err, member.ErrStopping):
		return fmt.Errorf("%w: %w", api.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: %w", api.ErrInternal, err)
}
