package driver

import (
	"context"
	"maps"
	"time"

	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/window"
)

// Status is what a gate knows, for people and metrics.
type Status struct {
	Resource      string            `json:"resource"`
	Gate          ident.Member      `json:"gate"`
	Group         ident.Group       `json:"group"`
	Address       string            `json:"address"`
	Target        string            `json:"target,omitempty"`
	Targets       map[string]string `json:"targets,omitempty"` // those with a name
	Observe       bool              `json:"observe,omitempty"`
	Configuration uint64            `json:"configuration"`
	Revocations   uint64            `json:"revocations"`
	UptimeS       float64           `json:"uptime_s"`
	Warnings      []string          `json:"warnings,omitempty"`
	Windows       *WindowStatus     `json:"windows,omitempty"` // nil: always open
	Slots         []SlotStatus      `json:"slots"`
	Connections   int               `json:"connections"`
	SignIns       int               `json:"sign_ins"` // that live: open, or waiting
	Streams       int64             `json:"streams"`
	Counts        map[string]uint64 `json:"counts"`
	Answers       map[string]uint64 `json:"answers"`
	Alarms        map[string]uint64 `json:"alarms"`
	Refused       map[string]uint64 `json:"refused"` // handshakes and the like, by class

	hooks map[string]hookCount
}

// WindowStatus is when a session may be open, by the gate's clock.
type WindowStatus struct {
	Text   string    `json:"text"`           // as the group's file has them, with semicolons between them
	Closed bool      `json:"closed"`         // nobody is let in now
	Until  time.Time `json:"until,omitzero"` // when they open or close; zero: never, as far as can be seen
}

// windowStatus is that of a resource's windows.
func windowStatus(l window.Windows, now time.Time) *WindowStatus {
	if len(l) == 0 {
		return nil
	}
	w := &WindowStatus{Text: l.String(), Closed: !l.Open(now)}
	if at, ok := l.NextChange(now); ok {
		w.Until = l.Local(at)
	}
	return w
}

// SlotStatus is one slot.
type SlotStatus struct {
	Slot    int           `json:"slot"`
	State   string        `json:"state"`
	Session uint64        `json:"session,omitempty"` // of the last session since the start
	Member  *ident.Member `json:"member,omitempty"`
	Name    string        `json:"name,omitempty"` // of the member
	Token   *ident.Token  `json:"token,omitempty"`
	Hop     uint64        `json:"hop,omitempty"`
	Until   *time.Time    `json:"until,omitempty"`
	Since   *time.Time    `json:"since,omitempty"`
	Alarm   string        `json:"alarm,omitempty"`

	// Closing is why a session ends, and nil while none does.
	Closing *ClosingStatus `json:"closing,omitempty"`

	// HookSaid is the last line that a hook has written since the session began, behind the hook's name.
	HookSaid string `json:"hook_said,omitempty"`
}

// ClosingStatus is why a slot is closing, and until when.
type ClosingStatus struct {
	Why     string    `json:"why"`
	Settles bool      `json:"settles"` // close has confirmed, and the slot is shut for a while
	AtMost  time.Time `json:"at_most"` // until then: the close hook, or the settling
}

// Status is what the gate knows now. Errors: ErrClosed, or those of ctx.
func (g *Gate) Status(ctx context.Context) (Status, error) {
	current, r := g.known.current()
	s := Status{
		Resource: g.cfg.Resource, Gate: g.cfg.Certificate.Member(), Group: current.ID(), Address: g.Addr(), Target: g.cfg.Target.String(),
		Targets: make(map[string]string),
		Observe: r.observe, Configuration: current.Config().Version(), Revocations: g.known.version(), UptimeS: time.Since(g.started).Seconds(),
		Streams: g.tunnel.streams.Load(), Refused: g.entrance.Refused(), Windows: windowStatus(r.settings.Windows, g.cfg.Now()),
		Counts: map[string]uint64{
			"connections": g.counts.accepted.Load(), "evicted": g.counts.evicted.Load(), "broken": g.counts.broken.Load(),
			"sign_ins": g.counts.signIns.Load(), "sessions": g.counts.sessions.Load(), "observed": g.counts.observed.Load(),
			"streams": g.tunnel.opened.Load(), "target_failures": g.tunnel.failures.Load(), "bytes_in": g.tunnel.in.Load(), "bytes_out": g.tunnel.out.Load(),
		},
	}
	for name, to := range g.cfg.Targets {
		s.Targets[name] = to.String()
	}
	if !g.engine.ask(ctx, func() { s.Slots, s.SignIns = g.engine.status(), len(g.engine.signIns) }) {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		return s, ErrClosed
	}
	s.Connections = g.visitors.count()
	g.mu.Lock()
	if g.misfit != "" {
		s.Warnings = append(s.Warnings, "the group's newest configuration is not in force here: "+g.misfit)
	}
	g.mu.Unlock()
	g.counts.mu.Lock()
	defer g.counts.mu.Unlock()
	s.Answers, s.Alarms, s.hooks = maps.Clone(g.counts.answers), maps.Clone(g.counts.alarms), maps.Clone(g.counts.hooks)
	return s, nil
}

// status is that of each slot. The engine's goroutine calls it.
func (e *engine) status() []SlotStatus {
	now := e.now()
	list := make([]SlotStatus, e.machine.Slots())
	for i, v := range e.slots[:len(list)] {
		s := SlotStatus{Slot: i, State: e.machine.State(i).String(), Alarm: v.alarm}
		if v.alarm == core.AlarmSlowClose && e.machine.State(i) != core.Closing { // it has ended since
			s.Alarm = ""
		}
		if !v.since.IsZero() {
			s.Since = &v.since
		}
		if e.machine.State(i) != core.Idle && v.opening.Session > 0 {
			t := v.opening.Title
			s.Session, s.Member, s.Name, s.Token, s.Hop, s.Until = v.opening.Session, &t.Holder, v.name, &t.Token, t.Hop, &v.until
		}
		if why, settles, at := e.machine.Ending(i); at > 0 {
			s.Closing = &ClosingStatus{Why: why.String(), Settles: settles, AtMost: wallOf(now, at)}
		}
		s.HookSaid = e.places.lastWord(i)
		list[i] = s
	}
	return list
}
