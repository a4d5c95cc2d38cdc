package gate_test

import (
	"container/heap"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/ident"
)

// link is one custody of a token: who holds it, and by whose signatures.
type link struct {
	title gate.Title
	moves []gate.Move
}

// chain is a token as it really moved.
type chain struct {
	generator ident.Member
	born      uint64
	links     []link
	got       clock.Instant // the last custody
	slot      int
	fork      int
}

func (c *chain) last() link { return c.links[len(c.links)-1] }

func (c *chain) permit(hop int) gate.Permit {
	p := gate.Permit{Title: c.links[hop].title, Generator: c.generator, Born: c.born}
	p.Moves = append(p.Moves, c.links[hop].moves...)
	if hop > 0 {
		p.Moves = append(p.Moves, c.links[hop-1].moves...)
	}
	return p
}

// attempt is one sign-in, from the member's side.
type attempt struct {
	member  int
	chain   *chain // nil: not by custody
	slot    int
	link    int
	permit  gate.Permit
	at      clock.Instant
	open    bool
	session uint64
	until   clock.Instant
	leaving bool // it has signed out, or its connection is lost
	done    bool
	waits   bool // it has heard BUSY
	first   bool // by custody of an honest member, with a title that was never shown
}

// config is how a world is.
type config struct {
	members, liars int
	tokens         int     // living at once
	second         bool    // a second token lives half of the time
	crash          float64 // of each effect
	trouble        float64 // of each hook: fails, or hangs
	fair           bool    // tokens go to the member that was served longest ago
	stock, mint    bool    // the liars always knock with titles of a stock; with minted tokens
	knock          time.Duration
	forge          bool
	revoke         bool    // all liars but one are revoked; the keys of all go on signing for the one that is left
	resize         bool    // the configuration takes the places of each slot away but one, and gives them back
	forgets        bool    // the gate's journal is lost at each crash, and the floor is as at first
	clocks         bool    // the gate's clock is set forward by up to three hours, and back
	greedy         bool    // the liars keep a token as long as a custody may last, and sign in with it again and again
	want           float64 // of an honest member that gets a token
	signIns        int
	sessions       int // or until so many
	settings       gate.Settings
	seed           uint64
}

var plain = gate.Settings{
	Version: 1, Slots: 1, MaxHold: 20 * time.Second, Settle: 200 * time.Millisecond, Keep: 2 * time.Second,
	OpenTimeout: 2 * time.Second, CloseTimeout: 4 * time.Second, ClockAllowance: time.Minute,
}

// event is something that happens at a time.
type event struct {
	at clock.Instant
	n  int
	do func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].n < e[j].n
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	x := old[len(old)-1]
	*e = old[:len(old)-1]
	return x
}

// hook is a process that the gate's driver has started. It survives the gate.
type hook struct {
	session uint64
	killed  bool
}

// world is members, a driver with its resource, and a judge that sees both and not the machine's state.
type world struct {
	config
	rng      *rand.Rand
	now      clock.Instant
	queue    events
	count    int
	gate     *gate.Gate // nil: crashed
	life     int        // of the gate
	wake     clock.Instant
	journal  [][]byte
	durable  int              // how many records of it a crash does not lose
	hookless bool             // this life of the gate has no open hook: OPEN leaves before the record is durable
	ended    []gate.HookEnded // the hooks that do nothing
	waiting  []func()         // sessions that work once their records are durable
	attempts map[gate.Connection]*attempt
	conns    gate.Connection
	chains   []*chain
	ids      uint64
	opener   [gate.MaxSlots]*hook          // the open hooks that run
	works    [gate.MaxSlots]map[uint64]int // what works at the resource: session, member
	in       [gate.MaxSlots]clock.Instant  // since when there is a session that the gate has not begun to close; 0: there is none
	stuck    [gate.MaxSlots]bool           // as the operator has heard
	sessions map[uint64]*attempt
	named    map[gate.Title]bool            // what honest members really held
	served   []clock.Instant                // of each member, as fair sees it
	signed   map[ident.Hash]clock.Instant   // when
	gone     map[int]bool                   // revoked
	heard    map[ident.Member]clock.Instant // since when the gate knows that of a member
	stocks   []*chain
	said     answers
	ahead    time.Duration // by which the gate's clock is wrong
	set      clock.Instant // when it was set last
	shut     clock.Instant // when the gate stepped last while its windows were closed by its clock

	tally
}

// tally is what the judge counts.
type tally struct {
	asked, opened, crashes, lies, alarms, ops int
	losses                                    int   // crashes before records were durable
	by                                        []int // sessions of each member
	longest                                   time.Duration
	most                                      int // sessions that worked at the same time
	overlaps, unnamed, cuts, refusedFirst     int
	reused, broken, stalled, revoked, twice   int
	closed                                    int // sessions that ended with a window
	outside                                   int // sessions that began outside the windows, or went on there for too long
	codes                                     map[gate.Code]int
}

func (t *tally) wrong() string {
	if t.overlaps+t.unnamed+t.cuts+t.refusedFirst+t.reused+t.broken+t.stalled+t.revoked+t.twice+t.outside == 0 {
		return ""
	}
	return fmt.Sprintf("two sessions at once %d, sessions of nobody named %d, honest sessions cut %d, refused at first use %d, numbers used again %d, invariants %d, stalled %d, of the revoked %d, two of a member %d, outside the windows %d",
		t.overlaps, t.unnamed, t.cuts, t.refusedFirst, t.reused, t.broken, t.stalled, t.revoked, t.twice, t.outside)
}

// honestRate is how many sessions honest members had in a second.
func (w *world) honestRate() float64 {
	honest := 0
	for m, n := range w.by {
		if !w.isLiar(m) {
			honest += n
		}
	}
	return float64(honest) / w.now.Sub(clock.Instant(time.Hour)).Seconds()
}

func memberID(n int) (id ident.Member) {
	binary.BigEndian.PutUint64(id[:], uint64(n)+1)
	return id
}

func (w *world) hash() ident.Hash {
	w.ids++
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], w.ids)
	h := ident.Hash(sha256.Sum256(b[:]))
	w.signed[h] = w.now
	return h
}

func newWorld(c config) *world {
	w := &world{
		config: c, rng: rand.New(rand.NewPCG(c.seed, 7)), now: clock.Instant(time.Hour), wake: clock.Never,
		attempts: map[gate.Connection]*attempt{}, sessions: map[uint64]*attempt{},
		served: make([]clock.Instant, c.members), named: map[gate.Title]bool{},
		said:   answers{sessions: map[uint64][]int{}, signIns: map[gate.Connection][]int{}},
		signed: map[ident.Hash]clock.Instant{}, gone: map[int]bool{}, heard: map[ident.Member]clock.Instant{},
	}
	w.codes = map[gate.Code]int{}
	for i := range w.works {
		w.works[i] = map[uint64]int{}
	}
	w.by = make([]int, c.members)
	for i := range w.served {
		w.served[i] = clock.Instant(i)
	}
	w.begin()
	for range c.tokens {
		w.custody(w.generate(w.rng.IntN(c.members)))
	}
	if c.second {
		w.after(time.Minute, w.secondToken)
	}
	if c.revoke {
		w.after(time.Minute, w.revokeOne)
	}
	if c.clocks {
		w.after(time.Minute, w.setClock)
	}
	if c.resize {
		w.after(time.Minute, func() { w.resizes(c.settings.Sessions) })
	}
	for m := c.members - c.liars; m < c.members; m++ {
		w.stocks = append(w.stocks, w.generate(m))
		w.after(w.around(c.knock), func() { w.lie(m) })
	}
	return w
}

// reading is what the gate's clocks show, and true what the members' do.
func (w *world) reading() clock.Reading {
	r := w.true()
	r.Wall = r.Wall.Add(w.ahead)
	return r
}

func (w *world) true() clock.Reading {
	return clock.Reading{Boot: w.now, Wall: time.UnixMilli(1_700_000_000_000).Add(time.Duration(w.now))}
}

// setClock sets the gate's clock forward, or back to the true time. The gate is not told.
func (w *world) setClock() {
	w.ahead, w.set = time.Duration(w.rng.Int64N(int64(3*time.Hour)))*time.Duration(w.rng.IntN(2)), w.now
	w.after(w.around(2*time.Minute), w.setClock)
}

func (w *world) after(d time.Duration, do func()) {
	w.count++
	heap.Push(&w.queue, event{w.now.Add(d), w.count, do})
}

func (w *world) around(d time.Duration) time.Duration {
	return d/2 + time.Duration(w.rng.Int64N(int64(d)+1))
}

func (w *world) chance(p float64) bool { return w.rng.Float64() < p }

func (w *world) isLiar(m int) bool { return m >= w.members-w.liars }

// run goes on until there were so many sign-ins, or sessions.
func (w *world) run() {
	for w.asked < w.signIns || w.opened < w.config.sessions {
		if w.gate != nil && w.wake <= w.now {
			w.step(gate.Tick{})
			continue
		}
		if w.gate != nil && (len(w.queue) == 0 || w.wake < w.queue[0].at) {
			w.now = w.wake
			w.step(gate.Tick{})
			continue
		}
		if len(w.queue) == 0 {
			w.stalled++
			return
		}
		e := heap.Pop(&w.queue).(event)
		w.now = max(w.now, e.at)
		e.do()
	}
}

// generate makes a token at a member.
func (w *world) generate(m int) *chain {
	h := w.hash()
	c := &chain{generator: memberID(m), born: w.true().Millis(), slot: len(w.chains) % w.settings.Slots}
	c.links = []link{{title: gate.Title{Token: ident.Token(h), Holder: memberID(m), Hash: h}}}
	w.note(c)
	w.chains = append(w.chains, c)
	return c
}

func holderOf(t gate.Title) int { return int(binary.BigEndian.Uint64(t.Holder[:8])) - 1 }

// extend passes the token on; now and then the receiver declines, and custody comes back.
func (w *world) extend(c *chain, to int) {
	from := c.last().title
	next := gate.Title{Token: from.Token, Hop: from.Hop + 1, Holder: memberID(to), Hash: w.hash()}
	moves := []gate.Move{{By: from.Holder, Title: from.Hash}}
	if w.chance(0.03) && !w.fair {
		moves = append(moves, gate.Move{By: next.Holder, Title: next.Hash, Declined: true})
		next.Holder = from.Holder
	}
	c.links = append(c.links, link{next, moves})
	w.note(c)
}

func (w *world) note(c *chain) {
	if t := c.last().title; !w.isLiar(holderOf(t)) {
		w.named[t] = true
	}
}

func (w *world) alive(c *chain) bool {
	for _, o := range w.chains {
		if o == c {
			return true
		}
	}
	return false
}

// revokeOne revokes the next liar, as long as another one is left, and tells the gate each minute of all. What it held is lost, and others
// replace it.
func (w *world) revokeOne() {
	w.after(w.around(2*time.Minute), w.revokeOne)
	if len(w.gone) < w.liars-1 {
		m := w.members - 1 - len(w.gone)
		w.gone[m] = true
		for i, c := range w.chains {
			if holderOf(c.last().title) == m && i < w.tokens {
				w.chains[i] = w.generate(w.rng.IntN(w.members - w.liars))
				w.chains = w.chains[:len(w.chains)-1]
				w.custody(w.chains[i])
			}
		}
	}
	var list []ident.Member
	for m := range w.gone {
		list = append(list, memberID(m))
	}
	slices.SortFunc(list, ident.Member.Compare)
	life, up := w.life, w.gate != nil
	w.step(gate.Revocations{Members: list, Fresh: true})
	for _, id := range list {
		if _, known := w.heard[id]; !known && up && w.life == life {
			w.heard[id] = w.now
		}
	}
}

// resizes brings newer configurations with one place at a slot, and with all of them.
func (w *world) resizes(most int) {
	w.settings.Version++
	w.settings.Sessions = most + 1 - w.settings.Sessions
	w.step(gate.Configured{Settings: w.settings})
	w.after(w.around(10*time.Minute), func() { w.resizes(most) })
}

// secondToken comes and goes.
func (w *world) secondToken() {
	if len(w.chains) > w.tokens+w.liars {
		for i, c := range w.chains {
			if c.fork > 0 || i >= w.tokens+w.liars {
				w.chains = w.chains[:i:i]
				break
			}
		}
	} else {
		w.custody(w.generate(w.rng.IntN(w.members - w.liars)))
	}
	w.after(w.around(10*time.Minute), w.secondToken)
}

// custody is what a member does that has got a token.
func (w *world) custody(c *chain) {
	m := holderOf(c.last().title)
	c.got = w.now
	switch {
	case !w.alive(c), w.gone[m]:
	case w.chance(w.want) || w.isLiar(m) && w.chance(0.5):
		w.signIn(&attempt{member: m, chain: c, slot: c.slot, link: len(c.links) - 1, permit: c.permit(len(c.links) - 1), first: !w.isLiar(m)})
	default:
		w.pass(c)
	}
}

// pass gives a token to another member.
func (w *world) pass(c *chain) {
	from := holderOf(c.last().title)
	to := (from + 1 + w.rng.IntN(w.members-1)) % w.members
	for w.gone[to] || to == from {
		to = (to + 1) % w.members
	}
	if w.fair {
		to = -1
		for m, at := range w.served {
			if m != from && (to < 0 || at < w.served[to]) {
				to = m
			}
		}
	}
	n := len(c.links)
	w.after(w.around(10*time.Millisecond), func() {
		if len(c.links) != n { // passed on already: nobody signs for the next holder
			return
		}
		w.extend(c, to)
		w.served[holderOf(c.last().title)] = w.now
		w.custody(c)
	})
}

// lie is what a liar does from time to time.
func (w *world) lie(m int) {
	w.after(w.around(w.knock), func() { w.lie(m) })
	if w.gate == nil || w.gone[m] && w.chance(0.9) {
		return
	}
	stock := w.stocks[m-(w.members-w.liars)]
	accomplice := w.members - w.liars + w.rng.IntN(w.liars)
	a := &attempt{member: m}
	switch kind := w.rng.IntN(6); {
	case w.stock:
		stock.links = append(stock.links[:0:0], stock.links[max(0, len(stock.links)-2):]...)
		w.extend(stock, accomplice)
		w.extend(stock, m)
		a.permit = stock.permit(len(stock.links) - 1)
		a.permit.Title.Holder = memberID(m)
	case w.mint:
		h := w.hash()
		a.permit = gate.Permit{Title: gate.Title{Token: ident.Token(h), Holder: memberID(m), Hash: h}, Generator: memberID(m), Born: w.true().Millis()}
	case !w.forge:
		return
	case kind < 2: // a title that it has had, used or not, given away or not
		c := w.chains[w.rng.IntN(len(w.chains))]
		n := w.rng.IntN(len(c.links))
		if c.links[n].title.Holder != memberID(m) {
			return
		}
		a.permit, a.slot = c.permit(n), c.slot
	case kind < 4: // a hop that it has invented, of a token that it has seen
		c := w.chains[w.rng.IntN(len(w.chains))]
		t := gate.Title{Token: c.last().title.Token, Hop: c.last().title.Hop + 1 + uint64(w.rng.IntN(1<<20)), Holder: memberID(m), Hash: w.hash()}
		a.permit = gate.Permit{Title: t, Generator: c.generator, Born: c.born, Moves: []gate.Move{
			{By: memberID(accomplice), Title: w.hash()}, {By: memberID(m), Title: w.hash()},
		}}
		a.slot = c.slot
		if kind == 3 { // that names the true title, by its own signature
			a.permit.Title.Hop = c.last().title.Hop + 1
			a.permit.Moves[0].Title = c.last().title.Hash
			a.permit.Moves[1].Title = c.last().title.Hash
		}
	default: // signs out on a connection that is not its own, or loses one of its own
		for _, id := range slices.Sorted(maps.Keys(w.attempts)) {
			o := w.attempts[id]
			if o.member == m && !o.done {
				w.leave(id, o, false)
				return
			}
		}
		return
	}
	w.lies++
	w.signIn(a)
}

// signIn shows a permit at the gate.
func (w *world) signIn(a *attempt) {
	if w.gate == nil { // not in reach: it does not want
		w.finish(a)
		return
	}
	w.conns++
	w.asked++
	a.at = w.now
	id := w.conns
	w.attempts[id] = a
	w.step(gate.SignIn{Connection: id, Slot: a.slot, Permit: a.permit, Configuration: w.settings.Version, Length: w.around(15 * time.Second)})
}

// finish ends an attempt: the member passes the token on.
func (w *world) finish(a *attempt) {
	if a.done {
		return
	}
	a.done = true
	if a.chain == nil || !w.alive(a.chain) || len(a.chain.links)-1 != a.link {
		return
	}
	if w.greedy && w.isLiar(a.member) && w.now < a.chain.got.Add(w.settings.MaxHold) {
		w.after(w.around(100*time.Millisecond), func() {
			w.signIn(&attempt{member: a.member, chain: a.chain, slot: a.slot, link: a.link, permit: a.permit})
		})
		return
	}
	w.pass(a.chain)
}

func (w *world) leave(id gate.Connection, a *attempt, out bool) {
	a.leaving = true
	if out {
		w.step(gate.SignOut{Connection: id})
	} else {
		delete(w.attempts, id)
		w.step(gate.Lost{Connection: id})
		w.finish(a)
	}
}
