package audit

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
)

// maxPerKind is how many findings of one kind are kept of journals that
// strangers wrote: nobody reads more, and hostile ones could fill the memory.
// The others are counted.
const maxPerKind = 1000

// auditor is the books of one audit.
type auditor struct {
	Options
	group     ident.Group
	trust     *Trust
	parallel  Runner
	random    io.Reader
	oneByOne  bool
	queue     []item
	fresh     map[print]*object // that the queue holds for the first time
	readers   []*Reader
	journals  map[ident.Member][]*Reader
	memories  map[ident.Incarnation]*memory
	transfers map[ident.Hash]*transfer
	prints    map[print]*transfer
	geneses   map[print]ident.Token // that have verified
	others    map[print]bool        // endpoint records, failures and complaints that have verified
	tokens    map[ident.Token]*genesis
	voids     map[ident.Hash]void
	founded   map[slot][]founding
	accused   map[ident.Member]*Complaints
	custodies []*Custody
	// operations are what the journals record, and unseen the times at which more may
	// have run.
	operations []operation
	unseen     []stretch
	failed     map[ident.Member]uint64 // when it was stated so last, by the witness's clock, ms since 1970
	hubs       []ident.Member          // with whose clocks those of others are compared
	alone      map[once]int            // findings, by their index, that are reported once for each member
	counts     map[Kind]int
	clocks     map[pair]*Clocks
	report     *Report
}

// Auditor reads many journals and reports. It is not safe for concurrent use; the
// tasks that it gives to Options.Parallel are its own business.
type Auditor struct{ *auditor }

// New begins an audit of a group's journals. Options.Trust must be given, and be
// settled.
func New(group ident.Group, o Options) *Auditor { return &Auditor{newAuditor(group, o)} }

func newAuditor(group ident.Group, o Options) *auditor {
	a := &auditor{
		Options: o, group: group, trust: o.Trust, parallel: o.Parallel, random: o.Random, oneByOne: o.OneByOne,
		journals:  make(map[ident.Member][]*Reader),
		memories:  make(map[ident.Incarnation]*memory),
		transfers: make(map[ident.Hash]*transfer),
		prints:    make(map[print]*transfer),
		geneses:   make(map[print]ident.Token),
		others:    make(map[print]bool),
		tokens:    make(map[ident.Token]*genesis),
		voids:     make(map[ident.Hash]void),
		founded:   make(map[slot][]founding),
		failed:    make(map[ident.Member]uint64),
		accused:   make(map[ident.Member]*Complaints),
		alone:     make(map[once]int),
		counts:    make(map[Kind]int),
		report:    &Report{Unverified: make(map[ident.Member]int), More: make(map[Kind]int)},
	}
	if a.parallel == nil {
		a.parallel = inTurn
	}
	if a.random == nil {
		a.random = nothing{}
	}
	return a
}

// nothing is a source without random bytes.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }

// Check audits whole journals of members that share a clock, without verifying
// signatures: for who has written them himself, as a simulator has. It needs as
// much memory as the journals and is safe for concurrent use.
func Check(group ident.Group, journals []Journal, o Options) *Report {
	o.Trust = nil
	a := newAuditor(group, o)
	for _, j := range journals {
		r := a.journal(j.Member)
		for _, e := range j.Entries {
			r.seq = e.Seq
			r.record(e, false, a.peek(e.Record))
		}
	}
	return a.finish()
}

// peek reads the objects that custody rests on.
func (a *auditor) peek(r journal.Record) []object {
	switch r.(type) {
	case *journal.Generated, *journal.Held, *journal.Sent, *journal.Voided:
	default:
		return nil
	}
	list := signed(r)[:1]
	a.readObject(&list[0])
	return list
}

// Journal begins the journal of a member: all of it goes through the Reader, in
// its order.
func (a *Auditor) Journal(m ident.Member) *Reader { return a.journal(m) }

func (a *auditor) journal(m ident.Member) *Reader {
	r := &Reader{auditor: a, member: m, Index: len(a.readers)}
	a.readers = append(a.readers, r)
	a.journals[m] = append(a.journals[m], r)
	return r
}

// Report ends the audit.
func (a *Auditor) Report() *Report {
	a.flush()
	return a.finish()
}

// partial reports whether journals may lack something, and have their own
// clocks.
func (a *auditor) partial() bool { return a.trust != nil }

// finish compares what the journals say.
func (a *auditor) finish() *Report {
	order := slices.SortedFunc(maps.Values(a.transfers), func(x, y *transfer) int {
		return cmp.Or(x.token.Compare(y.token), cmp.Compare(x.hop, y.hop), x.from.Compare(y.from),
			slices.Compare(x.previous[:], y.previous[:]), slices.Compare(x.hash[:], y.hash[:]))
	})
	if a.partial() {
		a.measureClocks(order)
	}
	a.checkTransfers(order)
	a.checkForks(order)
	a.checkTokens()
	for _, r := range a.readers {
		r.unended(r.grants)
	}
	a.sortCustodies()
	recorded := make(map[ident.Token]bool)
	for start := 0; start < len(a.custodies); {
		end := start + 1
		for end < len(a.custodies) && a.custodies[end].Token == a.custodies[start].Token {
			end++
		}
		one := a.custodies[start:end]
		a.checkOverlap(one)
		a.report.Tokens = append(a.report.Tokens, a.fate(one))
		if a.partial() {
			recorded[one[0].Token] = true
			a.unseen = append(a.unseen, a.unseenOf(one[0].Token, one)...)
		}
		start = end
	}
	for _, c := range a.custodies {
		a.report.Custodies = append(a.report.Custodies, *c)
	}
	a.report.tokens = a.tokens
	if a.partial() {
		for token := range a.tokens {
			if !recorded[token] {
				a.unseen = append(a.unseen, a.unseenOf(token, nil)...)
			}
		}
		a.sumComplaints()
		a.sumUp()
	}
	return a.report
}

func (a *auditor) sortCustodies() {
	slices.SortFunc(a.custodies, func(x, y *Custody) int {
		return cmp.Or(x.Token.Compare(y.Token), cmp.Compare(x.Begin, y.Begin), cmp.Compare(x.Hop, y.Hop))
	})
}

// checkOverlap looks for custodies of one token, in order of their begin, of
// which one begins before another has ended.
func (a *auditor) checkOverlap(one []*Custody) {
	last := one[0]
	for _, c := range one[1:] {
		end := a.endOf(last)
		if !a.follows(last, c) && !a.follows(c, last) && a.surely(last.Member, end, c) && a.surely(c.Member, a.endOf(c), last) {
			a.add(Finding{
				Kind: Overlap, Token: c.Token, Hop: c.Hop, Members: []ident.Member{last.Member, c.Member}, At: c.Begin,
				Records: places(last.Place, c.Place), Detail: a.describeOverlap(last, end, c),
			})
		}
		if a.endOf(c) > a.endOf(last) {
			last = c
		}
	}
}

// surely reports whether a custody began before another member's ended, for any
// difference that their clocks can have had.
func (a *auditor) surely(m ident.Member, end uint64, c *Custody) bool {
	return end > c.Begin && int64(min(end, lastTime))-int64(c.Begin)+a.leadOf(m, c.Member, end).least > 0
}

func (a *auditor) describeOverlap(last *Custody, end uint64, c *Custody) string {
	if a.partial() {
		return fmt.Sprintf("hop %d of member %s for %v more", last.Hop, last.Member.Short(), micros(end-c.Begin))
	}
	return fmt.Sprintf("hop %d of member %s from %d to %s, hop %d of member %s from %d",
		last.Hop, last.Member.Short(), last.Begin, until(last.End), c.Hop, c.Member.Short(), c.Begin)
}

func until(at uint64) string {
	if at == Forever {
		return "now"
	}
	return fmt.Sprint(at)
}

// follows reports whether a custody was given by the one who had the other, so
// that no two clocks have to be compared to know their order.
func (a *auditor) follows(before, after *Custody) bool {
	return a.partial() && after.by != nil && before.gave == after.by
}

// endOf is when a custody ended, as far as is known: one that lasts did so when
// the last record of its journal was written.
func (a *auditor) endOf(c *Custody) uint64 {
	if c.Ending == Open && a.partial() {
		return max(c.Begin, a.readers[c.Place.Journal].last)
	}
	return c.End
}

// fate follows a token from its last custody.
func (a *auditor) fate(one []*Custody) Token {
	c := one[0]
	for _, d := range one[1:] {
		if d.Hop >= c.Hop {
			c = d
		}
	}
	t := Token{ID: c.Token, Hop: c.Hop, Last: c.Member, At: a.endOf(c)}
	if g := a.tokens[c.Token]; g != nil {
		t.Resource, t.Slot, t.Generator = g.resource, g.slot, g.generator
	}
	switch c.Ending {
	case Open:
		t.Fate = Held
		if a.departed(c.Member) {
			t.Fate = LostDeparted
		}
	case Removed:
		t.Fate = Dropped
	case Forgotten:
		t.Fate, t.Rule = LostHolder, "V1"
	case Unseen:
		t.Fate = OutOfSight
	case Given:
		t.To, t.Receipted = c.gave.to, c.gave.closure == receipted
		t.Fate, t.Rule = a.underWay(c.gave)
		if t.Fate == LostUnknown {
			a.add(Finding{
				Kind: Vanished, Token: c.Token, Hop: c.Hop, Members: []ident.Member{c.Member, c.gave.to}, At: c.End,
				Records: places(c.Place, c.gave.closedIn),
			})
		}
	}
	return t
}

// underWay is the fate of a token whose last record is a transfer that nobody
// is known to have taken, and the rule by which it was lost.
func (a *auditor) underWay(t *transfer) (Fate, string) {
	receiver := a.memories[t.inc]
	gone := receiver != nil && receiver.dead
	switch {
	case t.closure == receipted && gone && !receiver.durable:
		return LostHolder, "V1" // the record of its custody was lost with the receiver's memory
	case a.departed(t.to) && a.stays(t):
		return LostDeparted, ""
	case t.closure == receipted && a.partial() && !a.covers(t.to, t.sentAt, t.closedAt), t.closure == unseen, t.takenBefore:
		return OutOfSight, ""
	case t.closure == receipted && a.journals[t.to] == nil:
		return UnderWay, "" // to somebody whose journal is not at hand
	case t.closure == receipted || t.closure == voided:
		return LostUnknown, ""
	case t.declined && t.closure != unanswered:
		return LostOrphan, "V3"
	case gone:
		return LostReceiver, "V2"
	case receiver != nil && receiver.floors[t.from] > t.accept:
		return LostFloor, "V4"
	case t.closure == orphaned || t.closure == abandoned:
		return LostOrphan, ""
	}
	return UnderWay, ""
}

// departed reports whether a member was revoked or has left: nobody takes a token
// from it any more.
func (a *auditor) departed(m ident.Member) bool {
	if !a.partial() {
		return false
	}
	i := a.trust.members[m]
	return i != nil && (i.revoked > 0 || i.left > 0)
}

// stays reports whether a transfer to a departed member leads nowhere: it was not
// declined, and if it was taken, nobody who could have it since lacks a journal.
func (a *auditor) stays(t *transfer) bool {
	if t.takenBefore || t.declined || t.closure == voided {
		return false
	}
	if t.closure != receipted {
		return true
	}
	for m := range a.trust.members {
		if !a.departed(m) && !a.covers(m, t.closedAt, t.closedAt) {
			return false
		}
	}
	return true
}

// places are those that there are.
func places(list ...Place) []Place {
	return slices.DeleteFunc(list, func(p Place) bool { return p.Seq == 0 })
}

// void is a void that verifies.
type void struct {
	said  evidence.Statement
	shown Exhibit
}
