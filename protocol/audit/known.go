package audit

import (
	"fmt"
	"slices"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/ident"
)

// cursor is where a Reader is in its journal. It takes the objects of the record there
// into the books.
type cursor struct {
	*findings
	Index  int // in RecordRef.Journal
	member ident.Member
	seq    uint64 // of the record that is being read
	now    uint64 // when it was written
}

// ref refers to the record being read.
func (r *cursor) ref() RecordRef { return RecordRef{r.Index, r.seq} }

// find reports something about the record being read.
func (r *cursor) find(k Kind, t ident.Token, hop uint64, detail string, members ...ident.Member) {
	r.add(Finding{Kind: k, Token: t, Hop: hop, Detail: detail, Members: members, At: r.now, Records: refs(r.ref())})
}

// pick is the object of a kind in a record, or nil.
func pick(objects []object, k envelope.Kind) *object {
	for i := range objects {
		if objects[i].kind == k {
			return &objects[i]
		}
	}
	return nil
}

// transfer is what is known of a transfer, and nil when there is none.
func (r *cursor) transfer(o *object) *transfer {
	switch {
	case o == nil:
		r.find(Misfit, ident.Token{}, 0, "no transfer", r.member)
		return nil
	case o.known != nil:
		return o.known
	case o.err != nil:
		r.find(Misfit, ident.Token{}, 0, fmt.Sprintf("not a transfer: %v", o.err), r.member)
		return nil
	}
	t := r.transferOf(o.hash())
	if !t.read {
		b := o.transfer
		t.read, t.token, t.hop, t.from, t.to = true, b.Token, b.Hop, b.From, b.To
		t.inc, t.accept, t.previous, t.void, t.time = b.Incarnation, b.Accept, b.Previous, b.Void, b.Time
		t.shown = r.exhibit(o)
		if t.answerer != t.to { // answers by somebody else are none
			t.receipt, t.voidIs = Exhibit{}, Exhibit{}
		}
		t.answerer = t.to
	}
	if o.verdict == genuine && !t.verified {
		t.verified, t.shown = true, r.exhibit(o)
		r.signedAt(t.from, t.time, t.token, t.hop)
	}
	r.prints[o.print] = t
	return t
}

// exhibit is an object in the record being read.
func (r *cursor) exhibit(o *object) Exhibit { return Exhibit{r.ref(), o.kind, o.print} }

// genesis is what is known of a token by its genesis, and nil when that is none,
// or has been taken in before.
func (r *cursor) genesis(o *object) *genesis {
	switch {
	case o == nil:
		r.find(Misfit, ident.Token{}, 0, "no genesis", r.member)
		return nil
	case o.err != nil:
		r.find(Misfit, ident.Token{}, 0, fmt.Sprintf("not a genesis: %v", o.err), r.member)
		return nil
	}
	if t, seen := r.geneses[o.print]; seen {
		return r.tokens[t]
	}
	id, b := ident.Token(o.hash()), o.genesis
	g := r.tokens[id]
	if g == nil {
		g = &genesis{
			token: id, resource: b.Resource, slot: b.Slot, generator: b.Generator,
			incarnation: b.Incarnation, sequence: b.Sequence, born: b.Time, shown: r.exhibit(o),
		}
		r.tokens[id] = g
	}
	if o.verdict == genuine {
		r.geneses[o.print] = id
		if !g.verified {
			g.verified, g.shown = true, r.exhibit(o)
			r.signedAt(g.generator, g.born, id, 0)
		}
	}
	return g
}

// answer takes in a receipt or void, if it verifies.
func (r *cursor) answer(o *object) {
	if o == nil || o.verdict != genuine {
		return
	}
	b := o.answer
	t := r.transferOf(b.Transfer)
	if t.answerer.IsZero() {
		t.answerer = b.Signer
	}
	switch {
	case t.answerer != b.Signer:
		r.find(Misfit, b.Token, b.Hop, fmt.Sprintf("%v by member %s, to whom it was not sent", o.kind, b.Signer.Short()), r.member)
	case o.kind == envelope.Receipt:
		if t.receipt.Seq == 0 {
			t.receipt = r.exhibit(o)
		}
	default:
		r.voids[o.hash()] = void{voidSaid(b, o.hash()), r.exhibit(o)}
		if t.voidIs.Seq == 0 {
			t.voidIs = r.exhibit(o)
		}
	}
}

// exhibits takes in what a member has found that convicts another.
func (r *cursor) exhibits(objects []object) {
	for i := range objects {
		o := &objects[i]
		if o.known == nil && o.verdict != genuine {
			continue
		}
		switch o.kind {
		case envelope.Transfer:
			r.transfer(o)
		case envelope.Genesis:
			r.genesis(o)
		default:
			r.answer(o)
		}
	}
}

// signedAt looks at the time that a member's own signature states: whether its
// certificates were valid, and whether it was a member any more. It reports whether they were, and it was.
func (r *cursor) signedAt(m ident.Member, ms uint64, t ident.Token, hop uint64) bool {
	i := r.trust.members[m]
	if i == nil {
		return true
	}
	skew := r.Skew / 1000
	f := Finding{Token: t, Hop: hop, Members: []ident.Member{m}, At: fromMillis(ms), Records: refs(r.ref())}
	valid := func(v validity) bool { return ms+skew >= v.from && ms < v.to+skew }
	if len(i.valid) > 0 && !slices.ContainsFunc(i.valid, valid) {
		f.Kind, f.Detail = Invalid, "signed at "+stamp(ms)
		r.addOnce(f)
	}
	if i.revoked > 0 && ms > i.revoked+skew {
		f.Kind, f.Detail = Revoked, fmt.Sprintf("signed at %s, revoked at %s", stamp(ms), stamp(i.revoked))
		r.addOnce(f)
	}
	if i.left > 0 && ms > i.left+skew {
		f.Kind, f.Detail = Departed, fmt.Sprintf("signed at %s, left at %s", stamp(ms), stamp(i.left))
		r.addOnce(f)
	}
	return f.Kind == ""
}
