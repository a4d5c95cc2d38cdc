package fuzz

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// FuzzHandoff: the sender and receiver machines of three members, over a channel
// that loses, repeats and reorders, with crashes between any two effects that
// lose what was not synced. At most one member has custody; durable ones lose
// none; nobody honest is accused; a step does a bounded amount; and a journal gives
// the same machine again.
//
//fuzz:of protocol/handoff protocol/token protocol/evidence
func FuzzHandoff(f *testing.F) { targets["FuzzHandoff"].Fuzz(f) }

const (
	handoffParties = 3
	// handoffTokens bounds the tokens of a script: their signatures are most of
	// its cost.
	handoffTokens = 3
	handoffEvents = 160
	handoffFlight = 24 // packets in transit; the oldest are lost
	// handoffEffects bounds the effects of one step: each record of each token can
	// cause some.
	handoffEffects = 64
)

// The events of a script, each a byte with what it needs behind it.
const (
	handoffTick    = iota // party, pause
	handoffOwn            // party
	handoffPrepare        // party, holding, target
	handoffRelease        // party, holding, target
	handoffBusy           // party, holding
	handoffDrop           // party, holding
	handoffDeliver        // packet: it is gone
	handoffRepeat         // packet: it may come again
	handoffLose           // packet
	handoffCrash          // party, how many of its unsynced records survive
	handoffBomb           // party, after how many effects of a step it crashes
	handoffPeer           // party, peer, what has become of their connection: connection
	handoffStop           // party
	handoffTidy           // party: a checkpoint takes the place of its journal
	handoffPretend        // packet, who says that it is his
	handoffKeep           // party, holding
	handoffKinds
)

// packet is a message in transit.
type packet struct {
	from, to int
	message  wire.Message
}

type handoffRun struct {
	require.TestingT
	*script
	parties [handoffParties]*handoffParty
	now     clock.Reading
	flight  []packet
	tokens  []ident.Token
	dropped map[ident.Token]bool
	durable bool // all are
}

// checkHandoff accepts scripts that are whole.
func checkHandoff(t require.TestingT, data []byte) bool {
	s := newScript(data)
	modes := s.below(1 << handoffParties)
	if s.bad {
		return false
	}
	r := &handoffRun{
		TestingT: t, script: s, dropped: make(map[ident.Token]bool), durable: modes == 0,
		now: clock.Reading{Boot: clock.Instant(time.Hour), Wall: epoch},
	}
	for i := range r.parties {
		p := &handoffParty{bomb: -1, cfg: handoff.Config{
			Self: handoffIDs[i], Group: group, Key: handoffKeys[i], Incarnation: ident.Incarnation{byte(i + 1)},
			Durable: modes>>i&1 == 0, Tuning: handoff.DefaultTuning, Environment: &handoffEnvironment{next: i}, Rand: rand.NewPCG(uint64(i), 1),
			Detector: evidence.NewConflictDetector(group, evidence.Kept),
		}}
		p.m = handoff.New(p.cfg)
		r.parties[i] = p
	}
	for range handoffEvents {
		if s.Len() == 0 {
			break
		}
		if r.event(); s.bad {
			return false
		}
		r.custody()
	}
	r.replays()
	return s.Len() == 0
}

func (r *handoffRun) party() int { return r.among(handoffParties) }

// event performs the next one.
func (r *handoffRun) event() {
	kind := r.below(handoffKinds)
	switch kind {
	case handoffDeliver, handoffRepeat, handoffLose, handoffPretend:
		r.packet(kind)
		return
	}
	i := r.party()
	switch p := r.parties[i]; kind {
	case handoffTick:
		d := pauses[r.below(len(pauses))]
		r.now.Boot, r.now.Wall = r.now.Boot.Add(d), r.now.Wall.Add(d)
		r.step(i, (*handoff.Machine).Tick)
	case handoffOwn:
		r.own(i)
	case handoffCrash:
		r.crash(i, r.among(4))
	case handoffBomb:
		p.bomb = r.among(6)
	case handoffPeer:
		r.connection(i, r.party(), r.among(3))
	case handoffStop:
		r.step(i, (*handoff.Machine).Stop)
	case handoffTidy:
		p.disk = p.m.Checkpoint()
		p.synced = len(p.disk)
	default:
		r.holding(i, kind)
	}
}

// connection breaks (0), opens (1) or closes (2) a connection as one side sees it:
// its HELLO says what the other side promises.
func (r *handoffRun) connection(i, peer, what int) {
	switch what {
	case 0:
		r.step(i, func(m *handoff.Machine) { m.PeerDown(handoffIDs[peer]) })
		return
	case 2:
		r.step(i, func(m *handoff.Machine) { m.PeerClosed(handoffIDs[peer], i < peer) })
		return
	}
	from := r.parties[peer]
	hello := &wire.Hello{Versions: [2]uint64{1, 1}, Incarnation: from.cfg.Incarnation}
	r.step(peer, func(m *handoff.Machine) { m.Introduce(handoffIDs[i], hello) })
	r.step(i, func(m *handoff.Machine) { m.PeerUp(handoffIDs[peer], hello) })
}

// holding performs what is about a token in custody.
func (r *handoffRun) holding(i, kind int) {
	list := r.parties[i].m.Holdings()
	n, target := r.among(len(list)), ident.Member{}
	if kind == handoffPrepare || kind == handoffRelease {
		if to := r.among(handoffParties + 1); to < handoffParties && to != i {
			target = handoffIDs[to]
		}
	}
	if len(list) == 0 || r.bad {
		return
	}
	h := list[n]
	id := h.Title.Token()
	r.step(i, func(m *handoff.Machine) {
		switch kind {
		case handoffPrepare:
			m.Prepare(id, h.Hop, target)
		case handoffRelease:
			m.Release(id, h.Hop, target, []byte{byte(h.Hop)})
		case handoffBusy:
			m.SetBusy(id, h.Hop, !h.Busy)
		case handoffKeep:
			m.Keep(id, h.Hop)
		case handoffDrop:
			if m.Drop(id, h.Hop, 1) {
				r.dropped[id] = true
			}
		}
	})
}

// own makes a token.
func (r *handoffRun) own(i int) {
	if len(r.tokens) == handoffTokens {
		return
	}
	p := r.parties[i]
	r.step(i, func(m *handoff.Machine) {
		g := must(token.GenesisBody{
			Resource: "r", Generator: p.cfg.Self, Incarnation: p.cfg.Incarnation, Sequence: m.DrawSequence(), Time: r.now.Millis(),
		}.Sign(group, p.cfg.Key))
		if slices.Contains(r.tokens, g.ID()) {
			require.False(r, r.exists(g.ID()), "a sequence number spent twice")
		} else {
			r.tokens = append(r.tokens, g.ID())
		}
		m.Own(g, false)
	})
}

// packet does something with what is in transit.
func (r *handoffRun) packet(kind int) {
	n, liar := r.among(len(r.flight)), 0
	if kind == handoffPretend {
		liar = r.party()
	}
	if len(r.flight) == 0 || r.bad {
		return
	}
	k := r.flight[n]
	if kind != handoffRepeat {
		r.flight = slices.Delete(r.flight, n, n+1)
	}
	switch kind {
	case handoffLose:
		return
	case handoffPretend:
		k.from = liar
	}
	if k.from != k.to {
		r.step(k.to, func(m *handoff.Machine) { hear(m, handoffIDs[k.from], k.message) })
	}
}

// handoffSeeds are lives of some tokens, among durable, volatile and mixed
// members.
func handoffSeeds() map[string][]byte {
	life := [][]byte{
		{handoffOwn, 0}, {handoffBusy, 0, 0}, {handoffPrepare, 0, 0, 1}, {handoffDeliver, 0}, {handoffDeliver, 0},
		{handoffBusy, 0, 0}, {handoffRelease, 0, 0, 1}, {handoffDeliver, 0}, {handoffDeliver, 0},
	}
	trouble := [][]byte{
		{handoffOwn, 0}, {handoffRelease, 0, 0, 3}, {handoffRepeat, 0}, {handoffDeliver, 0}, {handoffDeliver, 0},
		{handoffLose, 0}, {handoffCrash, 0, 1}, {handoffTick, 0, 3}, {handoffRepeat, 0}, {handoffCrash, 1, 0},
		{handoffDeliver, 0}, {handoffTick, 0, 4}, {handoffDeliver, 0}, {handoffDeliver, 0}, {handoffDeliver, 0}, {handoffTidy, 1},
		{handoffPeer, 0, 1, 0}, {handoffPeer, 0, 1, 1}, {handoffPeer, 0, 1, 2}, {handoffPeer, 0, 1, 1}, {handoffTick, 2, 7},
	}
	declined := [][]byte{
		{handoffOwn, 2}, {handoffRelease, 2, 0, 0}, {handoffDeliver, 0}, {handoffStop, 0}, {handoffDeliver, 0},
		{handoffDeliver, 0}, {handoffDeliver, 0}, {handoffDeliver, 0}, {handoffTick, 2, 5}, {handoffKeep, 2, 0}, {handoffDrop, 2, 0},
	}
	bombs := [][]byte{
		{handoffOwn, 1}, {handoffBomb, 2, 1}, {handoffRelease, 1, 0, 2}, {handoffDeliver, 0}, {handoffTick, 1, 3}, {handoffDeliver, 0},
		{handoffDeliver, 0}, {handoffBomb, 1, 1}, {handoffDeliver, 0}, {handoffTick, 1, 4}, {handoffPretend, 0, 0}, {handoffDeliver, 0},
	}
	seeds := map[string][]byte{
		"bad-empty": {}, "bad-mode": {99}, "bad-kind": {0, handoffKinds}, "bad-half": {0, handoffTick, 1}, "bad-pause": {0, handoffTick, 0, 99},
	}
	for name, events := range map[string][][]byte{"life": life, "trouble": trouble, "declined": declined, "bombs": bombs} {
		for mode, modes := range map[string]byte{"durable": 0, "volatile": 7, "mixed": 2} {
			seeds["good-"+name+"-"+mode] = append([]byte{modes}, slices.Concat(events...)...)
		}
	}
	return seeds
}
