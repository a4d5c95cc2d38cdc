package handoff_test

import (
	"bytes"
	"math/rand/v2"
	"strings"
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

var group = ident.Group{7}

// party is a member with its machine. Messages go where a test takes them.
type party struct {
	t       testing.TB
	id      ident.Member
	key     *signature.PrivateKey
	world   *world
	cfg     handoff.Config
	m       *handoff.Machine
	now     clock.Reading
	past    []journal.Record // everything that was persisted, in order
	notices []handoff.Notice // of the last step
}

// world is what one party knows of the others.
type world struct {
	keys       map[ident.Member]*signature.PublicKey
	ineligible map[ident.Member]error
	choices    []ident.Member // offered to in this order
	shuns      ident.Member   // gets no token that is not for it
	shunsLate  ident.Member   // gets no token that was for it and is for another one
	refusal    wire.Refusal   // of every genesis; 0: admitted
	stale      bool           // geneses are refused when their time is looked at
}

func (w *world) Key(m ident.Member) *signature.PublicKey { return w.keys[m] }

func (w *world) Choose(exclude func(ident.Member) bool) (ident.Member, bool) {
	for _, m := range w.choices {
		if w.ineligible[m] == nil && !exclude(m) {
			return m, true
		}
	}
	return ident.Member{}, false
}

func (w *world) Shuns(m ident.Member) bool { return w.shuns == m }

func (w *world) ShunsLate(m ident.Member) bool { return w.shunsLate == m }

func (w *world) Eligible(m ident.Member) error { return w.ineligible[m] }

// Certificate stands for a certificate by its member's id.
func (w *world) Certificate(m ident.Member) string {
	if w.keys[m] == nil {
		return ""
	}
	return string(m[:])
}

func (w *world) Circulates(token.GenesisBody) bool { return w.refusal != wire.RefuseResource }

func (w *world) Admits(_ token.Genesis, hop uint64) (wire.Refusal, bool) {
	if hop == 1 && w.stale {
		return wire.RefuseClock, false
	}
	return w.refusal, w.refusal == 0
}

func (w *world) LastOperation(token.GenesisBody) uint64 { return 0 }

func newParty(t testing.TB, n byte, durable bool) *party {
	key, err := signature.NewPrivateKey(bytes.Repeat([]byte{n}, signature.SeedSize))
	require.NoError(t, err)
	raw := key.Public().Bytes()
	p := &party{
		t: t, id: ident.MemberOf(group, raw[:]), key: key,
		world: &world{keys: make(map[ident.Member]*signature.PublicKey), ineligible: make(map[ident.Member]error)},
		now:   clock.Reading{Boot: clock.Instant(time.Hour), Wall: time.Unix(1_900_000_000, 0)},
	}
	p.world.keys[p.id] = key.Public()
	p.cfg = handoff.Config{
		Self: p.id, Group: group, Key: key, Incarnation: ident.Incarnation{n}, Durable: durable,
		Tuning: handoff.DefaultTuning, Environment: p.world, Rand: rand.NewPCG(uint64(n), 1),
		Detector: evidence.NewConflictDetector(group, evidence.Kept),
	}
	p.m = handoff.New(p.cfg)
	return p
}

// newGroup makes durable parties that know each other. Each prefers the one
// after it.
func newGroup(t testing.TB, n int) []*party {
	list := make([]*party, n)
	for i := range list {
		list[i] = newParty(t, byte(i+1), true)
	}
	for i, p := range list {
		for j := 1; j < n; j++ {
			o := list[(i+j)%n]
			p.world.keys[o.id] = o.key.Public()
			p.world.choices = append(p.world.choices, o.id)
		}
	}
	return list
}

// outcome is what one step wanted done.
type outcome struct {
	t       testing.TB
	effects []effect.Effect
}

// do takes one step.
func (p *party) do(f func(*handoff.Machine)) outcome {
	p.t.Helper()
	p.m.SetNow(p.now)
	f(p.m)
	require.NoError(p.t, p.m.Check())
	effects, notices := p.m.Drain()
	o := outcome{t: p.t, effects: append([]effect.Effect(nil), effects...)}
	p.notices = append([]handoff.Notice(nil), notices...)
	for _, e := range effects {
		if r, ok := e.(effect.Persist); ok {
			p.past = append(p.past, r.Record)
		}
	}
	return o
}

// wait lets time pass.
func (p *party) wait(d time.Duration) outcome {
	p.t.Helper()
	p.now.Boot, p.now.Wall = p.now.Boot.Add(d), p.now.Wall.Add(d)
	return p.do((*handoff.Machine).Tick)
}

// get delivers a message. Its error is that of the machine.
func (p *party) get(from *party, m wire.Message) (o outcome, err error) {
	p.t.Helper()
	o = p.do(func(machine *handoff.Machine) {
		switch m := m.(type) {
		case *wire.Offer:
			machine.OnOffer(from.id, m)
		case *wire.Need:
			machine.OnNeed(from.id, m)
		case *wire.Accept:
			machine.OnAccept(from.id, m)
		case *wire.Refuse:
			machine.OnRefuse(from.id, m)
		case *wire.Cancel:
			machine.OnCancel(from.id, m)
		case *wire.Transfer:
			err = machine.OnTransfer(from.id, m)
		case *wire.Receipt:
			err = machine.OnAnswer(from.id, token.Receipt, m.Receipt)
		case *wire.Void:
			err = machine.OnAnswer(from.id, token.Void, m.Void)
		case *wire.Unknown:
			err = machine.OnAnswer(from.id, token.Unknown, m.Unknown)
		}
	})
	return o, err
}

// takes delivers a message that must not be an error.
func (p *party) takes(from *party, m wire.Message) outcome {
	p.t.Helper()
	o, err := p.get(from, m)
	require.NoError(p.t, err)
	return o
}

// String lists the effects: records by their kind, with ! when synced, and
// messages by their type.
func (o outcome) String() string {
	var words []string
	for _, e := range o.effects {
		switch e := e.(type) {
		case effect.Persist:
			word := e.Record.Kind().String()
			if e.Sync {
				word += "!"
			}
			words = append(words, word)
		case effect.Send:
			words = append(words, e.Message.Type().String())
		case effect.Report:
			words = append(words, "report")
		}
	}
	return strings.Join(words, " ")
}

// messages are those of a type among the effects.
func messages[M wire.Message](o outcome) (found []M) {
	for _, e := range o.effects {
		if s, ok := e.(effect.Send); ok {
			if m, ok := s.Message.(M); ok {
				found = append(found, m)
			}
		}
	}
	return found
}

// sent is the only message of its type among the effects.
func sent[M wire.Message](o outcome) M {
	o.t.Helper()
	found := messages[M](o)
	require.Len(o.t, found, 1, "in %v", o)
	return found[0]
}

// to is who the only message goes to.
func (o outcome) to() ident.Member {
	o.t.Helper()
	var found []ident.Member
	for _, e := range o.effects {
		if s, ok := e.(effect.Send); ok {
			found = append(found, s.To)
		}
	}
	require.Len(o.t, found, 1, "in %v", o)
	return found[0]
}

// own makes a token in the hands of p.
func (p *party) own() token.Genesis {
	var g token.Genesis
	o := p.do(func(m *handoff.Machine) {
		var err error
		g, err = token.GenesisBody{
			Resource: "r", Generator: p.id, Incarnation: p.cfg.Incarnation, Sequence: m.DrawSequence(), Time: 1,
		}.Sign(group, p.key)
		require.NoError(p.t, err)
		m.Own(g, false)
	})
	require.Contains(p.t, o.String(), "generated!")
	return g
}

func (p *party) prepare(t ident.Token, hop uint64) outcome {
	return p.do(func(m *handoff.Machine) { m.Prepare(t, hop, ident.Member{}) })
}

func (p *party) release(t ident.Token, hop uint64) outcome {
	return p.do(func(m *handoff.Machine) { m.Release(t, hop, ident.Member{}, nil) })
}

// hands over a token that p holds at hop; all messages arrive. Whoever else p
// prefers is passed over.
func (p *party) hands(q *party, t ident.Token, hop uint64) *wire.Transfer {
	p.t.Helper()
	choices := p.world.choices
	p.world.choices = []ident.Member{q.id}
	offer := sent[*wire.Offer](p.prepare(t, hop))
	p.world.choices = choices
	offer.Settled = nil // tests of promises bring them
	p.takes(q, sent[*wire.Accept](q.takes(p, offer)))
	transfer := sent[*wire.Transfer](p.release(t, hop))
	p.takes(q, sent[*wire.Receipt](q.takes(p, transfer)))
	return transfer
}

// offered is a token that p has offered to q and q has accepted.
func (p *party) offered(q *party) (t ident.Token, offer *wire.Offer, accept *wire.Accept) {
	p.t.Helper()
	t = p.own().ID()
	offer = sent[*wire.Offer](p.prepare(t, 0))
	accept = sent[*wire.Accept](q.takes(p, offer))
	return t, offer, accept
}

// underWay is a token that p has sent to q, which has not seen it.
func (p *party) underWay(q *party) (t ident.Token, transfer *wire.Transfer) {
	p.t.Helper()
	t, _, accept := p.offered(q)
	p.takes(q, accept)
	return t, sent[*wire.Transfer](p.release(t, 0))
}

// holds reports whether p has custody.
func (p *party) holds(t ident.Token, hop uint64) bool {
	_, ok := p.m.Title(t, hop)
	return ok
}

// stop makes the machine decline everything from now on.
func (p *party) stop() outcome { return p.do((*handoff.Machine).Stop) }

// restart rebuilds the machine from records, all that were persisted if nil.
func (p *party) restart(records []journal.Record) {
	p.t.Helper()
	if records == nil {
		records = p.past
	}
	p.cfg.Detector = evidence.NewConflictDetector(group, evidence.Kept)
	replay := handoff.NewReplay(p.cfg)
	for _, r := range records {
		body, err := journal.Encode(1, r)
		require.NoError(p.t, err)
		_, decoded, err := journal.Decode(body)
		require.NoError(p.t, err)
		require.NoError(p.t, replay.Apply(decoded))
	}
	m, err := replay.Finish(p.now)
	require.NoError(p.t, err)
	require.NoError(p.t, m.Check())
	p.m = m
}

// transferBody reads a transfer.
func transferBody(t testing.TB, m *wire.Transfer) (token.TransferBody, ident.Hash) {
	b, h, err := token.PeekTransfer(group, m.Transfer)
	require.NoError(t, err)
	return b, h
}

// verdict signs an answer of p to a transfer.
func (p *party) verdict(v token.Verdict, m *wire.Transfer, inc ident.Incarnation) []byte {
	b, h := transferBody(p.t, m)
	a, err := token.AnswerBody{Transfer: h, Token: b.Token, Hop: b.Hop, Signer: p.id, Incarnation: inc}.Sign(group, v, p.key)
	require.NoError(p.t, err)
	return a.Raw()
}

func (p *party) noticed(k handoff.NoticeKind) bool {
	for _, n := range p.notices {
		if n.Kind == k {
			return true
		}
	}
	return false
}

// accused is whom what was written of evidence is against.
func accused(o outcome) (list []ident.Member) {
	for _, e := range o.effects {
		if p, ok := e.(effect.Persist); ok {
			if r, ok := p.Record.(*journal.Evidence); ok {
				list = append(list, r.Accused)
			}
		}
	}
	return list
}

// keys are those of one party.
type keys struct{ *party }

func (k keys) Key(m ident.Member) *signature.PublicKey { return k.world.keys[m] }
