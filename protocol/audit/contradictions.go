package audit

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// checkTransfers compares what sender and receiver have written and signed.
func (a *auditor) checkTransfers(order []*transfer) {
	for _, t := range order {
		if !t.read {
			continue
		}
		a.checkAnswers(t)
		if len(t.taken) > 1 {
			a.add(Finding{
				Kind: Twice, Token: t.token, Hop: t.hop, Members: []ident.Member{t.from, t.to}, At: t.taken[1].Begin,
				Records: []Place{t.taken[0].Place, t.taken[1].Place},
			})
		}
		if a.partial() {
			a.checkChain(t)
		}
		a.checkAbsence(t)
	}
}

// checkAnswers looks for a transfer that was both declined and used.
func (a *auditor) checkAnswers(t *transfer) {
	f := Finding{Kind: Contradiction, Token: t.token, Hop: t.hop, Members: []ident.Member{t.to}, At: t.closedAt}
	switch {
	case t.receipt.Seq > 0 && t.voidIs.Seq > 0:
		f.Accused, f.Records = t.to, []Place{t.voidIs.Place, t.receipt.Place}
		f.Exhibits = []Exhibit{t.voidIs, t.receipt}
		a.add(f)
	case len(t.taken) > 0 && (t.declined || t.voidIs.Seq > 0):
		f.At, f.Records = t.taken[0].Begin, places(t.taken[0].Place, t.declinedIn, t.voidIs.Place)
		a.add(f)
	}
}

// checkChain compares a transfer with what it names as its previous (handoff
// rules §4.1).
func (a *auditor) checkChain(t *transfer) {
	if !t.verified {
		return
	}
	if p := a.transfers[t.previous]; p != nil {
		a.checkPrevious(t, p)
	} else if g := a.tokens[ident.Token(t.previous)]; g != nil &&
		(t.token != g.token || t.hop != 1 || t.void != nil || t.from != g.generator) {
		a.broken(t, g.shown)
	}
	if t.void == nil {
		return
	}
	if v, known := a.voids[*t.void]; known &&
		(t.previous != v.transfer || t.token != v.token || t.hop-1 != v.hop || t.from == v.signer) {
		a.broken(t, v.shown)
	}
}

func (a *auditor) checkPrevious(t, p *transfer) {
	if p.read {
		holder := p.to
		if t.void != nil {
			holder = p.from
		}
		if t.token != p.token || t.hop-1 != p.hop || t.from != holder {
			a.broken(t, p.shown)
		}
	}
	if p.voidIs.Seq > 0 && p.answerer == t.from {
		a.add(Finding{
			Kind: Disowned, Token: t.token, Hop: t.hop, Members: []ident.Member{t.from}, Accused: t.from, At: fromMillis(t.time),
			Records:  []Place{p.voidIs.Place, t.shown.Place},
			Exhibits: []Exhibit{p.voidIs, t.shown},
		})
	}
}

// broken reports a transfer that does not follow from what it names.
func (a *auditor) broken(t *transfer, from Exhibit) {
	a.add(Finding{
		Kind: Broken, Token: t.token, Hop: t.hop, Members: []ident.Member{t.from}, Accused: t.from, At: fromMillis(t.time),
		Records: []Place{t.shown.Place, from.Place}, Exhibits: []Exhibit{t.shown, from},
	})
}

// writing is how long after its time a transfer is written down at the latest,
// unless its sender was suspended in between.
const writing = time.Second

// checkAbsence looks for records that the journals of sender or receiver should
// hold, and do not.
func (a *auditor) checkAbsence(t *transfer) {
	if len(t.taken) > 0 && t.sender == nil && a.mustHold(t.from, fromMillis(t.time), fromMillis(t.time)+uint64(writing.Microseconds())) {
		a.add(Finding{
			Kind: Unsent, Token: t.token, Hop: t.hop, Members: []ident.Member{t.from, t.to}, At: t.taken[0].Begin,
			Records: []Place{t.taken[0].Place},
		})
	}
	if len(t.taken) == 0 && !t.takenBefore && t.closure == receipted && a.isDurable(t.to, t.inc) &&
		a.mustHold(t.to, t.sentAt, t.closedAt) {
		a.add(Finding{
			Kind: Unheld, Token: t.token, Hop: t.hop, Members: []ident.Member{t.to}, At: t.closedAt, Records: places(t.closedIn),
		})
	}
}

// mustHold reports whether what a member wrote in a time has to be at hand.
func (a *auditor) mustHold(m ident.Member, from, to uint64) bool {
	if !a.partial() {
		return a.journals[m] != nil
	}
	return a.covers(m, from, to)
}

// isDurable reports whether an incarnation is known to be a durable member's.
func (a *auditor) isDurable(m ident.Member, inc ident.Incarnation) bool {
	mem := a.memories[inc]
	return a.journals[m] != nil && mem != nil && mem.member == m && mem.durable
}

// checkForks looks for transfers of one signer, token and hop; the order has
// them side by side.
func (a *auditor) checkForks(order []*transfer) {
	for i, t := range order {
		if i == 0 || !t.read {
			continue
		}
		first := order[i-1]
		if !first.read || first.token != t.token || first.hop != t.hop || first.from != t.from {
			continue
		}
		f := Finding{
			Kind: Fork, Token: t.token, Hop: t.hop, Members: []ident.Member{t.from}, At: fromMillis(t.time),
			Records: places(first.shown.Place, t.shown.Place),
		}
		if first.verified && t.verified && first.previous == t.previous {
			f.Accused, f.Exhibits = t.from, []Exhibit{first.shown, t.shown}
		}
		a.add(f)
	}
}

// checkTokens looks for numbers used twice, too many tokens, and tokens of what
// the group does not share.
func (a *auditor) checkTokens() {
	order := make([]*genesis, 0, len(a.tokens))
	for _, g := range a.tokens {
		order = append(order, g)
	}
	slices.SortFunc(order, func(x, y *genesis) int {
		return cmp.Or(x.generator.Compare(y.generator), slices.Compare(x.incarnation[:], y.incarnation[:]),
			cmp.Compare(x.sequence, y.sequence), x.token.Compare(y.token))
	})
	for i, g := range order {
		if i == 0 {
			continue
		}
		first := order[i-1]
		if first.generator != g.generator || first.incarnation != g.incarnation || first.sequence != g.sequence {
			continue
		}
		f := Finding{
			Kind: Minted, Token: g.token, Members: []ident.Member{g.generator}, At: fromMillis(g.born),
			Records: places(first.shown.Place, g.shown.Place), Detail: fmt.Sprintf("number %d, as token %s", g.sequence, first.token.Short()),
		}
		if first.verified && g.verified {
			f.Accused = g.generator
			f.Exhibits = []Exhibit{first.shown, g.shown}
		}
		a.add(f)
	}
	if a.partial() {
		a.checkQuota(order)
	}
}
