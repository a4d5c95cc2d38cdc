package node

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/node/forecast"
	"github.com/wandertoken/wander/node/hooks"
	"github.com/wandertoken/wander/node/metrics"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
)

// programs are the local programs: those that wait for a grant, and those that run under
// one. Their requests become inputs of the engine, and its grants and refusals answers.
type programs struct {
	self      ident.Member
	name      string           // of the member
	now       func() time.Time // the wall clock
	engine    *engine
	metrics   *metrics.Metrics
	hooks     *hooks.Hooks
	historian *historian  // nil in tests
	isolated  func() bool // the member is cut off from every peer
	done      <-chan struct{}
	err       func() error // why the node has ended, once done is closed

	waiters waiters
	held    heldGrants
	staying staying
	late    overruns
}

// acquire waits for a grant as the request says.
func (ps *programs) acquire(ctx context.Context, r api.AcquireRequest) (l *heldGrant, err error) {
	asked := boottime.Now()
	defer func() {
		took := boottime.Now().Sub(asked)
		ps.metrics.Waited(r.Resource, answerOf(err), took)
		ps.historian.waited(r.Resource, asked, took, answerOf(err))
	}()
	wait, bounded := r.Wait()
	w, demand := ps.waiters.add(member.Demand{
		Resource: r.Resource, MaxHold: r.MaxHold(), OncePer: r.OncePer(), Held: r.Held, Asker: askerRecord(r.Asker), Across: r.AcrossReboot,
	}, r.MinHold())
	ps.engine.put(item{input: demand})
	var timeout <-chan time.Time
	switch {
	case bounded && wait == 0:
		ps.engine.do(member.Tick{}) // a token that is here and idle is granted at once
		timeout = closedTime
	case bounded:
		t := time.NewTimer(wait)
		defer t.Stop()
		timeout = t.C
	}
	select {
	case a := <-w.answer:
		return a.grant, a.err
	default:
	}
	select {
	case a := <-w.answer:
		return a.grant, a.err
	case <-timeout:
		return ps.withdraw(w, ps.notGranted(r.Resource))
	case <-ctx.Done():
		l, err := ps.withdraw(w, context.Cause(ctx))
		if err == nil { // the grant crossed the end: nobody wants it any more
			l.Release(false, 0)
			err = context.Cause(ctx)
		}
		return nil, err
	case <-ps.done:
		return nil, ps.err()
	}
}

var closedTime = func() <-chan time.Time {
	c := make(chan time.Time)
	close(c)
	return c
}()

// withdraw ends a demand. A grant that came at the same moment stands.
func (ps *programs) withdraw(w *waiter, reason error) (*heldGrant, error) {
	request, ok := ps.waiters.leave(w)
	if !ok {
		a := <-w.answer
		return a.grant, a.err
	}
	ps.engine.put(item{input: member.Withdraw{Request: request}})
	return nil, reason
}

// notGranted is why a wait ended: no token came, or none can come because
// nobody can be reached.
func (ps *programs) notGranted(resource string) error {
	held, missing, gate := false, 0, ""
	ps.engine.look(func(m *member.Member) {
		held = m.Holds(resource)
		missing = m.MissingVotes(resource)
		gate = member.GateWord(m, resource)
	})
	switch {
	case !held && ps.isolated():
		return api.ErrIsolated
	case missing > 0:
		return fmt.Errorf("%w: for want of votes (on_isolated): %d members have not voted, wander status names them", api.ErrNotGranted, missing)
	}
	if gate != "" {
		message := fmt.Sprintf("%v: the gate of %s %s", api.ErrNotGranted, resource, gate)
		return &api.Error{Code: "not_granted", Message: message, Gate: gate, Hint: "wander status shows the gate"}
	}
	return api.ErrNotGranted
}

// granted gives a grant to the program that waits for it. One that nobody
// waits for any more starts nothing; nor does one whose deadline the sync has
// outlasted, and the program waits on.
func (ps *programs) granted(g effect.Grant) {
	w := ps.waiters.take(g.Request)
	if w != nil && boottime.Now().Before(g.Deadline) {
		w.grant(ps.open(w, g))
		return
	}
	ps.end(api.ReleaseRequest{Grant: g.Grant})
	if w == nil {
		return
	}
	if demand, ok := ps.waiters.again(w); ok {
		ps.engine.put(item{input: demand})
		return
	}
	w.refuse(ErrNotGranted)
}

// open begins a grant that a program gets.
func (ps *programs) open(w *waiter, g effect.Grant) *heldGrant {
	var permit []byte
	var turns []clock.Instant
	ps.engine.look(func(m *member.Member) {
		permit, turns = member.PermitOf(m, g.Token, g.Hop), member.Turns(m, g.Resource)
	})
	now := boottime.Now()
	left := g.Deadline.Sub(now)
	l := &heldGrant{
		metrics: ps.metrics, release: ps.release, lost: make(chan api.LostReason, 1), begun: now, until: now.Add(w.minHold), across: w.demand.Across,
		grant: api.Grant{
			ID: g.Grant, Resource: g.Resource, Member: ps.self, Name: ps.name,
			Token: g.Token, Hop: g.Hop, Fence: g.Fence, GateFence: g.Session, Deadline: ps.now().Add(left),
			DeadlineBoot: g.Deadline, BootID: boottime.ID(), Permit: permit,
		},
	}
	if p, ok := forecast.Next(turns); ok {
		l.grant.ReturnS, l.grant.ReturnP95S = secondsOf(p.P50), secondsOf(p.P95)
	}
	l.ended = ps.historian.began(l.grant, g.Slot, now)
	l.hooks = ps.hooks
	l.over = func() {
		o := overrun{resource: g.Resource, at: ps.now(), held: left}
		if a := w.demand.Asker; a != nil {
			o.process = a.Process
		}
		ps.late.note(o)
	}
	l.tell(hooks.Granted, "")
	ps.held.add(l, left)
	return l
}

// secondsOf is a time span in seconds, for what may be absent.
func secondsOf(d time.Duration) *float64 {
	s := d.Seconds()
	return &s
}

// refused tells a program that waits that its demand is refused.
func (ps *programs) refused(r effect.Refuse) {
	if w := ps.waiters.take(r.Request); w != nil {
		w.refuse(apiError(r.Reason))
	}
}

// lost ends a grant whose session at the gate is over: whoever runs the program kills it, and says so.
func (ps *programs) lost(e effect.Lose) {
	ps.held.take(e.Grant).close(metrics.OperationLost, api.LostGate)
}

// release ends a grant. The token is kept for the rest of min_hold.
func (ps *programs) release(r api.ReleaseRequest) {
	l := ps.held.take(r.Grant)
	l.close(howEnded(r.Operated, r.Exit), "")
	if rest := l.until.Sub(boottime.Now()); r.Operated && rest > 0 {
		ps.staying.add(r.Grant, rest, func() { ps.end(r) })
		return
	}
	ps.end(r)
}

// stop takes all grants away, and returns those whose programs are told. No token stays for min_hold any more: nobody could end
// that once the daemon has ended.
func (ps *programs) stop() (told []ident.Grant) {
	told = ps.held.loseAll(api.LostStopped)
	ps.staying.endAll()
	return told
}

// staying are the grants whose programs have ended, and whose tokens stay for the rest of min_hold. The zero value is ready.
type staying struct {
	mu   sync.Mutex
	ends map[ident.Grant]func()
}

// add has end called, once, after so long or by endAll.
func (s *staying) add(g ident.Grant, rest time.Duration, end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ends == nil {
		s.ends = make(map[ident.Grant]func())
	}
	s.ends[g] = end
	time.AfterFunc(rest, func() { s.end(g) })
}

func (s *staying) end(g ident.Grant) {
	s.mu.Lock()
	end := s.ends[g]
	delete(s.ends, g)
	s.mu.Unlock()
	if end != nil {
		end()
	}
}

func (s *staying) endAll() {
	s.mu.Lock()
	all := s.ends
	s.ends = nil
	s.mu.Unlock()
	for _, end := range all {
		end()
	}
}

// end tells the member that a grant's program has ended. It may be called by
// the engine's own work.
func (ps *programs) end(r api.ReleaseRequest) {
	ps.engine.put(item{input: member.Ended{Grant: r.Grant, Operated: r.Operated, SeenFrom: r.SeenFrom, SeenTo: r.SeenTo}})
}
