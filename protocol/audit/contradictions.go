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

// judge finds broken rules: it compares what the journals say with each other, and with
// what was signed.
type judge struct {
	*findings
	leads *leads
}

// checkTransfers compares what sender and receiver have written and signed.
func (j *judge) checkTransfers(order []*transfer) {
	for _, t := range order {
		if !t.read {
			continue
		}
		j.checkAnswers(t)
		if len(t.taken) > 1 {
			j.add(Finding{
				Kind: Twice, Token: t.token, Hop: t.hop, Members: []ident.Member{t.from, t.to}, At: t.taken[1].Begin,
				Records: []RecordRef{t.taken[0].RecordRef, t.taken[1].RecordRef},
			})
		}
		if j.partial() {
			j.checkChain(t)
		}
		j.checkAbsence(t)
	}
}

// checkAnswers looks for a transfer that was both declined and used.
func (j *judge) checkAnswers(t *transfer) {
	f := Finding{Kind: Contradiction, Token: t.token, Hop: t.hop, Members: []ident.Member{t.to}, At: t.closedAt}
	switch {
	case t.receipt.Seq > 0 && t.voidIs.Seq > 0 &&
		evidence.Contradiction.Convicts(t.answered(envelope.Void), t.answered(envelope.Receipt)):
		f.Accused, f.Records = t.to, []RecordRef{t.voidIs.RecordRef, t.receipt.RecordRef}
		f.Exhibits = []Exhibit{t.voidIs, t.receipt}
		j.add(f)
	case len(t.taken) > 0 && (t.declined || t.voidIs.Seq > 0):
		f.At, f.Records = t.taken[0].Begin, refs(t.taken[0].RecordRef, t.declinedIn, t.voidIs.RecordRef)
		j.add(f)
	}
}

// checkChain compares a transfer with what it names as its previous, and with
// what its sender has answered to that.
func (j *judge) checkChain(t *transfer) {
	if !t.verified {
		return
	}
	if p := j.transfers[t.previous]; p != nil {
		if p.read && evidence.Misfit.Convicts(t.said(), p.said()) {
			j.broken(t, p.shown)
		}
		if p.voidIs.Seq > 0 && evidence.Reclaimed.Convicts(p.answered(envelope.Void), t.said()) {
			j.add(Finding{
				Kind: Disowned, Token: t.token, Hop: t.hop, Members: []ident.Member{t.from}, Accused: t.from, At: fromMillis(t.time),
				Records:  []RecordRef{p.voidIs.RecordRef, t.shown.RecordRef},
				Exhibits: []Exhibit{p.voidIs, t.shown},
			})
		}
	} else if g := j.tokens[ident.Token(t.previous)]; g != nil && evidence.Misfit.Convicts(t.said(), g.said()) {
		j.broken(t, g.shown)
	}
	if t.void == nil {
		return
	}
	if v, known := j.voids[*t.void]; known && evidence.Misfit.Convicts(t.said(), v.said) {
		j.broken(t, v.shown)
	}
}

// broken reports a transfer that does not follow from what it names.
func (j *judge) broken(t *transfer, from Exhibit) {
	j.add(Finding{
		Kind: Broken, Token: t.token, Hop: t.hop, Members: []ident.Member{t.from}, Accused: t.from, At: fromMillis(t.time),
		Records: []RecordRef{t.shown.RecordRef, from.RecordRef}, Exhibits: []Exhibit{t.shown, from},
	})
}

// writing is how long after its time a transfer is written down at the latest,
// unless its sender was suspended in between.
const writing = time.Second

// checkAbsence looks for records that the journals of sender or receiver should
// hold, and do not.
func (j *judge) checkAbsence(t *transfer) {
	if len(t.taken) > 0 && t.sender == nil && j.mustHold(t.from, fromMillis(t.time), fromMillis(t.time)+uint64(writing.Microseconds())) {
		j.add(Finding{
			Kind: Unsent, Token: t.token, Hop: t.hop, Members: []ident.Member{t.from, t.to}, At: t.taken[0].Begin,
			Records: []RecordRef{t.taken[0].RecordRef},
		})
	}
	if len(t.taken) == 0 && !t.takenBefore && t.closure == receipted && j.isDurable(t.to, t.inc) &&
		j.mustHold(t.to, t.sentAt, t.closedAt) {
		j.add(Finding{
			Kind: Unheld, Token: t.token, Hop: t.hop, Members: []ident.Member{t.to}, At: t.closedAt, Records: refs(t.closedIn),
		})
	}
}

// checkForks looks for transfers of one signer, token and hop; the order has
// them side by side.
func (j *judge) checkForks(order []*transfer) {
	var last, signed *transfer // of the same hop: the last one, and the last that verifies
	for _, t := range order {
		if !t.read {
			continue
		}
		if last == nil || last.token != t.token || last.hop != t.hop || last.from != t.from {
			last, signed = nil, nil
		}
		if last != nil {
			j.fork(last, signed, t)
		}
		last = t
		if t.verified {
			signed = t
		}
	}
}

// fork reports a second transfer of a hop. signed is the first, if it verifies,
// or one that does.
func (j *judge) fork(first, signed, t *transfer) {
	f := Finding{Kind: Fork, Token: t.token, Hop: t.hop, Members: []ident.Member{t.from}, At: fromMillis(t.time)}
	if signed != nil && t.verified && evidence.Fork.Convicts(signed.said(), t.said()) {
		first, f.Accused, f.Exhibits = signed, t.from, []Exhibit{signed.shown, t.shown}
	}
	f.Records = refs(first.shown.RecordRef, t.shown.RecordRef)
	j.add(f)
}

// checkTokens looks for numbers used twice, too many tokens, and tokens of what
// the group does not share.
func (j *judge) checkTokens() {
	order := slices.SortedFunc(maps.Values(j.tokens), func(x, y *genesis) int {
		return cmp.Or(x.generator.Compare(y.generator), slices.Compare(x.incarnation[:], y.incarnation[:]),
			cmp.Compare(x.sequence, y.sequence), x.token.Compare(y.token))
	})
	var last, signed *genesis // of the same number: the last one, and the last that verifies
	for _, g := range order {
		if last == nil || last.generator != g.generator || last.incarnation != g.incarnation || last.sequence != g.sequence {
			last, signed = nil, nil
		}
		if last != nil {
			j.minted(last, signed, g)
		}
		last = g
		if g.verified {
			signed = g
		}
	}
	if j.partial() {
		j.checkQuota(order)
	}
}

// minted reports a second token of a number. signed is as for fork.
func (j *judge) minted(first, signed, g *genesis) {
	f := Finding{Kind: Minted, Token: g.token, Members: []ident.Member{g.generator}, At: fromMillis(g.born)}
	if signed != nil && g.verified && evidence.DoubleMint.Convicts(signed.said(), g.said()) {
		first, f.Accused, f.Exhibits = signed, g.generator, []Exhibit{signed.shown, g.shown}
	}
	f.Records = refs(first.shown.RecordRef, g.shown.RecordRef)
	f.Detail = fmt.Sprintf("number %d, as token %s", g.sequence, first.token.Short())
	j.add(f)
}
