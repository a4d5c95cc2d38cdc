package keeper

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// promiser makes the promises of a holder, and asks them back (P-53 to P-55). Which token may be used
// again is its answer; what follows from it is the holder's.
type promiser struct {
	*common
	serial uint32       // of the last statement
	vowed  ident.Member // the member that counts on it that no program runs here; zero: none does
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
func (r *recall) include(m ident.Member) bool {
	isNew := r.tried.add(m)
	if isNew {
		r.asked = append(r.asked, m)
	}
	return isNew
}

// next numbers the next statement of this member.
func (p *promiser) next() promise {
	p.serial++
	return promise{uint64(p.start), p.serial}
}

// rests tells the keeper that a token rests here from now on, or still does. As long as the member
// that has the promise can be the keeper, that one keeps it.
func (p *promiser) rests(t *held) {
	if list := p.others(); t.state != resting || !list.has(t.keeper) {
		t.keeper = p.first(list)
	}
	t.state, t.since, t.untold = resting, p.now, false
	p.vowed = t.keeper
	t.promise = p.next()
	p.send(t.keeper, &message{kind: rest, custody: t.custody, promise: t.promise})
}

// asks asks a promise back of the member that has it. A member that does not know which one has it
// asks all that can be the keeper.
func (p *promiser) asks(t *held) {
	t.asked = append(t.asked[:0], t.keeper)
	if t.state != resting {
		t.asked = append(t.asked[:0], p.others()...)
	}
	if len(t.asked) == 0 {
		t.asked = append(t.asked, p.self)
	}
	t.state, t.since, t.rounds = asking, p.now, 0
	t.tried, t.oldest = append(t.tried[:0], t.asked...), p.serial+1
	p.sends(t)
}

// sends sends the question to all that have not answered.
func (p *promiser) sends(t *held) {
	t.repeat = p.now.Add(p.retry)
	t.promise = p.next()
	for _, m := range t.asked {
		p.sendTo(m, t)
	}
}

func (p *promiser) sendTo(m ident.Member, t *held) {
	asks := release
	if t.event != nil {
		asks = returned
	}
	p.send(m, &message{kind: asks, custody: t.custody, born: t.born, promise: t.promise})
}

// again asks once more, and reports whether the token is free. A token that the policy does not know yet
// waits for all answers, and not permanently: if some members do not answer, another token may have been
// made, and a program may run under it.
func (p *promiser) again(t *held) (free bool) {
	switch unanswered := p.now >= t.since.Add(p.timeout(p.silence)); {
	case t.event != nil && unanswered && p.now >= t.unknown.Add(p.hold+p.silence):
		return true
	case t.event == nil && unanswered:
		return p.without(t, slices.Clone(t.asked)...)
	case t.event != nil && unanswered:
		p.further(t)
	}
	p.sends(t)
	return false
}

// further asks, beside the members that have not answered, as many more that may be the keeper in their
// place: all of a group, in time. Those that have answered are asked again, once in L: a member that
// does not answer may have passed the other token to one of them since.
func (p *promiser) further(t *held) {
	waited := int(p.now.Sub(t.since) / p.silence)
	if waited > t.rounds {
		t.rounds, t.asked, t.oldest = waited, append(t.asked[:0], t.tried...), p.serial+1
	}
	p.order = p.roster.Witnesses(p.slot, ranks*(1+waited), p.order[:0])
	for _, m := range p.order {
		if m != p.self {
			t.include(m)
		}
	}
}

// also asks one more member, which has asked for a token that the policy does not know yet.
func (p *promiser) also(t *held, m ident.Member) {
	t.include(m)
	p.sendTo(m, t)
}

// without goes on without members that are silent: to the keepers that are left, and then to all that
// can be the keeper, each once. It reports whether nobody is left, so that the token is free.
func (p *promiser) without(t *held, silent ...ident.Member) (free bool) {
	for _, m := range silent {
		p.fellSilent(m)
		t.asked.remove(m)
	}
	if len(t.asked) > 0 {
		return false
	}
	var others members
	switch t.rounds++; t.rounds {
	case 1:
		others = p.keepers()
	case 2:
		others = p.firstOf(policy.MaxWitnesses)
	}
	for _, m := range others {
		if m != p.self {
			t.include(m)
		}
	}
	if len(t.asked) == 0 {
		return true
	}
	t.since = p.now
	p.sends(t)
	return false
}

// youngAnswers notes that a member has just begun its work, so that it may not know of another token:
// all members are asked instead. It reports whether the last answer has come, so that the token is free.
func (p *promiser) youngAnswers(t *held, from ident.Member) (free bool) {
	t.asked.remove(from)
	p.order = p.everyone(p.order[:0])
	for _, m := range p.order {
		if m != p.self && !t.tried.has(m) {
			p.also(t, m)
		}
	}
	return len(t.asked) == 0
}
