package handoff

import (
	"cmp"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// key names one hop of one token. All state is kept by it, never by the token
// alone: a member may have SENT hop 2 and HOLD hop 5 of the same token.
type key struct {
	token ident.Token
	hop   uint64
}

func (k key) compare(o key) int {
	return cmp.Or(k.token.Compare(o.token), cmp.Compare(k.hop, o.hop))
}

// record is what a member knows of one hop of one token.
type record struct {
	key   key
	state State

	// How custody was, or will be, reached by a transfer. from is zero for a
	// token that was made here or that came back by a void.
	from    ident.Member
	accept  uint64
	taken   ident.Hash // H(transfer) that was taken or declined
	serial  uint64     // of the record of it in this opening of the journal; 0: it is from before
	accused bool       // evidence of a second transfer is already written

	// LIVE.
	interrupted bool // the connection with the offerer broke since

	// Custody.
	title token.Title // HOLD, SENT
	busy  bool        // EXEC: an operation runs, nothing may be released
	pass  *pass       // HOLD: somebody is being found

	// SENT.
	sent     token.Transfer
	letGoAt  clock.Instant // when the policy let go of the token
	sentAt   clock.Instant // when the transfer first went out
	tries    int           // transmissions so far
	doubtful bool          // the receiver has answered that it cannot say

	wake clock.Instant // when the machine looks at the record again
	slot int           // place in the machine's heap, -1 when not there
}

// isTaken reports whether the record answers its transfer with a receipt.
func (r *record) isTaken() bool { return r.state >= Hold }

// pass is the search for a member to give a token to.
type pass struct {
	target   ident.Member // the only one that may get it; zero: anybody
	field    []byte       // policy field of the transfer
	release  bool         // the policy has let go of the token
	alone    bool         // nobody was found when all had been asked that there were
	since    clock.Instant
	current  ident.Member // who is being asked; zero: nobody
	attempts int          // offers to current so far
	onWay    bool         // the last of them went on the connection in use, or waits for one
	tried    []ident.Member
	accepts  []accepted
	carry    bool // offers carry the signers' certificates
}

// accepted is an ACCEPT in hand.
type accepted struct {
	from  ident.Member
	named ident.Reservation
	until clock.Instant // not used after (T_fresh, handoff rules §6)
	renew clock.Instant // asked for again from here on
}

func (p *pass) wasTried(m ident.Member) bool {
	for _, t := range p.tried {
		if t == m {
			return true
		}
	}
	return false
}

// skip marks the current peer as tried and asks nobody.
func (p *pass) skip() {
	if len(p.tried) < maxTried && !p.current.IsZero() {
		p.tried = append(p.tried, p.current)
	}
	p.current, p.attempts, p.onWay = ident.Member{}, 0, false
}

// remember keeps an ACCEPT: one for each peer, the newest maxAccepts.
func (p *pass) remember(a accepted) {
	p.forget(func(b accepted) bool { return b.from == a.from })
	if len(p.accepts) == maxAccepts {
		p.accepts = append(p.accepts[:0], p.accepts[1:]...)
	}
	p.accepts = append(p.accepts, a)
}

// forget discards ACCEPTs in hand, and reports whether there were any.
func (p *pass) forget(which func(accepted) bool) bool {
	kept := p.accepts[:0]
	for _, a := range p.accepts {
		if !which(a) {
			kept = append(kept, a)
		}
	}
	any := len(kept) < len(p.accepts)
	p.accepts = kept
	return any
}

// best is the newest ACCEPT that may still be used.
func (p *pass) best(now clock.Instant, usable func(accepted) bool) (accepted, bool) {
	for i := len(p.accepts) - 1; i >= 0; i-- {
		if a := p.accepts[i]; now.Before(a.until) && usable(a) {
			return a, true
		}
	}
	return accepted{}, false
}
