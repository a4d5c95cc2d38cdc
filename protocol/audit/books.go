package audit

import (
	"cmp"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// books is what the journals say, and what the objects in them show.
type books struct {
	Options
	group     ident.Group
	trust     *Trust
	readers   []*Reader
	journals  map[ident.Member][]*Reader
	memories  map[ident.Incarnation]*memory
	transfers map[ident.Hash]*transfer
	prints    map[print]*transfer
	geneses   map[print]ident.Token // that have verified
	others    map[print]bool        // endpoint records, failures, complaints and answers of gates that have verified
	tokens    map[ident.Token]*genesis
	voids     map[ident.Hash]void
	founded   map[slot][]founding
	accused   map[ident.Member]*Complaints
	failed    map[ident.Member]uint64 // when it was stated so last, by the witness's clock, ms since 1970
	custodies []*Custody
	// operations are what the journals record, and unseen the times at which more may
	// have run.
	operations []operation
	unseen     []stretch
	gates      []*gateBook
	words      []*gateWord
	report     *Report
}

func newBooks(group ident.Group, o Options) *books {
	return &books{
		Options: o, group: group, trust: o.Trust,
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
		report:    &Report{Unverified: make(map[ident.Member]int), More: make(map[Kind]int)},
	}
}

// partial reports whether journals may lack something, and have their own
// clocks.
func (b *books) partial() bool { return b.trust != nil }

// endOf is when a custody ended, as far as is known: one that lasts did so when
// the last record of its journal was written.
func (b *books) endOf(c *Custody) uint64 {
	if c.Ending == Open && b.partial() {
		return max(c.Begin, b.readers[c.RecordRef.Journal].last)
	}
	return c.End
}

// departed reports whether a member was revoked or has left: nobody takes a token
// from it any more.
func (b *books) departed(m ident.Member) bool {
	if !b.partial() {
		return false
	}
	i := b.trust.members[m]
	return i != nil && (i.revoked > 0 || i.left > 0)
}

func (b *books) sortCustodies() {
	slices.SortFunc(b.custodies, func(x, y *Custody) int {
		return cmp.Or(x.Token.Compare(y.Token), cmp.Compare(x.Begin, y.Begin), cmp.Compare(x.Hop, y.Hop))
	})
}

// mustHold reports whether what a member wrote in a time has to be at hand.
func (b *books) mustHold(m ident.Member, from, to uint64) bool {
	if !b.partial() {
		return b.journals[m] != nil
	}
	return b.covers(m, from, to)
}

// isDurable reports whether an incarnation is known to be a durable member's.
func (b *books) isDurable(m ident.Member, inc ident.Incarnation) bool {
	mem := b.memories[inc]
	return b.journals[m] != nil && mem != nil && mem.member == m && mem.durable
}

// covers reports whether the journals of a member cover a time, by clocks that
// may be Skew apart.
func (b *books) covers(m ident.Member, from, to uint64) bool {
	for _, r := range b.journals[m] {
		for _, s := range r.spans {
			if s.from+b.Skew <= from && to+b.Skew <= s.to {
				return true
			}
		}
	}
	return false
}

// transferOf is the entry of a transfer, which may be known by its hash only.
func (b *books) transferOf(h ident.Hash) *transfer {
	t := b.transfers[h]
	if t == nil {
		t = &transfer{hash: h}
		b.transfers[h] = t
	}
	return t
}

// clockAllowance is the longest one that any known configuration has, in µs; where none
// is known, the longest that one may have.
func (b *books) clockAllowance() uint64 {
	longest := time.Duration(0)
	if b.trust != nil {
		for _, c := range b.trust.configs {
			longest = max(longest, c.ClockAllowance)
		}
	}
	if longest == 0 {
		longest = group.MaxClockAllowance
	}
	return uint64(longest.Microseconds())
}

// asked reports whether an event of a token in a span of time is within the bounds of
// the audit. An event without a time is, and so is one of an unknown token.
func (b *books) asked(t ident.Token, from, to uint64) bool {
	if to > 0 && (b.From > 0 && to < b.From || b.To > 0 && from >= b.To) {
		return false
	}
	if b.Resource == "" {
		return true
	}
	g := b.tokens[t]
	return g == nil || g.resource == b.Resource
}

// clip is how much of a time is within the bounds of the audit.
func (b *books) clip(from, to uint64) uint64 {
	from = max(from, b.From)
	if b.To > 0 {
		to = min(to, b.To)
	}
	if to < from {
		return 0
	}
	return to - from
}

// void is a void that verifies.
type void struct {
	said  evidence.Statement
	shown Exhibit
}
