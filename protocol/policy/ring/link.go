package ring

import (
	"encoding/binary"
	"errors"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// kind says what a message between two agents is.
type kind uint8

const (
	// request asks the token to come (the papers' request message).
	request kind = iota + 1
	// wake sends the token around once, for nobody in particular.
	wake
	// repeat is a request sent again. It passes stations that have sent one
	// on already.
	repeat
)

const (
	plainSize     = 9  // kind, count, reach
	conditionSize = 40 // token, hop
	boundSize     = plainSize + conditionSize
)

// message is what one agent tells the next one:
//
//	kind 1 byte | count 4 | reach 4 [| token 32 | hop 8]      big-endian
//
// The condition in brackets names the token that its sender passed over this
// link last, as long as nobody has confirmed that it was taken, and the hop that
// it then has. A request that comes sooner than that token waits for it: this
// is what makes one FIFO link of two ways.
type message struct {
	kind  kind
	count uint32 // requests in this message; only q tells one from several
	reach uint32 // how many more members it may go to, this one among them

	bound bool // there is a condition
	token ident.Token
	hop   uint64
}

func (m *message) append(to []byte) []byte {
	to = append(to, byte(m.kind))
	to = binary.BigEndian.AppendUint32(to, m.count)
	to = binary.BigEndian.AppendUint32(to, m.reach)
	if m.bound {
		to = append(to, m.token[:]...)
		to = binary.BigEndian.AppendUint64(to, m.hop)
	}
	return to
}

// parse reads what append writes. Anything else is not ok, and ignored: a later
// version may say more.
func parse(body []byte) (m message, ok bool) {
	if len(body) != plainSize && len(body) != boundSize {
		return m, false
	}
	m.kind = kind(body[0])
	m.count = binary.BigEndian.Uint32(body[1:])
	m.reach = binary.BigEndian.Uint32(body[5:])
	if len(body) == boundSize {
		m.bound = true
		m.token = ident.Token(body[plainSize : plainSize+len(m.token)])
		m.hop = binary.BigEndian.Uint64(body[plainSize+len(m.token):])
	}
	return m, m.kind >= request && m.kind <= repeat && m.count > 0 && m.reach > 0
}

// ErrBody is a body of a POLICY that is ignored (P-19).
var ErrBody = errors.New("malformed body of a ring's message")

// CheckBody reports whether these bytes are the body of a POLICY between members of a
// ring (P-19). Error: ErrBody. The ring needs no such report; it is for test vectors
// and those who look at messages.
func CheckBody(body []byte) error {
	if _, ok := parse(body); !ok {
		return ErrBody
	}
	return nil
}

// held is a request that waits for the token before it.
type held struct {
	from  ident.Member // zero: this place is free
	since clock.Instant
	message
}

// heldMax bounds for how many members requests are held back. A member has one
// predecessor, and for a moment two while members disagree. Requests of a third
// one are not held: they may overtake the token, which costs a repetition.
const heldMax = 2

// hold keeps a request until its condition is met. Another one of the same
// sender joins the first: they wait for the latest passage of a token that one
// of them names, and their number is what remains to be known of them. It
// reports false when there is no room.
func (a *Agent) hold(from ident.Member, m *message) bool {
	if from.IsZero() {
		return false
	}
	free := -1
	for i := range a.held {
		h := &a.held[i]
		switch {
		case h.from == from:
			m.count = min(m.count+h.count, uint32(a.n))
			m.reach = max(m.reach, h.reach)
			m.kind = max(m.kind, h.kind)
			if m.token == h.token {
				m.hop = max(m.hop, h.hop)
			}
			h.message = *m
			return true
		case h.from.IsZero():
			free = i
		}
	}
	if free < 0 {
		return false
	}
	a.held[free] = held{from, a.Now, *m}
	return true
}

// taken reports whether the token that a request follows was taken here.
func (a *Agent) taken(m *message) bool {
	if !m.bound {
		return true
	}
	r := a.tokens.find(&m.token)
	return r != nil && r.hop >= m.hop
}

// release handles the requests whose token has come, and those that have waited
// so long that it must be lost.
func (a *Agent) release() {
	for i := range a.held {
		h := &a.held[i]
		if !h.from.IsZero() && (a.taken(&h.message) || a.Now >= h.since.Add(a.requestTimeout)) {
			m := h.message
			*h = held{}
			a.requested(&m)
		}
	}
}
