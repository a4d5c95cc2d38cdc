package gate_test

import (
	"maps"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
)

// begin starts the gate from its journal.
func (w *world) begin() {
	var list []gate.Effect
	var err error
	w.life++
	w.hookless = w.crash > 0 && w.chance(0.5)
	if w.forgets {
		w.journal = nil
	}
	if len(w.journal) == 0 {
		floor := uint64(41)
		w.gate, list, err = gate.Begin(w.settings, &floor, w.reading())
	} else {
		w.gate, list, err = gate.Restore(w.settings, w.records(), w.reading())
	}
	if err != nil {
		panic(err)
	}
	w.perform(list)
	w.settle()
	if w.gate != nil && len(w.journal) > 200 {
		w.journal = nil
		for _, r := range w.gate.Checkpoint() {
			w.write(r)
		}
		w.durable = len(w.journal)
	}
}

// records is the journal.
func (w *world) records() (list []gate.Record) {
	for _, body := range w.journal {
		_, r, err := gate.Decode(body)
		if err != nil {
			panic(err)
		}
		list = append(list, r)
	}
	return list
}

func (w *world) write(r gate.Record) {
	body, err := gate.Encode(w.reading().Micros(), r)
	if err != nil {
		panic(err)
	}
	w.journal = append(w.journal, body)
}

// step hands an input to the gate.
func (w *world) step(in gate.Input) {
	if w.gate == nil {
		return
	}
	list := w.gate.Step(w.reading(), in)
	if !w.isOpen(0) {
		w.shut = w.now
	}
	if err := w.gate.Check(); err != nil {
		w.broken++
	}
	w.perform(list)
	w.settle()
}

// settle hands over the hooks that do nothing, and makes durable what is not yet: a crash may come before either.
func (w *world) settle() {
	for w.gate != nil && len(w.ended) > 0 {
		end := w.ended[0]
		w.ended = w.ended[1:]
		w.perform(w.gate.Step(w.reading(), end))
	}
	if w.gate != nil && w.durable < len(w.journal) && w.chance(10*w.crash) {
		w.fall()
	}
	if w.gate != nil {
		w.sync()
	}
}

// sync makes all records durable. What waited for that begins to work.
func (w *world) sync() {
	w.durable = len(w.journal)
	list := w.waiting
	w.waiting = nil
	for _, begin := range list {
		begin()
	}
}

// perform does what the gate wants, one effect after the other, and crashes the gate between two of them.
func (w *world) perform(list []gate.Effect) {
	w.wake = w.gate.NextDeadline()
	for _, e := range list {
		if w.chance(w.crash) {
			w.fall()
			return
		}
		switch e := e.(type) {
		case gate.Persist:
			w.write(e.Record)
			if e.Sync {
				w.sync()
			}
		case gate.RunOpen:
			w.runOpen(e)
		case gate.RunClose:
			w.sync()
			w.runClose(e)
		case gate.Say:
			if a := w.attempts[e.To]; a != nil {
				w.said.say(e.To, a, e.Answer)
			}
			life, at := w.life, w.reading().Millis()
			w.after(time.Millisecond, func() {
				if w.life == life && w.gate != nil {
					w.hear(e.To, e.Answer, at)
				}
			})
		case gate.Alarm:
			w.alarms++
			if e.Kind == gate.AlarmStuck {
				// only the operator ends it, no crash: else most sign-ins meet a stuck slot
				w.stuck[e.Slot] = true
				w.after(2*time.Second, func() { w.step(gate.Cleared{Slot: e.Slot}) })
			}
		}
	}
}

// fall crashes the gate. Connections break, hooks go on, and records that are not durable may be lost.
func (w *world) fall() {
	w.crashes++
	w.gate = nil
	w.life++
	w.wake = clock.Never
	if lost := len(w.journal) - w.durable; lost > 0 { // they were on their way to the disk
		w.journal = w.journal[:w.durable+w.rng.IntN(lost+1)]
		w.durable = len(w.journal)
		w.losses++
	}
	w.ended, w.waiting, w.in = nil, nil, [gate.MaxSlots]clock.Instant{}
	old := w.attempts
	w.attempts = map[gate.Connection]*attempt{}
	for _, id := range slices.Sorted(maps.Keys(old)) {
		if a := old[id]; !a.done {
			a.leaving = true
			w.after(time.Millisecond, func() { w.finish(a) })
		}
	}
	w.after(w.around(2*time.Second), w.begin)
}

// runOpen is the open hook: the session works at the resource, at the latest when the hook says so.
func (w *world) runOpen(e gate.RunOpen) {
	if !w.isOpen(0) {
		w.outside++
	}
	w.in[e.Slot] = w.now
	h := &hook{session: e.Session}
	w.opener[e.Slot] = h
	var of *attempt
	for _, id := range slices.Sorted(maps.Keys(w.attempts)) {
		if a := w.attempts[id]; a.permit.Title == e.Title && !a.done {
			of = a
		}
	}
	if w.sessions[e.Session] != nil {
		w.reused++
	}
	w.sessions[e.Session] = of
	if w.hookless {
		w.ended = append(w.ended, gate.HookEnded{Run: e.Run})
		w.waiting = append(w.waiting, func() { w.starts(e, of) })
		return
	}
	w.sync()
	result := gate.Succeeded
	took := w.around(5 * time.Millisecond)
	if w.chance(w.trouble) {
		result = gate.Failed
		if w.chance(0.5) {
			result, took = gate.TimedOut, w.settings.OpenTimeout
		}
	}
	w.after(took/2, func() {
		if !h.killed && (result == gate.Succeeded || w.chance(0.5)) {
			w.starts(e, of)
		}
	})
	life := w.life
	w.after(took, func() {
		if !h.killed && w.life == life {
			w.step(gate.HookEnded{Run: e.Run, Result: result})
		}
	})
}

// starts: a session works at the resource. This is where the judge looks.
func (w *world) starts(e gate.RunOpen, of *attempt) {
	if len(w.works[e.Slot]) > 0 {
		w.overlaps++
	}
	for i, works := range w.works {
		for _, m := range works {
			if i != e.Slot && m == holderOf(e.Title) && !w.stuck[i] {
				w.twice++
			}
		}
	}
	w.works[e.Slot][e.Session] = holderOf(e.Title)
	inside := 0
	for _, works := range w.works {
		inside += len(works)
	}
	w.most = max(w.most, inside)
	w.ops++
	if of == nil {
		w.unnamed++
		return
	}
	if !w.isLiar(holderOf(e.Title)) && !w.named[e.Title] {
		w.unnamed++
	}
	w.judgeRevoked(of.permit)
}

// mostOutside is for how long a session may go on outside the windows when the gate's clock is set: until the gate looks at it.
const mostOutside = 10*time.Second + time.Millisecond

// isOpen reports whether the windows were open some time ago, by the gate's clock as it is set now.
func (w *world) isOpen(ago time.Duration) bool {
	return w.settings.Windows.Open(w.reading().Wall.Add(-ago))
}

// judgeRevoked: the gate knows that a member is revoked, so neither has that one a session, nor anybody by what it has signed since.
func (w *world) judgeRevoked(p gate.Permit) {
	late := func(signer ident.Member, h ident.Hash) bool {
		at, known := w.heard[signer]
		return known && w.signed[h] > at
	}
	if at, known := w.heard[p.Title.Holder]; known && w.now > at {
		w.revoked++
	}
	made, transfers := p.Title.Hash, 0
	for _, m := range p.Moves {
		if !m.Declined {
			if transfers++; transfers == 2 {
				made = p.Moves[0].Title
			}
		}
		if late(m.By, made) {
			w.revoked++
		}
	}
}

// runClose is the close hook. It kills what is left of the open hook first.
func (w *world) runClose(e gate.RunClose) {
	if before := w.now.Add(-mostOutside); w.in[e.Slot] > 0 && w.in[e.Slot] <= before && w.set <= before && !w.isOpen(mostOutside) {
		w.outside++
	}
	w.in[e.Slot] = 0
	if o := w.opener[e.Slot]; o != nil {
		o.killed = true
	}
	result := gate.Succeeded
	took := w.around(10 * time.Millisecond)
	if w.chance(w.trouble) {
		result = gate.Failed
		if w.chance(0.5) {
			result, took = gate.TimedOut, w.settings.CloseTimeout
		}
	}
	life := w.life
	w.after(took, func() {
		if w.life != life {
			return
		}
		if result == gate.Succeeded {
			clear(w.works[e.Slot])
			w.stuck[e.Slot] = false
		}
		w.step(gate.HookEnded{Run: e.Run, Result: result})
	})
}

// hear is an answer at a member, which the gate gave at a time by its clock.
func (w *world) hear(id gate.Connection, answer gate.Answer, at uint64) {
	a := w.attempts[id]
	if a == nil || a.done {
		return
	}
	switch answer := answer.(type) {
	case gate.OpenAnswer:
		w.opened++
		w.by[a.member]++
		if !w.isLiar(a.member) {
			w.longest = max(w.longest, w.now.Sub(a.at))
		}
		a.open, a.session = true, answer.Session
		a.until = w.now.Add(time.Duration(answer.Until-at)*time.Millisecond - time.Millisecond)
		w.works0(a, id)
	case gate.BusyAnswer:
		if answer.Stuck {
			delete(w.attempts, id)
			w.finish(a)
		}
		if !a.waits {
			a.waits = true
			w.after(w.patience(answer), func() {
				if !a.done && !a.open {
					w.leave(id, a, true)
					w.finish(a)
				}
			})
		}
	case gate.RefuseAnswer:
		w.codes[answer.Code]++
		if a.first && (answer.Code == gate.Stale || answer.Code == gate.Used) {
			w.refusedFirst++
		}
		delete(w.attempts, id)
		if answer.Code == gate.Shut {
			w.after(w.around(time.Second), func() { w.finish(a) })
			return
		}
		w.finish(a)
	case gate.ClosedAnswer:
		w.judgeClosed(a, answer.Reason)
		if answer.Reason == gate.ByWindows {
			w.closed++
		}
		delete(w.attempts, id)
		w.finish(a)
	}
}

// patience is how long a member waits that has heard BUSY: until the session that it waits for is over, and its successor
// had its chance.
func (w *world) patience(b gate.BusyAnswer) time.Duration {
	wait := w.settings.MaxHold
	if b.Until > 0 {
		wait = time.Duration(int64(b.Until)-int64(w.reading().Millis())) * time.Millisecond
	}
	return max(0, wait) + w.settings.Settle + w.settings.Keep
}

// judgeClosed: an honest session ends before its time only when the member has passed the token on, or the windows have
// closed.
func (w *world) judgeClosed(a *attempt, why gate.Reason) {
	early := a.open && !a.leaving && w.now < a.until && (why != gate.ByWindows || w.shut < a.at)
	if early && !w.isLiar(a.member) && len(a.chain.links)-1 == a.link {
		w.cuts++
	}
}

// works0 is what a member does with its session. A liar keeps it, and may pass the token on meanwhile.
func (w *world) works0(a *attempt, id gate.Connection) {
	if w.isLiar(a.member) && a.chain != nil && w.forge {
		w.after(w.around(time.Second), func() {
			if !a.done && w.alive(a.chain) && len(a.chain.links)-1 == a.link {
				w.pass(a.chain)
			}
		})
	}
	took := w.around(3 * time.Second)
	if w.isLiar(a.member) && w.forge || w.chance(0.01) && !w.fair { // frozen until the deadline
		return
	}
	w.after(took, func() {
		if !a.done && !a.leaving {
			w.leave(id, a, true)
		}
	})
}
