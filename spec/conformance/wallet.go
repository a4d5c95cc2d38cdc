package conformance

import (
	"crypto/rand"
	"encoding/binary"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// wallet remembers the tokens that the run has handed over, and takes them back as an
// honest member would. It takes no others.
type wallet struct {
	group        ident.Group
	self         ident.Member
	key          *signature.PrivateKey
	incarnation  ident.Incarnation
	verifier     *token.Verifier
	accepts      uint64               // accept numbers said
	reservations map[custody]uint64   // the accept numbers that were said
	given        map[ident.Token]bool // handed over: whether it is still out
}

// custody is one hop of one token.
type custody struct {
	token ident.Token
	hop   uint64
}

// newWallet is an empty wallet of a member that has just begun.
func newWallet(g ident.Group, own Identity, keys token.Keys) wallet {
	w := wallet{
		group: g, self: own.Certificate.Member(), key: own.Key, verifier: token.NewVerifier(g, keys),
		reservations: map[custody]uint64{}, given: map[ident.Token]bool{},
	}
	rand.Read(w.incarnation[:])
	return w
}

// reply is what an OFFER or a TRANSFER is answered by; nil for nothing, which includes
// the TRANSFERs of one token that a check leaves open.
func (w *wallet) reply(m wire.Message, open ident.Token) (wire.Message, error) {
	switch m := m.(type) {
	case *wire.Offer:
		if _, mine := w.given[m.Token]; mine {
			return w.accept(m), nil
		}
		return &wire.Refuse{Token: m.Token, Hop: m.Hop, Reason: wire.RefuseBusy}, nil
	case *wire.Transfer:
		x, err := w.verifier.Transfer(m.Transfer)
		if err != nil || x.Body().To != w.self || x.Body().Token == open {
			return nil, nil
		}
		return w.takeBack(x)
	}
	return nil, nil
}

// accept is the reservation for an OFFER: the same one each time.
func (w *wallet) accept(m *wire.Offer) *wire.Accept {
	k := custody{m.Token, m.Hop}
	if w.reservations[k] == 0 {
		w.accepts++
		w.reservations[k] = w.accepts
	}
	number := w.reservations[k]
	return &wire.Accept{Token: m.Token, Hop: m.Hop, Incarnation: w.incarnation, Accept: number, MAC: macOf(number), Lifetime: 30_000}
}

// macOf is the MAC of this member's ACCEPT with a number. Nobody has a reason to
// forge it here.
func macOf(number uint64) (mac ident.MAC) {
	binary.BigEndian.PutUint64(mac[:], ^number)
	return mac
}

// takeBack answers a transfer to this member. One from before this run, which has no
// memory of that time, is UNKNOWN.
func (w *wallet) takeBack(x token.Transfer) (wire.Message, error) {
	if _, mine := w.given[x.Body().Token]; !mine || x.Body().Incarnation != w.incarnation {
		raw, err := w.answerTo(x, token.Unknown)
		return &wire.Unknown{Unknown: raw}, err
	}
	return w.receiptOf(x)
}

// receiptOf takes a token back, for good.
func (w *wallet) receiptOf(x token.Transfer) (wire.Message, error) {
	raw, err := w.answerTo(x, token.Receipt)
	if err == nil {
		w.given[x.Body().Token] = false
	}
	return &wire.Receipt{Receipt: raw}, err
}

// answerTo is this member's signed answer to a transfer.
func (w *wallet) answerTo(x token.Transfer, v token.Verdict) ([]byte, error) {
	a, err := token.AnswerTo(x, w.self, w.incarnation).Sign(w.group, v, w.key)
	return a.Raw(), err
}
