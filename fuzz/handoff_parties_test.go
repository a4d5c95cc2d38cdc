package fuzz

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// handoffKeys are the keys of the parties.
var handoffKeys = []*signature.PrivateKey{ada, ben, newKey(4)}

type handoffEnvironment struct{ next int } // who is drawn next

func handoffID(i int) ident.Member { return ident.MemberOf(group, publicBytes(handoffKeys[i])) }

var handoffIDs = []ident.Member{handoffID(0), handoffID(1), handoffID(2)}

func (w *handoffEnvironment) Key(m ident.Member) *signature.PublicKey {
	if i := slices.Index(handoffIDs, m); i >= 0 {
		return handoffKeys[i].Public()
	}
	return nil
}

func (w *handoffEnvironment) Choose(exclude func(ident.Member) bool) (ident.Member, bool) {
	for range handoffIDs {
		w.next++
		if m := handoffIDs[w.next%len(handoffIDs)]; !exclude(m) {
			return m, true
		}
	}
	return ident.Member{}, false
}

func (*handoffEnvironment) Shuns(ident.Member) bool { return false }

func (*handoffEnvironment) ShunsLate(ident.Member) bool { return false }

func (*handoffEnvironment) Eligible(ident.Member) error { return nil }

func (w *handoffEnvironment) Certificate(m ident.Member) string {
	if w.Key(m) == nil {
		return ""
	}
	return string(m[:])
}

func (*handoffEnvironment) Circulates(token.GenesisBody) bool { return true }

func (*handoffEnvironment) Admits(token.Genesis, uint64) (wire.Refusal, bool) { return 0, true }

func (*handoffEnvironment) LastOperation(token.GenesisBody) uint64 { return 0 }

// handoffParty is one member: its machine and its disk.
type handoffParty struct {
	cfg    handoff.Config
	m      *handoff.Machine
	disk   []journal.Record
	synced int // how many of them survive any crash
	bomb   int // effects until it crashes; negative: it does not
	owned  byte
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

// step tells one machine of an event and performs what it wants, up to where
// it crashes.
func (r *handoffRun) step(i int, event func(*handoff.Machine)) {
	p := r.parties[i]
	p.m.SetNow(r.now)
	event(p.m)
	require.NoError(r, p.m.Check())
	effects, _ := p.m.Drain()
	require.LessOrEqual(r, len(effects), handoffEffects)
	for n, e := range effects {
		if p.bomb == n {
			r.crash(i, n%3)
			return
		}
		r.perform(i, e)
	}
	if p.bomb >= 0 && len(effects) > 0 {
		r.crash(i, 0)
	}
}

func (r *handoffRun) perform(i int, e effect.Effect) {
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
	p.cfg.Detector = evidence.NewConflictDetector(group, evidence.Kept)
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
	require.NoError(r, m.Check())
	return m
}
