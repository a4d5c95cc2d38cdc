package keeper

import (
	"cmp"
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// history is what this member remembers of its earlier custodies. Others ask what became of them.
type history struct {
	verify  func(receipt []byte) (policy.Receipt, bool) // nil: members give no account
	serials func() uint64                               // the serial of this member's next custody
	passed  []passed
	had     []had  // the last tokens that came from others or were made here, the latest one last
	whole   memory // since when this member knows of all its custodies
	gap     bool   // it has just forgotten the last pass of a token
}

// memory is since when, and from which serial of custody in the journal on (H-70), a member knows
// of all its custodies.
type memory struct {
	since  clock.Instant
	serial uint64
}

// passed is one pass of this member: to which member, or for which other token it dropped this one.
type passed struct {
	custody
	born    uint64 // when the token was made; 0: not known, or dropped
	to      ident.Member
	since   clock.Instant // when its transfer was signed, or the token dropped
	dropped bool          // this member has dropped the token instead
	receipt []byte        // nil: none has come
	told    bool          // this member has told others that the receiver is connected since, and has not answered
	other   custody       // of a dropped token: the one that stayed, which came from to
}

// next is the custody of the member that the token was passed to.
func (p *passed) next() custody { return custody{p.token, p.hop + 1} }

// had is a token that has come here. One that was made here has come from this member itself, at hop 0.
type had struct {
	custody
	from  ident.Member
	maker ident.Member
	born  uint64
}

// begin notes that this member knows of its custodies from now on.
func (h *history) begin(now clock.Instant) {
	h.whole = memory{now, max(h.whole.serial, h.serials())}
}

// admitGap has this member say that it knows of its custodies from now on only, if it had to forget one.
func (h *history) admitGap(now clock.Instant) {
	if h.gap {
		h.gap, h.whole = false, memory{now, max(1, h.serials())}
	}
}

// pass is the pass of this custody, or of the latest one after it, or nil.
func (h *history) pass(t ident.Token, hop uint64) *passed {
	at := -1
	for i := range h.passed {
		if p := &h.passed[i]; p.token == t && p.hop == hop {
			return p
		} else if p.token == t && p.hop > hop {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	return &h.passed[at]
}

// lastPass is the last pass that is meant, or nil.
func (h *history) lastPass(meant func(*passed) bool) *passed {
	for i := len(h.passed) - 1; i >= 0; i-- {
		if meant(&h.passed[i]) {
			return &h.passed[i]
		}
	}
	return nil
}

// dropped notes that this member has dropped a token for a later one that has come here.
func (h *history) dropped(c custody, born uint64, now clock.Instant) {
	p := passed{custody: c, since: now, dropped: true}
	for i := range h.had {
		if later := &h.had[i]; later.token != c.token && later.born >= born {
			p.other, p.to = later.custody, later.from
		}
	}
	h.went(p)
}

// comes notes that a token has come from a member, or was made by this one.
func (h *history) comes(from ident.Member, t *policy.Token) {
	if h.verify == nil {
		return
	}
	h.had = slices.DeleteFunc(h.had, func(e had) bool { return e.token == t.ID })
	h.had = pushed(h.had, had{custody{t.ID, t.Hop}, from, t.Generator, t.Born}, maxHad)
}

// proves notes the receipt of a pass that has ended as far as this member knows.
func (h *history) proves(e *policy.Event) {
	if p := h.pass(e.Token.ID, e.Token.Hop); p != nil && p.hop == e.Token.Hop && !p.dropped && len(p.receipt) == 0 {
		p.to, p.receipt = cmp.Or(e.From, p.to), keep(e.Body)
	}
}

// rulesOut reports whether a member cannot have dropped a token because it had another one by a custody, as this member knows: it
// has had that custody itself, or passed the other token to a third member by it. Or a third member has made it. Or the other
// token is the earlier one, which gives way where two meet.
func (h *history) rulesOut(m ident.Member, other custody, dropped ident.Token) bool {
	if slices.ContainsFunc(h.had, func(e had) bool {
		return e.custody == other || other.hop == 0 && e.token == other.token && e.maker != m
	}) {
		return true
	}
	if slices.ContainsFunc(h.passed, func(p passed) bool {
		return p.custody == other || p.next() == other && !p.dropped && !p.to.IsZero() && p.to != m
	}) {
		return true
	}
	earlier, known := h.born(other.token)
	later, both := h.born(dropped)
	return known && both && earlier < later
}

// born is when a token was made that has come here lately.
func (h *history) born(t ident.Token) (born uint64, known bool) {
	for _, e := range h.had {
		if e.token == t {
			return e.born, true
		}
	}
	return 0, false
}

// passedEarlier reports whether this member has passed a token on that is earlier than another one.
func (h *history) passedEarlier(t ident.Token, than origin) bool {
	return slices.ContainsFunc(h.passed, func(p passed) bool { return p.token == t && p.born > 0 && than.later(origin{t, p.born}) })
}

// went remembers a pass in place of the oldest one that is not the last one of its token. Of each
// token the last pass is the one that others ask about, however long ago it was.
func (h *history) went(p passed) {
	if len(h.passed) == maxPassed {
		oldest := slices.IndexFunc(h.passed, func(o passed) bool { return o.token == p.token || h.pass(o.token, o.hop+1) != nil })
		h.gap, oldest = h.gap || oldest < 0, max(0, oldest)
		h.passed = slices.Delete(h.passed, oldest, oldest+1)
	}
	h.passed = append(h.passed, p)
}

// keptReceipt copies a receipt, if members may ask for it.
func (h *history) keptReceipt(raw []byte) []byte {
	if h.verify == nil {
		return nil
	}
	return keep(raw)
}

// took reads a receipt.
func (h *history) took(raw []byte) (policy.Receipt, bool) {
	if h.verify == nil || len(raw) == 0 {
		return policy.Receipt{}, false
	}
	return h.verify(raw)
}

// account is what this member says of an earlier custody.
func (h *history) account(of custody, now clock.Instant) message {
	switch p := h.pass(of.token, of.hop); {
	case p == nil:
		return message{
			kind: never, custody: of, span: millis(now.Sub(h.whole.since)),
			from: h.whole.serial, next: max(1, h.serials()),
		}
	case len(p.receipt) > 0:
		return message{kind: proof, span: millis(now.Sub(p.since)), receipt: p.receipt}
	case p.dropped:
		return message{kind: instead, custody: p.custody, other: p.other, member: p.to}
	case p.to.IsZero(): // the driver abandoned the pass: no member knows where the token is
		return message{kind: instead, custody: p.custody}
	default:
		return message{kind: sent, custody: p.custody, member: p.to}
	}
}

// isProved reports whether nothing that this member learns later changes what it says of the pass.
func (p *passed) isProved() bool { return p != nil && (len(p.receipt) > 0 || p.dropped) }
