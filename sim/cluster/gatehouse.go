package cluster

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/token"
)

const (
	// gateDelay is how long a frame takes between a member and a gate, and hookTime how long a hook runs.
	gateDelay = 5 * time.Millisecond
	hookTime  = 3 * time.Millisecond

	// gateSilence is after what time a gate and a member have missed each other.
	gateSilence = 4 * time.Second

	// releaseTime is for how long a member may wait for the acknowledgement of SIGN-OUT, and releaseShare the part of
	// max_hold where that is shorter.
	releaseTime  = 2 * time.Second
	releaseShare = 8

	// killTime is how long a program takes to die whose session has ended.
	killTime = 20 * time.Millisecond
)

// gatehouse is the gate of a resource in virtual time: the machine of package gate, with a driver.
type gatehouse struct {
	c        *cluster
	resource group.Resource
	gate     *gate.Gate // nil: it is down
	life     uint64     // of the process
	records  []gate.Record
	alarm    uint64
	visits   map[gate.Connection]*visit
	last     gate.Connection
	seen     map[visitKey]*visit
	open     map[int]uint64 // the session in each slot whose close has not confirmed
	links    map[*node]*link
	dice     dice // for the pauses between dials

	sessions, busy, refused, crashes int
	broken                           int                                // connections, by the network
	longest                          time.Duration                      // from SIGN-IN to OPEN
	by                               map[ident.Member]int               // sessions of each member
	told                             func(gate.Connection, gate.Answer) // not nil: takes what the gate says to sign-ins that are no member machine's
	knocks                           []time.Duration                    // when it was dialled, and did not answer
	opens                            []time.Duration                    // when a session began
}

// link is a member's way to the gate.
type link struct {
	life   uint64 // of the member's process
	up     bool
	since  time.Duration // when it came up
	probes member.Probes
}

// visit is one sign-in, as the network sees it.
type visit struct {
	node   *node
	life   uint64 // of the member's process
	entry  uint64
	token  ident.Token
	hop    uint64
	since  time.Duration // when SIGN-IN was sent
	leaves bool          // the member has sent SIGN-OUT
	outAt  time.Duration // when
	opened bool          // the member has heard OPEN, before that
	used   bool          // a program has begun under it
	over   bool          // it has heard of the end
}

// visitKey names a visit by what its member calls it.
type visitKey struct {
	node  *node
	life  uint64
	entry uint64
}

// newGatehouse opens the gate of a resource, which is not new: its journal says that nothing is open.
func newGatehouse(c *cluster, r group.Resource) *gatehouse {
	h := &gatehouse{c: c, resource: r, visits: make(map[gate.Connection]*visit), seen: make(map[visitKey]*visit), open: make(map[int]uint64), by: make(map[ident.Member]int)}
	h.links, h.dice = make(map[*node]*link), dice{rand.New(rand.NewPCG(c.seed, 0x676174657761))}
	h.records = []gate.Record{&gate.BeginRecord{}}
	for i := range r.Slots {
		h.records = append(h.records, &gate.ClosedRecord{Slot: uint64(i), Reason: gate.ByRestart})
	}
	return h
}

func (h *gatehouse) reading() clock.Reading {
	return clock.Reading{Boot: clock.Instant(h.c.now + time.Hour), Wall: epoch.Add(h.c.now)}
}

// start starts the gate from its journal.
func (h *gatehouse) start() {
	g := h.resource.Gate
	machine, effects, err := gate.Restore(gate.Settings{
		Version: h.c.group.Config().Version(), Slots: h.resource.Slots, MaxHold: h.resource.MaxHold, Settle: g.Settle, Keep: g.Keep, MinInterval: g.MinInterval,
		OpenTimeout: g.OpenTimeout, CloseTimeout: g.CloseTimeout, ClockAllowance: h.c.group.Config().Settings().ClockAllowance,
		Windows: h.resource.Windows,
	}, h.records, h.reading())
	must(err)
	h.life++
	h.gate = machine
	h.perform(effects)
	h.setAlarm()
}

// greets has a member that has started dial the gate.
func (h *gatehouse) greets(n *node) {
	h.links[n] = &link{life: n.life}
	h.dials(n, h.links[n])
}

// dials has a member dial the gate, again and again until that answers.
func (h *gatehouse) dials(n *node, l *link) {
	n.whenAwake(func() {
		if n.member == nil || h.links[n] != l || n.life != l.life || l.up {
			return
		}
		if h.gate != nil {
			l.up, l.since = true, h.c.now
			h.tells(n, n.life, member.GateReachable{Resource: h.resource.Name, Is: true})
			return
		}
		h.knocks = append(h.knocks, h.c.now)
		h.dialsLater(n, l)
	})
}

func (h *gatehouse) dialsLater(n *node, l *link) {
	h.c.after(l.probes.Next(n.member.Len(), h.dice.rng.Float64()), func() { h.dials(n, l) })
}

// loses ends the connection of a member's process. It dials again as a daemon does.
func (h *gatehouse) loses(n *node, life uint64) {
	l := h.links[n]
	if l == nil || !l.up || n.member == nil || n.life != life || l.life != life {
		return
	}
	l.up = false
	l.probes.Connected(h.c.now - l.since)
	h.tells(n, n.life, member.GateReachable{Resource: h.resource.Name})
	h.dialsLater(n, l)
}

// tells hands a member something after a moment, if it is still the same process.
func (h *gatehouse) tells(n *node, life uint64, in member.Input) {
	h.c.after(gateDelay, func() {
		n.whenAwake(func() {
			if n.member != nil && n.life == life {
				n.put(in)
			}
		})
	})
}

// crash ends the gate, and starts it again after a while. Members notice a moment later.
func (h *gatehouse) crash(away time.Duration) {
	if h.gate == nil {
		return
	}
	h.c.log(nil, "the gate of %s crashes", h.resource.Name)
	h.gate, h.crashes = nil, h.crashes+1
	h.life++
	clear(h.open)
	h.forsakes(func(*visit) bool { return true })
	for _, n := range h.c.nodes {
		h.loses(n, n.life)
	}
	h.c.after(away, h.start)
}

// breaks ends the connection of a member, as a network does that loses too much.
func (h *gatehouse) breaks(n *node) {
	if l := h.links[n]; l == nil || !l.up || n.member == nil || n.asleep || n.life != l.life {
		return
	}
	h.broken++
	h.c.log(n, "loses the gate of %s", h.resource.Name)
	life := n.life
	h.forsakes(func(v *visit) bool { return v.node == n && v.life == life })
	h.loses(n, life)
}

// forsakes ends visits whose connection is lost, for both sides.
func (h *gatehouse) forsakes(which func(*visit) bool) {
	for _, id := range slices.Sorted(maps.Keys(h.visits)) {
		v := h.visits[id]
		if !which(v) {
			continue
		}
		delete(h.visits, id)
		if h.gate != nil {
			h.step(gate.Lost{Connection: id})
		}
		h.answers(v, nil)
	}
}

// misses lets the gate notice that a member is gone, or asleep.
func (h *gatehouse) misses(n *node) {
	life, naps := n.life, n.naps
	h.c.after(gateSilence, func() {
		if n.member == nil || n.life != life || n.asleep && n.naps == naps {
			h.forsakes(func(v *visit) bool { return v.node == n && v.life == life })
			h.loses(n, life)
		}
	})
}

// answers tells a member what the gate says; nil: the connection is lost.
func (h *gatehouse) answers(v *visit, a gate.Answer) {
	at := h.reading().Millis()
	n, life := v.node, v.life
	h.c.after(gateDelay, func() {
		if n.member == nil || n.life != life {
			return
		}
		n.whenAwake(func() {
			if n.member == nil || n.life != life {
				return
			}
			switch a.(type) {
			case gate.OpenAnswer:
				if !v.leaves {
					v.opened = true
					h.longest = max(h.longest, h.c.now-v.since)
				}
			case gate.BusyAnswer:
			default:
				v.over = true
			}
			n.put(member.GateSaid{Entry: v.entry, Answer: a, At: at})
		})
	})
}

// signIn brings a member's SIGN-IN.
func (h *gatehouse) signIn(n *node, e effect.SignIn) {
	h.last++
	id, version := h.last, n.member.Settings().Version
	v := h.seen[visitKey{n, n.life, e.Entry}]
	h.visits[id] = v
	if h.gate == nil {
		h.answers(v, nil)
		return
	}
	life := h.life
	h.c.after(gateDelay, func() {
		if h.gate == nil || h.life != life || h.visits[id] != v {
			return // it has been told that the connection is lost
		}
		h.step(gate.SignIn{
			Connection: id, Slot: int(e.Slot), Permit: gate.PermitOf(e.Title, e.Before, h.c.expires), Configuration: version, Length: e.Length,
		})
	})
}

// expires is when a member's certificate ends, in ms since 1970.
func (c *cluster) expires(id ident.Member) uint64 {
	return uint64(c.find(id).certificate.Body().NotAfter.UnixMilli())
}

// signOut brings a member's SIGN-OUT.
func (h *gatehouse) signOut(n *node, e effect.SignOut) {
	for id, v := range h.visits {
		if v.node != n || v.life != n.life || v.entry != e.Entry {
			continue
		}
		h.c.after(gateDelay, func() {
			if h.gate != nil && h.visits[id] == v {
				h.step(gate.SignOut{Connection: id})
			}
		})
		return
	}
}

// step steps the machine, and performs what it wants.
func (h *gatehouse) step(in gate.Input) {
	h.perform(h.gate.Step(h.reading(), in))
	if h.gate == nil {
		return
	}
	if err := h.gate.Check(); err != nil {
		h.c.problem(Machinery, nil, "gate: %v", err)
	}
	h.setAlarm()
}

func (h *gatehouse) setAlarm() {
	h.alarm++
	at := h.gate.NextDeadline()
	if at == clock.Never {
		return
	}
	alarm, life := h.alarm, h.life
	h.c.after(at.Sub(h.reading().Boot), func() {
		if h.gate != nil && h.alarm == alarm && h.life == life {
			h.step(gate.Tick{})
		}
	})
}

// hook runs a hook, and does something when it has ended.
func (h *gatehouse) hook(run uint64, ended func()) {
	life := h.life
	h.c.after(hookTime, func() {
		if h.gate != nil && h.life == life {
			ended()
			h.step(gate.HookEnded{Run: run})
		}
	})
}

func (h *gatehouse) perform(effects []gate.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case gate.Persist:
			h.records = append(h.records, e.Record)
		case gate.RunOpen:
			if other, works := h.open[e.Slot]; works {
				h.c.problem(Exclusion, nil, "session %d opens before the close of %d has confirmed", e.Session, other)
			}
			h.open[e.Slot] = e.Session
			h.sessions++
			h.by[e.Title.Holder]++
			h.opens = append(h.opens, h.c.now)
			h.hook(e.Run, func() {})
		case gate.RunClose:
			h.hook(e.Run, func() { delete(h.open, e.Slot) })
		case gate.Say:
			h.says(e)
		case gate.Alarm:
			h.c.problem(Machinery, nil, "gate: alarm %s", e.Kind)
		case gate.Fetch:
		}
	}
}

func (h *gatehouse) says(e gate.Say) {
	v := h.visits[e.To]
	if v == nil {
		if h.told != nil {
			h.told(e.To, e.Answer)
		}
		return
	}
	h.c.log(v.node, "the gate says %T%+v", e.Answer, e.Answer)
	switch a := e.Answer.(type) {
	case gate.BusyAnswer:
		h.busy++
		if a.Stuck {
			delete(h.visits, e.To)
		}
	case gate.RefuseAnswer:
		h.refused++
		delete(h.visits, e.To)
	case gate.ClosedAnswer:
		delete(h.visits, e.To)
	}
	h.answers(v, e.Answer)
}

// decided notes what a member has decided about its sessions. It is done later where a record has to be durable first.
func (l gatehouses) decided(n *node, effects []effect.Effect) {
	for _, e := range effects {
		switch e := e.(type) {
		case effect.SignIn:
			h := l.of(e.Resource)
			h.seen[visitKey{n, n.life, e.Entry}] = &visit{node: n, life: n.life, entry: e.Entry, token: e.Token, hop: e.Hop, since: h.c.now}
		case effect.Grant:
			if h := l.of(e.Resource); h != nil {
				h.seen[visitKey{n, n.life, e.Entry}].used = true
			}
		case effect.SignOut:
			for _, h := range l {
				if v := h.seen[visitKey{n, n.life, e.Entry}]; v != nil {
					v.leaves, v.outAt = true, n.c.now
				}
			}
		}
	}
}

// parts sees to it that a token leaves only after its session has ended, as far as the member knows, or the time for that
// has passed.
func (h *gatehouse) parts(n *node, t *token.TransferBody) {
	most := min(releaseTime, h.resource.MaxHold/releaseShare)
	for _, v := range h.seen {
		if v.node != n || v.life != n.life || v.token != t.Token || v.hop+1 != t.Hop || !v.used || v.over {
			continue
		}
		if !v.leaves || h.c.now < v.outAt+most {
			h.c.problem(Exclusion, n, "the token leaves before its session at the gate has ended")
		}
	}
}

// gatehouses are the gates of a run.
type gatehouses []*gatehouse

// of is a resource's, or nil.
func (l gatehouses) of(resource string) *gatehouse {
	for _, h := range l {
		if h.resource.Name == resource {
			return h
		}
	}
	return nil
}

// newGatehouses makes those of all resources with a gate.
func newGatehouses(c *cluster) (list gatehouses) {
	for _, r := range c.group.Config().Settings().Resources {
		if !r.Gate.IsZero() {
			list = append(list, newGatehouse(c, r))
		}
	}
	return list
}

// start starts all gates.
func (l gatehouses) start() {
	for _, h := range l {
		h.start()
	}
}

// misses tells them that a member is gone, or asleep.
func (l gatehouses) misses(n *node) {
	for _, h := range l {
		h.misses(n)
	}
}

// greets tells them that a member has started.
func (l gatehouses) greets(n *node) {
	for _, h := range l {
		h.greets(n)
	}
}

// parted is a transfer that a member has signed.
func (l gatehouses) parted(n *node, raw []byte) {
	if len(l) == 0 {
		return
	}
	b, _, err := token.PeekTransfer(n.c.group.ID(), raw)
	must(err)
	for _, h := range l {
		h.parts(n, &b)
	}
}

// lose kills the program of a session that has ended.
func (n *node) lose(e effect.Lose) {
	for _, p := range n.c.running {
		if p.node == n && p.grant == e.Grant {
			n.after(killTime, func() { n.c.finish(p, false) })
		}
	}
}

// granted sees to it that a program of a resource with a gate begins under a session. Its end may be on its way.
func (l gatehouses) granted(n *node, e effect.Grant) {
	h := l.of(e.Resource)
	if h == nil {
		return
	}
	if v := h.seen[visitKey{n, n.life, e.Entry}]; v != nil && v.opened && !v.leaves {
		return
	}
	n.c.problem(Exclusion, n, "a program begins without a session: entry %d, session %d", e.Entry, e.Session)
}

func (h *gatehouse) String() string {
	return fmt.Sprintf("%d sessions, %d busy, %d refused, %d crashes, %d connections broken, longest wait %v", h.sessions, h.busy, h.refused, h.crashes, h.broken, h.longest)
}
