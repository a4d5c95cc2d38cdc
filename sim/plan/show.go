package plan

import (
	"context"
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/sim/circulation"
)

// MaxShown is how many members a Show may have: more cannot be told apart on a screen.
const MaxShown = 300

// maxMoves bounds the moves of one Scene. A step with more of them is too long to be watched: what is left out is counted.
const maxMoves = 64

// Show is one run of a Request that somebody watches: the first one, step by step from its beginning. A Show is not safe
// for concurrent use.
type Show struct {
	request Request
	world   *circulation.Simulation
	sample  sample
	stage   stage
}

// NewShow begins a Show at instant 0. Errors: those of Make, and ErrMembers above MaxShown.
func NewShow(ctx context.Context, r Request) (*Show, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if r.Members > MaxShown {
		return nil, fmt.Errorf("%w: %d, at most %d can be watched", ErrMembers, r.Members, MaxShown)
	}
	known := r.calendar()
	r.known = &known
	w, err := circulation.NewContext(ctx, r.faulty(r.First))
	if err != nil {
		return nil, err
	}
	s := &Show{request: r, world: w, stage: newStage(r.Members)}
	s.sample = sample{watch: newWatch(&r), Meter: circulation.NewMeter(circulation.MeterConfig{Bin: 1, Limit: 1})}
	for _, o := range []circulation.Observer{s.sample.Meter, &s.sample.watch, &s.stage} {
		w.Observe(o)
	}
	return s, nil
}

// Step lets so much time pass. Errors: circulation.ErrStandstill, and the cause of the context of NewShow.
func (s *Show) Step(d time.Duration) error {
	s.world.Run(s.world.Now().Add(max(0, d)))
	return s.world.Err()
}

// Scene is what there is to see, and what has moved since the last Scene.
func (s *Show) Scene() Scene {
	scene := s.stage.scene(s.world.Now())
	scene.Tokens = s.world.Holders()
	return scene
}

// Report is what a plan of this one run would say, had it ended now: of all time since instant 0, without a warm-up, and without
// what has not ended yet.
func (s *Show) Report() *Report {
	one := &s.sample
	one.measured = time.Duration(s.world.Now())
	one.stats, one.traffic = s.world.Stats(), s.world.Traffic()
	all := &total{
		waits: one.watch.waits.spread, intervals: one.watch.intervals.spread, openWaits: one.watch.openWaits.spread,
		runs: 1, shortest: one.measured,
	}
	all.add(one)
	return s.request.report(all, nil)
}

// Scene is a moment of a Show.
type Scene struct {
	// Now is when, in seconds since the beginning.
	Now float64 `json:"now"`
	// Members has a letter for each: . does not want to run, w waits, r runs, x is down.
	Members string `json:"members"`
	// Waited is for how many seconds each member has waited; 0 of one that does not.
	Waited []float64 `json:"waited"`
	// Tokens are the members that hold one.
	Tokens []int `json:"tokens"`
	// Moves are the ways of tokens from one member to the next, in their order. Omitted is how many more there were.
	Moves   []move `json:"moves"`
	Omitted int    `json:"omitted"`
	// Lost is how many tokens were lost.
	Lost int `json:"lost"`
	// None, Two and More are the seconds in which nobody ran although somebody waited, exactly two did, and more.
	None float64 `json:"none"`
	Two  float64 `json:"two"`
	More float64 `json:"more"`
}

// move is the way of a token. Both are members.
type move struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// The letters of Scene.Members.
const (
	idles = '.'
	waits = 'w'
	runs  = 'r'
	down  = 'x'
)

// stage is an observer that knows what there is to see.
type stage struct {
	circulation.Ignore
	members         []byte
	wants           []bool // of each member, also while an operation of it runs
	since           []clock.Instant
	at              map[ident.Token]int // where each token was last
	moves           []move
	omitted, lost   int
	running, wait   int // how many members
	from            clock.Instant
	none, two, more time.Duration
}

func newStage(members int) stage {
	s := stage{
		members: make([]byte, members), wants: make([]bool, members), since: make([]clock.Instant, members),
		at: make(map[ident.Token]int), moves: []move{},
	}
	for m := range s.members {
		s.members[m] = idles
	}
	return s
}

// advance books the time until now.
func (s *stage) advance(now clock.Instant) {
	passed := now.Sub(s.from)
	s.from = now
	switch {
	case s.running == 0 && s.wait > 0:
		s.none += passed
	case s.running == 2:
		s.two += passed
	case s.running > 2:
		s.more += passed
	}
}

// turn gives a member another letter.
func (s *stage) turn(now clock.Instant, member int, letter byte) {
	s.advance(now)
	s.count(s.members[member], -1)
	s.members[member] = letter
	s.count(letter, 1)
}

func (s *stage) count(letter byte, by int) {
	switch letter {
	case runs:
		s.running += by
	case waits:
		s.wait += by
	}
}

// Demanded implements circulation.Observer.
func (s *stage) Demanded(now clock.Instant, member int) {
	if s.members[member] == idles {
		s.since[member] = now
		s.turn(now, member, waits)
		return
	}
	s.wants[member] = s.members[member] == runs
}

// OperationBegan implements circulation.Observer.
func (s *stage) OperationBegan(now clock.Instant, member int) { s.turn(now, member, runs) }

// OperationEnded implements circulation.Observer.
func (s *stage) OperationEnded(now clock.Instant, member int) {
	s.turn(now, member, idles)
	if s.wants[member] {
		s.wants[member] = false
		s.Demanded(now, member)
	}
}

// MemberDown implements circulation.Observer.
func (s *stage) MemberDown(now clock.Instant, member int) {
	s.wants[member] = false
	s.turn(now, member, down)
}

// MemberUp implements circulation.Observer.
func (s *stage) MemberUp(now clock.Instant, member int) { s.turn(now, member, idles) }

// TokenBorn implements circulation.Observer.
func (s *stage) TokenBorn(_ clock.Instant, member int, token ident.Token) { s.at[token] = member }

// Visit implements circulation.Observer.
func (s *stage) Visit(_ clock.Instant, member int, token ident.Token) {
	if from, ok := s.at[token]; ok && len(s.moves) < maxMoves {
		s.moves = append(s.moves, move{from, member})
	} else {
		s.omitted++
	}
	s.at[token] = member
}

// TokenGone implements circulation.Observer.
func (s *stage) TokenGone(_ clock.Instant, token ident.Token, how circulation.End) {
	delete(s.at, token)
	if how != circulation.Dropped {
		s.lost++
	}
}

// Advanced implements circulation.Observer.
func (s *stage) Advanced(now clock.Instant) { s.advance(now) }

// scene is what there is to see, and forgets the moves.
func (s *stage) scene(now clock.Instant) Scene {
	scene := Scene{
		Now: now.Sub(0).Seconds(), Members: string(s.members), Waited: make([]float64, len(s.members)),
		Moves: s.moves, Omitted: s.omitted, Lost: s.lost, None: s.none.Seconds(), Two: s.two.Seconds(), More: s.more.Seconds(),
	}
	for m, letter := range s.members {
		if letter == waits {
			scene.Waited[m] = now.Sub(s.since[m]).Seconds()
		}
	}
	s.moves, s.omitted = []move{}, 0
	return scene
}
