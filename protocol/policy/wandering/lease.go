package wandering

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// custodiesKept bounds how many custodies a member can still be asked about.
const custodiesKept = 8

// custody is one time that a token was here.
type custody struct {
	token ident.Token
	hop   uint64
	from  ident.Member // who watches us for it; zero: nobody
	to    ident.Member // to whom it was passed, once delivered
	what  byte         // unknown: this place is free
}

// custodies are the last ones, the latest first.
type custodies [custodiesKept]custody

func (c *custodies) begin(token *policy.Token, from ident.Member) {
	copy(c[1:], c[:])
	c[0] = custody{token: token.ID, hop: token.Hop, from: from, what: here}
}

// of is the custody of a token at a hop, or the latest one where hop is anyHop.
func (c *custodies) of(id *ident.Token, hop uint64) *custody {
	for i := range c {
		if c[i].what != unknown && c[i].token == *id && (c[i].hop == hop || hop == anyHop) {
			return &c[i]
		}
	}
	return nil
}

// name reports whether one of the last custodies began or ended with a member.
func (c *custodies) name(m ident.Member) bool {
	for i := range c {
		if c[i].what != unknown && (c[i].from == m || c[i].to == m) {
			return true
		}
	}
	return false
}

const anyHop = ^uint64(0)

// leasesKept bounds the leases: as many as members can be watched.
const leasesKept = policy.MaxWatched

// lease is the watch over who took a token that was passed on from here, until it
// has passed it on in turn, and then over it as the next one's watcher. It is a
// hint, never custody: what it leads to at worst is a second token.
type lease struct {
	token ident.Token
	hop   uint64       // of the custody that is watched
	at    ident.Member // whose custody that is; zero: not known yet
	next  ident.Member // to whom that member says that it passed it, and that it watches now; never this one
	since clock.Instant
	birth clock.Instant // of the token
	asks  clock.Instant // when to ask
	pause time.Duration
	taken bool // a receipt says so
	used  bool
	// wanders: it was passed on because it had rested for long, not for its turn.
	wanders bool

	denied uint8 // how often it said that it does not have the token

	// doubted: a token is made at that instant, unless as many as need members
	// have heard of the token, or another one, since it was passed.
	doubted clock.Instant
	late    bool // that is long after others were asked
	need    int
	voices
}

// leases are those not over yet.
type leases [leasesKept]lease

// find is the lease on a custody of a member.
func (l *leases) find(id *ident.Token, hop uint64, at *ident.Member) *lease {
	for i := range l {
		if e := &l[i]; e.used && e.token == *id && e.hop == hop && (e.at == *at || e.at.IsZero()) {
			return e
		}
	}
	return nil
}

// pending is the lease on a token that is on its way, or nil.
func (l *leases) pending(id *ident.Token) *lease {
	for i := range l {
		if e := &l[i]; e.used && e.token == *id && !e.taken {
			return e
		}
	}
	return nil
}

// room is a free lease, or the oldest.
func (l *leases) room() *lease {
	oldest := &l[0]
	for i := range l {
		if !l[i].used {
			return &l[i]
		}
		if l[i].since < oldest.since {
			oldest = &l[i]
		}
	}
	return oldest
}

// deadline is when one of them asks or decides.
func (l *leases) deadline() clock.Instant {
	next := clock.Never
	for i := range l {
		if l[i].used {
			next = min(next, l[i].asks, l[i].doubted)
		}
	}
	return next
}

// watchOver begins a lease on who is to take a token; it is zero where the driver
// draws it.
func (w *walker) watchOver(token *policy.Token, to ident.Member) {
	l := w.leases.room()
	if l.used {
		w.endLease(l)
	}
	*l = lease{token: token.ID, hop: token.Hop + 1, at: to, since: w.now, birth: w.birth, used: true, doubted: clock.Never}
	l.rest(w.now, askAfter)
	w.watch(to)
}

func (l *lease) rest(now clock.Instant, pause time.Duration) {
	l.pause, l.asks = pause, now.Add(pause)
}

func (w *walker) watch(m ident.Member) {
	if !m.IsZero() && m != w.self {
		w.actions = append(w.actions, policy.Action{Kind: policy.Watch, To: m})
	}
}

// endLease ends a lease, and the watch unless another lease needs it.
func (w *walker) endLease(l *lease) {
	l.used = false
	w.unwatch(l.at)
}

func (w *walker) unwatch(m ident.Member) {
	for i := range w.leases {
		if e := &w.leases[i]; e.used && e.at == m {
			return
		}
	}
	if !m.IsZero() && m != w.self {
		w.actions = append(w.actions, policy.Action{Kind: policy.Unwatch, To: m})
	}
}

// delivered notes who took a token, and tells who watches us that we watch now.
func (w *walker) delivered(e *policy.Event) {
	w.sightings.took(&e.Token.ID)
	if l := w.leases.pending(&e.Token.ID); l != nil {
		if l.at != e.From {
			before := l.at
			l.at = e.From
			w.unwatch(before)
			w.watch(l.at)
		}
		l.taken = true
		l.rest(w.now, w.operation+askAfter)
		if w.fair != nil && !l.wanders {
			w.serves(e.From, &sight{id: l.token, born: e.Token.Born, hop: l.hop, age: millis(w.now.Sub(l.birth))})
		}
	}
	if c := w.custodies.of(&e.Token.ID, anyHop); c != nil && c.what == here && !w.holds(&e.Token.ID) {
		c.what, c.to = passed, e.From
		w.tellState(c.from, c.token, c.hop, passed, e.From)
	}
}

// conclude tells who watched us for a custody that it need not any more.
func (w *walker) conclude(id *ident.Token, hop uint64) {
	if c := w.custodies.of(id, hop); c != nil && c.what != over {
		c.what = over
		w.tellState(c.from, c.token, c.hop, over, ident.Member{})
	}
}

func (w *walker) tellState(to ident.Member, id ident.Token, hop uint64, what byte, next ident.Member) {
	w.tell(to, &body{kind: state, sight: sight{id: id, hop: hop}, what: what, member: next})
}

// questioned says what became of a custody.
func (w *walker) questioned(from ident.Member, m *body) {
	what, next := unknown, ident.Member{}
	if c := w.custodies.of(&m.sight.id, m.sight.hop); c != nil {
		what, next = c.what, c.to
	} else if s := w.sightings.find(&m.sight.id); s != nil && s.held > longAgo && s.hop > m.sight.hop {
		what = over // it went on long ago
	}
	w.tellState(from, m.sight.id, m.sight.hop, what, next)
}

// stated is what became of a custody that is watched.
func (w *walker) stated(from ident.Member, m *body) {
	l := w.leases.find(&m.sight.id, m.sight.hop, &from)
	if l == nil {
		return
	}
	if m.what == passed && m.member == w.self {
		m.what = unknown // it did not come, or this lease would have ended then
	}
	if m.what != unknown {
		if l.doubted != clock.Never {
			w.watch(from) // it had fallen silent, which ended the watch
		}
		l.at, l.denied, l.doubted = from, 0, clock.Never
	}
	switch m.what {
	case unknown:
		w.denied(l)
	case here:
		l.taken = true
		l.rest(w.now, min(2*l.pause, askPauseMost))
	case passed:
		l.taken, l.next = true, m.member
		l.rest(w.now, max(min(2*l.pause, askPauseMost), w.operation+2*askAfter))
		w.conclude(&l.token, l.hop-1)
	case over:
		w.conclude(&l.token, l.hop-1)
		w.endLease(l)
	}
}

// denied: who should have the token says that it does not. Where no receipt says
// otherwise it was lost on the way. One that took it, and has no memory of that, has
// lost it in a restart, or lies: then there is time to see whether others hear of it.
func (w *walker) denied(l *lease) {
	if l.doubted != clock.Never {
		return
	}
	switch l.denied++; {
	case l.taken && w.now < l.since.Add(w.window):
		l.rest(w.now, l.pause)
	case l.denied < 2:
		l.rest(w.now, askAgain)
	default:
		w.doubt(l)
	}
}

// doubt asks members at random whether they have heard that the token went on.
func (w *walker) doubt(l *lease) {
	l.doubted, l.late, l.voices = w.now.Add(suspicion), false, voices{}
	l.asks = clock.Never
	w.polled = w.roster.Draw(pollSize, w.polled[:0])
	l.need = agreeing(len(w.polled))
	for _, m := range w.polled {
		w.tell(m, &body{kind: poll, age: millis(min(w.now.Sub(l.since), w.window)), sight: sight{id: l.token, hop: l.hop}})
	}
}

// silent: a member that is watched does not answer any more. If it has passed the
// token on, who watches the next one is gone, and that is up to us.
func (w *walker) silent(from ident.Member) {
	doubts := 0
	for i := range w.leases {
		l := &w.leases[i]
		switch {
		case !l.used || l.at != from:
		case !l.next.IsZero():
			l.at, l.next, l.hop, l.taken = l.next, ident.Member{}, l.hop+1, true
			w.watch(l.at)
			w.askAbout(l)
		case l.doubted == clock.Never && doubts == 0:
			w.askAbout(l)
			w.doubt(l)
			doubts++
		case l.doubted == clock.Never:
			w.watch(l.at) // one after the other
		}
	}
}

// cameBack ends the leases on a token that is here again: whatever became of its
// earlier custodies, it was not lost.
func (w *walker) cameBack(id *ident.Token) {
	for i := range w.leases {
		if l := &w.leases[i]; l.used && l.token == *id {
			w.conclude(&l.token, l.hop-1)
			w.endLease(l)
		}
	}
}

func (w *walker) askAbout(l *lease) {
	w.tell(l.at, &body{kind: ask, sight: sight{id: l.token, hop: l.hop}})
	l.rest(w.now, min(max(2*l.pause, askAgain), askPauseMost))
}

// leasesDue asks, and makes a token where one is lost.
func (w *walker) leasesDue() {
	for i := range w.leases {
		l := &w.leases[i]
		switch {
		case !l.used:
		case l.doubted <= w.now:
			w.replace(l)
		case l.asks <= w.now:
			if l.at.IsZero() {
				l.rest(w.now, askPauseMost)
				break
			}
			w.askAbout(l)
		}
	}
}

// replace ends a doubted lease: nobody has heard of the token since it was passed. Who
// has just made one waits until it may make another, and asks once more.
func (w *walker) replace(l *lease) {
	if !w.have && !w.wentOn(l) {
		switch {
		case w.now < w.makes():
			l.doubted, l.late = w.makes(), true
			return
		case l.late: // what others said is old
			w.doubt(l)
			return
		}
	}
	gone := l.at
	w.endLease(l)
	if w.have || w.wentOn(l) {
		w.conclude(&l.token, l.hop-1)
		return
	}
	if w.fair != nil {
		w.fair.candidates.remove(gone)
	}
	w.conclude(&l.token, l.hop-1)
	w.generate()
}

// wentOn reports whether the token, or another one, has been here since it was passed,
// or as many as need members have told of it, those among them that did so unasked.
func (w *walker) wentOn(l *lease) bool {
	further := beyond(l.token, l.hop)
	if s, told := w.sightings.recall(further, l.since, &w.rng); s != nil && told == nil {
		return true // it was here
	}
	l.hearAll(&w.sightings, further, l.since)
	return l.n >= l.need
}

// goesOn takes it for an answer to the doubts that somebody has heard of a token.
func (w *walker) goesOn(from ident.Member, m *body) {
	at := before(w.now, m.sight.age)
	for i := range w.leases {
		l := &w.leases[i]
		if !l.used || l.doubted == clock.Never || m.sight.id == l.token && m.sight.hop <= l.hop || at < l.since {
			continue
		}
		l.hear(from, m.member)
		if l.n >= l.need {
			w.conclude(&l.token, l.hop-1)
			w.endLease(l)
		}
	}
}
