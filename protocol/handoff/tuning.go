package handoff

import (
	"math/rand/v2"
	"time"
)

// Tuning has the machine's times and bounds. Safety depends on none of them:
// they trade messages and memory against speed. DefaultTuning suits the open
// internet.
type Tuning struct {
	// OfferTimeout is how long the first OFFER to a peer waits for an answer;
	// each further one waits twice as long. Below a round trip it only costs
	// messages; if it is too large, an unresponsive peer delays the token.
	OfferTimeout time.Duration
	// OffersPerPeer is the number of unanswered offers after which the machine
	// draws another peer (the multi-token paper §2.2: "after some unsuccessful
	// retries").
	OffersPerPeer int
	// NobodyPause is how long a holder waits before it looks again, if it has
	// found no receiver.
	NobodyPause time.Duration
	// RetransmitFirst and RetransmitMax bound the back-off of an unanswered
	// transfer. A peer that comes back is retried at once.
	RetransmitFirst, RetransmitMax time.Duration
	// UnknownPause replaces RetransmitMax once the receiver has answered
	// UNKNOWN.
	UnknownPause time.Duration
	// GiveUp is when a volatile sender stops retransmitting. A durable sender
	// never stops, because that is the only way in which it could lose a token.
	GiveUp time.Duration
	// Lifetime is how long a reservation counts against the capacity; a holder
	// whose operation lasts longer renews it.
	Lifetime time.Duration
	// Kept is how long a lapsed reservation is remembered, so that a late
	// OFFER gets the same number again.
	Kept time.Duration
}

// DefaultTuning is for the open internet.
var DefaultTuning = Tuning{
	OfferTimeout:    500 * time.Millisecond,
	OffersPerPeer:   3,
	NobodyPause:     time.Second,
	RetransmitFirst: 500 * time.Millisecond,
	RetransmitMax:   30 * time.Second,
	UnknownPause:    10 * time.Minute,
	GiveUp:          5 * time.Minute,
	Lifetime:        30 * time.Second,
	Kept:            5 * time.Minute,
}

// Bounds on what others can make a member remember.
const (
	// MaxHeld bounds the tokens in custody of one member: beyond it, the member
	// refuses offers and declines transfers. It is four times the largest
	// number of slots that a resource can have.
	MaxHeld = 4096
	// MaxReservations bounds the live reservations of all peers together, so
	// that accepted tokens fit MaxHeld.
	MaxReservations = 4096
	// MaxReservationsPerPeer bounds the live reservations of one peer: many
	// tokens at once, but no peer can take all places.
	MaxReservationsPerPeer = 512
	// MaxUnsettled bounds the records that one peer's transfers leave behind
	// until the peer reports them settled (about 300 bytes each). Beyond it,
	// the member refuses that peer. Transfers for reservations that were
	// forgotten meanwhile may come on top, as many again.
	MaxUnsettled = 8192
	// maxNumber is the highest accept number that a sender uses. No member gets there
	// in its life, and what is counted on from there does not overflow.
	maxNumber = 1 << 62

	// acceptBlock is how many accept or sequence numbers one record reserves.
	acceptBlock = 1024
	// settleBlock is how many accept numbers pass before a promise is renewed:
	// it spaces the records that promises and floors cost.
	settleBlock = 16
	// maxAccepts bounds the ACCEPTs in hand for one token. One is used; a few
	// more help when that one's peer goes away.
	maxAccepts = 4
	// maxTried bounds how many refusing peers are skipped before all are
	// drawn from again.
	maxTried = 32
)

// backoff is the n-th wait (from 0) of a doubling series from first to most,
// spread by a quarter to both sides so that members do not fall into step.
func backoff(jitter *rand.Rand, first, most time.Duration, n int) time.Duration {
	d := first
	for ; n > 0 && d < most; n-- {
		d *= 2
	}
	d = min(d, most)
	return d - d/4 + time.Duration(jitter.Int64N(int64(d/2)+1))
}
