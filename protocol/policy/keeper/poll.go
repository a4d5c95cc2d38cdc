package keeper

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// poll asks all members at once whether they have a token, and counts the answers. The driver may have to
// dial many of them first.
type poll struct {
	*common
	asked   members       // the members that have not answered
	answers members       // those that have
	unsent  members       // those whose question the driver could not send
	queued  bool          // questions wait until their receivers may be dialled
	asking  bool          // not all have been asked once
	wait    time.Duration // how long an answer is awaited
	since   clock.Instant // when the last member was asked
	first   clock.Instant // when all were asked first of which some do not answer; clock.Never: no poll has begun
	heard   members       // the members that have said anything since the poll began, or since a loss was left to them
	spoke   members       // those that have said anything since the poll began
	before  members       // those that did so in earlier polls of the search, and have not failed since

	failures map[ident.Member]int       // how often a member of those has failed in the search
	begun    map[ident.Member]beginning // members that have begun their work lately, as they said in the search
	mute     backoffs                   // members that speak, and do not answer, or begin anew each time
}

// beginning is when a member began its work, by the first answer that said so.
type beginning struct {
	at    clock.Instant
	count int // how many of that member have counted in the search
}

// begin asks all other members.
func (p *poll) begin(m *message, wait time.Duration) {
	p.first = min(p.first, p.Now)
	for _, m := range p.spoke {
		p.before.add(m)
	}
	p.since, p.wait = p.Now, wait
	p.answers, p.heard, p.spoke, p.unsent = p.answers[:0], p.heard[:0], p.spoke[:0], p.unsent[:0]
	p.asked = p.everyone(p.asked[:0])
	p.asking = true
	p.question(p.asked, m)
}

// end forgets the poll.
func (p *poll) end() {
	p.asked, p.answers, p.unsent = p.asked[:0], p.answers[:0], p.unsent[:0]
	p.heard, p.spoke, p.before = p.heard[:0], p.spoke[:0], p.before[:0]
	p.asking, p.first = false, clock.Never
	clear(p.failures)
	clear(p.begun)
}

// hears notes that a member has said anything.
func (p *poll) hears(m ident.Member) {
	p.heard.add(m)
	p.spoke.add(m)
}

// repeat asks those again that have not answered. A member that is still to be dialled since the last time is
// not asked once more.
func (p *poll) repeat(m *message) {
	if !p.queued {
		p.question(p.asked, m)
	}
}

// notSent notes that a member was not asked.
func (p *poll) notSent(m ident.Member) {
	if p.asked.has(m) {
		p.asking, p.unsent = true, append(p.unsent, m)
	}
}

// allAsked begins to wait for answers: a member that is asked late has as long to answer as the
// others.
func (p *poll) allAsked() {
	if p.first == p.since {
		p.first = p.Now
	}
	p.since, p.asking = p.Now, false
}

// answered takes a member off the list of those that are to answer.
func (p *poll) answered(m ident.Member) {
	p.asked.remove(m)
	p.answers = append(p.answers, m)
}

// isAnswered reports whether no answer is awaited any more: not those of silent members.
func (p *poll) isAnswered() bool {
	return !slices.ContainsFunc(p.asked, func(m ident.Member) bool { return !p.isSilent(m) })
}

// isOver reports whether no answer is awaited any more, as those that are missing have taken too long.
func (p *poll) isOver() bool {
	return p.Now >= p.since.Add(p.timeout(p.silence)) || p.Now >= p.since.Add(p.timeout(p.wait)) && !p.lostOne()
}

// lostOne reports whether a member that does not answer may have failed since the poll before.
func (p *poll) lostOne() bool { return slices.ContainsFunc(p.asked, p.isLost) }

// isLost reports whether a member may have failed since the poll before, if it does not answer.
func (p *poll) isLost(m ident.Member) bool { return p.before.has(m) && !p.mute.from(m, p.Now) }

// countFailures counts from the last poll how long programs may still run, if a member does not answer that has
// spoken since it was asked before: it may have failed just now, while its program runs. From a member that has done so
// maxFailures times before, this one backs off: it speaks, and does not answer. It counts as silent since the first poll.
// A member that has failed counts again when it has spoken again: one failure may last several polls.
func (p *poll) countFailures() {
	for _, m := range p.asked {
		if !p.isLost(m) {
			continue
		}
		p.before.remove(m)
		if p.counts(m) {
			p.first = p.since
		}
	}
}

// counts counts a reason of one member to wait for programs once more, and reports whether this one does: a failure,
// a token that it has made as an earlier keeper, and that is lost, too, or a promise that it asks back.
func (p *poll) counts(m ident.Member) bool {
	if p.mute.from(m, p.Now) {
		return false
	}
	if p.failures == nil {
		p.failures = make(map[ident.Member]int)
	}
	if p.failures[m]++; p.failures[m] > maxFailures {
		p.mute.note(m, p.Now, muteTime)
		return false
	}
	return true
}

// begins reports whether it counts that a member began its work then. Answers take different times, so that one within
// L of the last one that counted is the same. From a member that has begun maxFailures times before, this one backs off.
func (p *poll) begins(m ident.Member, at clock.Instant) bool {
	b := p.begun[m]
	switch {
	case b.count > 0 && at < b.at.Add(p.silence):
		return true
	case p.mute.from(m, p.Now):
		return false
	case b.count == maxFailures:
		p.mute.note(m, p.Now, muteTime)
		return false
	}
	if p.begun == nil {
		p.begun = make(map[ident.Member]beginning)
	}
	p.begun[m] = beginning{at, b.count + 1}
	return true
}

// appendLast appends the members that have not answered, if they are few.
func (p *poll) appendLast(to members) members {
	before := len(to)
	for _, m := range p.asked {
		if p.isSilent(m) {
			continue
		}
		if to = append(to, m); len(to) > before+maxLastAsked {
			return to[:before]
		}
	}
	return to
}
