package ring

import (
	"math/rand/v2"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/internal/agenda"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/keeper"
)

// tester is what *testing.T and *rapid.T have in common.
type tester interface{ require.TestingT }

// network plays the members of one ring and what is between them, in virtual
// time. It checks that answers are permitted.
type network struct {
	t      tester
	setup  setup
	rng    *rand.Rand
	now    clock.Instant
	agenda agenda.Agenda[clock.Instant, func()]
	sites  []*site
	tokens map[ident.Token]*policy.Token
	minted byte

	running  int
	overlaps int // operations that began beside another
	messages int // requests and passes
	told     int // requests
	sent     int // requests and others
	requests int // demands that were not met at once
	served   int
	made     int // Generate
	repeats  int
	dropped  []ident.Token
	traffic  int // most messages between a request and its service
	lastOn   map[[2]int]clock.Instant

	lose    func(told int) bool    // the so many-th message
	favours map[int]int            // members that pass tokens to one other member only
	givers  map[ident.Token][2]int // who passed the token last, and who passed it to that member
	split   int                    // members below see only each other, as do the others; 0: all see all
}

// setup is what a network is like.
type setup struct {
	params    policy.Params
	members   int
	seed      uint64
	reordered bool // a message may overtake any other, and tokens
	passing   time.Duration
	telling   time.Duration
	passLoss  float64
	tellLoss  float64
	kept      bool // with the keepers that make tokens
	faulty    bool // two operations at once are no failure
	refusals  float64
}

// site is one member by the network's books.
type site struct {
	policy  policy.Policy
	watched map[int]bool
	up      bool
	next    int // neighbour as told
	asked   clock.Instant
	demand  bool
	runs    ident.Token
	served  int
	here    map[ident.Token]bool
	since   int // messages when the request was made, -1: none
}

func memberID(i int) ident.Member { return ident.Member{byte(i + 1)} }
func indexOf(m ident.Member) int  { return int(m[0]) - 1 }

func newNetwork(t tester, s setup) *network {
	w := &network{
		t: t, setup: s, rng: rand.New(rand.NewPCG(s.seed, 0)),
		tokens: map[ident.Token]*policy.Token{}, givers: map[ident.Token][2]int{}, lastOn: map[[2]int]clock.Instant{},
	}
	for range s.members {
		w.sites = append(w.sites, &site{up: true})
	}
	for i := range w.sites {
		w.start(i)
	}
	return w
}

// start makes a member's policy, and tells it what it has to know.
func (w *network) start(i int) {
	agent, err := New(w.setup.params)
	require.NoError(w.t, err)
	s := w.sites[i]
	here := s.here
	*s = site{policy: agent, watched: map[int]bool{}, up: true, next: i, asked: clock.Never, here: map[ident.Token]bool{}, since: -1}
	if w.setup.kept {
		in := policy.Surroundings{Self: memberID(i), Slot: ident.Member{255}, Roster: roster{w, i}}
		s.policy = keeper.Around(agent, w.setup.params, in, true)
	}
	w.sight(i)
	for id := range here {
		s.here[id] = true
		w.step(i, policy.Event{Kind: policy.Resumed, Token: *w.tokens[id]})
	}
	w.step(i, policy.Event{Kind: policy.Timer})
}

// reach reports whether what one member sends gets to another one.
func (w *network) reach(from, to int) bool {
	return w.sites[to].up && (from < w.split) == (to < w.split)
}

// sight tells a member its neighbour.
func (w *network) sight(i int) {
	members := 0
	for k := range w.sites {
		if w.reach(i, k) {
			members++
		}
	}
	next := (i + 1) % len(w.sites)
	for !w.reach(i, next) {
		next = (next + 1) % len(w.sites)
	}
	s := w.sites[i]
	s.next = next
	e := policy.Event{Kind: policy.Neighbour, Members: members}
	if next != i {
		e.From = memberID(next)
	}
	w.step(i, e)
}

// crash takes a member out; the tokens that are there stay there.
func (w *network) crash(i int, downFor time.Duration) {
	s := w.sites[i]
	if !s.up {
		return
	}
	if s.runs != (ident.Token{}) {
		w.running--
		s.runs = ident.Token{}
	}
	s.up = false
	w.around()
	w.later(downFor, func() {
		if !s.up {
			w.start(i)
			w.around()
		}
	})
}

// part keeps two parts of the ring from each other for some time.
func (w *network) part(split int, d time.Duration) {
	w.split = split
	w.around()
	w.later(d, func() {
		w.split = 0
		w.around()
	})
}

// around tells everybody the neighbour that changed.
func (w *network) around() {
	for i, s := range w.sites {
		if s.up {
			w.sight(i)
		}
	}
}

func (w *network) later(d time.Duration, do func()) {
	w.agenda.Plan(w.now.Add(d), do)
}

// send lets something be in transit from one member to another.
func (w *network) send(from, to int, most time.Duration, do func()) {
	at := w.now.Add(time.Duration(w.rng.Int64N(int64(most) + 1)))
	if link := [2]int{from, to}; !w.setup.reordered {
		at = max(at, w.lastOn[link])
		w.lastOn[link] = at
	}
	w.later(at.Sub(w.now), do)
}

// found makes a token at a member.
func (w *network) mint(i int) {
	w.minted++
	t := &policy.Token{ID: ident.Token{w.minted}, Born: uint64(w.now / 1e6), Generator: memberID(i)}
	w.tokens[t.ID] = t
	w.sites[i].here[t.ID] = true
	w.step(i, policy.Event{Kind: policy.Generated, Token: *t})
}

// want lets a member want to run.
func (w *network) want(i int) {
	s := w.sites[i]
	if !s.up || s.demand {
		return
	}
	s.demand = true
	ran := w.served
	s.since = w.messages
	w.step(i, policy.Event{Kind: policy.DemandChanged, Demand: true})
	if w.served == ran {
		w.requests++
	}
}

// withdraw lets a member want nothing any more.
func (w *network) withdraw(i int) {
	if s := w.sites[i]; s.up && s.demand {
		s.demand = false
		w.step(i, policy.Event{Kind: policy.DemandChanged})
	}
}

// run lets time pass until the end, or until nothing is left to happen.
func (w *network) run(end clock.Instant) {
	for {
		at, do, ok := w.agenda.Next(end)
		if !ok {
			break
		}
		w.now = at
		do()
	}
	w.now = max(w.now, end)
}

func (w *network) step(i int, e policy.Event) {
	actions := w.sites[i].policy.Step(w.now, e, nil)
	require.True(w.t, len(actions) <= actionsMax || w.setup.kept)
	for _, a := range actions {
		w.perform(i, a)
	}
	s := w.sites[i]
	if due := s.policy.Deadline(); due != s.asked || e.Kind == policy.Timer {
		s.asked = due
		if due != clock.Never {
			w.later(due.Sub(w.now), func() {
				if s.up && s.asked == due {
					w.step(i, policy.Event{Kind: policy.Timer})
				}
			})
		}
	}
}

func (w *network) perform(i int, a policy.Action) {
	s := w.sites[i]
	if a.Kind <= policy.Drop {
		require.True(w.t, s.here[a.Token], "%v names a token that is not here", a.Kind)
	}
	field := append([]byte{}, a.Field...)
	switch a.Kind {
	case policy.Run:
		w.operate(i, a.Token)
	case policy.Prepare:
		require.Equal(w.t, memberID(s.next), a.To)
	case policy.Pass:
		require.NotEqual(w.t, a.Token, s.runs, "passes what runs")
		to := s.next
		if liked, is := w.favours[i]; is {
			to = liked
		} else if w.favours != nil && a.To != memberID(to) {
			require.Equal(w.t, memberID(w.skipped(i, a.Token)), a.To)
			to = indexOf(a.To)
		} else if !w.setup.kept {
			require.Equal(w.t, memberID(to), a.To)
		} else if !a.To.IsZero() {
			to = indexOf(a.To) // a keeper sends two tokens to one member
		}
		w.messages++
		delete(s.here, a.Token)
		w.pass(i, to, w.tokens[a.Token], field)
	case policy.Drop:
		require.NotEqual(w.t, a.Token, s.runs, "drops what runs")
		require.Equal(w.t, policy.Superseded, a.Reason)
		delete(s.here, a.Token)
		delete(w.tokens, a.Token)
		w.dropped = append(w.dropped, a.Token)
	case policy.Generate:
		w.made++
		if len(s.here) == 0 {
			w.later(0, func() { w.mint(i) })
		}
	case policy.Watch:
		w.watch(i, indexOf(a.To))
	case policy.Unwatch:
		delete(s.watched, indexOf(a.To))
	case policy.Tell:
		if w.setup.kept && field[0] >= keepersFirst {
			w.send(i, indexOf(a.To), w.setup.telling, func() { w.deliver(i, indexOf(a.To), field) })
			break
		}
		require.Equal(w.t, memberID(s.next), a.To)
		w.tell(i, s.next, field)
	}
}

func (w *network) operate(i int, id ident.Token) {
	s := w.sites[i]
	if w.setup.kept && !s.demand { // a keeper has asked others first
		made := s.policy
		w.later(0, func() {
			if s.policy == made && s.here[id] {
				w.step(i, policy.Event{Kind: policy.OperationEnded, Token: *w.tokens[id]})
			}
		})
		return
	}
	require.True(w.t, s.demand, "runs without demand")
	require.Zero(w.t, s.runs, "runs two at once")
	if w.running++; w.running > 1 {
		w.overlaps++
		require.True(w.t, w.setup.faulty, "two run")
	}
	w.served++
	s.served++
	w.traffic = max(w.traffic, w.messages-s.since)
	s.runs, s.demand = id, false
	w.step(i, policy.Event{Kind: policy.DemandChanged})
	made := s.policy
	if w.setup.refusals > 0 && w.rng.Float64() < w.setup.refusals { // nobody runs after all
		w.served--
		w.later(0, func() {
			if s.policy == made && s.runs == id {
				s.runs = ident.Token{}
				w.running--
				w.step(i, policy.Event{Kind: policy.OperationEnded, Token: *w.tokens[id]})
			}
		})
		return
	}
	w.later(time.Duration(w.rng.Int64N(int64(w.setup.params.OperationTime)+1)), func() {
		if s.policy != made || s.runs != id {
			return
		}
		s.runs = ident.Token{}
		w.running--
		told := w.told
		w.step(i, policy.Event{Kind: policy.OperationEnded, Operated: true, Token: *w.tokens[id]})
		if s.runs == (ident.Token{}) {
			s.since = w.messages - (w.told - told) // who wants again meanwhile asks now
		}
	})
}

func (w *network) pass(from, to int, t *policy.Token, field []byte) {
	sender := w.sites[from].policy
	settle := func(outcome policy.Outcome, t policy.Token) {
		var taker ident.Member
		if outcome == policy.Delivered {
			taker = memberID(to)
		}
		w.later(0, func() {
			if w.sites[from].policy == sender && w.sites[from].up {
				w.step(from, policy.Event{Kind: policy.PassEnded, Outcome: outcome, From: taker, Token: t})
			}
		})
	}
	was := *t
	was.Field = nil
	if w.rng.Float64() < w.setup.passLoss {
		delete(w.tokens, t.ID)
		settle(policy.Abandoned, was)
		return
	}
	w.send(from, to, w.setup.passing, func() {
		if w.reach(from, to) {
			t.Hop++
			t.Field = field
			w.sites[to].here[t.ID] = true
			w.givers[t.ID] = [2]int{from, w.givers[t.ID][0]}
			arrival := policy.Event{Kind: policy.Arrival, From: memberID(from), Token: *t}
			if first := w.skipped(to, t.ID); first >= 0 {
				arrival.Skipped = memberID(first)
			}
			w.step(to, arrival)
			settle(policy.Delivered, was)
			return
		}
		w.sites[from].here[t.ID] = true
		if w.sites[from].policy == sender && w.sites[from].up {
			w.step(from, policy.Event{Kind: policy.PassEnded, Outcome: policy.Returned, Token: *t})
		} else if w.sites[from].up { // restarted meanwhile
			w.step(from, policy.Event{Kind: policy.Resumed, Token: *t})
		}
	})
}

// skipped is the first member that was passed over when a token came to this one, or -1.
func (w *network) skipped(to int, id ident.Token) int {
	first, n := -1, len(w.sites)
	if w.favours == nil {
		return first
	}
	for i := (to - 1 + n) % n; i != w.givers[id][0]; i = (i - 1 + n) % n {
		if i == w.givers[id][1] {
			return -1
		}
		if w.reach(to, i) {
			first = i
		}
	}
	return first
}

func (w *network) tell(from, to int, body []byte) {
	m, ok := parse(body)
	require.True(w.t, ok)
	w.sent++
	w.messages++
	w.told++
	if m.kind == repeat {
		w.repeats++
	}
	if w.rng.Float64() < w.setup.tellLoss || w.lose != nil && w.lose(w.told) {
		return
	}
	w.send(from, to, w.setup.telling, func() { w.deliver(from, to, body) })
}

func (w *network) deliver(from, to int, body []byte) {
	if w.reach(from, to) {
		w.step(to, policy.Event{Kind: policy.Message, From: memberID(from), Body: body})
	}
}

// keepersFirst is the first kind of the messages between keepers.
const keepersFirst = 0x80

// silence is how long a member that is watched has to be out of reach.
const silence = 4 * time.Second

// watch says when a member is out of reach for long.
func (w *network) watch(by, of int) {
	s := w.sites[by]
	if s.watched[of] {
		return
	}
	s.watched[of] = true
	made, since := s.policy, w.now
	var look func()
	look = func() {
		switch {
		case s.policy != made || !s.up || !s.watched[of]:
			return
		case w.reach(by, of):
			since = w.now
		case w.now >= since.Add(silence):
			delete(s.watched, of)
			w.step(by, policy.Event{Kind: policy.Silent, From: memberID(of)})
			return
		}
		w.later(silence/8, look)
	}
	look()
}

// roster is what a member's policy may ask about the ring: all know all.
type roster struct {
	w    *network
	self int
}

func (r roster) Draw(n int, to []ident.Member) []ident.Member {
	for _, i := range r.w.rng.Perm(len(r.w.sites)) {
		if i != r.self && n > 0 {
			to, n = append(to, memberID(i)), n-1
		}
	}
	return to
}

func (r roster) Others(n int, to []ident.Member) []ident.Member { return r.Draw(n, to) }

func (r roster) Size() int { return len(r.w.sites) - 1 }

func (r roster) Witnesses(_ ident.Member, n int, to []ident.Member) []ident.Member {
	members := len(r.w.sites)
	for k := range min(n, members) {
		to = append(to, memberID((int(r.w.setup.seed%251)+k)%members))
	}
	return to
}

// waiting is how many members wait to be served.
func (w *network) waiting() (n int) {
	for _, s := range w.sites {
		if s.up && s.demand {
			n++
		}
	}
	return n
}
