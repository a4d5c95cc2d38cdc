package wandering

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

const (
	// hurry is after how many hops in a row without an operation a token of the
	// preset light begins to rest: by then hardly any member is due.
	hurry = 32
	// restDoublings bounds by how often its rest doubles, Δskip at first, and longRest up to
	// where it does so in any case: a short Δskip does not wake an idle group more often.
	restDoublings = 5
	longRest      = 3200 * time.Millisecond

	// idleRound is within what time an idle token of the preset light comes to as many members
	// as the group has, at the soonest: in a small group it rests for longer, as each member
	// has a larger part in each hop. Within the least freshness it still comes to three of five
	// members, which is more than the third that the preset relies on. From 16 members on longRest
	// is more, so that no token rests for longer where members know only a sample of the
	// group: that has two dozen or more.
	idleRound = 50 * time.Second
)

// arrive applies the removal rule before anything else.
func (w *walker) arrive(e *policy.Event) {
	t := &e.Token
	if w.holds(&t.ID) {
		return // told twice
	}
	b := parseBaggage(t.Field)
	birth := before(w.Now, b.age)
	w.observations.here(t, w.Now)
	w.observations.took(&t.ID)
	w.elsewhere(&t.ID)
	w.had()
	if w.observations.superseded(t, birth, w.Now, w.freshness) {
		w.drop(t)
		return
	}
	if w.fair != nil {
		if !w.have { // or those of both tokens are for the one that stays
			w.fair.candidates.n = 0
		}
		w.fair.readCandidates(b.records)
		w.fair.candidates.remove(e.From)
		w.fair.candidates.remove(w.self) // on the second token's list it may stand
	}
	w.take(holding{token: *t, came: w.Now, since: w.Now, birth: birth, streak: b.streak, have: true}, false)
	if w.fair != nil && w.have && w.token.ID == t.ID && b.names(e.From) {
		w.fair.insert(candidate{member: e.From, served: w.Now}) // it asks back
	}
}

// appear is a token that was made here, or that is here since before a restart.
func (w *walker) appear(e *policy.Event) {
	t := &e.Token
	if w.holds(&t.ID) {
		return
	}
	b := parseBaggage(t.Field)
	w.observations.here(t, w.Now)
	if t.Hop == 0 {
		w.observations.made(&t.ID)
	}
	w.had()
	h := holding{token: *t, came: w.Now, since: w.Now, birth: before(w.Now, b.age), streak: b.streak, have: true}
	if e.Kind == policy.Generated && w.have && !w.spare.have {
		h.token.Field = nil
		w.spare = h // no keeper here has asked for it: it is in place of the one that is here
		return
	}
	if e.Kind == policy.Resumed {
		w.cameBack(&h)
	}
	w.take(h, true)
}

// holds reports whether a token is here.
func (w *walker) holds(id *ident.Token) bool {
	return w.have && w.token.ID == *id || w.spare.have && w.spare.token.ID == *id
}

// take keeps the token of higher precedence of those that are here. One under
// which the operation runs stays until its end. A token is alone when no member has
// passed it here now.
func (w *walker) take(h holding, alone bool) {
	h.token.Field = nil
	switch {
	case !w.have:
		w.begin(h, alone)
	case w.token.ID == h.token.ID, outranks(&w.token, &h.token):
		w.drop(&h.token)
	case !w.running:
		w.drop(&w.token)
		w.begin(h, alone)
	case w.spare.have && outranks(&w.spare.token, &h.token):
		w.drop(&h.token)
	default:
		if w.spare.have {
			w.drop(&w.spare.token)
		}
		w.spare = h
	}
}

// begin runs the operation under a token that is here from now on, or lets it rest.
func (w *walker) begin(h holding, alone bool) {
	w.holding = h
	switch {
	case w.mayRun() && (w.untaken == 0 || w.fair == nil && !w.owesPass()): // under fair others are asked first
		w.run()
	case w.untaken > 0:
		w.rests = w.Now.Add(w.skip)
	default:
		w.rest()
	}
	if w.fair != nil {
		w.fair.seek(alone)
		return
	}
	if alone && !w.running { // no member waits for it further on
		w.rests = max(w.rests, w.Now.Add(w.skip))
	}
	w.next = ident.Member{}
	if alone { // others may have failed, and a member that waits has said so since
		w.next, w.waiter = w.waiter, ident.Member{}
	}
	if w.next.IsZero() {
		if drawn := w.roster.Draw(1, w.drawn[:0]); len(drawn) > 0 {
			w.next = drawn[0]
		}
	}
	w.Prepare(w.token.ID, w.next)
}

func (w *walker) run() {
	w.running, w.rests, w.began = true, clock.Never, w.Now
	if w.fair != nil {
		w.fair.idle, w.fair.looks = clock.Never, clock.Never // or it could wander while it runs
		if w.ran {
			w.fair.gatherAnew() // or a member that runs again and again would never hear of others
		}
	}
	w.ran, w.untaken = true, 0
	w.Run(w.token.ID)
}

// rest is for how long a token stays with a member that does not run: not at all,
// unless it has met many such members in a row.
func (w *walker) rest() {
	w.rests = w.Now
	if w.streak >= hurry {
		w.rests = w.Now.Add(w.grownRest(int(w.streak - hurry)))
	}
	if w.streak < 255 {
		w.streak++
	}
}

// grownRest is the rest of a token that has doubled so often.
func (w *walker) grownRest(doublings int) time.Duration {
	most := min(max(w.skip<<restDoublings, longRest), w.spans.rest)
	if w.fair == nil {
		most = max(most, idleRound/time.Duration(w.roster.Size()+1))
	}
	rest := w.skip
	for ; doublings > 0 && rest < most; doublings-- {
		rest *= 2
	}
	return min(rest, most)
}

// hasten passes the token that rests here to the member that waits for it. Under fair that is done
// with one only that was made here and not used yet: no member knows more of it. One that no member
// took rests on under fair, and one that this member did not take under light: those that were
// offered it may be dead.
func (w *walker) hasten(to ident.Member) {
	known := w.fair != nil && (w.token.Hop > 0 || w.ran)
	refused := w.observations.fateOf(&w.token.ID) == shunned && (w.fair != nil || w.sent.token == w.token.ID && w.sent.to == to)
	if to.IsZero() || to == w.self {
		return
	}
	if w.have && !w.running && !known && !refused {
		w.pass(to)
	} else if w.fair == nil {
		w.waiter = to
	}
}

// drop removes a token.
func (w *walker) drop(t *policy.Token) {
	w.Drop(t.ID, policy.Superseded)
}

// yield drops the token that rests here when one of higher precedence circulates.
func (w *walker) yield() {
	if w.have && !w.running && w.observations.superseded(&w.token, w.birth, w.Now, w.freshness) {
		w.drop(&w.token)
		w.have = false
		w.beginSpare()
	}
}

// ended goes on to the next member, under the token that precedes if there are two.
func (w *walker) ended(e *policy.Event) {
	if e.Operated {
		w.early = max(w.early, w.began.Add(w.ownMin()))
	}
	if !w.have || !w.running || w.token.ID != e.Token.ID {
		return
	}
	w.running, w.rests = false, w.Now
	if e.Operated {
		w.streak = 0
	} else {
		w.rests = w.Now.Add(w.skip)
	}
	if w.spare.have && outranks(&w.spare.token, &w.token) {
		w.drop(&w.token)
		w.have = false
		w.beginSpare()
		return
	}
	w.yield()
	switch {
	case !w.have, w.running: // with the token that came meanwhile
	case w.fair != nil:
		w.fair.ends()
	case e.Operated:
		w.pass(w.next)
	}
}

// pass hands the token on.
func (w *walker) pass(to ident.Member) {
	w.Pass(w.token.ID, to, w.Field(w.appendBaggage))
	w.observations.here(&w.token, w.Now)
	w.have = false
	if w.fair != nil {
		w.fair.served()
	}
	w.sent = passage{token: w.token.ID, birth: w.birth, to: to, since: w.since, awaited: w.awaited, ran: w.ran, untaken: w.untaken}
	if w.waiter == to {
		w.waiter = ident.Member{}
	}
	w.beginSpare()
}

// wander passes the token to a member though it is not its turn.
func (w *walker) wander(to ident.Member) {
	id := w.token.ID
	w.pass(to)
	w.sent.wanders = w.sent.token == id
}

// beginSpare goes on with the other token, when the one before it is not here any more.
func (w *walker) beginSpare() {
	if w.spare.have && !w.have {
		h := w.spare
		w.spare = holding{}
		w.begin(h, true)
		w.yield()
	}
}

// settled is the end of a pass, or of a token that was here.
func (w *walker) settled(e *policy.Event) {
	id := &e.Token.ID
	switch e.Outcome {
	case policy.Delivered:
		w.delivered(e)
	case policy.Returned:
		w.returned(e)
	case policy.Abandoned:
		if w.have && !w.running && w.token.ID == *id {
			w.have = false
		}
		if w.spare.have && w.spare.token.ID == *id {
			w.spare.have = false
		}
		w.beginSpare()
	}
}

// returned is a token that no member took. It rests a while: those that did not take it
// would not now.
func (w *walker) returned(e *policy.Event) {
	t := e.Token
	if w.holds(&t.ID) {
		return
	}
	w.observations.shun(&t.ID)
	from := ident.Member{}
	if w.sent.token == t.ID {
		from = w.sent.to
	}
	h := holding{token: t, came: w.Now, since: w.Now, birth: w.birth, streak: w.streak, have: true}
	if w.token.ID != t.ID {
		h.birth = before(w.Now, parseBaggage(t.Field).age)
	}
	if w.fair != nil {
		w.fair.candidates.remove(from)
	}
	w.cameBack(&h)
	w.take(h, true)
	if w.have && w.token.ID == t.ID && !w.running {
		w.rests = w.Now.Add(w.skip)
	}
}

// cameBack notes that no member took a token. For others it has been here all the time. If the operation has run under it,
// others may wait, and have told a member that this one keeps it: two programs would be longer than it may be kept.
func (w *walker) cameBack(h *holding) {
	l := &w.sent
	if l.token != h.token.ID || l.taken {
		return
	}
	h.since, h.awaited = l.since, l.awaited || !l.wanders
	if !l.ran {
		return
	}
	h.ran, h.untaken = true, l.untaken+1
	if h.untaken == 1 {
		w.declined = w.declined[:0]
	}
	if !l.to.IsZero() {
		w.declined = keepLast(without(w.declined, l.to), l.to)
	}
}

// elsewhere notes that another member has had a token.
func (w *walker) elsewhere(id *ident.Token) {
	if w.sent.token == *id {
		w.sent.taken = true
	}
}

// owesPass reports whether the token is offered to another member before the operation runs under it here again: it has
// run, and the pass after that has come back.
func (w *walker) owesPass() bool {
	switch {
	case w.untaken == 0:
		return false
	case w.fair != nil:
		return w.fair.owesPass()
	}
	return !w.offeredToAll()
}

// delivered notes which member took a token, and tells its timekeepers if that was its turn.
func (w *walker) delivered(e *policy.Event) {
	w.observations.took(&e.Token.ID)
	w.elsewhere(&e.Token.ID)
	if l := &w.sent; w.fair != nil && l.token == e.Token.ID && !l.wanders {
		w.fair.serves(e.From, &sight{id: l.token, born: e.Token.Born, hop: e.Token.Hop + 1, age: millis(w.Now.Sub(l.birth))})
	}
}
