package ring

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/host"
)

// place is where a token is, as far as the agent knows.
type place uint8

const (
	elsewhere place = iota
	passing         // its Pass is not settled yet
	here            // the station has it
	aside           // here, while the operation runs under one of lower precedence
)

// record is what an agent knows of one token.
type record struct {
	id    ident.Token
	born  uint64 // genesis time, ms
	hop   uint64 // at which it was here last
	left  clock.Instant
	place place
	baton Baton        // of one that is passing
	to    ident.Member // and to whom

	ran     bool // the operation has run under it here, and no other member has had it since
	untaken int  // how many passes have come back since
}

func (r *record) precedes(o *record) bool { return host.Precedes(r.born, &r.id, o.born, &o.id) }

// tokensMax bounds how many tokens an agent remembers. Two are here at most.
// Forgetting one keeps another alive for a round more, or a request waiting for
// request_timeout; the baton of one that comes back is then read from its field.
const tokensMax = 4

// tokens are the tokens seen last, in no order.
type tokens struct {
	n       int
	records [tokensMax]record
}

func (t *tokens) find(id *ident.Token) *record {
	for i := range t.n {
		if t.records[i].id == *id {
			return &t.records[i]
		}
	}
	return nil
}

// at returns the record of the one token in that place (here, aside), or nil.
func (t *tokens) at(p place) *record {
	for i := range t.n {
		if t.records[i].place == p {
			return &t.records[i]
		}
	}
	return nil
}

// see notes that a token was here at an instant, and returns its record. Of
// those that are not here the one not seen for longest is forgotten for it.
func (t *tokens) see(token *policy.Token, when clock.Instant) *record {
	r := t.find(&token.ID)
	if r == nil {
		r = t.room()
		*r = record{id: token.ID, born: token.Born, left: when}
	}
	r.hop = max(r.hop, token.Hop)
	r.left = max(r.left, when)
	return r
}

func (t *tokens) room() *record {
	if t.n < tokensMax {
		t.n++
		return &t.records[t.n-1]
	}
	var oldest *record
	for i := range t.records {
		r := &t.records[i]
		if r.place < here && (oldest == nil || r.place < oldest.place || r.place == oldest.place && r.left < oldest.left) {
			oldest = r
		}
	}
	return oldest
}

// baton reads a token's field. One that cannot be read is that of a token of
// which nobody knows who waits for it.
func (a *Agent) baton(field []byte) Baton {
	b, err := ParseBaton(field)
	if err != nil {
		return awake(a.alg, a.n)
	}
	return b
}

// arrive takes a token from the previous member, and then the requests that were
// sent after it.
func (a *Agent) arrive(e *policy.Event) {
	t := &e.Token
	r := a.tokens.see(t, a.Now)
	r.ran, r.untaken = false, 0
	b := a.baton(t.Field)
	switch {
	case a.tokens.at(here) == nil && a.superseded(r):
		a.drop(r)
		if !a.waits() {
			a.answered()
		}
		if b.Count > 0 { // those that it knew wait for the other one
			a.requested(&message{kind: request, count: 1, reach: a.reach()})
		}
	case !e.Skipped.IsZero() && t.Hop > 1 && !a.wentBack && a.tokens.at(here) == nil:
		a.goBack(r, b.clip(a.n), e.Skipped)
	default:
		a.wentBack = false
		a.take(r, b, a.station.Arrive, a.restAtArrival())
	}
	a.release()
}

// goBack passes a token that has just come to the first of the members that it has passed over
// (P-83), as if it had not been here. It does not go back twice in a row: else two liars, of
// which one passes over the other, could have it go round without anybody between. Nor does it at hop 1: whoever made
// it did so as another member has died, which may still look alive.
func (a *Agent) goBack(r *record, b Baton, to ident.Member) {
	a.wentBack = true
	r.place, r.baton, r.to = passing, b, to
	a.Pass(r.id, to, a.Field(func(to []byte) []byte { return AppendBaton(to, b) }))
}

// superseded reports whether a token of higher precedence was here a short time ago.
func (a *Agent) superseded(r *record) bool {
	for i := range a.tokens.n {
		o := &a.tokens.records[i]
		if o.precedes(r) && a.Now < o.left.Add(a.freshness) {
			return true
		}
	}
	return false
}

// take decides about a token that has come into this member's hands: of two here
// one stays, with what both knew. One that runs stays until the operation ends.
func (a *Agent) take(r *record, b Baton, tell func(Baton, int) Output, rest time.Duration) {
	had := a.tokens.at(here)
	switch {
	case r.place >= here: // told twice
		return
	case had == nil:
	case had.precedes(r):
		a.station.Arrive(b, a.n) // joins
		a.drop(r)
		a.prepare()
		if a.due == clock.Never {
			a.apply(a.station.proceed(a.n), 0)
		}
		return
	case a.station.Inside():
		a.station.Arrive(b, a.n)
		a.prepare()
		a.putAside(r)
		return
	default:
		b = merged(b, a.station.baton)
		a.station.lose()
		a.due = clock.Never
		a.drop(had)
	}
	r.place = here
	a.answered()
	a.apply(tell(b, a.n), rest)
}

// putAside keeps a token until the operation under another one ends.
func (a *Agent) putAside(r *record) {
	other := a.tokens.at(aside)
	switch {
	case other == nil:
	case other.precedes(r):
		a.drop(r)
		return
	default:
		a.drop(other)
	}
	r.place = aside
}

// restAtArrival is how long a token rests that is to move on. Only that of s
// does, which nobody asks to come.
func (a *Agent) restAtArrival() time.Duration {
	if a.alg == S {
		return a.skip
	}
	return 0
}

func (a *Agent) drop(r *record) {
	r.place, r.left = elsewhere, a.Now
	a.Drop(r.id, policy.Superseded)
}

// apply performs what the station says. A token that is to move on rests here
// first.
func (a *Agent) apply(out Output, rest time.Duration) {
	switch {
	case out.Enter:
		a.run()
	case out.Request:
		a.tell(request, 1, a.reach())
	case out.Pass:
		a.onward(out.Baton, rest)
	}
}

// run begins the operation under the token that is here. Who is said to wait does so still: where this member
// runs one operation soon after the other, its request may be lost all the same (missed).
func (a *Agent) run() {
	a.due, a.prepared = clock.Never, ident.Member{}
	r := a.tokens.at(here)
	r.ran, r.untaken = true, 0
	a.Run(r.id)
	a.prepare()
}

// prepare announces the pass that will follow the operation, once it is certain.
func (a *Agent) prepare() {
	if a.prepared != a.next && a.station.leaves(a.n) {
		a.prepared = a.next
		a.Prepare(a.tokens.at(here).id, a.next)
	}
}

// onward passes the token that was here to the neighbour, or lets it rest first.
func (a *Agent) onward(b Baton, rest time.Duration) {
	r := a.tokens.at(here)
	if rest > 0 {
		a.station.keep(b)
		a.due = a.Now.Add(rest)
		if a.alg == S {
			a.Prepare(r.id, a.next)
		}
		return
	}
	a.due, a.missed = clock.Never, clock.Never
	r.place, r.baton, r.to, r.left = passing, b, a.next, a.Now
	a.link = message{bound: true, token: r.id, hop: r.hop + 1}
	a.Pass(r.id, a.next, a.Field(func(to []byte) []byte { return AppendBaton(to, b) }))
}

// settled notes how a pass ended. A token that has come back is to be passed with
// the baton that it had; the neighbour that it came back from is left in peace
// for a moment.
func (a *Agent) settled(e *policy.Event) {
	if e.Outcome != policy.Returned {
		a.unlink(&e.Token)
		r := a.tokens.find(&e.Token.ID)
		switch {
		case r == nil:
		case r.place == passing && r.hop <= e.Token.Hop:
			r.place = elsewhere
			r.ran = r.ran && e.Outcome == policy.Abandoned // it may come back yet
		case r.place == here && e.Outcome == policy.Abandoned && !a.station.Inside():
			r.place, a.due = elsewhere, clock.Never
			a.station.lose()
		case r.place == aside && e.Outcome == policy.Abandoned:
			r.place = elsewhere
		}
		return
	}
	r := a.tokens.see(&e.Token, a.Now)
	b, rest := a.baton(e.Token.Field), a.skip
	switch r.place {
	case here, aside: // told twice, as when a peer declined what was only prepared
		return
	case passing:
		b = r.baton
		if r.to != a.next {
			rest = a.restAtArrival()
		}
	}
	a.unlink(&e.Token)
	a.wentBack = false
	if !a.offersAgain(r, b) {
		a.take(r, b, a.station.reclaim, rest)
	}
}

// offersAgain passes a token on once more that no member took, if the operation has run under it here and would run again: others
// wait, and have told a member that this one keeps it. Two programs would be longer than it may be kept. It reports whether
// it does.
func (a *Agent) offersAgain(r *record, b Baton) bool {
	if !r.ran || a.next.IsZero() || a.tokens.at(here) != nil {
		return false
	}
	if r.untaken++; !a.waits() || r.untaken >= min(host.MaxUntaken, a.n-1) {
		return false
	}
	r.place = here
	a.onward(merged(b, awake(a.alg, a.n)), 0)
	return true
}

// unlink forgets that a token may still be on its way to the neighbour, but not
// a later passage of it.
func (a *Agent) unlink(t *policy.Token) {
	if a.link.token == t.ID && a.link.hop <= t.Hop+1 {
		a.link = message{}
	}
}

// generated takes a token that was made here. It goes around: others may wait for it
// whose requests went to a lost one.
func (a *Agent) generated(t *policy.Token) {
	a.take(a.tokens.see(t, a.Now), a.replace(), a.station.reclaim, a.restAtArrival())
	a.tour()
}

// tour sends the token that is here once around the others, after the operation
// if it is in use.
func (a *Agent) tour() {
	if !a.station.holds() {
		return
	}
	a.station.Arrive(awake(a.alg, a.n), a.n) // joins the one that is here
	if a.station.Inside() {
		a.prepare()
	} else if a.due == clock.Never {
		a.apply(a.station.proceed(a.n), 0)
	}
}

// replace forgets tokens that were made here and never were anywhere else: who
// makes another one unasked, the driver, has found that nobody takes them any
// more. It returns what they knew.
func (a *Agent) replace() (b Baton) {
	for i := range a.tokens.n {
		r := &a.tokens.records[i]
		switch {
		case r.hop != 0:
		case r.place == passing:
			b = merged(b, r.baton)
			*r = record{}
		case r.place == here && !a.station.Inside():
			b = merged(b, a.station.baton)
			a.station.lose()
			a.due, *r = clock.Never, record{}
		}
	}
	return b
}

// resumed takes a token that is here since before a restart. Nobody knows what
// happened meanwhile, so it goes around once.
func (a *Agent) resumed(t *policy.Token) {
	r := a.tokens.see(t, a.Now)
	if r.place < here && !a.offersAgain(r, a.baton(t.Field)) {
		a.take(r, a.baton(t.Field), a.station.reclaim, a.restAtArrival())
		a.tour()
	}
}

// ended lets the token go on after an operation. Where one of higher precedence
// has come meanwhile, that one goes.
func (a *Agent) ended(e *policy.Event) {
	r := a.tokens.at(here)
	if r == nil || r.id != e.Token.ID || !a.station.Inside() {
		return
	}
	r.left = a.Now
	if better := a.tokens.at(aside); better != nil {
		a.drop(r)
		better.place, better.left = here, a.Now
	}
	a.apply(a.station.Exit(a.n), 0)
	if e.Operated {
		a.need()
	} else if a.Demand { // refused, and not taken back: not again at this instant
		a.again = a.Now.Add(a.skip)
	}
}
