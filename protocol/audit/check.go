package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// mint is what may name only one token.
type mint struct {
	generator   ident.Member
	incarnation ident.Incarnation
	sequence    uint64
}

// signed is what a member may sign only once.
type signed struct {
	hop
	signer ident.Member
}

type auditor struct {
	group     ident.Group
	skew      uint64
	journals  map[ident.Member]bool
	memories  map[ident.Incarnation]*memory
	transfers map[ident.Hash]*transfer
	firsts    map[signed]*transfer
	minted    map[mint]ident.Token
	custodies []*Custody
	findings  []Finding
}

// Check audits the journals of the members of a group. It needs as much memory
// as the journals and is safe for concurrent use.
func Check(group ident.Group, journals []Journal, o Options) *Report {
	a := &auditor{
		group: group, skew: o.Skew,
		journals:  make(map[ident.Member]bool),
		memories:  make(map[ident.Incarnation]*memory),
		transfers: make(map[ident.Hash]*transfer),
		firsts:    make(map[signed]*transfer),
		minted:    make(map[mint]ident.Token),
	}
	for _, j := range journals {
		a.journals[j.Member] = true
		a.read(j)
	}
	a.checkTransfers()
	slices.SortFunc(a.custodies, func(x, y *Custody) int {
		return cmp.Or(x.Token.Compare(y.Token), cmp.Compare(x.Begin, y.Begin), cmp.Compare(x.Hop, y.Hop))
	})
	report := &Report{}
	for start := 0; start < len(a.custodies); {
		end := start + 1
		for end < len(a.custodies) && a.custodies[end].Token == a.custodies[start].Token {
			end++
		}
		one := a.custodies[start:end]
		a.checkOverlap(one)
		report.Tokens = append(report.Tokens, a.fate(one))
		start = end
	}
	for _, c := range a.custodies {
		report.Custodies = append(report.Custodies, *c)
	}
	report.Findings = a.findings
	return report
}

func (a *auditor) find(k Kind, t ident.Token, hop uint64, detail string, members ...ident.Member) {
	a.findings = append(a.findings, Finding{Kind: k, Token: t, Hop: hop, Detail: detail, Members: members})
}

// transfer is what is known of an encoded transfer, and nil when it is none.
func (a *auditor) transfer(raw []byte) *transfer {
	b, hash, err := token.PeekTransfer(a.group, raw)
	if err != nil || b.Hop == 0 {
		a.find(Misfit, ident.Token{}, 0, fmt.Sprintf("not a transfer: %v", err))
		return nil
	}
	if t := a.transfers[hash]; t != nil {
		return t
	}
	t := &transfer{hash: hash, token: b.Token, hop: b.Hop, from: b.From, to: b.To, inc: b.Incarnation}
	a.transfers[hash] = t
	key := signed{hop{b.Token, b.Hop}, b.From}
	if a.firsts[key] == nil {
		a.firsts[key] = t
	} else {
		a.find(Fork, b.Token, b.Hop, "", b.From)
	}
	return t
}

// checkTransfers compares what sender and receiver have written.
func (a *auditor) checkTransfers() {
	order := slices.SortedFunc(maps.Values(a.transfers), func(x, y *transfer) int {
		return cmp.Or(x.token.Compare(y.token), cmp.Compare(x.hop, y.hop), slices.Compare(x.hash[:], y.hash[:]))
	})
	for _, t := range order {
		switch {
		case len(t.taken) > 1:
			a.find(Twice, t.token, t.hop, "", t.from, t.to)
		case len(t.taken) > 0 && t.declined:
			a.find(Contradiction, t.token, t.hop, "", t.to)
		}
		if len(t.taken) > 0 && t.sender == nil && a.journals[t.from] {
			a.find(Unsent, t.token, t.hop, "", t.from, t.to)
		}
		if len(t.taken) == 0 && t.closure == receipted && a.isDurable(t.to, t.inc) {
			a.find(Unheld, t.token, t.hop, "", t.to)
		}
	}
}

// isDurable reports whether an incarnation is known to be a durable member's.
func (a *auditor) isDurable(m ident.Member, inc ident.Incarnation) bool {
	mem := a.memories[inc]
	return a.journals[m] && mem != nil && mem.member == m && mem.durable
}

// checkOverlap looks for custodies of one token, in order of their begin, of
// which one begins before another has ended.
func (a *auditor) checkOverlap(one []*Custody) {
	last := one[0]
	for _, c := range one[1:] {
		if last.End > c.Begin && last.End-c.Begin > a.skew {
			a.find(Overlap, c.Token, c.Hop, fmt.Sprintf("hop %d of member %s from %d to %s, hop %d of member %s from %d",
				last.Hop, last.Member.Short(), last.Begin, until(last.End), c.Hop, c.Member.Short(), c.Begin), last.Member, c.Member)
		}
		if c.End > last.End {
			last = c
		}
	}
}

func until(at uint64) string {
	if at == Forever {
		return "now"
	}
	return fmt.Sprint(at)
}

// fate follows a token from its last custody.
func (a *auditor) fate(one []*Custody) Token {
	c := one[0]
	for _, d := range one[1:] {
		if d.Hop >= c.Hop {
			c = d
		}
	}
	t := Token{ID: c.Token, Hop: c.Hop, Last: c.Member}
	switch c.Ending {
	case Open:
		t.Fate = Held
	case Removed:
		t.Fate = Dropped
	case Forgotten:
		t.Fate = LostHolder
	case Given:
		t.To = c.gave.to
		t.Fate = a.underWay(c.gave)
		if t.Fate == LostUnknown {
			a.find(Vanished, c.Token, c.Hop, "", c.Member, c.gave.to)
		}
	}
	return t
}

// underWay is the fate of a token whose last record is a transfer that nobody
// is known to have taken.
func (a *auditor) underWay(t *transfer) Fate {
	receiver := a.memories[t.inc]
	gone := receiver != nil && receiver.dead
	switch {
	case t.closure == receipted && gone && !receiver.durable:
		return LostHolder // the record of its custody was lost with the receiver's memory
	case t.closure == receipted && !a.journals[t.to]:
		return UnderWay // to somebody whose journal is not at hand
	case t.closure == receipted || t.closure == voided:
		return LostUnknown
	case gone:
		return LostReceiver
	case t.closure == orphaned || t.closure == abandoned:
		return LostOrphan
	}
	return UnderWay
}

func (e Ending) String() string {
	switch e {
	case Open:
		return "open"
	case Given:
		return "given away"
	case Removed:
		return "dropped"
	case Forgotten:
		return "forgotten"
	}
	return fmt.Sprintf("ending %d", uint8(e))
}
