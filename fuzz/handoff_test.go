package fuzz

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
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
	handoffFlight = 24 // packets under way; the oldest are lost
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
	handoffPeer           // party, peer, up or down
	handoffStop           // party
	handoffTidy           // party: a checkpoint takes the place of its journal
	handoffPretend        // packet, who says that it is his
	handoffKeep           // party, holding
	handoffKinds
)

// handoffKeys are the keys of the parties.
var handoffKeys = []*signature.PrivateKey{ada, ben, newKey(4)}

type handoffWorld struct{ next int } // who is drawn next

func handoffID(i int) ident.Member { return ident.MemberOf(group, publicBytes(handoffKeys[i])) }

var handoffIDs = []ident.Member{handoffID(0), handoffID(1), handoffID(2)}

func (w *handoffWorld) Key(m ident.Member) *signature.PublicKey {
	if i := slices.Index(handoffIDs, m); i >= 0 {
		return handoffKeys[i].Public()
	}
	return nil
}

func (w *handoffWorld) Choose(exclude func(ident.Member) bool) (ident.Member, bool) {
	for range handoffIDs {
		w.next++
		if m := handoffIDs[w.next%len(handoffIDs)]; !exclude(m) {
			return m, true
		}
	}
	return ident.Member{}, false
}

func (*handoffWorld) Standing(ident.Member) error { return nil }

func (w *handoffWorld) Certificate(m ident.Member) []byte {
	if w.Key(m) == nil {
		return nil
	}
	return m[:]
}

func (*handoffWorld) Admits(token.GenesisBody, bool) (wire.Refusal, bool) { return 0, true }

func (*handoffWorld) LastOperation(token.GenesisBody) uint64 { return 0 }

// handoffParty is one member: its machine and its disk.
type handoffParty struct {
	cfg    handoff.Config
	m      *handoff.Machine
	disk   []journal.Record
	synced int // how many of them survive any crash
	bomb   int // effects until it crashes; negative: it does not
	owned  byte
}

// packet is a message under way.
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
			Durable: modes>>i&1 == 0, Tuning: handoff.DefaultTuning, World: &handoffWorld{next: i}, Rand: rand.NewPCG(uint64(i), 1),
			Witness: evidence.NewWitness(group, evidence.Kept),
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

// event carries out the next one.
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
		r.connection(i, r.party(), r.among(2) == 1)
	case handoffStop:
		r.step(i, (*handoff.Machine).Stop)
	case handoffTidy:
		p.disk = p.m.Checkpoint()
		p.synced = len(p.disk)
	default:
		r.holding(i, kind)
	}
}

// connection opens or ends a connection as one side sees it: its HELLO says what
// the other side promises.
func (r *handoffRun) connection(i, peer int, up bool) {
	if !up {
		r.step(i, func(m *handoff.Machine) { m.PeerDown(handoffIDs[peer]) })
		return
	}
	from := r.parties[peer]
	hello := &wire.Hello{Versions: [2]uint64{1, 1}, Incarnation: from.cfg.Incarnation}
	r.step(peer, func(m *handoff.Machine) { m.Introduce(handoffIDs[i], hello) })
	r.step(i, func(m *handoff.Machine) { m.PeerUp(handoffIDs[peer], hello) })
}

// holding carries out what is about a token in custody.
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

// packet does something with what is under way.
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

// hear gives a message to a machine as a member does. Errors are for the log.
func hear(m *handoff.Machine, from ident.Member, message wire.Message) {
	switch msg := message.(type) {
	case *wire.Offer:
		m.OnOffer(from, msg)
	case *wire.Need:
		m.OnNeed(from, msg)
	case *wire.Accept:
		m.OnAccept(from, msg)
	case *wire.Refuse:
		m.OnRefuse(from, msg)
	case *wire.Cancel:
		m.OnCancel(from, msg)
	case *wire.Transfer:
		_ = m.OnTransfer(from, msg)
	case *wire.Receipt:
		_ = m.OnAnswer(from, token.Receipt, msg.Receipt)
	case *wire.Void:
		_ = m.OnAnswer(from, token.Void, msg.Void)
	case *wire.Unknown:
		_ = m.OnAnswer(from, token.Unknown, msg.Unknown)
	}
}

// step tells one machine of an event and carries out what it wants, up to where
// it crashes.
func (r *handoffRun) step(i int, event func(*handoff.Machine)) {
	p := r.parties[i]
	p.m.SetNow(r.now)
	event(p.m)
	effects, _ := p.m.Drain()
	require.LessOrEqual(r, len(effects), handoffEffects)
	for n, e := range effects {
		if p.bomb == n {
			r.crash(i, n%3)
			return
		}
		r.carryOut(i, e)
	}
	if p.bomb >= 0 && len(effects) > 0 {
		r.crash(i, 0)
	}
}

func (r *handoffRun) carryOut(i int, e effect.Effect) {
	p := r.parties[i]
	switch e := e.(type) {
	case effect.Persist:
		evidence, _ := e.Record.(*journal.Evidence)
		require.Nil(r, evidence, "an honest member is accused")
		if p.disk = append(p.disk, e.Record); e.Sync {
			p.synced = len(p.disk)
		}
	case effect.Send:
		to := slices.Index(handoffIDs, e.To)
		require.GreaterOrEqual(r, to, 0, "a message to nobody")
		r.flight = append(r.flight, packet{i, to, e.Message})
		r.flight = r.flight[max(0, len(r.flight)-handoffFlight):]
	}
}

// crash ends a machine and starts the next one from what its disk has kept.
func (r *handoffRun) crash(i, unsynced int) {
	p := r.parties[i]
	p.bomb = -1
	p.disk = p.disk[:min(len(p.disk), p.synced+unsynced)]
	p.synced = len(p.disk)
	p.cfg.Witness = evidence.NewWitness(group, evidence.Kept)
	if p.cfg.Durable {
		p.m = r.replay(p)
		return
	}
	p.disk, p.synced = nil, 0
	p.owned++
	p.cfg.Incarnation = ident.Incarnation{byte(i + 1), p.owned}
	p.m = handoff.New(p.cfg)
}

func (r *handoffRun) replay(p *handoffParty) *handoff.Machine {
	replay := handoff.NewReplay(p.cfg)
	for _, record := range p.disk {
		require.NoError(r, replay.Apply(record))
	}
	m, err := replay.Finish(r.now)
	require.NoError(r, err)
	return m
}

// custody checks who has which token.
func (r *handoffRun) custody() {
	holders, waiting := make(map[ident.Token]int), 0
	for _, p := range r.parties {
		for _, h := range p.m.Holdings() {
			holders[h.Title.Token()]++
		}
		waiting += p.m.Unanswered()
	}
	for _, id := range r.tokens {
		require.LessOrEqual(r, holders[id], 1, "two members have custody of %v", id)
		if r.durable && !r.dropped[id] && waiting == 0 && holders[id] == 0 {
			require.False(r, r.exists(id), "a token of durable members is lost")
		}
	}
}

// exists reports whether a token was ever made: a crash may have come before its
// genesis was on a disk.
func (r *handoffRun) exists(id ident.Token) bool {
	for _, p := range r.parties {
		for _, record := range p.disk {
			if g, ok := record.(*journal.Generated); ok && ident.Token(genesisHash(g.Genesis)) == id {
				return true
			}
		}
	}
	return false
}

func genesisHash(raw []byte) ident.Hash {
	_, h, _ := token.PeekGenesis(group, raw)
	return h
}

// replays checks that a journal gives the machine that wrote it.
func (r *handoffRun) replays() {
	for _, p := range r.parties {
		if !p.cfg.Durable {
			continue
		}
		again := r.replay(p)
		require.Equal(r, p.m.Unanswered(), again.Unanswered())
		require.Equal(r, titles(p.m), titles(again), "custody over a restart")
		again.SetNow(r.now)
		require.Equal(r, p.m.Checkpoint(), again.Checkpoint(), "memory over a restart")
	}
}

func titles(m *handoff.Machine) (list []ident.Hash) {
	for _, h := range m.Holdings() {
		list = append(list, h.Title.Hash())
	}
	return list
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
		{handoffPeer, 0, 1, 0}, {handoffPeer, 0, 1, 1}, {handoffTick, 2, 7},
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
