package member

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// A member that continues a journal cannot see in it whether it is the newest one. Its
// peers can: they show it the latest that it has signed. Until they have, it neither uses
// nor takes a token, nor makes one (handoff rules §10).

const (
	// recallTime bounds how long a member waits for greetings, and gossip_interval where
	// that is shorter: a dial gives up after 3 seconds, so a packet or two may get lost. A
	// member that runs late waits as many times as long as its health multiplier says.
	recallTime = 5 * time.Second

	// recallPace is after what time a member that has not greeted is dialled again.
	recallPace = time.Second

	// maxRecallers bounds the members that are waited for, drawn at random where there
	// are more: each costs a dial, 1.3 ms of processor time on both sides together.
	maxRecallers = 64

	// maxCopies bounds the starts of copies of this member that are known to have begun
	// with an empty memory. Those of any other make it give up its own.
	maxCopies = 64

	// maxWords bounds what is kept that keepers say meanwhile.
	maxWords = 256
)

// recall is the wait for greetings after a restart, until this member knows enough of its past.
type recall struct {
	*core
	own     *health
	greeter *greeter
	custody *custody
	grants  *grants
	wait    // the one that is on

	rollbacks uint64 // custody memories given up, since the start
	lastLoss  handoff.Loss
	copies    map[token.Position]bool // where others with this key have begun anew, with serial 0
}

// wait is the state of one wait.
type wait struct {
	since  clock.Instant
	until  clock.Instant
	again  clock.Instant // when the members that have not greeted are dialled again
	waits  map[ident.Member]bool
	met    map[ident.Member]bool // members that have greeted
	putOff map[ident.Member]bool // whose transfers have to come again
	words  []policyEvent         // what keepers have said meanwhile
}

// keepWord keeps what a keeper says until the policy begins: others repeat what an earlier life
// of this member knew as soon as they are connected, and do not say so again for long.
func (r *recall) keepWord(e policyEvent) {
	if len(r.words) < maxWords {
		r.words = append(r.words, e)
	}
}

// begin begins to wait for greetings.
func (r *recall) begin() {
	r.recalling = true
	r.wait = wait{
		since: r.now.Boot, until: r.now.Boot.Add(r.longest()), again: r.now.Boot,
		waits: make(map[ident.Member]bool), met: make(map[ident.Member]bool), putOff: make(map[ident.Member]bool),
	}
	r.custody.handoff.Pause()
}

// end ends the wait, and returns whose transfers have to come again and what keepers have
// said meanwhile.
func (r *recall) end() (putOff []ident.Member, words []policyEvent) {
	putOff, words = inOrder(r.putOff), r.words
	r.wait, r.recalling = wait{}, false
	r.custody.handoff.Resume()
	return putOff, words
}

// longest is for how long greetings are awaited at most, as far as can be said now.
func (r *recall) longest() time.Duration {
	return min(recallTime, r.settings.GossipInterval) * time.Duration(r.own.multiplier())
}

// isOver reports whether the wait is over, and otherwise goes on with it. It is over when all
// members have greeted that are known and can be dialled, or when its time has passed. It goes
// on while a program runs under a token that is lost.
func (r *recall) isOver() bool {
	if !r.recalling {
		return false
	}
	if r.now.Boot >= r.again {
		r.again = r.now.Boot.Add(recallPace)
		r.dial()
	}
	r.until = max(r.until, r.since.Add(r.longest()))
	late := r.now.Boot >= r.until
	if !late && (len(r.met) == 0 || len(r.waits) > 0) || r.grants.runsLost() {
		return false
	}
	if late && len(r.waits) > 0 {
		r.emit(effect.Report{
			Kind: "journal not confirmed", About: r.self,
			Detail: fmt.Sprintf("%d peers have greeted after the restart and %d have not: should the journal be an old one, only they may know", len(r.met), len(r.waits)),
		})
	}
	return true
}

// dial dials the members that have not greeted yet.
func (r *recall) dial() {
	more := max(0, maxRecallers-len(r.waits)-len(r.met))
	for _, id := range r.dir.DrawSome(r.sources.member, more, r.now.Wall, func(id ident.Member) bool {
		return r.waits[id] || r.met[id] || !r.dir.Dialable(id)
	}, nil) {
		r.waits[id] = true
	}
	for _, id := range inOrder(r.waits) {
		if !r.peers.has(id) {
			r.greeter.greet(id)
		}
	}
}

// greeted takes a member that has greeted off the list. Those of whom it tells are
// put there.
func (r *recall) greeted(id ident.Member) {
	if !r.recalling {
		return
	}
	r.met[id] = true
	delete(r.waits, id)
	r.again = min(r.again, r.now.Boot)
}

// next is when there is something to do about greetings.
func (r *recall) next() clock.Instant {
	if r.recalling && r.now.Boot < r.until {
		return min(r.again, r.until)
	}
	return clock.Never // or when a program ends
}

// inOrder are members in the order of their ids.
func inOrder(set map[ident.Member]bool) []ident.Member {
	return slices.SortedFunc(maps.Keys(set), ident.Member.Compare)
}

// noteCopy notes that another process with this member's key has begun with an empty memory,
// after this one has started: what it signs takes nothing away from this one.
func (r *recall) noteCopy(p token.Position) {
	p.Serial = 0
	if r.copies == nil {
		r.copies = make(map[token.Position]bool)
	}
	r.copies[p] = true
	r.emit(effect.Report{
		Kind: "copy runs", About: r.self,
		Detail: "another process runs with this member's key, in a copy of its folder; it has begun with an empty memory, at " +
			clock.FromMillis(p.Opening).UTC().Format(time.RFC3339),
	})
}

// lossOf is what a position shows of the journal; nothing, if a copy of this member has
// signed there that has a memory of its own.
func (r *recall) lossOf(p token.Position) handoff.Loss {
	if r.copies[token.Position{Opening: p.Opening, Tag: p.Tag}] {
		return handoff.Whole
	}
	return r.custody.handoff.Loss(p)
}
