package cluster

import (
	"errors"
	"fmt"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/audit"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// guard stands at the door of a member: what leaves must stand on durable
// records (handoff rules §5).
type guard struct {
	oracle *oracle
	said   map[party]uint64 // promises that have left; a checkpoint must not forget them
	// before are the floors that the last sync has raised, as they were: what
	// leaves after a sync may have been decided before the floor was raised
	// in a later step of the same batch.
	before map[ident.Member]uint64
}

func newGuard(g ident.Group) *guard {
	return &guard{oracle: newOracle(g), said: make(map[party]uint64), before: make(map[ident.Member]uint64)}
}

// batch takes in the records that became durable together.
func (g *guard) batch(entries []audit.Entry) error {
	clear(g.before)
	var errs []error
	for _, e := range entries {
		if f, ok := e.Record.(*journal.Floor); ok {
			if old, known := g.oracle.floors[f.Offerer]; known && g.before[f.Offerer] == 0 {
				g.before[f.Offerer] = old
			}
		}
		errs = append(errs, g.apply(e.Record))
	}
	return errors.Join(errs...)
}

// apply adds a record that has become durable.
func (g *guard) apply(r journal.Record) error {
	if _, begins := r.(*journal.Incarnation); begins {
		clear(g.said)
	}
	return g.oracle.apply(r)
}

// sent checks one message to a peer.
func (g *guard) sent(to ident.Member, m wire.Message) error {
	l := g.oracle
	switch m := m.(type) {
	case *wire.Hello:
		if m.Incarnation != l.incarnation {
			return fmt.Errorf("HELLO with an incarnation that is not durable")
		}
		if m.Floor > l.floors[to] {
			return fmt.Errorf("HELLO with floor %d, durable is %d", m.Floor, l.floors[to])
		}
		return g.promised(to, m.Settled)
	case *wire.Offer:
		// A driver that syncs the records of several steps at once sends what
		// an earlier step said after a later one has given the token away.
		if !l.ever[hop{m.Token, m.Hop - 1}] {
			return fmt.Errorf("OFFER of hop %d without durable custody", m.Hop)
		}
		return g.promised(to, m.Settled)
	case *wire.Accept:
		return g.accepted(to, m)
	case *wire.Transfer:
		return g.gave(to, m)
	case *wire.Receipt:
		return g.answered(envelope.Receipt, m.Receipt, l.taken)
	case *wire.Void:
		return g.answered(envelope.Void, m.Void, l.voided)
	case *wire.Unknown:
		return g.unknown(m)
	}
	return nil
}

// unknown checks that UNKNOWN is not the answer to what is remembered.
func (g *guard) unknown(m *wire.Unknown) error {
	b, err := peekAnswer(g.oracle.group, envelope.Unknown, m.Unknown)
	if err != nil {
		return err
	}
	for _, decided := range []map[ident.Hash]claim{g.oracle.taken, g.oracle.voided} {
		if c, known := decided[b.Transfer]; known && c.accept >= g.oracle.floors[c.from] {
			return fmt.Errorf("UNKNOWN for a transfer of hop %d that was decided", b.Hop)
		}
	}
	return nil
}

func (g *guard) accepted(to ident.Member, m *wire.Accept) error {
	l := g.oracle
	floor, known := l.floors[to]
	if old, raised := g.before[to]; raised {
		floor = old
	}
	switch {
	case m.Incarnation != l.incarnation:
		return fmt.Errorf("ACCEPT with an incarnation that is not durable")
	case m.Accept >= l.accepts:
		return fmt.Errorf("ACCEPT number %d, durable are those below %d", m.Accept, l.accepts)
	case !known || m.Accept < floor:
		return fmt.Errorf("ACCEPT number %d, floor %d (known: %v)", m.Accept, floor, known)
	case m.Accept == 0:
		return fmt.Errorf("ACCEPT number 0, which says nothing")
	}
	return nil
}

// promised checks a promise: it is durable, and everything below is closed.
func (g *guard) promised(to ident.Member, s *wire.Settled) error {
	if s == nil {
		return nil
	}
	p := party{to, s.Incarnation}
	if durable := g.oracle.settled[p]; s.Below > durable {
		return fmt.Errorf("promise below %d, durable is %d", s.Below, durable)
	}
	if h, open := g.oracle.unsettled(p, s.Below); open {
		return fmt.Errorf("promise below %d, but the transfer from hop %d is not settled", s.Below, h.number)
	}
	g.said[p] = max(g.said[p], s.Below)
	return nil
}

func (g *guard) gave(to ident.Member, m *wire.Transfer) error {
	b, h, err := token.PeekTransfer(g.oracle.group, m.Transfer)
	if err != nil {
		return err
	}
	p, known := g.oracle.signed[h]
	switch {
	case !known:
		return fmt.Errorf("TRANSFER of hop %d without its durable record", b.Hop)
	case b.To != to:
		return fmt.Errorf("TRANSFER of hop %d to the wrong peer", b.Hop)
	case p.accept < g.said[p.to]:
		return fmt.Errorf("TRANSFER with accept number %d after the promise below %d", p.accept, g.said[p.to])
	}
	return nil
}

// answered checks that an answer's transfer is among the durable ones.
func (g *guard) answered(kind envelope.Kind, raw []byte, durable map[ident.Hash]claim) error {
	b, err := peekAnswer(g.oracle.group, kind, raw)
	if err != nil {
		return err
	}
	if _, known := durable[b.Transfer]; !known {
		return fmt.Errorf("%v of hop %d without its durable record", kind, b.Hop)
	}
	return nil
}

// granted checks that a grant is durable before its program starts.
func (g *guard) granted(e effect.Grant) error {
	if h, known := g.oracle.started[e.Grant]; !known || h != (hop{e.Token, e.Hop}) {
		return fmt.Errorf("grant without its durable record")
	}
	if !g.oracle.ever[hop{e.Token, e.Hop}] {
		return fmt.Errorf("grant without durable custody")
	}
	return nil
}

// answerLimits are generous: what is read here has been signed here.
var answerLimits = canonical.Limits{MaxBytes: 4 << 10, MaxDepth: 16, MaxItems: 64}

// peekReceipt is what a receipt says.
func peekReceipt(g ident.Group, raw []byte) (token.AnswerBody, error) {
	return peekAnswer(g, envelope.Receipt, raw)
}

func peekAnswer(g ident.Group, kind envelope.Kind, raw []byte) (token.AnswerBody, error) {
	var b token.AnswerBody
	u, err := envelope.Parse(envelope.Domain{Version: token.Version, Group: g, Kind: kind}, raw)
	if err == nil {
		err = canonical.Unmarshal(u.Payload(), &b, answerLimits)
	}
	return b, err
}
