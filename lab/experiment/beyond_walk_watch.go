package experiment

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/sim/circulation"
)

// lossKind is how a token gets lost.
type lossKind uint8

const (
	otherwise   lossKind = iota // not on purpose
	inTransit                   // the next pass loses it
	withHolder                  // its holder crashes, and forgets it
	withWatcher                 // so does, at the same instant, who had passed it on to the holder
)

// tokenLoss is a loss, and for how long it was felt: until an operation began, or
// one ran under another token; and until there was a token.
type tokenLoss struct {
	kind             lossKind
	operation, token time.Duration
}

// losing injects losses, and notes them. It is an Observer.
type losing struct {
	circulation.Ignore
	kinds []lossKind
	start clock.Instant // what is lost before is not noted
	down  time.Duration // until a holder that crashed is back
	retry time.Duration // when to look again for a token to lose where there is none
	rng   *rand.Rand

	next    lossKind // of the next token that is gone
	running int
	last    map[ident.Token]trail // where each token is
	open    []openLoss
	noted   []tokenLoss
}

// trail is the holder of a token, and who passed it on to that one: nobody is -1.
type trail struct{ holder, before int }

type openLoss struct {
	tokenLoss
	at         clock.Instant
	ran, there bool // the operation, the token
}

func newLosing(kinds []lossKind, start clock.Instant, down, retry time.Duration, rng *rand.Rand) *losing {
	return &losing{kinds: kinds, start: start, down: down, retry: retry, rng: rng, last: map[ident.Token]trail{}}
}

// plan schedules the losses: up to one operation later than the multiple of
// lossEvery, so that they do not always meet the same moment of an operation.
func (o *losing) plan(w *circulation.Simulation, end clock.Instant) {
	for at, i := clock.Instant(lossEvery), 0; at < end && len(o.kinds) > 0; at, i = at.Add(lossEvery), i+1 {
		kind := o.kinds[i%len(o.kinds)]
		w.At(at.Add(time.Duration(o.rng.Float64()*float64(walkOperation))), func(w *circulation.Simulation) { o.lose(w, kind) })
	}
}

func (o *losing) lose(w *circulation.Simulation, kind lossKind) {
	if kind == inTransit {
		o.next = kind
		w.LosePass(1)
		return
	}
	holder, before := o.victims(w)
	if holder < 0 || kind == withWatcher && before < 0 {
		w.At(w.Now().Add(o.retry), func(w *circulation.Simulation) { o.lose(w, kind) })
		return
	}
	if kind == withWatcher {
		w.Crash(before, o.down)
	}
	o.next = kind
	w.Crash(holder, o.down)
	o.next = otherwise
}

// victims are a holder that is up, and who passed its token on if that one is up
// too.
func (o *losing) victims(w *circulation.Simulation) (holder, before int) {
	holders := slices.DeleteFunc(w.Holders(), func(m int) bool { return !w.Up(m) })
	if len(holders) == 0 {
		return -1, -1
	}
	holder, before = holders[o.rng.IntN(len(holders))], -1
	for _, t := range o.last {
		if t.holder == holder && t.before >= 0 && t.before != holder && w.Up(t.before) {
			before = max(before, t.before) // of several tokens always the same
		}
	}
	return holder, before
}

// Visit implements circulation.Observer.
func (o *losing) Visit(_ clock.Instant, member int, token ident.Token) {
	o.last[token] = trail{member, o.last[token].holder}
}

// TokenBorn implements circulation.Observer.
func (o *losing) TokenBorn(now clock.Instant, member int, token ident.Token) {
	o.last[token] = trail{member, -1}
	for i := range o.open {
		if l := &o.open[i]; !l.there {
			l.token, l.there = now.Sub(l.at), true
		}
	}
}

// TokenGone implements circulation.Observer.
func (o *losing) TokenGone(now clock.Instant, token ident.Token, how circulation.End) {
	delete(o.last, token)
	if how == circulation.Dropped {
		return
	}
	kind := o.next
	o.next = otherwise
	if now >= o.start {
		o.open = append(o.open, openLoss{tokenLoss: tokenLoss{kind: kind}, at: now, ran: o.running > 0, there: len(o.last) > 0})
		o.close()
	}
}

// OperationBegan implements circulation.Observer.
func (o *losing) OperationBegan(now clock.Instant, _ int) {
	o.running++
	for i := range o.open {
		if l := &o.open[i]; !l.ran {
			l.operation, l.ran = now.Sub(l.at), true
		}
	}
	o.close()
}

// OperationEnded implements circulation.Observer.
func (o *losing) OperationEnded(clock.Instant, int) { o.running-- }

// close notes the losses that are not felt any more.
func (o *losing) close() {
	o.open = slices.DeleteFunc(o.open, func(l openLoss) bool {
		if l.ran && l.there {
			o.noted = append(o.noted, l.tokenLoss)
		}
		return l.ran && l.there
	})
}

// finish are all losses. Those that are felt still count for as long as they were.
func (o *losing) finish(now clock.Instant) []tokenLoss {
	for _, l := range o.open {
		if !l.ran {
			l.operation = now.Sub(l.at)
		}
		if !l.there {
			l.token = now.Sub(l.at)
		}
		o.noted = append(o.noted, l.tokenLoss)
	}
	o.open = nil
	return o.noted
}

// dueWatch is an Observer that notes how long nobody runs though somebody may: its
// last operation ended Δmin ago. All members are taken to be up, but for those that it
// is told to forget.
type dueWatch struct {
	circulation.Ignore
	least   time.Duration
	start   clock.Instant // nothing before it counts
	ended   []clock.Instant
	order   []int32 // members in the order in which their operations ended, the first at head
	at      []clock.Instant
	head    int
	running int
	since   clock.Instant
	waited  time.Duration
}

func newDueWatch(members int, least time.Duration, start clock.Instant) *dueWatch {
	d := &dueWatch{least: least, start: start, ended: make([]clock.Instant, members)}
	for m := range d.ended {
		d.note(m, clock.Instant(-least))
	}
	return d
}

func (d *dueWatch) note(member int, at clock.Instant) {
	d.ended[member] = at
	d.order, d.at = append(d.order, int32(member)), append(d.at, at)
}

// advance books the time until now.
func (d *dueWatch) advance(now clock.Instant) {
	if d.running == 0 && d.head < len(d.order) {
		from := max(d.since, d.start, d.at[d.head].Add(d.least))
		d.waited += max(0, now.Sub(from))
	}
	d.since = now
}

// busy is the end of an operation that has not ended.
const busy = clock.Never

// OperationBegan implements circulation.Observer.
func (d *dueWatch) OperationBegan(now clock.Instant, member int) {
	d.advance(now)
	d.running++
	d.ended[member] = busy
	d.skip()
}

// forget takes out members that are down for good.
func (d *dueWatch) forget(members []int) {
	for _, m := range members {
		d.ended[m] = busy
	}
	d.skip()
}

// skip goes on to the member whose operation ended first.
func (d *dueWatch) skip() {
	for d.head < len(d.order) && d.ended[d.order[d.head]] != d.at[d.head] {
		d.head++
	}
	if d.head > len(d.order)/2 && d.head > len(d.ended) { // keep what is ahead
		d.order = append(d.order[:0], d.order[d.head:]...)
		d.at = append(d.at[:0], d.at[d.head:]...)
		d.head = 0
	}
}

// OperationEnded implements circulation.Observer.
func (d *dueWatch) OperationEnded(now clock.Instant, member int) {
	d.advance(now)
	d.running--
	d.note(member, now)
}

// Advanced implements circulation.Observer.
func (d *dueWatch) Advanced(now clock.Instant) { d.advance(now) }
