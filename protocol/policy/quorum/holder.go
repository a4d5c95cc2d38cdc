package quorum

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// holder is what a member does that has a token.
type holder struct {
	held      []held
	programs  []program
	serial    uint32
	slow      []ident.Member // who did not vote when it was asked last
	resumed   []custody      // under which nothing ran when this member had begun
	isolation isolation
}

// held is a token that is here.
type held struct {
	custody
	born uint64
}

// program is one that runs, or waits for votes.
type program struct {
	held
	runs     bool
	since    clock.Instant // when votes were asked for first
	next     clock.Instant // when they are asked for once more
	first    uint32        // the serial of the first ask
	asked    []ident.Member
	votes    []counted
	returned []returned
}

// counted is a vote that this member has.
type counted struct {
	voter   ident.Member
	members uint32
}

// returned is a vote that this member has given back, up to a serial.
type returned struct {
	voter  ident.Member
	serial uint32
}

// isolation is that the last program here could not begin for want of votes.
type isolation struct {
	is      bool
	since   clock.Instant
	missing []ident.Member
}

func (h *holder) deadline() clock.Instant {
	next := clock.Never
	for i := range h.programs {
		if p := &h.programs[i]; !p.runs {
			next = min(next, p.next)
		}
	}
	return next
}

func (h *holder) find(c custody) int {
	return slices.IndexFunc(h.programs, func(p program) bool { return p.custody == c })
}

// gained notes a token that is here now.
func (q *Quorum) gained(t *policy.Token) {
	h := &q.holder
	h.held = slices.DeleteFunc(h.held, func(e held) bool { return e.token == t.ID })
	h.held = append(h.held, held{custody{t.ID, t.Hop}, t.Born})
}

// resumes notes a token under which an earlier life of this member may have run a program,
// and under which none runs now.
func (q *Quorum) resumes(t *policy.Token) {
	h := &q.holder
	if len(h.resumed) == maxResumed {
		h.resumed = slices.Delete(h.resumed, 0, 1)
	}
	h.resumed = append(h.resumed, custody{t.ID, t.Hop})
}

// gone notes that a token is not here any more. A program that waits does not begin; one
// that runs may go on.
func (q *Quorum) gone(id ident.Token) (waited bool) {
	h := &q.holder
	h.held = slices.DeleteFunc(h.held, func(e held) bool { return e.token == id })
	i := slices.IndexFunc(h.programs, func(p program) bool { return p.token == id && !p.runs })
	if i >= 0 {
		q.ends(i)
	}
	return i >= 0
}

// lost is the end of a token's stay here. A policy whose program waits hears of that first.
func (q *Quorum) lost(t policy.Token) {
	if q.gone(t.ID) {
		q.step(policy.Event{Kind: policy.OperationEnded, Token: t})
	}
}

// occupied notes that a program runs under a token since before a restart.
func (q *Quorum) occupied(t *policy.Token) {
	q.holder.programs = append(q.holder.programs, program{held: held{custody{t.ID, t.Hop}, t.Born}, runs: true, since: q.Now})
}

// over notes that a program has ended, or did not begin after all.
func (q *Quorum) over(c custody) {
	if i := q.holder.find(c); i >= 0 {
		q.ends(i)
	}
}

// ends gives the votes for a program back.
func (q *Quorum) ends(i int) {
	h := &q.holder
	p := h.programs[i]
	h.programs = slices.Delete(h.programs, i, i+1)
	for _, m := range p.asked {
		q.tell(m, message{kind: ended, request: request{p.custody, uint64(q.start), h.serial}})
	}
}

// runs asks for votes for a program under a token.
func (q *Quorum) runs(id ident.Token) {
	h := &q.holder
	h.programs = slices.DeleteFunc(h.programs, func(p program) bool { return p.runs && p.since.Add(q.hold+killTime) <= q.Now })
	at := slices.IndexFunc(h.held, func(e held) bool { return e.token == id })
	if at < 0 || h.find(h.held[at].custody) >= 0 {
		return // no policy runs twice, or under what it does not have
	}
	h.programs = append(h.programs, program{held: h.held[at], since: q.Now, first: h.serial + 1})
	q.asks(&h.programs[len(h.programs)-1])
}

// asks asks those for their votes that have not given them: at first only as many as are
// needed, and then all.
func (q *Quorum) asks(p *program) {
	h := &q.holder
	p.next = q.Now.Add(q.retry)
	h.serial++
	voters := q.voters(len(p.asked) > 0)
	for _, m := range voters {
		if !slices.Contains(p.asked, m) {
			p.asked = append(p.asked, m)
		}
	}
	left := q.patience - q.Now.Sub(p.since)
	for _, m := range p.asked {
		if !slices.ContainsFunc(p.votes, func(v counted) bool { return v.voter == m }) && left > 0 {
			q.tell(m, message{
				kind: ask, request: request{p.custody, uint64(q.start), h.serial}, born: p.born,
				span: millis(q.hold + killTime - q.Now.Sub(p.since)),
			})
		}
	}
}

// voters are who is to be asked: the slot's first member, or of all members this one
// first, and then those that have voted of late.
func (q *Quorum) voters(all bool) []ident.Member {
	if !q.majority {
		q.order, _ = q.electorate.Voters(1, q.order[:0])
		return q.order
	}
	list, known := q.electorate.Voters(maxVoters, q.order[:0])
	q.order = list
	slices.SortStableFunc(list, func(a, b ident.Member) int { return q.rank(a) - q.rank(b) })
	if all {
		return list
	}
	return list[:min(len(list), known/2+1)]
}

func (q *Quorum) rank(m ident.Member) int {
	switch {
	case m == q.self:
		return 0
	case !slices.Contains(q.holder.slow, m):
		return 1
	}
	return 2
}

// voted is a voter's answer. A vote that is not needed goes back.
func (q *Quorum) voted(from ident.Member, m *message) {
	h := &q.holder
	if m.life != uint64(q.start) {
		return
	}
	i := h.find(m.custody)
	if i < 0 || m.serial < h.programs[i].first || m.serial > h.serial {
		q.tell(from, message{kind: ended, request: m.request})
		return
	}
	p := &h.programs[i]
	if p.runs || !slices.Contains(p.asked, from) {
		return
	}
	if slices.ContainsFunc(p.returned, func(r returned) bool { return r.voter == from && m.serial <= r.serial }) {
		q.tell(from, message{kind: ended, request: m.request})
		return
	}
	p.votes = slices.DeleteFunc(p.votes, func(v counted) bool { return v.voter == from })
	p.votes = append(p.votes, counted{from, m.members})
	if q.enough(p) && q.Now < p.since.Add(q.patience) {
		q.begins(p)
	}
}

// enough reports whether a program may begin. A vote counts only together with others, if
// they are more than half of the members that its voter knows.
func (q *Quorum) enough(p *program) bool {
	if !q.majority {
		return len(p.votes) > 0
	}
	own := q.members()
	for n := uint32(len(p.votes)); 2*n > own; n-- {
		counts := uint32(0)
		for _, v := range p.votes {
			if v.members < 2*n {
				counts++
			}
		}
		if counts >= n {
			return true
		}
	}
	return false
}

// begins lets a program begin. It is dead before the first of its votes can be given to
// another one.
func (q *Quorum) begins(p *program) {
	p.runs = true
	q.holder.isolation = isolation{}
	q.notesSlow(p)
	q.Do(policy.Action{Kind: policy.Run, Token: p.token, At: p.since.Add(q.hold)})
}

// notesSlow notes who has not voted.
func (q *Quorum) notesSlow(p *program) (missing []ident.Member) {
	h := &q.holder
	for _, m := range p.asked {
		if slices.ContainsFunc(p.votes, func(v counted) bool { return v.voter == m }) {
			continue
		}
		missing = append(missing, m)
		if m != q.self && !slices.Contains(h.slow, m) {
			h.slow = append(h.slow, m)
		}
	}
	return missing
}

// holderDue asks for votes once more, or gives up.
func (q *Quorum) holderDue() {
	h := &q.holder
	due := func(p program) bool { return !p.runs && p.next <= q.Now }
	for {
		i := slices.IndexFunc(h.programs, due) // anew: the policy may have let tokens go
		switch {
		case i < 0:
			return
		case q.Now < h.programs[i].since.Add(q.patience):
			q.asks(&h.programs[i])
		default:
			q.givesUp(i)
		}
	}
}

// givesUp tells the policy that a program did not begin.
func (q *Quorum) givesUp(i int) {
	h := &q.holder
	p := h.programs[i]
	if !h.isolation.is {
		h.isolation = isolation{is: true, since: p.since}
	}
	h.isolation.missing = q.notesSlow(&p)
	q.ends(i)
	q.step(policy.Event{Kind: policy.OperationEnded, Token: policy.Token{ID: p.token, Born: p.born, Hop: p.hop}})
}

// questioned: somebody else wants a vote that is given for a program here. It goes back if
// the program has ended, or if it has not begun and the other token precedes.
func (q *Quorum) questioned(from ident.Member, m *message) {
	h := &q.holder
	mine, back := m.life == uint64(q.start), m.request
	i := h.find(m.custody)
	switch {
	case i >= 0 && h.programs[i].runs:
		return
	case !mine && !slices.Contains(h.resumed, m.custody) && q.Now < q.start.Add(q.quiet):
		return // one of an earlier life may run of which this one knows nothing
	case i < 0 && mine:
		back.serial = h.serial
	case i < 0:
	case mine && m.serial >= h.programs[i].first:
		p := &h.programs[i]
		if !precedes(m.other, m.born, p.token, p.born) {
			return
		}
		p.votes = slices.DeleteFunc(p.votes, func(v counted) bool { return v.voter == from })
		p.returned = append(slices.DeleteFunc(p.returned, func(r returned) bool { return r.voter == from }), returned{from, h.serial})
		back.serial = h.serial
	}
	q.tell(from, message{kind: ended, request: back})
}
