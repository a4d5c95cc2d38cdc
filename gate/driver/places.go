package driver

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	core "github.com/wandertoken/wander/protocol/gate"
)

// places runs the hooks, one at a time at each slot. The engine calls it; the hooks' ends go to its channel.
type places struct {
	ctx     context.Context // ends with the gate: hooks are killed
	tunnel  *tunnel
	open    Hook
	close   Hook
	ends    chan core.HookEnded
	took    func(hook string, d time.Duration, r core.Result)
	slots   []place
	workers sync.WaitGroup
}

// place is what runs at a slot. The engine alone uses it.
type place struct {
	cancel context.CancelFunc     // kills it; nil: nothing has run
	done   chan struct{}          // closed when nothing of it runs any more
	said   atomic.Pointer[string] // what a hook has written last since a session began there; nil: nothing
}

// says notes what the hook of a name has written.
func (p *places) says(slot int, name string) func(line string) {
	return func(line string) {
		text := name + ": " + line
		p.slots[slot].said.Store(&text)
	}
}

// lastWord is what a hook has written last at a slot.
func (p *places) lastWord(slot int) string {
	if text := p.slots[slot].said.Load(); text != nil {
		return *text
	}
	return ""
}

func (p *places) running() bool {
	for i := range p.slots {
		s := &p.slots[i]
		if s.done == nil {
			continue
		}
		select {
		case <-s.done:
		default:
			return true
		}
	}
	return false
}

// succeed is a hook that does nothing, on the engine's own goroutine: most gates have no open hook, and the member waits for OPEN. It reports
// whether it could: something may still run there, or nobody take its end.
func (p *places) succeed(slot int, run uint64, name string) bool {
	if done := p.slots[slot].done; done != nil {
		select {
		case <-done:
		default:
			return false
		}
	}
	select {
	case p.ends <- core.HookEnded{Run: run}:
		p.slots[slot].said.Store(nil)
		p.took(name, 0, core.Succeeded)
		return true
	default:
		return false
	}
}

// start runs a hook at a slot, after what ran there before has been killed with all that it started.
func (p *places) start(slot int, run uint64, name string, timeout time.Duration, do func(ctx context.Context) core.Result) {
	s := &p.slots[slot]
	before := s.done
	if s.cancel != nil {
		s.cancel()
	}
	ctx, cancel := context.WithCancel(p.ctx)
	done := make(chan struct{})
	s.cancel, s.done = cancel, done
	p.workers.Go(func() {
		defer close(done)
		defer cancel()
		if before != nil {
			<-before
		}
		began := time.Now()
		r := core.Failed
		if ctx.Err() == nil {
			r = do(ctx)
		}
		p.took(name, time.Since(began), r)
		if p.ctx.Err() != nil { // the gate has killed it as it ends: the next start closes, and nothing is stuck
			return
		}
		select {
		case p.ends <- core.HookEnded{Run: run, Result: r}:
		case <-p.ctx.Done():
		}
	})
}

// opensAtOnce performs RunOpen if there is no open hook, and reports whether it did.
func (p *places) opensAtOnce(e core.RunOpen) bool {
	return p.open == nil && p.succeed(e.Slot, e.Run, "open")
}

// runOpen performs RunOpen.
func (p *places) runOpen(e core.RunOpen, timeout time.Duration, deadline time.Time) {
	p.slots[e.Slot].said.Store(nil)
	p.start(e.Slot, e.Run, "open", timeout, func(ctx context.Context) core.Result {
		if p.open == nil {
			return core.Succeeded
		}
		return p.open(ctx, Call{
			Slot: e.Slot, Session: e.Session, Member: e.Title.Holder, Token: e.Title.Token, Deadline: deadline, Timeout: timeout,
			Says: p.says(e.Slot, "open"),
		})
	})
}

// runClose performs RunClose of a session: it severs the session's streams, and then runs the hook. Without one it waits for the target.
func (p *places) runClose(e core.RunClose, of core.RunOpen, timeout time.Duration) {
	gone := p.tunnel.sever(e.Slot)
	p.start(e.Slot, e.Run, "close", timeout, func(ctx context.Context) core.Result {
		if p.close == nil {
			return awaited(ctx, gone, timeout)
		}
		return p.close(ctx, Call{Slot: e.Slot, Session: e.Session, Member: of.Title.Holder, Token: of.Title.Token, Timeout: timeout, Says: p.says(e.Slot, "close")})
	})
}

// awaited waits until the target has ended the connections of a session.
func awaited(ctx context.Context, gone <-chan struct{}, timeout time.Duration) core.Result {
	t := time.NewTimer(timeout)
	defer t.Stop()
	select {
	case <-gone:
		return core.Succeeded
	case <-t.C:
		return core.TimedOut
	case <-ctx.Done():
		return core.Failed
	}
}

// wallOf is a deadline on the wall clock.
func wallOf(now clock.Reading, at clock.Instant) time.Time { return now.Wall.Add(at.Sub(now.Boot)) }
