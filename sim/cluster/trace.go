package cluster

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/member"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// tracer writes one line for everything that happens. Tokens, incarnations,
// openings and grants get short names in the order in which they appear.
type tracer struct {
	w       io.Writer
	group   ident.Group
	members map[ident.Member]string
	tokens  map[ident.Token]string
	incs    map[ident.Incarnation]string
	grants  map[ident.Grant]string
	opens   map[[token.TagSize]byte]string // by their tags: the numbers are those of clocks
	terse   bool                           // what is about the directory is left out
}

func newTracer(w io.Writer, g ident.Group) *tracer {
	return &tracer{
		w: w, group: g, members: make(map[ident.Member]string), tokens: make(map[ident.Token]string),
		incs: make(map[ident.Incarnation]string), grants: make(map[ident.Grant]string),
		opens: make(map[[token.TagSize]byte]string),
	}
}

func (t *tracer) line(now time.Duration, n *node, format string, args ...any) {
	who := "-"
	if n != nil {
		who = n.label()
	}
	fmt.Fprintf(t.w, "%11.6f %-3s %s\n", now.Seconds(), who, fmt.Sprintf(format, args...))
}

// hides reports whether messages of a type are left out.
func (t *tracer) hides(m wire.Type) bool {
	return t.terse && (m == wire.TypeWant || m == wire.TypeMembers || m == wire.TypeConfiguration)
}

// label is what a node is called in traces and scripts.
func (n *node) label() string {
	if n.place != n.name {
		return n.place
	}
	return n.name
}

func short[K comparable](names map[K]string, prefix string, k K) string {
	if names[k] == "" {
		names[k] = fmt.Sprintf("%s%d", prefix, len(names)+1)
	}
	return names[k]
}

func (t *tracer) token(id ident.Token) string             { return short(t.tokens, "t", id) }
func (t *tracer) incarnation(id ident.Incarnation) string { return short(t.incs, "i", id) }
func (t *tracer) opening(tag [token.TagSize]byte) string  { return short(t.opens, "o", tag) }
func (t *tracer) grant(id ident.Grant) string             { return short(t.grants, "g", id) }

func (t *tracer) member(id ident.Member) string {
	if t == nil {
		return id.Short()
	}
	if name := t.members[id]; name != "" {
		return name
	}
	if id.IsZero() {
		return "nobody"
	}
	return hex.EncodeToString(id[:4])
}

func (c *cluster) name(id ident.Member) string { return c.tracer.member(id) }

// hop writes a token and a hop.
func (t *tracer) hop(id ident.Token, k uint64) string { return fmt.Sprintf("%s/%d", t.token(id), k) }

func (t *tracer) settled(s *wire.Settled) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf(", settled %s below %d", t.incarnation(s.Incarnation), s.Below)
}

func carrying(certificates [][]byte) string {
	if len(certificates) == 0 {
		return ""
	}
	return fmt.Sprintf(", %d certificates", len(certificates))
}

// message describes a message.
func (t *tracer) message(m wire.Message) string {
	text := m.Type().String()
	switch m := m.(type) {
	case *wire.Hello:
		return text + fmt.Sprintf(" %s floor %d", t.incarnation(m.Incarnation), m.Floor) + t.settled(m.Settled) + t.shown(m.Shown)
	case *wire.Offer:
		return text + " " + t.hop(m.Token, m.Hop) + t.settled(m.Settled) + carrying(m.Certificates)
	case *wire.Need:
		return text + " " + t.hop(m.Token, m.Hop) + " of " + t.list(m.Members)
	case *wire.Accept:
		return text + fmt.Sprintf(" %s %s#%d", t.hop(m.Token, m.Hop), t.incarnation(m.Incarnation), m.Accept)
	case *wire.Refuse:
		return text + fmt.Sprintf(" %s: %v", t.hop(m.Token, m.Hop), m.Reason)
	case *wire.Cancel:
		return text + fmt.Sprintf(" %s %s#%d", t.hop(m.Token, m.Hop), t.incarnation(m.Incarnation), m.Accept)
	case *wire.Transfer:
		return text + " " + t.transfer(m.Transfer) + carrying(m.Certificates)
	case *wire.Receipt:
		return text + " " + t.answer(envelope.Receipt, m.Receipt)
	case *wire.Void:
		return text + " " + t.answer(envelope.Void, m.Void)
	case *wire.Unknown:
		return text + " " + t.answer(envelope.Unknown, m.Unknown)
	case *wire.Members:
		return text + fmt.Sprintf(" %d entries", len(m.Entries))
	}
	return text
}

func (t *tracer) list(members []ident.Member) string {
	var names []string
	for _, m := range members {
		names = append(names, t.member(m))
	}
	return strings.Join(names, " ")
}

func (t *tracer) transfer(raw []byte) string {
	b, _, err := token.PeekTransfer(t.group, raw)
	if err != nil {
		return "malformed"
	}
	void := ""
	if b.Void != nil {
		void = " after a void"
	}
	return fmt.Sprintf("%s %s>%s %s#%d%s", t.hop(b.Token, b.Hop), t.member(b.From), t.member(b.To),
		t.incarnation(b.Incarnation), b.Accept, void)
}

func (t *tracer) answer(kind envelope.Kind, raw []byte) string {
	b, err := peekAnswer(t.group, kind, raw)
	if err != nil {
		return "malformed"
	}
	return fmt.Sprintf("%s by %s %s", t.hop(b.Token, b.Hop), t.member(b.Signer), t.incarnation(b.Incarnation))
}

// record describes a journal record.
func (t *tracer) record(r journal.Record) string {
	text := r.Kind().String()
	switch r := r.(type) {
	case *journal.Known:
		return text + " " + r.What.String()
	case *journal.Incarnation:
		return text + " " + t.incarnation(r.Incarnation)
	case *journal.Opened:
		return fmt.Sprintf("opened %s, record %d", t.opening(r.Tag), r.Serial)
	case *journal.Counters:
		return text + fmt.Sprintf(" accepts %d, sequence %d", r.Accepts, r.Sequence)
	case *journal.Floor:
		return text + fmt.Sprintf(" of %s %d", t.member(r.Offerer), r.Floor)
	case *journal.Settled:
		return text + fmt.Sprintf(" to %s %s below %d", t.member(r.Receiver), t.incarnation(r.Incarnation), r.Below)
	case *journal.Generated:
		if body, id, err := token.PeekGenesis(t.group, r.Genesis); err == nil {
			return text + " " + t.hop(ident.Token(id), 0) + " of " + body.Resource
		}
	case *journal.Held:
		return text + " " + t.transfer(r.Transfer)
	case *journal.Sent:
		return text + " " + t.transfer(r.Transfer)
	case *journal.Voided:
		return text + " " + t.transfer(r.Transfer)
	case *journal.Closed:
		return text + " " + t.hop(r.Token, r.Hop)
	case *journal.Reclaimed:
		return text + " " + t.hop(r.Token, r.Hop)
	case *journal.Dropped:
		return text + " " + t.hop(r.Token, r.Hop)
	case *journal.Started:
		return text + " " + t.grant(r.Grant) + " under " + t.hop(r.Token, r.Hop)
	case *journal.Ended:
		return text + " " + t.grant(r.Grant)
	case *journal.Evidence:
		return text + " against " + t.member(r.Accused) + ": " + r.What
	case *journal.Complained:
		if b, _, err := token.PeekComplaint(t.group, r.Complaint); err == nil {
			return fmt.Sprintf("%s about %s, %s: %v, %v", text, t.member(b.Accused), t.hop(b.Token, b.Hop), policy.Measure(b.Measure), policy.Cause(b.Cause))
		}
	}
	return text
}

// input describes an input; ticks and what is not to be shown are empty.
func (t *tracer) input(in member.Input) string {
	switch in := in.(type) {
	case member.Received:
		m, err := wire.Decode(in.Body)
		if err != nil {
			return fmt.Sprintf("recv garbage from %s", t.member(in.From))
		}
		if t.hides(m.Type()) {
			return ""
		}
		return fmt.Sprintf("recv %s from %s", t.message(m), t.member(in.From))
	case member.Connected:
		return "connected with " + t.member(in.Certificate.Member())
	case member.Unreachable:
		return "unreachable: " + t.member(in.Peer)
	case member.Disconnected:
		return "disconnected: " + t.member(in.Peer)
	case member.Ended:
		return fmt.Sprintf("told that %s ended (ran: %v)", t.grant(in.Grant), in.Operated)
	case member.Shutdown:
		return "shutdown"
	case member.Leave:
		return "leave"
	case member.Announce:
		if !t.terse {
			return fmt.Sprintf("listens on %v", in.Addresses)
		}
	}
	return ""
}

// shown is what a HELLO shows of its receiver.
func (t *tracer) shown(s *wire.Shown) string {
	if s == nil {
		return ""
	}
	var e canonical.Extensions
	switch s.Kind {
	case wire.ShownGenesis:
		b, _, _ := token.PeekGenesis(t.group, s.Object)
		e = b.Extensions
	case wire.ShownTransfer:
		b, _, _ := token.PeekTransfer(t.group, s.Object)
		e = b.Extensions
	case wire.ShownReceipt:
		b, _, _ := token.PeekAnswer(t.group, token.Receipt, s.Object)
		e = b.Extensions
	case wire.ShownVoid:
		b, _, _ := token.PeekAnswer(t.group, token.Void, s.Object)
		e = b.Extensions
	}
	p := token.PositionOf(e)
	return fmt.Sprintf(", shows record %d of opening %s", p.Serial, t.opening(p.Tag))
}
