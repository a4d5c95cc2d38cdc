package driver

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/boottime"
	"github.com/wandertoken/wander/protocol/clock"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/permit"
)

// signIn is a sign-in that lives: from its verification to its last answer. Each has a number of its own in the machine, so that a SIGN-OUT names one.
type signIn struct {
	visitor *visitor
	number  uint64
	slot    uint64 // as the statement has it
	place   int    // of its session, once that is open
	title   ident.Hash
	open    bool // OPEN was said, and its close has not begun
}

// engine is the one that steps the machine.
type engine struct {
	cfg     *Config
	known   *knowledge
	journal journal
	machine *core.Gate
	places  *places
	tunnel  *tunnel
	counts  *counts
	budgets *budgets
	log     *slog.Logger
	key     *signature.PrivateKey

	enforce func()        // cuts what was let in while the gate observed
	inputs  chan func()   // run by the engine; each steps the machine at most once
	stopped chan struct{} // closed when run has returned

	// By the goroutine of run.
	rules   rules
	last    core.Connection
	signIns map[core.Connection]*signIn
	slots   []view
	ahead   []uint64 // the runs of open hooks that did nothing, of sessions whose records are not durable yet
	waits   bool     // records wait for a sync
	err     error
}

// view is what is known of a place, for people and for hooks.
type view struct {
	opening core.RunOpen // of the last session; zero: none since the start
	name    string       // of its member, by the certificate
	until   time.Time
	alarm   string // why an operator is needed; empty: nobody is
	since   time.Time
}

func (e *engine) now() clock.Reading { return e.cfg.reading() }

// put hands a function to the engine, and reports whether it will run.
func (e *engine) put(ctx context.Context, f func()) bool {
	select {
	case e.inputs <- f:
		return true
	case <-ctx.Done():
	case <-e.stopped:
	}
	return false
}

// ask runs a function on the engine and waits for it.
func (e *engine) ask(ctx context.Context, f func()) bool {
	done := make(chan struct{})
	if !e.put(ctx, func() { f(); close(done) }) {
		return false
	}
	select {
	case <-done:
		return true
	case <-ctx.Done():
	case <-e.stopped:
	}
	return false
}

// run steps the machine until ctx ends or the journal fails. The first effects are those of the start.
func (e *engine) run(ctx context.Context, first []core.Effect) {
	defer close(e.stopped)
	e.perform(first)
	if revoked := e.known.members(); len(revoked) > 0 {
		e.step(core.Revocations{Members: revoked}) // of the group file: nobody says them again
	}
	for e.err == nil && ctx.Err() == nil {
		e.hooksFirst()
		if e.durable(); e.err != nil {
			return
		}
		at := e.machine.NextDeadline()
		alarm := boottime.NewAlarm(at)
		select {
		case end := <-e.places.ends:
			e.step(end)
		case f := <-e.inputs:
			e.hooksFirst()
			if e.durable(); e.err == nil { // a stream may ask at the moment of its OPEN
				f()
			}
			e.hooksFirst() // before the alarm is stopped and set anew: an OPEN may wait for it
		case <-alarm.C:
			e.tick(at)
		case <-ctx.Done():
		}
		alarm.Stop()
	}
}

// hooksFirst hands over the hooks that have ended, before anything else.
func (e *engine) hooksFirst() {
	for e.err == nil {
		select {
		case end := <-e.places.ends:
			e.step(end)
		default:
			return
		}
	}
}

// tick says that time has passed. If this process has paused, a hook may have ended in time and not have been seen yet.
func (e *engine) tick(at clock.Instant) {
	if boottime.Now().Sub(at) > lateTick && e.places.running() {
		t := time.NewTimer(lateWait)
		defer t.Stop()
		select {
		case end := <-e.places.ends:
			e.step(end)
		case <-t.C:
		}
	}
	e.hooksFirst()
	e.step(core.Tick{})
}

// step steps the machine and performs what follows. What it has written before is durable then, but if the input is the end of an open hook that did
// nothing: its OPEN does not wait.
func (e *engine) step(in core.Input) {
	if !e.isAhead(in) {
		e.durable()
	}
	if e.err == nil {
		e.perform(e.machine.Step(e.now(), in))
	}
}

// perform performs effects in their order. When the journal cannot be written it stops before the next one, and for good.
func (e *engine) perform(effects []core.Effect) {
	now := e.now()
	for _, f := range effects {
		switch f := f.(type) {
		case core.Persist:
			if e.err = e.journal.append(f); e.err == nil {
				e.waits = true
			}
			if f.Sync {
				e.durable()
			}
		case core.RunOpen:
			e.runOpen(f, now)
		case core.RunClose:
			if e.durable(); e.err == nil {
				e.runClose(f, now)
			}
		case core.Say:
			e.say(f, now)
		case core.Alarm:
			e.alarm(f, now)
		case core.Fetch:
			e.fetch(f)
		}
		if e.err != nil {
			return
		}
	}
	if e.journal.NeedsCheckpoint() {
		if e.durable(); e.err == nil {
			e.err = e.journal.begin(e.machine.Checkpoint(), now)
		}
	}
}

// runOpen performs RunOpen. A gate without an open hook says OPEN at once: nothing is at the resource before the first stream.
func (e *engine) runOpen(f core.RunOpen, now clock.Reading) {
	v := &e.slots[f.Slot]
	v.opening, v.name, v.until, v.since, v.alarm = f, e.nameOf(f.Title.Holder), wallOf(now, f.Deadline), now.Wall, ""
	e.counts.sessions.Add(1)
	e.log.Info("session opens", "slot", f.Slot, "session", f.Session, "member", f.Title.Holder, "token", f.Title.Token.Short(), "hop", f.Title.Hop, "until", v.until)
	if !e.rules.observe && e.places.opensAtOnce(f) {
		if e.waits {
			e.ahead = append(e.ahead, f.Run)
		}
		return
	}
	if e.durable(); e.err != nil {
		return
	}
	if e.rules.observe {
		e.places.start(f.Slot, f.Run, "open", e.rules.settings.OpenTimeout, func(context.Context) core.Result { return core.Succeeded })
		return
	}
	e.places.runOpen(f, e.rules.settings.OpenTimeout, v.until)
}

// nameOf is the name of a member that has signed in.
func (e *engine) nameOf(id ident.Member) string {
	for _, s := range e.signIns {
		if s.visitor.member == id {
			return s.visitor.cert.Name()
		}
	}
	return ""
}

func (e *engine) runClose(f core.RunClose, now clock.Reading) {
	v := &e.slots[f.Slot]
	of := v.opening
	if of.Session != f.Session {
		of = core.RunOpen{} // of a session before the start
	}
	v.since = now.Wall
	if v.alarm != core.AlarmOpenFailed { // that one is for the operator until the next session
		v.alarm = ""
	}
	for _, s := range e.signIns {
		s.open = s.open && s.place != f.Slot
	}
	e.log.Info("session closes", "slot", f.Slot, "session", f.Session)
	if e.rules.observe && !e.tunnel.has(f.Slot) {
		e.places.start(f.Slot, f.Run, "close", e.rules.settings.CloseTimeout, func(context.Context) core.Result { return core.Succeeded })
		return
	}
	e.places.runClose(f, of, e.rules.settings.CloseTimeout)
}

// say signs an answer and sends it. The last one about a sign-in ends it.
func (e *engine) say(f core.Say, now clock.Reading) {
	s := e.signIns[f.To]
	if s == nil {
		return // lost meanwhile
	}
	e.counts.said(f.Answer)
	last, config := false, false
	switch a := f.Answer.(type) {
	case core.OpenAnswer:
		s.open, s.place = true, slices.IndexFunc(e.slots, func(v view) bool { return v.opening.Session == a.Session })
		e.slots[s.place].since = now.Wall
		if !e.rules.observe {
			e.tunnel.open(s.place, f.To)
		}
	case core.BusyAnswer:
		last = a.Stuck
	case core.RefuseAnswer:
		last, config = true, len(a.Configuration) > 0
		a.Configuration = nil
		f.Answer = a
		if !e.budgets.spare(s.visitor.member, lines) {
			break
		}
		e.log.Info("sign-in refused", "slot", s.slot, "member", s.visitor.member, "why", a.Code.String(), "observed", e.rules.observe)
	case core.ClosedAnswer:
		last = true
		if a.Session == 0 {
			if !e.budgets.spare(s.visitor.member, lines) {
				break
			}
			e.log.Info("sign-in given up", "slot", s.slot, "member", s.visitor.member, "why", a.Reason.String())
			break
		}
		e.log.Info("session closed", "slot", s.slot, "session", a.Session, "member", s.visitor.member, "why", a.Reason.String(), "confirmed", a.Confirmed)
	}
	if last {
		e.forget(f.To, s)
	}
	b := wire.AnswerBody{
		Resource: e.cfg.Resource, Slot: s.slot, Member: s.visitor.member, Title: s.title, Exporter: s.visitor.exporter, Number: s.number,
		Time: now.Millis(), Answer: f.Answer,
	}
	signed, err := b.Sign(e.cfg.Group.ID(), e.key)
	if err != nil {
		e.log.Error("cannot sign an answer", "error", err)
		s.visitor.drop(err)
		return
	}
	if config {
		s.visitor.inform(e.known)
	}
	s.visitor.send(&wire.Answer{Number: s.number, Signed: signed.Raw()})
}

func (e *engine) alarm(f core.Alarm, now clock.Reading) {
	e.counts.alarm(f.Kind)
	switch v := &e.slots[f.Slot]; { // alarms of other kinds are about no slot
	case f.Kind == core.AlarmStuck, f.Kind == core.AlarmOpenFailed, f.Kind == core.AlarmSlowClose && v.alarm == "":
		v.alarm, v.since = f.Kind, now.Wall
	}
	e.log.Error("the gate needs an operator", "alarm", f.Kind, "slot", f.Slot, "session", f.Session, "hint", alarmHint(f.Kind))
}

// alarmHint says what to do about an alarm.
func alarmHint(kind string) string {
	switch kind {
	case core.AlarmStuck:
		return "close has not confirmed that work has ended: end what works at the resource, then wander gate clear SLOT"
	case core.AlarmSlowClose:
		return "the close hook still runs, and nothing opens before it has ended: look at what works at the resource"
	case core.AlarmOpenFailed:
		return "look at what the open hook says, and at its timeout"
	case core.AlarmConfiguration:
		return "the group's newest configuration has no place for this gate: all members that go by it are refused"
	case core.AlarmClock:
		return "set the clock of this machine: members show tokens of the future"
	case core.AlarmRevocations:
		return "more members are revoked than the gate remembers: raise the revocation floor"
	}
	return ""
}

// fetch asks the member that goes by a newer configuration for it.
func (e *engine) fetch(f core.Fetch) {
	if s := e.signIns[f.From]; s != nil {
		s.visitor.greet(e.known)
	}
}

// --- what connections bring, all on the engine's goroutine ---

// begin hands a sign-in to the machine.
func (e *engine) begin(v *visitor, number uint64, in core.SignIn, of permit.StatementBody) {
	if v.gone() {
		v.living.Add(-1)
		return
	}
	e.last++
	s := &signIn{visitor: v, number: number, slot: of.Slot, title: of.Title}
	e.signIns[e.last] = s
	v.live[number] = e.last
	in.Connection, in.Number = e.last, number
	e.counts.signIns.Add(1)
	e.step(in)
}

// session is the live sign-in of a number, whether the gate observes, and whether the sign-in's session is open.
func (e *engine) session(v *visitor, number uint64) (id core.Connection, observe, open bool) {
	id = v.live[number]
	s := e.signIns[id]
	return id, e.rules.observe, s != nil && s.open
}

// forget ends a sign-in.
func (e *engine) forget(id core.Connection, s *signIn) {
	delete(e.signIns, id)
	delete(s.visitor.live, s.number)
	s.visitor.living.Add(-1)
}

// signOut: the member ends a sign-in, if it lives.
func (e *engine) signOut(v *visitor, number uint64) {
	if id, ok := v.live[number]; ok {
		e.step(core.SignOut{Connection: id, Number: number})
	}
}

// lost: a connection is gone.
func (e *engine) lost(v *visitor) {
	for number, id := range v.live {
		s := e.signIns[id]
		delete(v.live, number)
		delete(e.signIns, id)
		if s != nil {
			e.step(core.Lost{Connection: id})
		}
	}
}

// learned: the group has changed.
func (e *engine) learned(configured, revoked, fresh bool) {
	if configured {
		observed := e.rules.observe
		switch _, e.rules = e.known.current(); {
		case observed && !e.rules.observe:
			e.enforce() // what has come in meanwhile goes
		case e.rules.observe:
			e.tunnel.observe()
		}
		e.step(core.Configured{Settings: e.rules.settings})
		e.log.Info("group configuration in force", "version", e.rules.settings.Version)
	}
	if revoked || fresh {
		e.step(core.Revocations{Members: e.known.members(), Fresh: fresh})
	}
}

// clear lets the close hook of a stuck slot run again.
func (e *engine) clear(slot int) error {
	switch {
	case slot < 0 || slot >= e.machine.Slots():
		return fmt.Errorf("%w: %d", ErrSlot, slot)
	case e.machine.State(slot) != core.Stuck:
		return fmt.Errorf("%w: slot %d is %v", ErrNotStuck, slot, e.machine.State(slot))
	}
	e.log.Warn("an operator has cleared a slot", "slot", slot)
	e.step(core.Cleared{Slot: slot})
	return nil
}

// quiet reports whether nothing is open, and no hook runs.
func (e *engine) quiet() bool {
	for i := range e.machine.Slots() {
		if s := e.machine.State(i); s == core.Opening || s == core.Open {
			return false
		}
	}
	return !e.places.running()
}
