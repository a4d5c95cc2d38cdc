package keeper

import (
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/host"
)

// held is one token that is here.
type held struct {
	custody
	promise
	recall
	born   uint64
	came   uint64 // the hop at which it came here: passes that came back have led to later ones
	field  []byte // its policy field as it came
	state  state
	since  clock.Instant // of the state; when its transfer was signed, if it is
	untold bool          // the keeper does not know that it is here
	hidden bool          // a program runs under it, and the policy does not know of it
	keeper ident.Member  // the member that has the promise, or gets the token
	asker  ident.Member  // the member that has asked for the token last
	waiter ident.Member  // the member that waits, as others said while a program ran
	known  clock.Instant // when the program began that others know of

	informed members // the keepers that were told of a program under it unasked, and have given no promise back since
	answered members // the same, of those that were told as they asked: many that ask have none of the keepers forgotten

	ran      bool // a program has ended under it here
	late     bool // it has gone to a member that accepted it when it was for another one already
	parted   bool // its transfer is signed: custody is gone, and the answer is awaited
	told     bool // this member has told others that the receiver is connected since, and has not answered
	prepared bool // the policy is about to pass it on

	// action is what the policy wants done with it as soon as the promise is given back.
	action policy.Action
	// event is what the policy is told of it then: the policy does not know of it yet.
	event *policy.Event
	away  clock.Instant // until then this member may say nothing, as the program goes on across a restart; 0: not so
}

// state is what a token that is here does.
type state uint8

const (
	idle    state = iota // nothing
	running              // the program runs under it
	resting              // this member promises that it rests
	asking               // this member asks the promise back
	passing              // it is being passed on
	leaving              // it is being passed on without the policy, to the member that has the other token
)

// isUsed reports whether the policy has the token, or its program runs here.
func (t *held) isUsed() bool { return t.state < passing && t.event == nil }

// isLeaving reports whether the token is to go to another member. Until its transfer is signed it is offered, and this member
// has custody: for as long as nobody takes it.
func (t *held) isLeaving() bool { return t.state >= passing }

// hasGone reports whether this member has custody no more, and has known that for so long that the token should have arrived.
func (t *held) hasGone(now clock.Instant, silence time.Duration) bool {
	return t.parted && now >= t.since.Add(silence)
}

func (t *held) origin() origin { return origin{t.token, t.born} }

// isBy reports whether the token is here by a custody: the present one, or one after which no pass has ended elsewhere.
func (t *held) isBy(c custody) bool { return t.token == c.token && t.came <= c.hop && c.hop <= t.hop }

// next is the custody of the member that the token is passed to.
func (t *held) next() custody { return custody{t.token, t.hop + 1} }

// expects reports whether an answer is one to the question of this token that is open.
func (t *held) expects(from ident.Member, m *message) bool {
	return t.state == asking && t.asked.has(from) && m.hop == t.hop && m.life == t.life && m.promise.serial >= t.oldest
}

// goesOn takes over what others were told of the token before a pass that came back. No member has had it meanwhile, so that
// they count on the end of that program.
func (t *held) goesOn(before *held) {
	t.came, t.known, t.informed, t.answered, t.asker = before.came, before.known, before.informed, before.answered, before.asker
}

// answers notes that a member that has asked for the token was told of a program under it.
func (t *held) answers(m ident.Member) {
	if !m.IsZero() {
		t.answered.addUpTo(ranks, m)
	}
}

// origin is a token and when it was made.
type origin struct {
	token ident.Token
	born  uint64
}

func originOf(t *policy.Token) origin { return origin{t.ID, t.Born} }

// later reports whether a token is later than another one: of two the later one stays.
func (o origin) later(than origin) bool {
	return host.Precedes(o.born, &o.token, than.born, &than.token)
}

// tokens are those that are here.
type tokens []held

func (l tokens) find(id *ident.Token) *held {
	for i := range l {
		if l[i].token == *id {
			return &l[i]
		}
	}
	return nil
}

// first is the first token that is meant, or nil.
func (l tokens) first(meant func(*held) bool) *held {
	for i := range l {
		if meant(&l[i]) {
			return &l[i]
		}
	}
	return nil
}

func (l *tokens) remove(id *ident.Token) {
	for i := range *l {
		if (*l)[i].token == *id {
			*l = append((*l)[:i], (*l)[i+1:]...)
			return
		}
	}
}

// busy is a token under which a program runs, or nil.
func (l tokens) busy() *held {
	return l.first(func(t *held) bool { return t.state == running })
}

// stays is a token of which this member has custody, or nil: one that is not to go to another member, if there is one.
func (l tokens) stays() *held {
	if t := l.first(func(t *held) bool { return !t.isLeaving() }); t != nil {
		return t
	}
	return l.first(func(t *held) bool { return !t.parted })
}

// leaving is a token that is to go to another member, or nil.
func (l tokens) leaving() *held { return l.first((*held).isLeaving) }

// hides reports whether a program runs here that the policy does not know.
func (l tokens) hides() bool {
	return l.first(func(t *held) bool { return t.state == running && t.hidden }) != nil
}
