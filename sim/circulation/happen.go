package circulation

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// happen is the turn of one event.
func (w *World) happen(e event) {
	switch e.kind {
	case timerFirst:
		w.firstTimer()
	case timerNear:
		w.timerDue(e.member, e.at, e.seq)
	case arrival:
		w.arrive(e)
	case ended:
		w.operationEnded(e)
	case told:
		w.deliver(e)
	case returned:
		w.comesBack(&w.tokens[e.ref], e.ref)
	case abandoned:
		w.abandon(e)
	case script:
		do := w.scripts[e.ref]
		w.scripts[e.ref], w.freeScripts = nil, append(w.freeScripts, e.ref)
		do(w)
	case neighbours:
		w.tellNeighbours()
	case loss:
		w.losing++
		w.schedule(w.cfg.LossEvery, loss, 0, 0, 0)
	case crash:
		w.crashSomebody()
	default:
		if w.sites[e.member].epoch == e.epoch {
			w.happenAt(e)
		}
	}
}

// happenAt is the turn of an event that a crash of its member would undo.
func (w *World) happenAt(e event) {
	switch e.kind {
	case generated, notRun:
		t := &w.tokens[e.ref]
		if t.state != held || t.holder != e.member {
			return
		}
		kind := policy.Generated
		if e.kind == notRun {
			kind = policy.OperationEnded
		}
		w.stepToken(e.member, t, kind, false)
	case demandTold:
		w.tellDemand(e.member)
	case demandRise:
		if !w.sites[e.member].wants {
			w.want(e.member)
			w.tellDemand(e.member)
		}
	case comeBack:
		w.comeBack(e.member)
	case silent:
		w.silent(e.member, e.ref)
	case suspected:
		w.suspected(e.member, e.ref)
	}
}

// step tells a member's policy of an event and carries out what it answers.
// Nothing that is carried out steps a policy before it returns.
func (w *World) step(m int32, e *policy.Event) {
	actions := w.sites[m].policy.Step(w.now, *e, w.actions[:0])
	for i := range actions {
		w.act(m, &actions[i])
	}
	w.actions = actions[:0]
	s := &w.sites[m]
	if due := s.policy.Deadline(); due != s.due || e.Kind == policy.Timer {
		s.due = due
		w.setTimer(m, due)
	}
}

// stepToken tells of an event of a token, like step.
func (w *World) stepToken(m int32, t *token, kind policy.EventKind, operated bool) {
	t.Kind, t.Operated, t.Outcome = kind, operated, 0
	if kind != policy.Arrival {
		t.From = ident.Member{}
	}
	w.step(m, &t.Event)
}

func (w *World) act(m int32, a *policy.Action) {
	switch a.Kind {
	case policy.Generate:
		w.generate(m)
	case policy.Tell:
		w.tell(m, a)
	case policy.Watch:
		w.watch(m, a.To)
	case policy.Unwatch:
		w.unwatch(m, a.To)
	case policy.Prepare:
		if t, _ := w.find(&a.Token); t != nil && t.holder == m && (t.state == held || t.state == running) {
			w.prepare(t, a.To)
		}
	case policy.Run, policy.Pass, policy.Drop:
		if t, i := w.find(&a.Token); t != nil && t.holder == m && t.state == held {
			w.actOn(t, i, a)
		}
	}
}

// actOn carries out an action on a token that rests with its holder.
func (w *World) actOn(t *token, i int32, a *policy.Action) {
	switch a.Kind {
	case policy.Run:
		w.run(t, i)
	case policy.Pass:
		w.pass(t, i, a.To, a.Field)
	case policy.Drop:
		w.stats.Dropped[a.Reason]++
		w.end(t, Dropped)
		w.free(i)
	}
}

// run begins the operation, if anybody wants it.
func (w *World) run(t *token, i int32) {
	m := t.holder
	s := &w.sites[m]
	if !s.wants {
		w.schedule(0, notRun, m, i, s.epoch)
		return
	}
	if w.cfg.Demand.kind != always {
		s.wants = false
		w.schedule(0, demandTold, m, 0, s.epoch)
	}
	t.state = running
	w.stats.Operations++
	for _, o := range w.observers {
		o.OperationBegan(w.now, int(m))
	}
	w.schedule(w.operationTime.draw(w.rng), ended, m, i, s.epoch)
}

func (w *World) operationEnded(e event) {
	m := e.member
	if w.sites[m].epoch != e.epoch {
		return
	}
	t := &w.tokens[e.ref]
	w.interrupt(t)
	w.remember(&w.sites[m], t, true)
	switch w.cfg.Demand.kind {
	case always:
		w.want(m)
	case every:
		w.wantLater(m)
	}
	w.stepToken(m, t, policy.OperationEnded, true)
}
