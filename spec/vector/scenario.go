package vector

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// Scenario is a durable member that is restored from a journal, what happens to
// it, and what it has to do. The README says how to compare.
type Scenario struct {
	Name         string   `json:"name"`
	Description  string   `json:"description"`
	Requirements []string `json:"requirements"`
	Class        string   `json:"class"`
	Member       string   `json:"member"` // who is put to the test, as keys.json calls it
	// Start is the clock at the beginning, in milliseconds since 1970.
	Start   uint64  `json:"start"`
	Journal []Bytes `json:"journal"` // bodies of the record frames, oldest first
	Steps   []Step  `json:"steps"`
}

// What can happen to a member.
const (
	Connected   = "connected"   // a connection with a peer is open
	Received    = "received"    // a message of the peer
	Unreachable = "unreachable" // the peer cannot be reached
	Shutdown    = "shutdown"    // the operator ends the member, in order
	Restart     = "restart"     // the process is killed and started again
	Waited      = "waited"      // time has passed
)

// Step is one thing that happens, and what follows from it.
type Step struct {
	Description string `json:"description"`
	After       uint64 `json:"after,omitempty"` // milliseconds since the step before, in which the member's timers run
	Event       string `json:"event"`
	Peer        string `json:"peer,omitempty"`
	Message     Bytes  `json:"message,omitempty"` // the body of a frame
	// Effects are the custody records and the answers that follow, in order.
	Effects []Effect `json:"effects"`
	// May names messages that may be sent besides, any number of times: what is
	// due to be repeated, at times that each implementation chooses.
	May []string `json:"may,omitempty"`
}

// Effect is one thing that a member does: it writes a record, or sends a
// message. A field that is empty is not compared.
type Effect struct {
	Record  string `json:"record,omitempty"` // its name in journal.cddl
	Durable bool   `json:"durable,omitempty"`
	Send    string `json:"send,omitempty"` // the message's name
	To      string `json:"to,omitempty"`
	Token   Bytes  `json:"token,omitempty"`
	Hop     uint64 `json:"hop,omitempty"`
	Reason  uint64 `json:"reason,omitempty"` // of a REFUSE
	Object  Bytes  `json:"object,omitempty"` // the signed object that the record or message is about
}

func (s *Scenario) validate() error {
	if len(s.Steps) > maxSteps || len(s.Journal) > maxSteps {
		return fmt.Errorf("%w: more than %d steps or records", ErrFile, maxSteps)
	}
	for _, step := range s.Steps {
		if !slices.Contains([]string{Connected, Received, Unreachable, Shutdown, Restart, Waited}, step.Event) {
			return fmt.Errorf("%w: event %q", ErrObject, step.Event)
		}
		if step.After > maxAfter {
			return fmt.Errorf("%w: a step after %d ms, at most %d", ErrFile, step.After, maxAfter)
		}
	}
	return nil
}

// subject is a member that is put to the test.
type subject struct {
	*member.Member
	world   *world
	config  member.Config
	past    []journal.Stamped
	now     clock.Reading
	effects []effect.Effect
}

func (s *Scenario) check(w *world) error {
	x, err := newSubject(w, s)
	if err != nil {
		return err
	}
	for i, step := range s.Steps {
		if err := x.do(step); err != nil {
			return fmt.Errorf("step %d (%s): %w", i+1, step.Description, err)
		}
	}
	return nil
}

func newSubject(w *world, s *Scenario) (*subject, error) {
	cert, err := w.certificate(s.Member)
	if err != nil {
		return nil, err
	}
	g, err := w.makeGroup()
	if err != nil {
		return nil, err
	}
	x := &subject{
		world: w, now: clock.Reading{Boot: clock.Instant(time.Hour), Wall: clock.FromMillis(s.Start)},
		config: member.Config{
			Group: g, Certificate: cert, Key: w.parties[s.Member].private, Durable: true, Machine: "vectors", Boot: "1",
			NoRecall: true,
		},
	}
	for _, body := range s.Journal {
		at, record, err := journal.Decode(body)
		if err != nil {
			return nil, err
		}
		x.past = append(x.past, journal.Stamped{At: at, Record: record})
	}
	return x, x.restart()
}

// certificate is the certificate of a member, by its name.
func (w *world) certificate(name string) (certificate.Certificate, error) {
	p := w.parties[name]
	if p == nil || p.Authority {
		return certificate.Certificate{}, fmt.Errorf("%w: there is no member %q", ErrParties, name)
	}
	return certificate.Parse(w.group, p.Certificate, w.cas())
}

// makeGroup is the group as keys.json has it.
func (w *world) makeGroup() (*group.Group, error) {
	var list []group.Authority
	for _, p := range w.files.Parties {
		if p.Authority && p.Known {
			a, err := group.ParseAuthority(w.group, p.Certificate, w.cas())
			if err != nil {
				return nil, err
			}
			list = append(list, a)
		}
	}
	c, err := group.ParseConfig(w.group, w.files.Configuration, w.cas())
	if err != nil {
		return nil, err
	}
	return group.New(list, c)
}

func (x *subject) restart() error {
	m, effects, err := member.Restore(x.config, x.past, x.now)
	x.Member = m
	x.collect(effects)
	return err
}

// collect keeps effects for the comparison, and writes what is persisted into
// the journal.
func (x *subject) collect(effects []effect.Effect) {
	for _, e := range effects {
		if p, ok := e.(effect.Persist); ok {
			x.past = append(x.past, journal.Stamped{At: p.At, Record: p.Record})
		}
	}
	x.effects = append(x.effects, effects...)
}

// wait advances the clock. Each timer of the member fires at its own instant, as
// it does in a process: an unanswered transfer is repeated as often as it is due.
func (x *subject) wait(span time.Duration) error {
	end := x.now.Boot.Add(span)
	for range maxTimers {
		due := max(x.NextDeadline(), x.now.Boot)
		if due >= end {
			x.advance(end)
			return nil
		}
		x.advance(due)
		x.step(member.Tick{})
	}
	return fmt.Errorf("more than %d timers fired within %v", maxTimers, span)
}

func (x *subject) advance(to clock.Instant) {
	span := to.Sub(x.now.Boot)
	x.now.Boot, x.now.Wall = to, x.now.Wall.Add(span)
}

// do performs one step.
func (x *subject) do(step Step) error {
	x.effects = x.effects[:0]
	if err := x.wait(clock.Millis(step.After)); err != nil {
		return err
	}
	var cert certificate.Certificate
	if step.Peer != "" {
		var err error
		if cert, err = x.world.certificate(step.Peer); err != nil {
			return err
		}
	}
	switch step.Event {
	case Restart:
		if err := x.restart(); err != nil {
			return err
		}
	case Shutdown:
		x.step(member.Shutdown{})
	case Waited:
		x.step(member.Tick{})
	default:
		if cert.IsZero() {
			return fmt.Errorf("%w: the step names no peer", ErrParties)
		}
		x.step(fromPeer(step, cert))
	}
	return x.compare(step)
}

// fromPeer is what comes from a peer, or what becomes known of it.
func fromPeer(step Step, cert certificate.Certificate) member.Input {
	switch step.Event {
	case Connected:
		return member.Connected{Certificate: cert}
	case Unreachable:
		return member.Unreachable{Peer: cert.Member(), Silent: true}
	}
	return member.Received{From: cert.Member(), Body: step.Message}
}

func (x *subject) step(in member.Input) { x.collect(x.Step(x.now, in)) }

// compare checks that the member did what the step wants, in its order, and
// nothing else of the kind. A message that the step permits besides may stand
// anywhere.
func (x *subject) compare(step Step) error {
	want := step.Effects
	for _, e := range x.effects {
		d, watched := x.describe(e)
		listed := func(w Effect) bool { return d.Send != "" && w.Send == d.Send }
		if !watched && !slices.ContainsFunc(step.Effects, listed) {
			continue
		}
		if d.Send == wire.TypeTransfer.String() && !x.journalled(d.Object) {
			return fmt.Errorf("sent a transfer that no record has: %v", d)
		}
		switch {
		case len(want) > 0 && want[0].matches(d):
			want = want[1:]
		case slices.Contains(step.May, d.Send):
		case len(want) == 0:
			return fmt.Errorf("did, and should not: %v", d)
		default:
			return fmt.Errorf("did %v instead of %v", d, want[0])
		}
	}
	if len(want) > 0 {
		return fmt.Errorf("did not do: %v", want[0])
	}
	return nil
}

// journalled reports whether a record "sent" has this transfer: one that is
// repeated has to be the same one.
func (x *subject) journalled(transfer []byte) bool {
	return slices.ContainsFunc(x.past, func(s journal.Stamped) bool {
		sent, ok := s.Record.(*journal.Sent)
		return ok && bytes.Equal(sent.Transfer, transfer)
	})
}

// matches compares what is given.
func (want Effect) matches(did Effect) bool {
	return want.Record == did.Record && want.Send == did.Send &&
		(!want.Durable || did.Durable) &&
		(want.To == "" || want.To == did.To) &&
		(want.Token == nil || bytes.Equal(want.Token, did.Token)) &&
		(want.Hop == 0 || want.Hop == did.Hop) &&
		(want.Reason == 0 || want.Reason == did.Reason) &&
		(want.Object == nil || bytes.Equal(want.Object, did.Object))
}

func (e Effect) String() string {
	if e.Record != "" {
		return fmt.Sprintf("write %s (durable: %t) of %x", e.Record, e.Durable, []byte(e.Object))
	}
	return fmt.Sprintf("send %s to %s, token %x, hop %d, reason %d, of %x", e.Send, e.To, []byte(e.Token), e.Hop, e.Reason, []byte(e.Object))
}

// describe is an effect in the words of the vectors, and whether it is one of
// those that a scenario always lists.
func (x *subject) describe(e effect.Effect) (d Effect, watched bool) {
	switch e := e.(type) {
	case effect.Persist:
		d = describeRecord(e.Record)
		d.Durable = e.Sync
		return d, d.Record != ""
	case effect.Send:
		d = describeMessage(e.Message)
		d.To = x.world.byID[e.To]
		switch m := e.Message.(type) {
		case *wire.Receipt:
			d.Object = x.withoutPosition(token.Receipt, m.Receipt)
		case *wire.Void:
			d.Object = x.withoutPosition(token.Void, m.Void)
		}
		switch e.Message.(type) {
		case *wire.Need, *wire.Accept, *wire.Refuse, *wire.Transfer, *wire.Receipt, *wire.Void, *wire.Unknown:
			return d, true
		}
	}
	return d, false
}

// withoutPosition is an answer of the member as it would have signed it without the
// extension that says where in its journal, which nobody else can foresee.
func (x *subject) withoutPosition(v token.Verdict, raw []byte) []byte {
	u, err := token.Open(x.world.group, verdictKinds[v], raw)
	if err == nil {
		_, err = u.Verify(x.config.Key.Public())
	}
	if err != nil {
		return raw
	}
	body, err := token.ReadAnswer(u)
	if err != nil {
		return raw
	}
	body.Extensions = canonical.Extensions{}
	plain, err := body.Sign(x.world.group, v, x.config.Key)
	if err != nil {
		return raw
	}
	return plain.Raw()
}

var verdictKinds = map[token.Verdict]envelope.Kind{token.Receipt: envelope.Receipt, token.Void: envelope.Void}

// describeRecord describes a record that decides about custody, or is evidence.
func describeRecord(r journal.Record) Effect {
	switch r := r.(type) {
	case *journal.Generated:
		return Effect{Record: "generated", Object: r.Genesis}
	case *journal.Held:
		return Effect{Record: "held", Object: r.Transfer}
	case *journal.Sent:
		return Effect{Record: "sent", Object: r.Transfer}
	case *journal.Closed:
		return Effect{Record: "closed", Token: r.Token[:], Hop: r.Hop, Object: r.Receipt}
	case *journal.Reclaimed:
		return Effect{Record: "reclaimed", Token: r.Token[:], Hop: r.Hop, Object: r.Void}
	case *journal.Voided:
		return Effect{Record: "voided", Object: r.Transfer}
	case *journal.Dropped:
		return Effect{Record: "dropped", Token: r.Token[:], Hop: r.Hop}
	case *journal.Evidence:
		return Effect{Record: "evidence"}
	}
	return Effect{}
}

func describeMessage(m wire.Message) Effect {
	d := Effect{Send: m.Type().String()}
	switch m := m.(type) {
	case *wire.Offer:
		d.Token, d.Hop = m.Token[:], m.Hop
	case *wire.Need:
		d.Token, d.Hop = m.Token[:], m.Hop
	case *wire.Accept:
		d.Token, d.Hop = m.Token[:], m.Hop
	case *wire.Refuse:
		d.Token, d.Hop, d.Reason = m.Token[:], m.Hop, uint64(m.Reason)
	case *wire.Transfer:
		d.Object = m.Transfer
	case *wire.Unknown:
		d.Object = m.Unknown
	}
	return d
}
