package cluster

import (
	"fmt"
	"slices"

	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/wire"
)

// do performs one operation.
func (n *node) do(o op) {
	switch o.kind {
	case opAppend:
		n.append(o.record)
	case opSync:
		n.sync()
	default:
		n.perform(o.effect)
	}
}

func (n *node) append(p effect.Persist) {
	switch p.Record.(type) {
	case *journal.Held:
		if n.c.bug == ForgetHeld {
			return
		}
	case *journal.Sent:
		if n.c.bug == ForgetSent {
			return
		}
	}
	if r, ok := p.Record.(*journal.Sent); ok {
		n.c.gates.parted(n, r.Transfer)
	}
	if t := n.c.tracer; t != nil && !(t.terse && p.Record.Kind() == journal.KindKnown) {
		n.c.log(n, "append %s", t.record(p.Record))
	}
	if err := n.disk.append(p.At, p.Record, n.c.tick()); err != nil {
		n.c.problem(Machinery, n, "record not encoded: %v", err)
	}
	n.watched(Moment{Deed: Wrote, Record: p.Record})
	n.c.count.records[p.Record.Kind()]++
	n.c.meter.record(p.Record)
	if n.c.waiting != nil {
		n.c.waiting.record(p.Record)
	}
	if p.Record.Kind() == journal.KindHeld {
		n.c.walk.took(n)
	}
}

// sync makes the journal durable, at once or some time later.
func (n *node) sync() {
	if n.c.bug == LoseSync {
		n.guardAll(n.disk.history[len(n.disk.history)-n.disk.pending:])
		return
	}
	if n.disk.failure != healthy {
		n.diskFails()
		return
	}
	wait := n.c.random(max(n.c.syncTime, n.disk.slow))
	if wait == 0 {
		n.synced()
		return
	}
	n.syncing = true
	life := n.life
	n.after(wait, func() {
		if n.life == life && n.member != nil {
			n.syncing = false
			if wait >= member.LateFrom { // as the daemon measures it; before what has waited
				n.backlog = slices.Insert(n.backlog, 0, member.Input(member.Late{By: wait}))
			}
			n.synced()
			n.work()
		}
	})
}

func (n *node) synced() {
	n.c.log(n, "sync")
	n.watched(Moment{Deed: Synced})
	n.guardAll(n.disk.sync(n.c.tick()))
}

// guardAll tells the guard what has become durable.
func (n *node) guardAll(entries []audit.Entry) {
	n.forks(n.past.note(n.c.group.ID(), entries))
	n.c.breach(n, n.guard.batch(entries))
}

// perform does what is not about the journal.
func (n *node) perform(e effect.Effect) {
	n.watchedEffect(e)
	switch e := e.(type) {
	case effect.Send:
		n.c.breach(n, n.guard.sent(e.To, e.Message))
		n.c.count.sent[e.Message.Type()]++
		if refusal, ok := e.Message.(*wire.Refuse); ok && refusal.Reason == wire.RefuseClock {
			n.c.count.untimely++
		}
		if hello, ok := e.Message.(*wire.Hello); ok && n.c.bug == HideShown {
			hello.Shown = nil
		}
		switch {
		case n.isBad():
			n.bad.send(e)
		case n.lies == nil || !n.lies.lie(e):
			n.send(e.To, e.Message)
		}
	case effect.Grant:
		n.c.breach(n, n.guard.granted(e))
		n.granted(e)
	case effect.SignIn:
		n.c.gates.of(e.Resource).signIn(n, e)
	case effect.SignOut:
		for _, h := range n.c.gates {
			h.signOut(n, e)
		}
	case effect.Lose:
		n.lose(e)
	case effect.Refuse:
		n.c.log(n, "refuses demand %d: %v", e.Request, e.Reason)
	case effect.Report:
		n.c.log(n, "reports %s: %s", e.Kind, e.Detail)
		if e.Kind == "internal" {
			n.c.problem(Machinery, n, "reports %s: %s", e.Kind, e.Detail)
		}
		if about := n.c.find(e.About); e.Kind == member.PassesNoTokens && n.isHonest() && about != nil && about.isHonest() {
			n.c.problem(Blame, n, "passes no token to honest %s: %s", n.c.name(e.About), e.Detail)
		}
	case effect.Evidence:
		n.c.log(n, "has evidence: %s", e.Kind)
	case effect.Stop:
		if n.doomed {
			n.c.after(0, func() { n.c.endForEver(n) })
			return
		}
		n.c.problem(Machinery, n, "ends itself: %v", e.Reason)
	case effect.Expel:
		n.expel(e)
	case effect.Reconfigure, effect.Watch:
	}
}

// checkpoint begins a new segment when the journal has grown. Nothing is in progress
// at this point. A crash may come before it or after it: it is one change.
func (n *node) checkpoint() {
	after := n.c.checkpointAfter
	if after == 0 || len(n.disk.live)-n.disk.carried < after {
		return
	}
	n.compact()
}

func (n *node) compact() {
	n.synced()
	records := n.member.Checkpoint()
	if n.c.bug == ForgetFloors {
		records = withoutFloors(records)
	}
	before := n.guard.oracle
	n.guard.oracle = newOracle(n.c.group.ID())
	for _, r := range records {
		n.c.breach(n, n.guard.oracle.apply(r))
	}
	if err := before.same(n.guard.oracle); err != nil {
		n.c.breach(n, fmt.Errorf("checkpoint: %w", err))
	}
	if err := n.disk.checkpoint(n.reading(n.skew).Micros(), records); err != nil {
		n.c.problem(Machinery, n, "checkpoint: %v", err)
	}
	n.c.count.checkpoints++
	n.c.log(n, "checkpoint of %d records", len(records))
}

func withoutFloors(records []journal.Record) []journal.Record {
	kept := records[:0]
	for _, r := range records {
		if _, floor := r.(*journal.Floor); !floor {
			kept = append(kept, r)
		}
	}
	return kept
}

// crash ends the process between two operations. Power failure ends the
// machine, and with it every program; otherwise programs go on.
func (n *node) crash(power bool) {
	if n.member == nil {
		return
	}
	kept, lost := n.discard(power)
	n.c.log(n, "CRASH (power failure: %v), %d records lost, %d unsynced kept", power, lost, kept)
	n.c.count.crashes++
	n.fall(power)
}

// diskFails is a sync or a write that came back with an error: the driver ends its
// member at once, because nobody knows what is on the disk.
func (n *node) diskFails() {
	kept, lost := n.discard(n.disk.failure == faultDiskFull)
	n.c.log(n, "ends itself: %v, %d records lost, %d unsynced kept", n.disk.failure, lost, kept)
	n.disk.failure = healthy
	n.fall(false)
}

// discard takes what was not synced from the disk, but for some of the first
// records. The one that follows may be torn.
func (n *node) discard(tear bool) (kept, lost int) {
	keep := 0
	if !n.c.manual {
		keep = n.c.rng.IntN(n.disk.pending + 1)
	}
	var next []byte
	if keep < n.disk.pending {
		next = n.disk.live[len(n.disk.live)-n.disk.pending+keep]
	}
	entries, lost := n.disk.crash(keep, n.c.tick())
	kept = len(entries)
	n.watched(Moment{Deed: Crashed, Kept: kept})
	n.guardAll(entries)
	if tear && !n.durable {
		n.disk.shorten(n.c.rng)
	}
	if tear && next != nil && !n.c.manual {
		n.disk.tear(next, n.c.rng)
	}
	return kept, lost
}

// fall ends the process, or the machine, until it restarts.
func (n *node) fall(power bool) {
	n.end(silent)
	if power {
		n.c.killPrograms(n)
		n.boot()
	}
	if !n.c.manual {
		n.c.restartLater(n)
	}
}

// stop ends the process in order.
func (n *node) stop() {
	n.synced()
	n.disk.crash(0, n.c.tick())
	n.c.log(n, "stops")
	n.watched(Moment{Deed: Stopped})
	n.c.count.stops++
	n.end(orderly)
}

// end forgets everything that was in memory.
func (n *node) end(how ending) {
	n.member, n.backlog, n.queue, n.syncing, n.fuse, n.trap = nil, nil, nil, false, noFuse, nil
	n.disk.failure = healthy
	n.c.gates.misses(n)
	n.hangUp(how)
}

// shutdown tells the member to finish, and ends it when it has, or is too slow.
func (n *node) shutdown(patience int) {
	if n.member == nil {
		return
	}
	if !n.stopping {
		n.stopping = true
		n.c.log(n, "is told to shut down")
		n.put(member.Shutdown{})
	}
	life := n.life
	n.after(shutdownPoll, func() {
		switch {
		case n.life != life || n.member == nil:
		case n.member.Idle() || patience == 0:
			n.stop()
			n.c.restartLater(n)
		default:
			n.shutdown(patience - 1)
		}
	})
}
