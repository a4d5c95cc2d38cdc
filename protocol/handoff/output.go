package handoff

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// NoticeKind says what has happened.
type NoticeKind uint8

// The notices.
const (
	Gained    NoticeKind = iota + 1 // a transfer was taken: custody is here
	Parted                          // a transfer was signed: custody is gone
	Delivered                       // a transfer was answered by a receipt
	Returned                        // a transfer was declined: custody is here again
	Abandoned                       // the machine stopped retransmitting a transfer; its outcome is unknown
	Unwanted                        // nobody, or not the named target, could be asked: the token stays, and is no longer released
	Convicted                       // two objects prove that their signer broke the rules; not about custody here
)

// Notice tells the caller, a member, what has happened, mostly to custody.
type Notice struct {
	Kind  NoticeKind
	Title token.Title   // Gained, Returned: the title; else that of the hop given away
	Hop   uint64        // the custody concerned
	Peer  ident.Member  // the other side; Convicted: who signed the objects
	Took  time.Duration // Delivered: from the release to the receipt

	Receipt []byte // Delivered: as it was signed

	// Giver, of Gained, gave the peer the custody that it had; zero if the peer's title does not say so.
	Giver ident.Member

	Belated bool // Gained: without a live reservation, as it was made before a restart, has lapsed, or its connection has broken since

	Objects [2]token.Object // Convicted; their signatures hold
}

// output collects what one call wants done: effects for the driver, in order, and
// notices for the member above. Everything that the machine persists goes through
// it, so it also knows the position in the journal.
type output struct {
	now      clock.Reading
	openings openings

	effects []effect.Effect
	notices []Notice
	// What the last drain has returned: the buffers for what follows the next.
	drainedEffects []effect.Effect
	drainedNotices []Notice
}

// drain takes the effects and notices since the last call. The slices are valid
// until the next one.
func (o *output) drain() ([]effect.Effect, []Notice) {
	o.effects, o.drainedEffects = o.drainedEffects[:0], o.effects
	o.notices, o.drainedNotices = o.drainedNotices[:0], o.notices
	return o.drainedEffects, o.drainedNotices
}

func (o *output) persist(r journal.Record, sync bool) {
	o.openings.note(r)
	o.effects = append(o.effects, effect.Persist{At: o.now.Micros(), Record: r, Sync: sync})
}

func (o *output) send(to ident.Member, msg wire.Message) {
	o.effects = append(o.effects, effect.Send{To: to, Message: msg})
}

func (o *output) report(kind string, about ident.Member, detail string) {
	o.effects = append(o.effects, effect.Report{Kind: kind, About: about, Detail: detail})
}

func (o *output) notify(n Notice) { o.notices = append(o.notices, n) }
