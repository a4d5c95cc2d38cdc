package keeper

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// reporter tells the keeper of the tokens here, promises that they rest, and asks the promises back (P-52 to
// P-55). Its answer is which token may be used again. What follows from that is the holder's.
type reporter struct {
	*common
	last   clock.Instant // when the keeper was told of a token last
	serial uint32        // of the last statement about a promise
	vowed  members       // those that count on it that no program runs here
	sent   sending       // the last token that a keeper has had sent to another member

	isAvoided func(ident.Member) bool // no token is to be passed to it
}

// sending is a custody of this member that ended as a keeper said that another token circulates.
type sending struct {
	custody
	by ident.Member
}

// comes notes that a token comes here. One that a keeper has had sent away was to be dropped for another one, and not to come
// back: that keeper may have lied.
func (r *reporter) comes(c custody) {
	if r.sent.token == c.token && r.sent.hop < c.hop {
		r.amiss.note(r.sent.by, r.Now, muteTime)
		r.sent = sending{}
	}
}

// recall is the question by which a promise is asked back. A member that does not know which member has
// its promise, as after a restart, asks many.
type recall struct {
	asked   members       // the members that have not answered
	tried   members       // all that have been asked
	oldest  uint32        // the serial of the first question whose answer counts
	rounds  int           // how often all were asked again
	repeat  clock.Instant // when the question is sent once more
	unknown clock.Instant // until then nothing could be known here of the token
}

// include has one more member be asked, unless it was.
func (r *recall) include(m ident.Member) {
	if r.tried.add(m) {
		r.asked = append(r.asked, m)
	}
}

// reports tells the keeper of a token, and the member that has asked for it: both count on the end of
// its program.
func (r *reporter) reports(t *held) {
	t.untold, r.last = false, r.Now
	m := r.statement(t)
	t.keeper = r.firstOther()
	r.send(t.keeper, &m)
	if t.asker != t.keeper {
		r.send(t.asker, &m)
	}
	if t.state == running && r.exclusive {
		r.informs(t, &m)
	}
}

// informs tells each member that counts on a promise, or on the end of an earlier program under this custody. The
// member that has been told last is not always the one that looks for the token: one that was silent may be back.
func (r *reporter) informs(t *held, m *message) {
	for _, v := range r.vowed {
		t.informed.addUpTo(ranks, v)
	}
	r.vowed = r.vowed[:0]
	told := members{t.keeper, t.asker}
	for _, list := range []members{t.informed, t.answered} {
		for _, v := range list {
			if told.add(v) {
				r.send(v, m)
			}
		}
	}
	t.informed.addUpTo(ranks, t.keeper)
	t.answers(t.asker)
}

// givesBack notes that a member counts on nothing any more that it was told of a token.
func (r *reporter) givesBack(t *held, m ident.Member) {
	r.vowed.remove(m)
	t.informed.remove(m)
	t.answered.remove(m)
}

// statement is what this member says of a token that it has.
func (r *reporter) statement(t *held) message {
	m := message{kind: have, custody: t.custody}
	if t.state == running {
		m.span, t.known = max(1, millis(t.since.Add(r.hold).Sub(r.Now))), t.since
	}
	if t.isAway() {
		m.away, m.span = true, max(1, millis(t.away.Sub(r.Now)))
	}
	return m
}

// tellsPass says that a token is in transit.
func (r *reporter) tellsPass(to ident.Member, t *held) {
	r.send(to, &message{kind: went, custody: t.custody, member: t.keeper, span: max(1, millis(r.Now.Sub(t.since)))})
}

// next numbers the next statement of this member.
func (r *reporter) next() promise {
	r.serial++
	return promise{uint64(r.start), r.serial}
}

// rests tells the keeper that a token rests here from now on, or still does. As long as the member
// that has the promise can be the keeper, that one keeps it.
func (r *reporter) rests(t *held) {
	if list := r.promisees(); t.state != resting || !list.has(t.keeper) {
		t.keeper = r.first(list)
	}
	t.state, t.since, t.untold = resting, r.Now, false
	r.last = r.Now
	r.vowed.addUpTo(ranks, t.keeper)
	t.promise = r.next()
	r.send(t.keeper, &message{kind: rest, custody: t.custody, promise: t.promise})
}

// promisees are those of the others that this member promises something to: all of them if it would be none. Who has a
// promise can have the token sent to itself, so that it is none that gets no token.
func (r *reporter) promisees() members {
	list := r.others()
	isNone := func(m ident.Member) bool { return r.amiss.from(m, r.Now) || r.isAvoided(m) }
	if some := slices.DeleteFunc(slices.Clone(list), isNone); len(some) > 0 {
		return some
	}
	return list
}

// asks asks a promise back of the member that has it. A member that does not know which one has it
// asks all that can be the keeper.
func (r *reporter) asks(t *held) {
	t.asked = append(t.asked[:0], t.keeper)
	if t.state != resting {
		t.asked = append(t.asked[:0], r.others()...)
	}
	if len(t.asked) == 0 {
		t.asked = append(t.asked, r.self)
	}
	t.state, t.since, t.rounds = asking, r.Now, 0
	t.tried, t.oldest = append(t.tried[:0], t.asked...), r.serial+1
	r.sends(t)
}

// sends sends the question to all that have not answered.
func (r *reporter) sends(t *held) {
	t.repeat = r.Now.Add(r.retry)
	t.promise = r.next()
	for _, m := range t.asked {
		r.sendTo(m, t)
	}
}

func (r *reporter) sendTo(m ident.Member, t *held) {
	asks := release
	if t.event != nil {
		asks = returned
	}
	r.send(m, &message{kind: asks, custody: t.custody, born: t.born, promise: t.promise})
}

// again asks once more, and reports whether the token is free. A token that the policy does not know yet
// waits for all answers, and not without end: if some members do not answer, another token may have been
// made, and a program may run under it.
func (r *reporter) again(t *held) (free bool) {
	switch unanswered := r.Now >= t.since.Add(r.timeout(r.silence)); {
	case t.event != nil && unanswered && r.Now >= t.unknown.Add(r.hold+r.silence):
		return true
	case t.event == nil && unanswered:
		for _, m := range t.asked {
			r.amiss.note(m, r.Now, muteTime)
		}
		return r.without(t, slices.Clone(t.asked)...)
	case t.event != nil && unanswered:
		r.further(t)
	}
	r.sends(t)
	return false
}

// further asks, beside the members that have not answered, as many more that may be the keeper in their
// place: all of a group, in time. Those that have answered are asked again, once in L: a member that
// does not answer may have passed the other token to one of them since.
func (r *reporter) further(t *held) {
	waited := int(r.Now.Sub(t.since) / r.silence)
	if waited > t.rounds {
		t.rounds, t.asked, t.oldest = waited, append(t.asked[:0], t.tried...), r.serial+1
	}
	r.order = r.roster.Witnesses(r.slot, ranks*(1+waited), r.order[:0])
	for _, m := range r.order {
		if m != r.self {
			t.include(m)
		}
	}
}

// also asks one more member, which has asked for a token that the policy does not know yet.
func (r *reporter) also(t *held, m ident.Member) {
	t.include(m)
	r.sendTo(m, t)
}

// without goes on without members that are silent: to the keepers that are left, and then to all that
// can be the keeper, each once. It reports whether none is left, so that the token is free.
func (r *reporter) without(t *held, silent ...ident.Member) (free bool) {
	for _, m := range silent {
		r.fellSilent(m)
		t.asked.remove(m)
	}
	if len(t.asked) > 0 {
		return false
	}
	var others members
	switch t.rounds++; t.rounds {
	case 1:
		others = r.keepers()
	case 2:
		others = r.firstOf(policy.MaxWitnesses)
	}
	for _, m := range others {
		if m != r.self {
			t.include(m)
		}
	}
	if len(t.asked) == 0 {
		return true
	}
	t.since = r.Now
	r.sends(t)
	return false
}

// youngAnswers notes that a member has just begun its work, so that it may not know of another token:
// all members are asked instead. It reports whether the last answer has come, so that the token is free.
func (r *reporter) youngAnswers(t *held, from ident.Member) (free bool) {
	t.asked.remove(from)
	r.order = r.everyone(r.order[:0])
	for _, m := range r.order {
		if m != r.self && !t.tried.has(m) {
			r.also(t, m)
		}
	}
	return len(t.asked) == 0
}
