package ring

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
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
}

// precedes orders tokens by their genesis time, the latest first, and by id where that is
// equal: so what stays is what the fence of programs is greatest under (token.Fence).
func (r *record) precedes(o *record) bool {
	if r.born != o.born {
		return r.born > o.born
	}
	return r.id.Compare(o.id) < 0
}

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
func (s *step) baton(field []byte) Baton {
	b, err := ParseBaton(field)
	if err != nil {
		return awake(s.alg, s.n)
	}
	return b
}

// arrive takes a token from the previous member, and then the requests that were
// sent after it.
func (s *step) arrive(t *policy.Token) {
	r := s.tokens.see(t, s.now)
	b := s.baton(t.Field)
	switch {
	case s.tokens.at(here) == nil && s.superseded(r):
		s.drop(r)
		if !s.waits() {
			s.answered()
		}
		if b.Count > 0 { // those that it knew wait for the other one
			s.requested(&message{kind: request, count: 1, reach: s.reach()})
		}
	default:
		s.take(r, b, s.station.Arrive, s.restAtArrival())
	}
	s.release()
}

// superseded reports whether a token of higher precedence was here a short time ago.
func (s *step) superseded(r *record) bool {
	for i := range s.tokens.n {
		o := &s.tokens.records[i]
		if o.precedes(r) && s.now < o.left.Add(s.window) {
			return true
		}
	}
	return false
}

// take decides about a token that has come into this member's hands: of two here
// one stays, with what both knew. One that runs stays until the operation ends.
func (s *step) take(r *record, b Baton, tell func(Baton, int) Output, rest time.Duration) {
	had := s.tokens.at(here)
	switch {
	case r.place >= here: // told twice
		return
	case had == nil:
	case had.precedes(r):
		s.station.Arrive(b, s.n) // joins
		s.drop(r)
		s.prepare()
		if s.due == clock.Never {
			s.apply(s.station.proceed(s.n), 0)
		}
		return
	case s.station.Inside():
		s.station.Arrive(b, s.n)
		s.prepare()
		s.putAside(r)
		return
	default:
		b = merged(b, s.station.baton)
		s.station.lose()
		s.due = clock.Never
		s.drop(had)
	}
	r.place = here
	s.answered()
	s.apply(tell(b, s.n), rest)
}

// putAside keeps a token until the operation under another one ends.
func (s *step) putAside(r *record) {
	other := s.tokens.at(aside)
	switch {
	case other == nil:
	case other.precedes(r):
		s.drop(r)
		return
	default:
		s.drop(other)
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

func (s *step) drop(r *record) {
	r.place, r.left = elsewhere, s.now
	s.do(policy.Action{Kind: policy.Drop, Reason: policy.Superseded, Token: r.id})
}

// apply carries out what the station says. A token that is to move on rests here
// first.
func (s *step) apply(out Output, rest time.Duration) {
	switch {
	case out.Enter:
		s.run()
	case out.Request:
		s.tell(request, 1, s.reach())
	case out.Pass:
		s.onward(out.Baton, rest)
	}
}

// run begins the operation under the token that is here. Who is said to wait does so still: where this member
// runs one operation soon after the other, its request may be lost all the same (missed).
func (s *step) run() {
	s.due, s.prepared = clock.Never, ident.Member{}
	s.do(policy.Action{Kind: policy.Run, Token: s.tokens.at(here).id})
	s.prepare()
}

// prepare announces the pass that will follow the operation, once it is certain.
func (s *step) prepare() {
	if s.prepared != s.next && s.station.leaves(s.n) {
		s.prepared = s.next
		s.do(policy.Action{Kind: policy.Prepare, Token: s.tokens.at(here).id, To: s.next})
	}
}

// onward passes the token that was here to the neighbour, or lets it rest first.
func (s *step) onward(b Baton, rest time.Duration) {
	r := s.tokens.at(here)
	if rest > 0 {
		s.station.keep(b)
		s.due = s.now.Add(rest)
		if s.alg == S {
			s.do(policy.Action{Kind: policy.Prepare, Token: r.id, To: s.next})
		}
		return
	}
	s.due, s.missed = clock.Never, clock.Never
	r.place, r.baton, r.to, r.left = passing, b, s.next, s.now
	s.link = message{bound: true, token: r.id, hop: r.hop + 1}
	s.do(policy.Action{Kind: policy.Pass, Token: r.id, To: s.next, Field: s.field(func(to []byte) []byte { return AppendBaton(to, b) })})
}

// field writes what an action carries into the agent's own memory.
func (s *step) field(write func([]byte) []byte) []byte {
	from := s.filled
	s.filled = len(write(s.fields[:from]))
	return s.fields[from:s.filled:s.filled]
}

// settled notes how a pass ended. A token that has come back is to be passed with
// the baton that it had; the neighbour that it came back from is left in peace
// for a moment.
func (s *step) settled(e *policy.Event) {
	if e.Outcome != policy.Returned {
		s.unlink(&e.Token)
		r := s.tokens.find(&e.Token.ID)
		switch {
		case r == nil:
		case r.place == passing && r.hop <= e.Token.Hop:
			r.place = elsewhere
		case r.place == here && e.Outcome == policy.Abandoned && !s.station.Inside():
			r.place, s.due = elsewhere, clock.Never
			s.station.lose()
		case r.place == aside && e.Outcome == policy.Abandoned:
			r.place = elsewhere
		}
		return
	}
	r := s.tokens.see(&e.Token, s.now)
	b, rest := s.baton(e.Token.Field), s.skip
	switch r.place {
	case here, aside: // told twice, as when a peer declined what was only prepared
		return
	case passing:
		b = r.baton
		if r.to != s.next {
			rest = s.restAtArrival()
		}
	}
	s.unlink(&e.Token)
	s.take(r, b, s.station.reclaim, rest)
}

// unlink forgets that a token may still be on its way to the neighbour, but not
// a later passage of it.
func (s *step) unlink(t *policy.Token) {
	if s.link.token == t.ID && s.link.hop <= t.Hop+1 {
		s.link = message{}
	}
}

// generated takes a token that was made here. It goes around: others may wait for it
// whose requests went to a lost one.
func (s *step) generated(t *policy.Token) {
	s.take(s.tokens.see(t, s.now), s.replace(), s.station.reclaim, s.restAtArrival())
	s.tour()
}

// tour sends the token that is here once around the others, after the operation
// if it is in use.
func (s *step) tour() {
	if !s.station.holds() {
		return
	}
	s.station.Arrive(awake(s.alg, s.n), s.n) // joins the one that is here
	if s.station.Inside() {
		s.prepare()
	} else if s.due == clock.Never {
		s.apply(s.station.proceed(s.n), 0)
	}
}

// replace forgets tokens that were made here and never were anywhere else: who
// makes another one unasked, the driver, has found that nobody takes them any
// more. It returns what they knew.
func (s *step) replace() (b Baton) {
	for i := range s.tokens.n {
		r := &s.tokens.records[i]
		switch {
		case r.hop != 0:
		case r.place == passing:
			b = merged(b, r.baton)
			*r = record{}
		case r.place == here && !s.station.Inside():
			b = merged(b, s.station.baton)
			s.station.lose()
			s.due, *r = clock.Never, record{}
		}
	}
	return b
}

// resumed takes a token that is here since before a restart. Nobody knows what
// happened meanwhile, so it goes around once.
func (s *step) resumed(t *policy.Token) {
	r := s.tokens.see(t, s.now)
	if r.place < here {
		s.take(r, s.baton(t.Field), s.station.reclaim, s.restAtArrival())
		s.tour()
	}
}

// ended lets the token go on after an operation. Where one of higher precedence
// has come meanwhile, that one goes.
func (s *step) ended(e *policy.Event) {
	r := s.tokens.at(here)
	if r == nil || r.id != e.Token.ID || !s.station.Inside() {
		return
	}
	r.left = s.now
	if better := s.tokens.at(aside); better != nil {
		s.drop(r)
		better.place, better.left = here, s.now
	}
	s.apply(s.station.Exit(s.n), 0)
	if e.Operated {
		s.need()
	} else if s.demand { // refused, and not taken back: not again at this instant
		s.again = s.now.Add(s.skip)
	}
}
