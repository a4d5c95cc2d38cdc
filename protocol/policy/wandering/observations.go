package wandering

import (
	"math/rand/v2"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/host"
)

// credible is how many members have to tell of a token for who has not held it
// itself to believe that it circulates: more than one liar.
const credible = 3

// observationsKept bounds the tokens remembered: many more than live at a time.
const observationsKept = 8

// observation is one token that was here, or of which others have told.
type observation struct {
	id      ident.Token
	born    uint64
	hop     uint64        // at which it was here last
	held    clock.Instant // when that was; or host.LongAgo
	heard   clock.Instant // when it was here or told of last
	fate    fate
	sources [credible]source
}

// fate is what has become of a token that was made here. Until others take it, it may be
// a wrong clock's, which nobody takes.
type fate uint8

const (
	taken   fate = iota // by another member; or it was made elsewhere
	fresh               // nobody has been asked yet, or has said no
	shunned             // somebody did not take it, and nobody has since
)

// source is who told of a token last, and of whose word that was: its own, or that of
// a member that had told it.
type source struct {
	member, origin ident.Member
	hop            uint64 // the highest that was told
	at             clock.Instant
}

// shares reports whether a source is no other one's word: however many pass on what
// one liar says, they count once.
func (o *source) shares(by, origin ident.Member) bool {
	return o.member == by || o.member == origin || o.origin == by || o.origin == origin
}

// observations are the tokens heard of last, of which a few are enough: two tokens
// live together for a moment only.
type observations struct {
	records [observationsKept]observation
	n       int
}

// note takes down that a token was seen at an instant, by a member or, where that
// is zero, here.
func (s *observations) note(t *sight, by ident.Member, at clock.Instant) {
	r := s.of(t, by, by)
	r.heard = max(r.heard, at)
	if by.IsZero() {
		r.hop, r.held = max(r.hop, t.hop), max(r.held, at)
	} else {
		r.tell(source{by, by, t.hop, at})
	}
}

// here takes down that a token is here at an instant.
func (s *observations) here(t *policy.Token, at clock.Instant) {
	s.note(&sight{id: t.ID, born: t.Born, hop: t.Hop}, ident.Member{}, at)
}

// hint takes down what a member has heard of a token, and from whom: it is one source
// more, and no sign by itself that any token circulates.
func (s *observations) hint(t *sight, by, origin ident.Member, at clock.Instant) {
	s.of(t, by, origin).tell(source{by, origin, t.hop, at})
}

// of is the record of a token, a new one if need be.
func (s *observations) of(t *sight, by, origin ident.Member) *observation {
	r := s.find(&t.id)
	if r == nil {
		r = s.room(by, origin)
		*r = observation{id: t.id, born: t.born, held: host.LongAgo, heard: host.LongAgo}
		for i := range r.sources {
			r.sources[i].at = host.LongAgo
		}
	}
	return r
}

func (s *observations) find(id *ident.Token) *observation {
	for i := range s.records[:s.n] {
		if s.records[i].id == *id {
			return &s.records[i]
		}
	}
	return nil
}

// room is the record of another token of which nobody but these told, so that no liar
// fills the places; or a free one, or that of the token not heard of for longest.
func (s *observations) room(by, origin ident.Member) *observation {
	for i := range s.records[:s.n] {
		if !by.IsZero() && s.records[i].onlyOf(by, origin) {
			return &s.records[i]
		}
	}
	if s.n < len(s.records) {
		s.n++
		return &s.records[s.n-1]
	}
	r := &s.records[0]
	for i := range s.records {
		if s.records[i].heard < r.heard {
			r = &s.records[i]
		}
	}
	return r
}

func (r *observation) onlyOf(by, origin ident.Member) bool {
	for i := range r.sources {
		if o := &r.sources[i]; o.at > host.LongAgo && !o.shares(by, origin) {
			return false
		}
	}
	return r.held == host.LongAgo
}

// tell notes a source in the place of its earlier word, or of the earliest one.
func (r *observation) tell(word source) {
	place := &r.sources[0]
	for i := range r.sources {
		switch o := &r.sources[i]; {
		case o.shares(word.member, word.origin):
			o.at, o.hop = max(o.at, word.at), max(o.hop, word.hop)
			return
		case o.at < place.at:
			place = o
		}
	}
	word.at = max(place.at, word.at)
	*place = word
}

// credibleSince reports whether the token was here, or told of by enough members,
// after an instant.
func (r *observation) credibleSince(at clock.Instant) bool {
	told := 0
	for i := range r.sources {
		if r.sources[i].at > at {
			told++
		}
	}
	return r.held > at || told == credible
}

// recall is a token that precedes another one, and that was here after an instant: that is
// no hearsay, but does not count if nobody takes it. Or else it is one of those that
// somebody told this member of after that, drawn at random among those that told: who
// tells more often, or last, does not hide the others.
func (s *observations) recall(other *sight, since clock.Instant, rng *rand.Rand) (found *observation, told *source) {
	n := 0
	for i := range s.records[:s.n] {
		r := &s.records[i]
		if !host.Precedes(r.born, &r.id, other.born, &other.id) {
			continue
		}
		if r.held > since && r.fate != shunned {
			return r, nil
		}
		for k := range r.sources {
			if o := &r.sources[k]; o.at > since && o.member == o.origin {
				if n++; rng.IntN(n) == 0 {
					found, told = r, o
				}
			}
		}
	}
	return found, told
}

// superseded reports whether a token of higher precedence circulates: one that was
// seen within the freshness, and after this one was made. What was seen before may be
// the one that this one was made in place of; and what was made here, and has never
// left, may be a wrong clock's, which nobody takes.
func (s *observations) superseded(t *policy.Token, birth, now clock.Instant, freshness time.Duration) bool {
	since := max(birth, now-clock.Instant(freshness))
	for i := range s.records[:s.n] {
		r := &s.records[i]
		if r.fate == taken && host.Precedes(r.born, &r.id, t.Born, &t.ID) && r.credibleSince(since) {
			return true
		}
	}
	return false
}

// outranks reports whether of two tokens that are here the first one stays, whether or
// not another member has had it: programs may have run under it.
func outranks(t, o *policy.Token) bool { return host.Precedes(t.Born, &t.ID, o.Born, &o.ID) }

// fateOf is taken for a token of which nothing is known here.
func (s *observations) fateOf(id *ident.Token) fate {
	if r := s.find(id); r != nil {
		return r.fate
	}
	return taken
}

// made notes that a token is here that no other member has had yet.
func (s *observations) made(id *ident.Token) {
	if r := s.find(id); r != nil && r.fate == taken {
		r.fate = fresh
	}
}

// took notes that a token has left, or has come from another member.
func (s *observations) took(id *ident.Token) {
	if r := s.find(id); r != nil {
		r.fate = taken
	}
}

// shun notes that somebody did not take a token. One that was made here may be a wrong
// clock's: nobody is told of it any more until somebody takes it, or others would drop
// theirs.
func (s *observations) shun(id *ident.Token) {
	if r := s.find(id); r != nil && r.fate == fresh {
		r.fate = shunned
	}
}
