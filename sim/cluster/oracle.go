package cluster

import (
	"fmt"
	"maps"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
)

type hop struct {
	token  ident.Token
	number uint64
}

// party is one incarnation of one member.
type party struct {
	member      ident.Member
	incarnation ident.Incarnation
}

// passage is a transfer that was signed and not answered.
type passage struct {
	hop    hop // of the custody that was given away
	to     party
	accept uint64
}

// claim is the number under which a transfer was taken or declined.
type claim struct {
	from   ident.Member
	accept uint64
}

// oracle is what the durable records of a member say, read without the
// member's own code. The guard holds what leaves against it.
type oracle struct {
	group       ident.Group
	incarnation ident.Incarnation
	accepts     uint64
	sequence    uint64
	floors      map[ident.Member]uint64
	settled     map[party]uint64
	held        map[hop]bool
	ever        map[hop]bool // custody that there was, whatever became of it
	sent        map[ident.Hash]passage
	signed      map[ident.Hash]passage // sent, whatever became of it
	taken       map[ident.Hash]claim
	voided      map[ident.Hash]claim
	started     map[ident.Grant]hop
}

func newOracle(g ident.Group) *oracle {
	l := &oracle{group: g}
	l.reset()
	return l
}

func (l *oracle) reset() {
	*l = oracle{
		// Numbers begin at 1 in an empty memory.
		group: l.group, accepts: 1, sequence: 1, floors: make(map[ident.Member]uint64), settled: make(map[party]uint64),
		held: make(map[hop]bool), ever: make(map[hop]bool),
		sent: make(map[ident.Hash]passage), signed: make(map[ident.Hash]passage), taken: make(map[ident.Hash]claim),
		voided: make(map[ident.Hash]claim), started: make(map[ident.Grant]hop),
	}
}

// apply adds one durable record. The error says what does not fit.
func (l *oracle) apply(r journal.Record) error {
	switch r := r.(type) {
	case *journal.Incarnation:
		l.reset()
		l.incarnation = r.Incarnation
	case *journal.Counters:
		if r.Accepts < l.accepts || r.Sequence < l.sequence {
			return fmt.Errorf("counters go back: %d, %d after %d, %d", r.Accepts, r.Sequence, l.accepts, l.sequence)
		}
		l.accepts, l.sequence = r.Accepts, r.Sequence
	case *journal.Floor:
		if r.Floor < l.floors[r.Offerer] {
			return fmt.Errorf("floor goes back: %d after %d", r.Floor, l.floors[r.Offerer])
		}
		l.floors[r.Offerer] = r.Floor
	case *journal.Settled:
		l.settled[party{r.Receiver, r.Incarnation}] = r.Below
	case *journal.Generated:
		_, id, err := token.PeekGenesis(l.group, r.Genesis)
		l.begin(hop{ident.Token(id), 0})
		return err
	case *journal.Started:
		l.started[r.Grant] = hop{r.Token, r.Hop}
	case *journal.Ended:
		delete(l.started, r.Grant)
	default:
		return l.custody(r)
	}
	return nil
}

func (l *oracle) custody(r journal.Record) error {
	switch r := r.(type) {
	case *journal.Held:
		b, h, err := token.PeekTransfer(l.group, r.Transfer)
		l.begin(hop{b.Token, b.Hop})
		if len(r.Void) == 0 {
			l.taken[h] = claim{b.From, b.Accept}
		}
		return err
	case *journal.Sent:
		return l.gave(r)
	case *journal.Closed:
		l.closed(hop{r.Token, r.Hop})
	case *journal.Reclaimed:
		l.closed(hop{r.Token, r.Hop - 1})
		l.begin(hop{r.Token, r.Hop})
	case *journal.Voided:
		b, h, err := token.PeekTransfer(l.group, r.Transfer)
		l.voided[h] = claim{b.From, b.Accept}
		return err
	case *journal.Dropped:
		for g, under := range l.started {
			if under == (hop{r.Token, r.Hop}) {
				return fmt.Errorf("hop %d is dropped while grant %v runs", r.Hop, g)
			}
		}
		delete(l.held, hop{r.Token, r.Hop})
	case *journal.Taken:
		if r.Declined {
			l.voided[r.Transfer] = claim{r.From, r.Accept}
		} else {
			l.taken[r.Transfer] = claim{r.From, r.Accept}
		}
	}
	return nil
}

func (l *oracle) begin(h hop) { l.held[h], l.ever[h] = true, true }

func (l *oracle) gave(r *journal.Sent) error {
	b, h, err := token.PeekTransfer(l.group, r.Transfer)
	if err != nil {
		return err
	}
	from := hop{b.Token, b.Hop - 1}
	if !l.held[from] {
		return fmt.Errorf("hop %d is given away without custody", b.Hop)
	}
	for g, under := range l.started {
		if under == from {
			return fmt.Errorf("hop %d is given away while grant %v runs", b.Hop, g)
		}
	}
	delete(l.held, from)
	to := party{b.To, b.Incarnation}
	if b.Accept < l.settled[to] {
		return fmt.Errorf("accept number %d is used, which was settled below %d", b.Accept, l.settled[to])
	}
	l.sent[h] = passage{from, to, b.Accept}
	l.signed[h] = l.sent[h]
	return nil
}

// closed ends a transfer. One that was given up counts as settled, too.
func (l *oracle) closed(h hop) {
	maps.DeleteFunc(l.sent, func(_ ident.Hash, p passage) bool { return p.hop == h })
}

// unsettled reports a transfer to a party, with a number below the given one,
// that was not answered.
func (l *oracle) unsettled(to party, below uint64) (hop, bool) {
	for _, p := range l.sent {
		if p.to == to && p.accept < below {
			return p.hop, true
		}
	}
	return hop{}, false
}

// same reports what a checkpoint has lost: both ledgers must allow the same.
func (l *oracle) same(o *oracle) error {
	switch {
	case l.incarnation != o.incarnation:
		return fmt.Errorf("another incarnation")
	case l.accepts != o.accepts || l.sequence != o.sequence:
		return fmt.Errorf("counters %d, %d were %d, %d", o.accepts, o.sequence, l.accepts, l.sequence)
	case !maps.Equal(l.floors, o.floors):
		return fmt.Errorf("other floors")
	case !maps.Equal(l.held, o.held):
		return fmt.Errorf("other custody")
	case !maps.Equal(l.sent, o.sent):
		return fmt.Errorf("other unanswered transfers")
	case !maps.Equal(l.started, o.started):
		return fmt.Errorf("other grants")
	case !maps.Equal(l.answerable(l.taken), o.answerable(o.taken)):
		return fmt.Errorf("other transfers to answer by a receipt")
	case !maps.Equal(l.answerable(l.voided), o.answerable(o.voided)):
		return fmt.Errorf("other transfers to answer by a void")
	}
	return nil
}

// answerable are those of the claims that no floor has forgotten.
func (l *oracle) answerable(claims map[ident.Hash]claim) map[ident.Hash]claim {
	above := maps.Clone(claims)
	maps.DeleteFunc(above, func(_ ident.Hash, c claim) bool { return c.accept < l.floors[c.from] })
	return above
}
