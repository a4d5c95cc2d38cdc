package audit

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
)

// session is one session at a gate. Times are by the gate's clock.
type session struct {
	number, slot uint64
	member       ident.Member
	hop          hop
	title        ident.Hash
	in           RecordRef // of the record of its begin
	part         int       // of the journal
	floor        uint64    // of that part: the numbers up to it may be those of sessions in the gap before
	from, to     uint64    // to is when the slot had settled behind it; lastTime if nothing tells
	ended        bool
	before       *session // at the slot
	waited       uint64   // for how long its member had the token while that one was open under another; 0: it did not wait
}

// gateBook is what one gate's journal says.
type gateBook struct {
	*Reader
	resource string
	sessions []*session
	open     map[uint64]*session // by slot
	last     map[uint64]*session // the latest one of each slot
	highest  uint64              // number of a session so far
	part     int                 // how many gaps there were
	floor    uint64              // what the checkpoint behind the last one says: no session has a higher number so far
	byNumber []*session          // the sessions in the order of their numbers, once that was asked for
	answers  int                 // of the gate, in the members' journals
	begun    uint64              // floor of a journal that begins without sessions
	told     map[custodyKey]bool // custodies with a session that the gate has signed and its journal need not have
}

// custodyKey is a custody of one member.
type custodyKey struct {
	member ident.Member
	hop
}

// Gate returns a Reader for the journal of a gate, which stands before a resource (Trust.GateOf).
func (a *Auditor) Gate(m ident.Member, resource string) *Reader {
	r := a.in.reader(m)
	r.gate = &gateBook{Reader: r, resource: resource, open: make(map[uint64]*session), last: make(map[uint64]*session), told: make(map[custodyKey]bool)}
	a.in.gates = append(a.in.gates, r.gate)
	return r
}

// record takes in one record of the gate.
func (g *gateBook) record(at uint64, rec gate.Record, carried bool) {
	at = min(at, lastTime)
	g.now = at
	if carried {
		if g.before != nil {
			g.carry(at, rec)
		}
		return
	}
	g.cover(at)
	switch r := rec.(type) {
	case *gate.BeginRecord:
		if len(g.sessions) == 0 {
			g.begun = r.Floor
		}
	case *gate.OpeningRecord:
		if s := g.open[r.Slot]; s != nil {
			g.find(TwoSessions, r.Token, r.Hop, fmt.Sprintf("session %d begins while session %d is open at slot %d", r.Session, s.number, r.Slot), g.member)
		}
		if r.Session <= g.highest {
			g.find(TwoSessions, r.Token, r.Hop, fmt.Sprintf("session %d begins after session %d", r.Session, g.highest), g.member)
		}
		g.begin(&session{
			number: r.Session, slot: r.Slot, member: r.Member, hop: hop{r.Token, r.Hop}, title: r.Title, from: at, in: g.ref(),
		})
	case *gate.ClosedRecord:
		if s := g.open[r.Slot]; s != nil && s.number == r.Session {
			s.to, s.ended = max(at, s.from), true
			delete(g.open, r.Slot)
		}
	}
}

// carry takes in a record of the checkpoint behind a gap, which has the last session of each place, and whether it is over.
func (g *gateBook) carry(at uint64, rec gate.Record) {
	switch r := rec.(type) {
	case *gate.BeginRecord:
		g.floor, g.highest = r.Floor, max(g.highest, r.Floor)
	case *gate.ContinuedRecord:
		if g.open[r.Slot] == nil {
			g.begin(&session{
				number: r.Session, slot: r.Slot, member: r.Member, hop: hop{r.Token, r.Hop}, title: r.Title, from: at, in: g.ref(),
			})
		}
	case *gate.ClosedRecord:
		if s := g.open[r.Slot]; s != nil && s.number == r.Session {
			s.to, s.ended = s.from, true
			delete(g.open, r.Slot)
		}
	}
}

// carried reports whether a checkpoint has a session behind the gap in which it began.
func (s *session) carried() bool { return s.number <= s.floor }

func (g *gateBook) begin(s *session) {
	s.to, s.part, s.floor = lastTime, g.part, g.floor
	g.highest = max(g.highest, s.number)
	s.before = g.last[s.slot]
	g.open[s.slot], g.last[s.slot] = s, s
	g.sessions = append(g.sessions, s)
}

// interrupt is told that records are missing: what was open may have ended there.
func (g *gateBook) interrupt() {
	clear(g.open)
	clear(g.last)
	g.part++
	g.floor = 0
}

// coversAll reports whether the gate's journal has all of a time by the clock of another, which may be Skew apart.
func (g *gateBook) coversAll(from, to uint64) bool {
	return slices.ContainsFunc(g.spans, func(s span) bool { return s.from+g.Skew <= from && to+g.Skew <= s.to })
}

// checkGates compares what gates say with what their members say.
func (j *judge) checkGates() {
	j.checkWords()
	if len(j.gates) == 0 {
		return
	}
	custodies := make(map[custodyKey]*Custody)
	for _, c := range j.custodies {
		custodies[custodyKey{c.Member, hop{c.Token, c.Hop}}] = c
	}
	for _, g := range j.gates {
		had := make(map[custodyKey]bool)
		for _, s := range g.sessions {
			k := custodyKey{s.member, s.hop}
			had[k] = true
			j.checkSession(g, s, custodies[k])
			j.checkBegin(g, s)
		}
		observed := j.trust.observed(g.resource)
		for i := range j.operations {
			o := &j.operations[i]
			if o.resource != g.resource || observed || had[custodyKey{o.member, o.hop}] || g.told[custodyKey{o.member, o.hop}] || !g.coversAll(o.from, o.to) {
				continue
			}
			j.add(Finding{
				Kind: NoSession, Token: o.hop.token, Hop: o.hop.number, Members: []ident.Member{o.member}, At: o.from,
				Records: refs(o.in), Detail: "a program ran, and the gate of its resource had no session of it",
			})
		}
		j.report.Gates = append(j.report.Gates, g.sum())
	}
	slices.SortStableFunc(j.report.Gates, func(x, y Gate) int { return cmp.Compare(x.Resource, y.Resource) })
}

// checkSession compares one session with the custody under which it was.
func (j *judge) checkSession(g *gateBook, s *session, c *Custody) {
	find := func(k Kind, detail string, of ...RecordRef) {
		j.add(Finding{
			Kind: k, Token: s.hop.token, Hop: s.hop.number, Members: []ident.Member{g.member, s.member}, At: s.from,
			Records: refs(append(of, s.in)...), Detail: detail,
		})
	}
	if t := j.transfers[s.title]; t != nil && t.read && t.to != s.member && t.from != s.member {
		find(NoTitle, "the transfer of this session names another member", t.shown.RecordRef)
	}
	switch {
	case c != nil:
		s.wait(g, c)
	case !s.carried() && j.covers(s.member, s.from, s.from):
		find(NoCustody, "the member's journal has no custody of this token and hop")
	}
}

// checkBegin finds a session that begins outside the windows by its gate's journal.
func (j *judge) checkBegin(g *gateBook, s *session) {
	if at := time.UnixMicro(int64(s.from)).UTC(); !s.carried() && !j.trust.permits(g.resource, at, at) {
		j.add(Finding{
			Kind: ShutGate, Token: s.hop.token, Hop: s.hop.number, Members: []ident.Member{g.member}, At: s.from, Records: refs(s.in),
			Detail: fmt.Sprintf("session %d begins at %s", s.number, at.Format(time.RFC3339)),
		})
	}
}

// wait notes that the session's member had its token while the session before was open, under another token. Without the
// gate both could have run.
func (s *session) wait(g *gateBook, c *Custody) {
	o, begin := s.before, c.Begin+g.Skew
	if o != nil && o.ended && o.hop.token != s.hop.token && o.from <= begin && begin < o.to {
		s.waited = o.to - begin
	}
}

// Gate is what a gate's journal says.
type Gate struct {
	Gate     ident.Member
	Resource string
	Spans    []Span // what its journal covers
	Sessions int
	Open     int    // of these, without an end in the journal
	Answers  int    // of the gate in members' journals, each once
	Members  int    // that had a session
	Length   uint64 // of all sessions that ended, from the begin to the settled slot
	// Prevented counts the sessions whose member had its token already while the session of another token was open at
	// the slot, and PreventedFor sums for how long, with clocks Skew apart: without a gate the programs could have
	// run at once.
	Prevented    int
	PreventedFor uint64
}

func (g *gateBook) sum() Gate {
	sum := Gate{Gate: g.member, Resource: g.resource, Spans: g.covered(), Sessions: len(g.sessions), Answers: g.answers}
	members := make(map[ident.Member]bool)
	for _, s := range g.sessions {
		members[s.member] = true
		if s.ended {
			sum.Length += s.to - s.from
		} else {
			sum.Open++
		}
		if s.waited > 0 {
			sum.Prevented++
			sum.PreventedFor += s.waited
		}
	}
	sum.Members = len(members)
	return sum
}
