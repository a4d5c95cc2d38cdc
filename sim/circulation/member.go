package circulation

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// visitsKept is how many visits of tokens a durable member remembers over a
// crash (protocol/member).
const visitsKept = 16

// site is one member.
type site struct {
	policy policy.Policy

	due      clock.Instant // the policy's Deadline
	timer    clock.Instant // the same, in the past no more; clock.Never when it has come
	timerSeq uint64
	entry    int32 // in World.queue.timers

	fell    clock.Instant // when it did last
	offset  int64         // of the wall clock, ms
	visits  *[]visit      // nil where they are not remembered
	next    int32         // who follows, as last told; itself when alone
	members int32         // how many there are, as last told
	place   int32         // in World.up, -1 when not up
	epoch   uint32        // how often it crashed
	holds   int32         // tokens that rest or run here
	gone    bool          // it does not return
	left    bool          // and told everybody
	wants   bool          // to run the operation
	heard   bool          // its policy was told so
}

// visit is what a durable member remembers of a token that was here.
type visit struct {
	token    policy.Token
	at       clock.Instant
	operated bool
}

// MemberID is the id of the member with this index.
func MemberID(index int) (id ident.Member) {
	binary.BigEndian.PutUint64(id[:], uint64(index)+1)
	return id
}

// memberIndex is the index of a member, or -1 of an id that is nobody's.
func memberIndex(id ident.Member) int {
	n := binary.BigEndian.Uint64(id[:])
	if n == 0 || n > policy.MaxMembers*64 || MemberID(int(n-1)) != id {
		return -1
	}
	return int(n - 1)
}

// Up reports whether a member is up: neither crashed nor gone.
func (w *World) Up(member int) bool { return w.sites[member].place >= 0 }

// admit adds a member that has not started.
func (w *World) admit() error {
	made, err := w.make(len(w.sites))
	if err != nil {
		return err
	}
	s := site{policy: made, due: clock.Never, timer: clock.Never, entry: noEntry, next: -1, place: int32(len(w.up))}
	if limit := w.cfg.ClockOffset.Milliseconds(); limit > 0 {
		s.offset = w.clocks.Int64N(2*limit+1) - limit
	}
	if w.keepsVisits {
		s.visits = new([]visit)
	}
	w.up = append(w.up, int32(len(w.sites)))
	w.sites = append(w.sites, s)
	return nil
}

// start tells a policy what it needs to begin its work, as protocol/member.
func (w *World) start(m int32) {
	s := &w.sites[m]
	if s.visits != nil {
		for _, v := range *s.visits {
			w.step(m, &policy.Event{Kind: policy.Recalled, Token: v.token, At: v.at, Operated: v.operated})
		}
	}
	w.step(m, w.neighbour(s, m))
	switch w.cfg.Demand.kind {
	case always:
		w.want(m)
		w.tellDemand(m)
	case every:
		w.wantLater(m)
	}
	if s.holds > 0 {
		for i := range w.tokens {
			if t := &w.tokens[i]; t.state == waiting && t.holder == m {
				t.state = held
				w.step(m, &policy.Event{Kind: policy.Resumed, Token: t.Token})
			}
		}
	}
	w.step(m, &policy.Event{Kind: policy.Timer})
}

// neighbour is the event that tells s what it was last found to have.
func (w *World) neighbour(s *site, m int32) *policy.Event {
	e := &policy.Event{Kind: policy.Neighbour, Members: int(s.members)}
	if s.next != m {
		e.From = MemberID(int(s.next))
	}
	return e
}

// findNeighbours finds who follows whom, and who has to be told news.
func (w *World) findNeighbours() (changed []int32) {
	if len(w.up) == 0 {
		return nil
	}
	next, members := slices.Min(w.up), int32(len(w.up))
	for m := int32(len(w.sites)) - 1; m >= 0; m-- {
		s := &w.sites[m]
		if s.place < 0 {
			continue
		}
		if s.next != next || s.members != members {
			s.next, s.members = next, members
			changed = append(changed, m)
		}
		next = m
	}
	slices.Reverse(changed)
	return changed
}

// renumber lets everybody hear of a change soon; several at one instant are
// told as one.
func (w *World) renumber() {
	if !w.renumbering {
		w.renumbering = true
		w.schedule(0, neighbours, 0, 0, 0)
	}
}

func (w *World) tellNeighbours() {
	w.renumbering = false
	changed := w.findNeighbours()
	w.stats.Events += uint64(len(changed)) // each costs as much as an event of its own
	for _, m := range changed {
		w.step(m, w.neighbour(&w.sites[m], m))
	}
}

// want makes a member want to run, which its policy is to be told.
func (w *World) want(m int32) {
	w.sites[m].wants = true
	for _, o := range w.observers {
		o.Demanded(w.now, int(m))
	}
}

// wantLater is Demand.Every.
func (w *World) wantLater(m int32) {
	w.schedule(exponentialSpan(w.demand, w.cfg.Demand.mean), demandRise, m, 0, w.sites[m].epoch)
}

// tellDemand tells a policy whether its member wants to run, when that is
// news.
func (w *World) tellDemand(m int32) {
	if s := &w.sites[m]; s.wants != s.heard {
		s.heard = s.wants
		w.step(m, &policy.Event{Kind: policy.DemandChanged, Demand: s.wants})
	}
}

// Want makes a member want to run the operation now, if it is up and does not
// already. It is meant for Scripted demand.
func (w *World) Want(member int) {
	s := &w.sites[member]
	if s.place < 0 || s.wants {
		return
	}
	w.want(int32(member))
	w.schedule(0, demandTold, int32(member), 0, s.epoch)
}

// Join adds a member that knows the contact only (where a Directory says what
// that means), and returns its index. It begins its work at once, without a
// token; see Generate.
func (w *World) Join(contact int) int {
	if err := w.admit(); err != nil {
		panic("circulation: the policy that New has made before: " + err.Error())
	}
	m := len(w.sites) - 1
	if w.cfg.Directory != nil {
		w.cfg.Directory.Joined(m, contact)
	}
	w.arise(int32(m))
	return m
}

// arise starts a member that is up now, and lets the others hear of it.
func (w *World) arise(m int32) {
	w.roster.rose(m)
	for _, o := range w.observers {
		o.MemberUp(w.now, int(m))
	}
	s := &w.sites[m]
	s.members = int32(len(w.up))
	for s.next = m + 1; ; s.next++ {
		if int(s.next) == len(w.sites) {
			s.next = 0
		}
		if w.sites[s.next].place >= 0 {
			break
		}
	}
	w.start(m)
	w.renumber()
}

// Leave lets a member leave for good: it passes on all tokens, also those
// under which the operation runs, to members drawn at random. It reports
// whether the member was up.
func (w *World) Leave(member int) bool {
	m := int32(member)
	if !w.fall(m) {
		return false
	}
	w.roster.left()
	w.sites[m].gone, w.sites[m].left = true, true
	w.sites[m].visits = nil
	if w.cfg.Directory != nil {
		w.cfg.Directory.Left(member)
	}
	for i := range w.tokens {
		if t := &w.tokens[i]; t.holder == m && t.state == held {
			w.pass(t, int32(i), ident.Member{}, t.Token.Field)
		}
	}
	return true
}

// Crash stops a member that is up for a while, forever if it is not to return.
// It reports whether the member was up.
func (w *World) Crash(member int, downFor time.Duration) bool {
	m := int32(member)
	if !w.fall(m) {
		return false
	}
	w.stats.Crashed++
	w.sites[m].gone = downFor == forever
	for i := range w.tokens {
		t := &w.tokens[i]
		if t.holder != m || t.state != held {
			continue
		}
		if w.cfg.Forgetful || downFor == forever {
			w.lose(int32(i), LostWithHolder)
		} else {
			t.state = waiting
		}
	}
	if downFor < forever {
		w.schedule(downFor, comeBack, m, 0, w.sites[m].epoch)
	}
	return true
}

// fall takes a member out of those that are up, and ends its operations.
func (w *World) fall(m int32) bool {
	s := &w.sites[m]
	if s.place < 0 {
		return false
	}
	for i := range w.tokens {
		if t := &w.tokens[i]; t.holder == m {
			w.interrupt(t)
		}
	}
	last := w.up[len(w.up)-1]
	w.up[s.place] = last
	w.sites[last].place = s.place
	w.up = w.up[:len(w.up)-1]
	s.place, s.due, s.timer, s.next = -1, clock.Never, clock.Never, -1
	s.wants, s.heard = false, false
	s.policy = nil
	s.epoch++
	w.roster.fell(m)
	w.fallen(m)
	for _, o := range w.observers {
		o.MemberDown(w.now, int(m))
	}
	w.renumber()
	return true
}

// present reports whether a member is up and has not crashed since this epoch.
func (w *World) present(m int32, epoch uint32) bool {
	return w.sites[m].place >= 0 && w.sites[m].epoch == epoch
}

// comeBack is the return of a member after a crash.
func (w *World) comeBack(m int32) {
	s := &w.sites[m]
	if s.gone {
		return
	}
	made, err := w.make(int(m))
	if err != nil {
		panic("circulation: the policy that New has made before: " + err.Error())
	}
	s.policy, s.place = made, int32(len(w.up))
	w.up = append(w.up, m)
	w.arise(m)
}

// crashSomebody is CrashEvery.
func (w *World) crashSomebody() {
	w.schedule(exponentialSpan(w.faults, w.cfg.CrashEvery), crash, 0, 0, 0)
	var from []int
	if w.cfg.CrashHolder {
		from = slices.DeleteFunc(w.Holders(), func(m int) bool { return !w.Up(m) })
		if len(from) > 0 {
			w.Crash(from[w.faults.IntN(len(from))], w.cfg.DownFor)
		}
	} else if len(w.up) > 0 {
		w.Crash(int(w.up[w.faults.IntN(len(w.up))]), w.cfg.DownFor)
	}
}

// remember notes a visit for after a crash.
func (w *World) remember(s *site, t *token, operated bool) {
	if s.visits == nil {
		return
	}
	v := *s.visits
	if len(v) == visitsKept {
		v = append(v[:0], v[1:]...)
	}
	known := t.Token
	known.Field, known.Hop = nil, 0
	*s.visits = append(v, visit{known, w.now, operated})
}
