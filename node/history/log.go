package history

import (
	"slices"
	"sync"
	"time"

	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

const (
	// span is for how long events are kept, if there is room: what an operator asks about is seldom older.
	span = time.Hour

	// MaxSightings bounds those of all resources together: a turn each quarter of a second for a quarter of an hour. With the
	// two below they take about 0.9 MB when they are full.
	MaxSightings = 4096

	// MaxOperations bounds the programs that have ended: half of all stays have one.
	MaxOperations = 2048

	// MaxWaits bounds the waits: those of one machine.
	MaxWaits = 1024

	// MaxPlaces bounds the slots of which anything is kept: more than fit on a screen.
	MaxPlaces = 64
)

// Place is one slot of a resource.
type Place struct {
	Resource string
	Slot     uint64
}

// Sighting is that a member has a token, as far as this one knows.
type Sighting struct {
	Seq uint64 // of the event
	Place
	Token  ident.Token
	Hop    uint64
	Holder ident.Member
	How    api.How
	By     ident.Member  // has said so
	At     clock.Instant // when that was heard
}

// Operation is a program that has run, or runs, at a member.
type Operation struct {
	ID  uint64 // stays when it ends
	Seq uint64 // of the last change
	Place
	Token        ident.Token
	Hop          uint64
	Member       ident.Member
	How          api.How
	By           ident.Member
	Begun, Ended clock.Instant // Ended is 0 while it runs
	EndsBy       clock.Instant // at the latest
}

// Wait is the wait of a program here, and how it ended.
type Wait struct {
	Seq             uint64
	Resource        string
	Asked, Answered clock.Instant
	Outcome         string
}

// News is what has happened after a sequence number, oldest first. Operations that run come last.
type News struct {
	Next       uint64 // sequence number to ask with next
	Sightings  []Sighting
	Operations []Operation
	Waits      []Wait
}

// Log is the history. Create it with New.
type Log struct {
	self ident.Member

	mu         sync.Mutex
	seq        uint64
	seen       ring[Sighting]
	operations ring[Operation] // that have ended
	waits      ring[Wait]
	places     map[Place]*place
	resources  map[string]*minutes
}

// place is a slot: where its token was last, and the programs that run.
type place struct {
	last    Sighting
	running []Operation // of tokens that differ: one, unless there are several tokens
}

// New makes an empty history of a member.
func New(self ident.Member) *Log {
	return &Log{
		self: self, places: make(map[Place]*place), resources: make(map[string]*minutes),
		seen: ring[Sighting]{most: MaxSightings}, operations: ring[Operation]{most: MaxOperations}, waits: ring[Wait]{most: MaxWaits},
	}
}

// place is what is kept of a slot, or nil when there are too many. Needs mu.
func (l *Log) place(at Place) *place {
	p := l.places[at]
	if p == nil && len(l.places) < MaxPlaces {
		p = new(place)
		l.places[at] = p
	}
	return p
}

func (l *Log) next() uint64 {
	l.seq++
	return l.seq
}

// Saw notes where a token is. What is known already, or older, changes nothing.
func (l *Log) Saw(s Sighting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.place(s.Place)
	switch {
	case p == nil, s.Holder.IsZero():
		return
	case p.last.Token == s.Token && (s.Hop < p.last.Hop || s.Hop == p.last.Hop && s.Holder == p.last.Holder):
		return
	case s.At < p.last.At:
		return
	}
	if m := l.minutes(s.Resource); m != nil {
		if missed := s.Hop - p.last.Hop - 1; s.Token == p.last.Token && s.Hop > p.last.Hop && missed <= maxMissed {
			m.turned(ident.Member{}, s.At, missed)
		}
		m.turned(s.Holder, s.At, 1)
	}
	s.Seq = l.next()
	p.last = s
	l.seen.add(s)
	for i := 0; i < len(p.running); {
		if o := &p.running[i]; o.Token == s.Token && (s.Hop > o.Hop || o.Member != s.Holder) && o.Member != l.self {
			l.end(p, i, s.At)
			continue
		}
		i++
	}
}

// Began notes a program that runs, or is heard of again.
func (l *Log) Began(o Operation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.place(o.Place)
	if p == nil {
		return
	}
	if i := slices.IndexFunc(p.running, func(r Operation) bool { return r.Token == o.Token }); i >= 0 {
		if r := &p.running[i]; r.Member == o.Member && r.Hop == o.Hop && o.Member != l.self {
			if o.EndsBy > r.EndsBy {
				r.EndsBy, r.Seq = o.EndsBy, l.next()
			}
			return
		}
		l.end(p, i, o.Begun)
	}
	if len(p.running) == maxRunning {
		l.end(p, 0, o.Begun)
	}
	o.Seq = l.next()
	o.ID, o.Ended = o.Seq, 0
	p.running = append(p.running, o)
}

// maxRunning bounds the programs that run at once in a slot: more tokens than that are not told apart.
const maxRunning = 16

// Heard notes what is known of a token that is elsewhere.
func (l *Log) Heard(at Place, o policy.Observation, how api.How, now clock.Instant) {
	if o.Holder.IsZero() || o.Holder == l.self {
		return
	}
	l.Saw(Sighting{Place: at, Token: o.Token, Hop: o.Hop, Holder: o.Holder, How: how, By: o.By, At: o.At})
	switch {
	case o.Ends > now:
		l.Began(Operation{Place: at, Token: o.Token, Hop: o.Hop, Member: o.Holder, How: how, By: o.By, Begun: o.At, EndsBy: o.Ends})
	case o.Ends == 0:
		l.ended(at, o.Token, o.Holder, o.At)
	}
}

// Ended notes that the program under a token has ended here.
func (l *Log) Ended(at Place, token ident.Token, when clock.Instant) {
	l.ended(at, token, l.self, when)
}

func (l *Log) ended(at Place, token ident.Token, who ident.Member, when clock.Instant) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.places[at]
	if p == nil {
		return
	}
	if i := slices.IndexFunc(p.running, func(o Operation) bool { return o.Token == token && o.Member == who }); i >= 0 {
		l.end(p, i, when)
	}
}

// end ends a program. Needs mu.
func (l *Log) end(p *place, i int, when clock.Instant) {
	o := p.running[i]
	p.running = slices.Delete(p.running, i, i+1)
	o.Ended, o.Seq = max(o.Begun, when), l.next()
	if o.EndsBy > 0 {
		o.Ended = max(o.Begun, min(o.Ended, o.EndsBy))
	}
	l.operations.add(o)
}

// Waited notes the end of a wait of a program here.
func (l *Log) Waited(w Wait) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.Seq = l.next()
	l.waits.add(w)
	if m := l.minutes(w.Resource); m != nil {
		m.waited(w.Asked, w.Answered)
	}
}

// settle ends the programs of others that have been killed by now at the latest. Needs mu.
func (l *Log) settle(now clock.Instant) {
	for _, p := range l.places {
		for i := 0; i < len(p.running); {
			if o := &p.running[i]; o.EndsBy > 0 && o.EndsBy <= now {
				l.end(p, i, o.EndsBy)
				continue
			}
			i++
		}
	}
}

// Since is what has happened after the event with a sequence number, within span: 0 asks for all. Events that
// came and went from the lists meanwhile are missing.
func (l *Log) Since(seq uint64, now clock.Instant) News {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle(now)
	since := now.Add(-span)
	n := News{Next: l.seq}
	l.seen.each(func(s *Sighting) {
		if s.Seq > seq && s.At >= since {
			n.Sightings = append(n.Sightings, *s)
		}
	})
	l.operations.each(func(o *Operation) {
		if o.Seq > seq && o.Ended >= since {
			n.Operations = append(n.Operations, *o)
		}
	})
	for _, p := range l.places {
		for _, o := range p.running {
			if o.Seq > seq {
				n.Operations = append(n.Operations, o)
			}
		}
	}
	l.waits.each(func(w *Wait) {
		if w.Seq > seq && w.Answered >= since {
			n.Waits = append(n.Waits, *w)
		}
	})
	return n
}

// ring is a list that forgets the oldest when it is full.
type ring[T any] struct {
	most int
	list []T
	at   int // of the oldest, when the list is full
}

func (r *ring[T]) add(v T) {
	if len(r.list) < r.most {
		r.list = append(r.list, v)
		return
	}
	r.list[r.at] = v
	r.at = (r.at + 1) % r.most
}

func (r *ring[T]) each(f func(*T)) {
	for i := range r.list {
		f(&r.list[(r.at+i)%len(r.list)])
	}
}
