package audit

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/evidence"
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
	case t.receipt.Seq > 0 && t.voidIs.Seq > 0 &&
		evidence.Contradiction.Convicts(t.answered(envelope.Void), t.answered(envelope.Receipt)):
		f.Accused, f.Records = t.to, []Place{t.voidIs.Place, t.receipt.Place}
		f.Exhibits = []Exhibit{t.voidIs, t.receipt}
		a.add(f)
	case len(t.taken) > 0 && (t.declined || t.voidIs.Seq > 0):
		f.At, f.Records = t.taken[0].Begin, places(t.taken[0].Place, t.declinedIn, t.voidIs.Place)
		a.add(f)
	}
}

// checkChain compares a transfer with what it names as its previous, and with
// what its sender has answered to that.
func (a *auditor) checkChain(t *transfer) {
	if !t.verified {
		return
	}
	if p := a.transfers[t.previous]; p != nil {
		if p.read && evidence.Misfit.Convicts(t.said(), p.said()) {
			a.broken(t, p.shown)
		}
		if p.voidIs.Seq > 0 && evidence.Reclaimed.Convicts(p.answered(envelope.Void), t.said()) {
			a.add(Finding{
				Kind: Disowned, Token: t.token, Hop: t.hop, Members: []ident.Member{t.from}, Accused: t.from, At: fromMillis(t.time),
				Records:  []Place{p.voidIs.Place, t.shown.Place},
				Exhibits: []Exhibit{p.voidIs, t.shown},
			})
		}
	} else if g := a.tokens[ident.Token(t.previous)]; g != nil && evidence.Misfit.Convicts(t.said(), g.said()) {
		a.broken(t, g.shown)
	}
	if t.void == nil {
		return
	}
	if v, known := a.voids[*t.void]; known && evidence.Misfit.Convicts(t.said(), v.said) {
		a.broken(t, v.shown)
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
	var last, signed *transfer // of the same hop: the last one, and the last that verifies
	for _, t := range order {
		if !t.read {
			continue
		}
		if last == nil || last.token != t.token || last.hop != t.hop || last.from != t.from {
			last, signed = nil, nil
		}
		if last != nil {
			a.fork(last, signed, t)
		}
		last = t
		if t.verified {
			signed = t
		}
	}
}

// fork reports a second transfer of a hop. signed is the first, if it verifies,
// or one that does.
func (a *auditor) fork(first, signed, t *transfer) {
	f := Finding{Kind: Fork, Token: t.token, Hop: t.hop, Members: []ident.Member{t.from}, At: fromMillis(t.time)}
	if signed != nil && t.verified && evidence.Fork.Convicts(signed.said(), t.said()) {
		first, f.Accused, f.Exhibits = signed, t.from, []Exhibit{signed.shown, t.shown}
	}
	f.Records = places(first.shown.Place, t.shown.Place)
	a.add(f)
}

// checkTokens looks for numbers used twice, too many tokens, and tokens of what
// the group does not share.
func (a *auditor) checkTokens() {
	order := slices.SortedFunc(maps.Values(a.tokens), func(x, y *genesis) int {
		return cmp.Or(x.generator.Compare(y.generator), slices.Compare(x.incarnation[:], y.incarnation[:]),
			cmp.Compare(x.sequence, y.sequence), x.token.Compare(y.token))
	})
	var last, signed *genesis // of the same number: the last one, and the last that verifies
	for _, g := range order {
		if last == nil || last.generator != g.generator || last.incarnation != g.incarnation || last.sequence != g.sequence {
			last, signed = nil, nil
		}
		if last != nil {
			a.minted(last, signed, g)
		}
		last = g
		if g.verified {
			signed = g
		}
	}
	if a.partial() {
		a.checkQuota(order)
	}
}

// minted reports a second token of a number. signed is as for fork.
func (a *auditor) minted(first, signed, g *genesis) {
	f := Finding{Kind: Minted, Token: g.token, Members: []ident.Member{g.generator}, At: fromMillis(g.born)}
	if signed != nil && g.verified && evidence.DoubleMint.Convicts(signed.said(), g.said()) {
		first, f.Accused, f.Exhibits = signed, g.generator, []Exhibit{signed.shown, g.shown}
	}
	f.Records = places(first.shown.Place, g.shown.Place)
	f.Detail = fmt.Sprintf("number %d, as token %s", g.sequence, first.token.Short())
	a.add(f)
}
