package circulation

import (
	"math/rand/v2"

	"github.com/wandertoken/wander/protocol/policy"
)

// operations are who wants to run the operation, and those that run.
type operations struct {
	*group
	tokens *tokens
	agents *agents
	hours  *hours
	stream *rand.Rand // streamDemand
}

// begin lets a member that has started want what Config.Demand says.
func (o *operations) begin(m int32) {
	switch o.cfg.Demand.kind {
	case always:
		o.want(m)
		o.tellDemand(m)
	case every:
		o.wantLater(m)
	}
}

// want makes a member want to run, which its policy is to be told.
func (o *operations) want(m int32) {
	o.sites[m].wants = true
	for _, observer := range o.observers {
		observer.Demanded(o.now, int(m))
	}
}

// wantLater is Demand.Every.
func (o *operations) wantLater(m int32) {
	o.schedule(exponentialSpan(o.stream, o.cfg.Demand.mean), demandRise, m, 0, o.sites[m].epoch)
}

// wantNow is Simulation.Want.
func (o *operations) wantNow(m int32) {
	s := &o.sites[m]
	if s.place < 0 || s.wants {
		return
	}
	o.want(m)
	o.schedule(0, demandTold, m, 0, s.epoch)
}

// rise is the end of wantLater.
func (o *operations) rise(m int32) {
	if !o.sites[m].wants {
		o.want(m)
		o.tellDemand(m)
	}
}

// tellDemand tells a policy whether its member wants to run, when that is
// news. While no operation may begin, the member does not want to as far as its
// policy is concerned (P-91).
func (o *operations) tellDemand(m int32) {
	s := &o.sites[m]
	if wanted := s.wants && !o.hours.Closed; wanted != s.heard {
		s.heard = wanted
		o.agents.step(m, &policy.Event{Kind: policy.DemandChanged, Demand: wanted})
	}
}

// run begins the operation, if anybody wants it and it may begin. It ends with
// the windows at the latest (P-92).
func (o *operations) run(t *token, i int32) {
	m := t.holder
	s := &o.sites[m]
	if !s.wants || o.hours.Closed {
		o.schedule(0, notRun, m, i, s.epoch)
		return
	}
	if o.cfg.Demand.kind != always {
		s.wants = false
		o.schedule(0, demandTold, m, 0, s.epoch)
	}
	t.state = running
	o.stats.Operations++
	for _, observer := range o.observers {
		observer.OperationBegan(o.now, int(m))
	}
	o.schedule(min(o.cfg.Operation.draw(o.rng), o.hours.left()), ended, m, i, s.epoch)
}

// interrupt ends an operation that runs under t without telling the policy.
func (o *operations) interrupt(t *token) {
	if t.state != running {
		return
	}
	t.state = held
	for _, observer := range o.observers {
		observer.OperationEnded(o.now, int(t.holder))
	}
}

// finish is the end of an operation that no crash has ended before.
func (o *operations) finish(e event) {
	m := e.member
	if o.sites[m].epoch != e.epoch {
		return
	}
	t := &o.tokens.list[e.ref]
	o.interrupt(t)
	o.remember(&o.sites[m], t, true)
	switch o.cfg.Demand.kind {
	case always:
		o.want(m)
	case every:
		o.wantLater(m)
	}
	o.agents.stepToken(m, t, policy.OperationEnded, true)
}
