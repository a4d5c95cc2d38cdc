package wandering

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

const (
	// confirmations is of how many of its witnesses a candidate is asked, beside the
	// one that reported it: fewer, and a few liars that report each other gain.
	confirmations = 2
	// probes is how often a candidate is asked itself before it is taken for dead.
	probes = 2
	// choicesMost bounds how many candidates are inquired about without a pause.
	choicesMost = 16
)

// choice is who is to be next, and the questions about it that are open.
type choice struct {
	member   ident.Member // zero: nobody yet
	claimed  clock.Instant
	served   clock.Instant // as far as is known now
	source   ident.Member
	asked    [confirmations]ident.Member
	n        int // of asked
	answers  int
	tries    int
	present  bool
	sure     bool
	made     int // choices since the last pause
	deadline clock.Instant
}

// proceed brings the token nearer to the next member: it finds one, or passes it.
func (w *walker) proceed() {
	f := w.fair
	c := &f.choice
	switch {
	case !w.have:
	case c.sure && !w.running && w.now >= w.dueAt(c.served):
		w.passTo(c.member)
	case c.member.IsZero() && f.gathers == clock.Never:
		w.choose()
	}
}

// dueAt is when who was served then may operate again.
func (w *walker) dueAt(served clock.Instant) clock.Instant { return served.Add(w.min) }

// choose inquires about the candidate that has waited longest.
func (w *walker) choose() {
	f := w.fair
	f.gathers = clock.Never
	if f.candidates.n == 0 {
		w.idle()
		return
	}
	e := f.candidates.list[0]
	horizon := w.now
	if w.running {
		horizon = w.now.Add(w.operation)
	}
	if w.dueAt(e.served) > horizon {
		w.idle()
		return
	}
	f.looks = clock.Never
	f.choice = choice{
		member: e.member, claimed: e.served, served: e.served, source: e.source, made: f.choice.made + 1,
		present: contains(f.present, e.member),
	}
	w.inquireAbout()
}

// inquireAbout asks two witnesses of the candidate, and itself. What is known here
// counts as an answer. A candidate that lacks witnesses is passed over.
func (w *walker) inquireAbout() {
	f, c := w.fair, &w.fair.choice
	if c.answers == 0 {
		f.members = w.roster.Witnesses(c.member, f.Witnesses, f.members[:0])
		if len(f.members) == 0 && w.othersThan(c.member) {
			f.unreached = true
			w.reject()
			return
		}
	}
	c.deadline, c.tries = w.now.Add(w.reply), c.tries+1
	if t := f.store.find(c.member); t != nil && t.sure {
		c.served = max(c.served, t.served)
	}
	m := body{kind: inquire, sight: w.sight(), member: c.member}
	if !c.present {
		w.tell(c.member, &m)
	}
	if c.answers == 0 {
		c.n = 0
		for k := len(f.members); k > 0 && c.n < confirmations; k-- {
			i := w.rng.IntN(k)
			witness := f.members[i]
			f.members[i] = f.members[k-1]
			if witness != w.self && witness != c.source {
				c.asked[c.n] = witness
				c.n++
				w.tell(witness, &m)
			}
		}
	}
}

// othersThan reports whether members other than one keep this member's turns. If they
// do, and nobody keeps that one's, it is suspected here or in no good standing, and only
// its own word says when it was served.
func (w *walker) othersThan(m ident.Member) bool {
	list := w.roster.Witnesses(w.self, 2, nil)
	return len(list) > 1 || len(list) == 1 && list[0] != m
}

// answered is an answer about the candidate, of one of its witnesses or itself. The
// latest of all times at which it is said to have been served counts.
func (w *walker) answered(from ident.Member, m *body) {
	if w.have {
		w.canvassed(from, m)
		w.late(from, m)
	}
	c := &w.fair.choice
	if !w.have || c.sure || c.member.IsZero() || m.member != c.member {
		return
	}
	switch {
	case from == c.member:
		if m.what != willing {
			w.reject()
			return
		}
		c.present = true
		c.served = max(c.served, before(w.now, m.age))
	case contains(c.asked[:c.n], from):
		c.answers++
		if m.what != unserved {
			c.served = max(c.served, before(w.now, m.age))
		}
		for i := range c.asked[:c.n] {
			if c.asked[i] == from {
				c.asked[i] = ident.Member{}
			}
		}
	default:
		return
	}
	if c.present && c.answers >= c.n {
		w.settle()
	}
}

// settle takes the candidate, or the next one when this one has not waited as long
// as was said.
func (w *walker) settle() {
	f, c := w.fair, &w.fair.choice
	c.deadline = clock.Never
	if c.served > c.claimed.Add(w.operation) {
		f.candidates.insert(candidate{member: c.member, served: c.served})
		if !c.source.IsZero() {
			m := body{kind: look, sight: w.sight(), member: c.member, age: millis(w.now.Sub(c.served)), older: nothingOlder}
			w.tell(c.source, &m)
		}
		w.chooseAgain()
		return
	}
	c.sure, f.idle = true, clock.Never
	w.actions = append(w.actions, policy.Action{Kind: policy.Prepare, Token: w.token.ID, To: c.member})
	w.proceed()
}

// reject goes on to the next candidate.
func (w *walker) reject() {
	w.fair.candidates.remove(w.fair.choice.member)
	w.chooseAgain()
}

// chooseAgain goes on to the next candidate, after a pause if there were many.
func (w *walker) chooseAgain() {
	f := w.fair
	f.refused[f.refuse] = f.choice.member
	f.refuse = (f.refuse + 1) % refusedKept
	f.choice = choice{made: f.choice.made, deadline: clock.Never}
	if f.choice.made == choicesMost {
		f.choice.made, f.gathers = 0, w.now.Add(w.reply)
		return
	}
	w.choose()
}

// unanswered is the end of the wait for answers.
func (w *walker) unanswered() {
	c := &w.fair.choice
	if c.tries == probes {
		w.fair.unreached = true
	}
	switch {
	case c.present && (c.answers > 0 || c.tries == probes):
		w.settle()
	case c.tries < probes:
		w.inquireAbout()
	default:
		w.fair.silent = keepLast(w.fair.silent, c.member)
		w.reject()
	}
}

// idle waits while nobody is due, and looks again now and then.
func (w *walker) idle() {
	f := w.fair
	if w.running {
		return
	}
	if f.idle == clock.Never {
		f.idle, f.pause = w.now, readPauseLeast
	}
	if f.looks == clock.Never {
		f.looks = w.now.Add(f.pause)
		if w.outstayed() {
			f.looks = w.now + 1
		}
	}
}

// looksFor asks a member at once that is said to wait, while nobody is due: it counts as one
// that may operate, and has waited less than all others that may. Once in a look is enough.
func (w *walker) looksFor(m ident.Member) {
	f := w.fair
	if m.IsZero() || m == w.self || !w.have || w.running || f.idle == clock.Never || !f.choice.member.IsZero() || contains(f.refused[:], m) {
		w.lookSoon()
		return
	}
	f.candidates.insert(candidate{member: m, served: w.now - clock.Instant(w.min)})
	w.choose()
}

// lookSoon ends the pause in which nobody was due, as somebody is said to wait: but the
// pause is never shorter than it is at first, whatever anybody says.
func (w *walker) lookSoon() {
	f := w.fair
	if !w.have || w.running || f.looks == clock.Never {
		return
	}
	if f.looks = min(f.looks, max(w.now, f.looked.Add(readPauseLeast))); f.looks == w.now {
		w.fairDue()
	}
}

// lookAgain is the end of a pause in which nobody was due. After a long time the
// token wanders on: what is known here may be wrong.
func (w *walker) lookAgain() {
	f := w.fair
	f.pause = min(2*f.pause, readPauseMost)
	f.looks, f.looked = w.now.Add(f.pause), w.now
	if !w.running && w.now >= w.came.Add(w.spans.rest) {
		w.wander()
		return
	}
	f.refused = [refusedKept]ident.Member{}
	w.readOwn()
	w.read()
	w.choose()
}

// wander passes the token to a member at random. That is no turn: nobody's witnesses
// are told.
func (w *walker) wander() {
	to, id := ident.Member{}, w.token.ID
	if w.drawn = w.roster.Draw(1, w.drawn[:0]); len(w.drawn) > 0 {
		to = w.drawn[0]
	}
	w.passTo(to)
	w.sent.wanders = w.sent.token == id
}

func (w *walker) passTo(m ident.Member) {
	f := w.fair
	f.candidates.remove(m)
	w.pass(m)
}

// fairDue does what is due in the preset fair.
func (w *walker) fairDue() {
	f := w.fair
	w.announceDue()
	if !w.have {
		return
	}
	if w.mayRun() && f.idle != clock.Never && f.choice.member.IsZero() && w.now >= w.rests {
		if w.ran && w.canvass() {
			return // others may be due
		}
		w.run() // nobody else is due
	}
	if f.gathers <= w.now {
		f.gathers = clock.Never
	}
	switch {
	case f.choice.deadline <= w.now:
		w.unanswered()
	case f.looks <= w.now:
		w.lookAgain()
	}
	w.proceed()
}

// fairDeadline is when the preset fair has to act next if nothing happens.
func (w *walker) fairDeadline() clock.Instant {
	f := w.fair
	next := f.again
	if !w.have {
		return next
	}
	next = min(next, f.gathers, f.choice.deadline)
	if w.running {
		return next
	}
	next = min(next, f.looks)
	if f.choice.sure {
		next = min(next, max(w.dueAt(f.choice.served), w.now+1))
	}
	if f.idle != clock.Never && f.choice.member.IsZero() && f.gathers == clock.Never {
		if f.candidates.n > 0 {
			next = min(next, max(w.dueAt(f.candidates.list[0].served), w.now+1))
		}
		if w.demand && !w.outstayed() {
			next = min(next, max(w.early, w.rests, w.now+1))
		}
	}
	return next
}
