// Package audittest makes journals for tests of audits: a group with a CA, whose
// members write what a test lets them, with real signatures and on one clock. It
// panics where it is used wrongly.
package audittest

import (
	"bytes"
	"time"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
)

// Start is when worlds begin.
var Start = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

const (
	// Tick is how long each record takes to write.
	Tick = 10 * time.Second
	// MaxHold is the longest grant of Resource.
	MaxHold = 20 * time.Second
	// Resource is what the group shares.
	Resource = "tape"
)

// World is a group and its members.
type World struct {
	Now   time.Time
	Step  time.Duration // that the next record takes
	CA    *signature.PrivateKey
	Group *group.Group
	List  []*Author
}

// Author is one member and its journal.
type Author struct {
	*World
	Name        string
	Key         *signature.PrivateKey
	ID          ident.Member
	Incarnation ident.Incarnation
	Made        uint64        // tokens, the next number
	Ahead       time.Duration // of its clock
	Frames      []journal.Frame
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func privateKey(n byte) *signature.PrivateKey {
	return must(signature.NewPrivateKey(bytes.Repeat([]byte{n}, signature.SeedSize)))
}

// New is a world with members of these names, who know each other.
func New(names ...string) *World {
	w := &World{Now: Start, Step: Tick, CA: privateKey(99)}
	raw := w.CA.Public().Bytes()
	id := ident.GroupOf(raw[:])
	a := must(group.Statement{
		Name: "test", Group: id, Key: raw, NotBefore: Start, NotAfter: Start.AddDate(10, 0, 0),
	}.Sign(w.CA))
	c := must(group.Settings{Version: 1, Name: "test", Issued: Start, Resources: []group.Resource{{
		Name: Resource, MaxHold: MaxHold,
		Params: policy.Params{OperationTime: MaxHold, MembersMax: 8, SkipDelay: time.Second, MinInterval: time.Hour},
	}}}.WithDefaults().Sign(id, w.CA))
	w.Group = must(group.New([]group.Authority{a}, c))
	for i, name := range names {
		w.List = append(w.List, w.join(name, byte(i+1)))
	}
	for _, m := range w.List {
		for _, r := range m.Preamble() {
			m.Write(r)
		}
	}
	return w
}

func (w *World) join(name string, n byte) *Author {
	key := privateKey(n)
	raw := key.Public().Bytes()
	return &Author{
		World: w, Name: name, Key: key, ID: ident.MemberOf(w.Group.ID(), raw[:]), Incarnation: ident.Incarnation{n}, Made: 1,
	}
}

// Preamble is what a journal, and each checkpoint, begins with.
func (m *Author) Preamble() []journal.Record {
	list := []journal.Record{&journal.Incarnation{Incarnation: m.Incarnation, Member: m.ID, Durable: true, Machine: "m"}}
	for _, other := range m.List {
		c := m.Certify(other, Start.AddDate(0, 0, 90))
		list = append(list, &journal.Known{What: journal.KnownCertificate, Object: c.Raw()})
	}
	return list
}

// Certify makes a certificate.
func (w *World) Certify(m *Author, until time.Time) certificate.Certificate {
	return must(certificate.Claims{
		Name: m.Name, Serial: 1, NotBefore: Start.Add(-time.Hour), NotAfter: until, IssuedAt: Start,
		Key: m.Key.Public().Bytes(), Group: w.Group.ID(),
	}.Sign(w.CA))
}

// Gate is one before Resource, which signs what a test lets it.
type Gate struct {
	*World
	ID          ident.Member
	Certificate certificate.Certificate
	key         *signature.PrivateKey
}

// Gate certifies a gate.
func (w *World) Gate() *Gate {
	key := privateKey(98)
	c := must(certificate.Claims{
		Name: "gate", Serial: 2, NotBefore: Start.Add(-time.Hour), NotAfter: Start.AddDate(0, 0, 90), IssuedAt: Start,
		Key: key.Public().Bytes(), Group: w.Group.ID(), Role: certificate.GateRole,
	}.Sign(w.CA))
	return &Gate{World: w, ID: c.Member(), Certificate: c, key: key}
}

// Says signs an answer to a sign-in of a member, whose connection is named by a byte.
func (g *Gate) Says(to *Author, title token.Title, connection byte, number uint64, a gate.Answer) []byte {
	return g.SaysAt(0, to, title, connection, number, a)
}

// SaysAt does so where the sign-in names a slot.
func (g *Gate) SaysAt(slot uint64, to *Author, title token.Title, connection byte, number uint64, a gate.Answer) []byte {
	b := wire.AnswerBody{
		Slot: slot, Resource: Resource, Member: to.ID, Title: title.Hash(), Exporter: [32]byte{connection}, Number: number, Time: g.Millis(), Answer: a,
	}
	return must(b.Sign(g.Group.ID(), g.key)).Raw()
}

// Millis is the time in ms since 1970.
func (w *World) Millis() uint64 { return uint64(w.Now.UnixMilli()) }

// Encode is a record as it is in a frame, written now.
func (m *Author) Encode(r journal.Record) []byte {
	return must(journal.Encode(uint64(m.Now.Add(m.Ahead).UnixMicro()), r))
}

// Write puts a record into the journal, a Step later than the one before.
func (m *Author) Write(r journal.Record) {
	m.Now = m.Now.Add(m.Step)
	m.Frames = append(m.Frames, journal.Frame{Type: journal.FrameRecord, Seq: uint64(len(m.Frames) + 1), Body: m.Encode(r)})
}

// Wait writes records that mean nothing.
func (m *Author) Wait(records int) {
	for range records {
		m.Write(&journal.Counters{})
	}
}

// Erase loses the last record.
func (m *Author) Erase() { m.Frames = m.Frames[:len(m.Frames)-1] }

// Genesis makes a token that nobody has written down.
func (m *Author) Genesis(sequence uint64, nonce byte, resource string) token.Genesis {
	return must(token.GenesisBody{
		Resource: resource, Generator: m.ID, Incarnation: m.Incarnation, Sequence: sequence,
		Time: uint64(m.Now.Add(m.Ahead).UnixMilli()), Nonce: [token.NonceSize]byte{nonce},
	}.Sign(m.Group.ID(), m.Key))
}

// Generate makes a token.
func (m *Author) Generate() token.Title {
	g := m.Genesis(m.Made, 0, Resource)
	m.Made++
	m.Write(&journal.Generated{Genesis: g.Raw()})
	return token.Title{Genesis: g}
}

// Sign makes a transfer that nobody has written down.
func (m *Author) Sign(t token.Title, to *Author, change ...func(*token.TransferBody)) token.Transfer {
	b := t.Next(to.ID, ident.Reservation{Incarnation: to.Incarnation, Number: 1})
	b.From, b.Time = m.ID, uint64(m.Now.Add(m.Step+m.Ahead).UnixMilli()) // when it is written down
	for _, c := range change {
		c(&b)
	}
	return must(b.Sign(m.Group.ID(), m.Key))
}

// Answer makes an answer that nobody has written down.
func (m *Author) Answer(v token.Verdict, tr token.Transfer) token.Answer {
	return must(token.AnswerTo(tr, m.ID, m.Incarnation).Sign(m.Group.ID(), v, m.Key))
}

// Send gives a token away.
func (m *Author) Send(t token.Title, to *Author) token.Transfer {
	tr := m.Sign(t, to)
	m.Write(&journal.Sent{Transfer: tr.Raw()})
	return tr
}

// Take takes what was sent.
func (m *Author) Take(t token.Title, tr token.Transfer) token.Title {
	m.Write(&journal.Held{Transfer: tr.Raw(), Genesis: t.Genesis.Raw()})
	return token.Title{Genesis: t.Genesis, Transfer: tr}
}

// Decline declines what was sent.
func (m *Author) Decline(tr token.Transfer) token.Answer {
	v := m.Answer(token.Void, tr)
	m.Write(&journal.Voided{Transfer: tr.Raw(), Void: v.Raw()})
	return v
}

// Close ends a sending by its receipt.
func (m *Author) Close(tr token.Transfer, receipt token.Answer) {
	m.Write(&journal.Closed{Token: tr.Body().Token, Hop: tr.Body().Hop - 1, Receipt: receipt.Raw()})
}

// Reclaim ends a sending by a void.
func (m *Author) Reclaim(t token.Title, tr token.Transfer, v token.Answer) token.Title {
	m.Write(&journal.Reclaimed{Token: t.Token(), Hop: tr.Body().Hop, Void: v.Raw()})
	return token.Title{Genesis: t.Genesis, Transfer: tr, Void: v}
}

// Hand is a whole handoff.
func (m *Author) Hand(t token.Title, to *Author) token.Title {
	tr := m.Send(t, to)
	next := to.Take(t, tr)
	m.Close(tr, to.Answer(token.Receipt, tr))
	return next
}

// Begin begins an operation, and End ends it.
func (m *Author) Begin(t token.Title, grant byte) ident.Grant {
	g := ident.Grant{grant, m.Incarnation[0]}
	m.Write(&journal.Started{Grant: g, Token: t.Token(), Hop: t.Hop(), Resource: Resource})
	return g
}

// End ends an operation.
func (m *Author) End(g ident.Grant) { m.Write(&journal.Ended{Grant: g, Operated: true}) }

// Operate runs the operation for so many Steps.
func (m *Author) Operate(t token.Title, grant byte, steps int) {
	g := m.Begin(t, grant)
	m.Now = m.Now.Add(time.Duration(steps-1) * m.Step)
	m.End(g)
}

// Know puts something about the group into the journal.
func (m *Author) Know(what journal.Knowledge, raw []byte) {
	m.Write(&journal.Known{What: what, Object: raw})
}

// Forge writes down an object whose signature does not hold.
func (m *Author) Forge() {
	raw := bytes.Clone(m.Sign(token.Title{Genesis: m.Genesis(1<<20, 0, Resource)}, m.List[1]).Raw())
	raw[len(raw)-1] ^= 1
	m.Write(&journal.Voided{Transfer: raw})
}

// Accuse makes a complaint about another member's custody of a token that nobody has written down.
func (m *Author) Accuse(about *Author, t ident.Token, measure policy.Measure, cause policy.Cause, change ...func(*token.ComplaintBody)) token.Complaint {
	b := token.ComplaintBody{
		Resource: Resource, Signer: m.ID, Accused: about.ID, Token: t, Hop: 1, Measure: uint64(measure), Cause: uint64(cause),
		Time: uint64(m.Now.Add(m.Step + m.Ahead).UnixMilli()), // when it is written down
	}
	for _, c := range change {
		c(&b)
	}
	return must(b.Sign(m.Group.ID(), m.Key))
}

// Complain writes a complaint down.
func (m *Author) Complain(about *Author, t ident.Token, measure policy.Measure, cause policy.Cause) {
	m.Write(&journal.Complained{Complaint: m.Accuse(about, t, measure, cause).Raw()})
}

// Trust is what an auditor learns from some journals.
func (w *World) Trust(from ...*Author) *audit.Trust {
	t := audit.NewTrust(w.Group, group.Extra{})
	for _, m := range from {
		for _, f := range m.Frames {
			t.Learn(f.Body)
		}
	}
	t.Settle()
	return t
}

// Report audits the journals of some members, or of all.
func (w *World) Report(o audit.Options, members ...*Author) *audit.Report {
	if len(members) == 0 {
		members = w.List
	}
	o.Trust = w.Trust(members...)
	a := audit.New(w.Group.ID(), o)
	for _, m := range members {
		r := a.Journal(m.ID)
		r.Segment(true)
		for _, f := range m.Frames {
			r.Frame(f)
		}
	}
	return a.Report()
}

// Convict makes evidence of a proof that Report has given on all members.
func (w *World) Convict(f audit.Finding) (*evidence.Evidence, error) {
	var objects []evidence.Object
	for _, e := range f.Exhibits {
		raw, err := audit.Extract(w.List[e.Journal].Frames[e.Seq-1].Body, e)
		if err != nil {
			return nil, err
		}
		objects = append(objects, evidence.Object{Kind: e.Kind, Raw: raw})
	}
	cert, authorities := w.Trust(w.List...).Certificate(f.Accused)
	return evidence.New(w.Group.ID(), authorities, cert, objects[0], objects[1])
}
