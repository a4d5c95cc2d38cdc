package gate

import "github.com/wandertoken/wander/protocol/clock"

// hookEnded: a hook says how it went. One that was not waited for any more says nothing.
func (g *Gate) hookEnded(in HookEnded) {
	for i := range g.slots {
		s := &g.slots[i]
		if s.hook.run != in.Run || in.Run == 0 {
			continue
		}
		switch {
		case s.state == Opening && in.Result == Succeeded && s.session.deadline <= g.now.Boot:
			g.cut(i, ByDeadline)
		case s.state == Opening && in.Result == Succeeded:
			g.move(i, Opened)
			s.hook, s.wake = hook{}, s.session.deadline
			t := s.session.permit.Title
			g.say(s.session.from, OpenAnswer{Session: s.session.number, Until: s.session.until, Token: t.Token, Hop: t.Hop})
		case s.state == Opening:
			g.openFailed(i)
		case s.state == Closing && in.Result == Succeeded:
			g.confirmed(i)
		case s.state == Closing:
			g.stuck(i)
		}
		return
	}
}

func (g *Gate) openFailed(i int) {
	s := &g.slots[i]
	g.move(i, OpenFailed)
	s.session.reason = ByOpenHook
	g.do(Alarm{Kind: AlarmOpenFailed, Slot: i, Session: s.session.number})
	g.runClose(i)
}

// cut ends a session.
func (g *Gate) cut(i int, why Reason) {
	if g.move(i, Cut) {
		g.slots[i].session.reason = why
		g.runClose(i)
	}
}

func (g *Gate) runClose(i int) {
	s := &g.slots[i]
	g.runs++
	s.hook, s.settling, s.wake, s.slow = hook{run: g.runs}, false, g.now.Boot.Add(g.settings.CloseTimeout), 0
	if g.settings.CloseTimeout > SlowClose {
		s.slow = g.now.Boot.Add(SlowClose)
	}
	g.do(RunClose{Run: g.runs, Slot: i, Session: s.session.number})
}

// isSlow: a close hook takes long. Gate and hook may have paused together; then it has its time again, once.
func (g *Gate) isSlow(i int) {
	s := &g.slots[i]
	if !s.hook.excused && g.now.Boot.Sub(s.slow) >= minPause {
		s.hook.excused, s.slow = true, g.now.Boot.Add(SlowClose)
		return
	}
	s.slow = 0
	g.do(Alarm{Kind: AlarmSlowClose, Slot: i, Session: s.session.number})
}

// confirmed: work has ended. The slot settles.
func (g *Gate) confirmed(i int) {
	s := &g.slots[i]
	g.move(i, Confirmed)
	s.hook, s.settling, s.slow = hook{}, true, 0
	s.wake = max(g.now.Boot.Add(g.settings.Settle), s.shut)
	g.say(s.session.from, ClosedAnswer{Session: s.session.number, Reason: s.session.reason, Confirmed: true})
}

// settled: the session is over, and the slot is kept for its successor.
func (g *Gate) settled(i int) {
	s := &g.slots[i]
	g.move(i, Settled)
	g.write(&ClosedRecord{Session: s.session.number, Slot: uint64(i), Reason: s.session.reason}, true)
	s.wake = g.now.Boot
	if s.session.number > 0 {
		g.memory.end(s.session.permit.Title.Holder, g.now.Boot)
		s.wake = g.now.Boot.Add(g.settings.Keep)
	}
	s.session, s.settling, s.recorded, s.shut = session{}, false, false, 0
}

// stuck: close has not confirmed. The place stays shut, over restarts too. Nobody waits at a slot that is stuck.
func (g *Gate) stuck(i int) {
	s := &g.slots[i]
	g.move(i, CloseFailed)
	s.hook, s.wake, s.slow, s.session.abandoned = hook{}, clock.Never, 0, true
	if !s.recorded {
		s.recorded = true
		g.write(&StuckRecord{Session: s.session.number, Slot: uint64(i)}, true)
	}
	g.do(Alarm{Kind: AlarmStuck, Slot: i, Session: s.session.number})
	g.say(s.session.from, ClosedAnswer{Session: s.session.number, Reason: s.session.reason})
	slot := i % g.settings.Slots
	if !g.isStuck(slot) {
		return
	}
	q := &g.slots[slot].waiters
	for _, w := range *q {
		g.say(w.from, g.busy(slot))
	}
	*q = nil
}
