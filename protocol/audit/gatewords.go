package audit

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/evidence"
	"github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/gate/wire"
	"github.com/wandertoken/wander/protocol/ident"
)

// gateWord is one answer that a gate has signed. It is proof of what the gate has said, whoever has it in a journal.
type gateWord struct {
	wire.AnswerBody
	gate    ident.Member
	session uint64 // that it names; 0: none
	said    evidence.Statement
	shown   Exhibit
}

// told takes in an answer of a gate.
func (r *Reader) told(o *object) {
	if o == nil || o.verdict != genuine || r.others[o.print] {
		return
	}
	r.others[o.print] = true
	w := &gateWord{AnswerBody: o.word, gate: r.trust.gates[o.form.KeyID()].Member(), shown: r.exhibit(o)}
	if w.Member != r.member {
		r.find(Misfit, ident.Token{}, 0, "an answer of a gate to member "+w.Member.Short(), r.member)
	}
	w.said = evidence.OfGate(o.word, o.form.KeyID(), o.form.Hash())
	w.session = w.said.Gate.Session
	r.words = append(r.words, w)
}

// holder is who has a session by an answer, and under which token and hop; ok is false if the answer does not say.
func (w *gateWord) holder() (m ident.Member, h hop, ok bool) {
	m = w.said.Gate.Holder
	return m, hop{w.said.Token, w.said.Hop}, !m.IsZero()
}

// own reports whether the session that an answer names is that of the sign-in that it answers.
func (w *gateWord) own() bool { return w.said.Gate.Own }

// contradicts reports whether two answers are evidence of a kind.
func (w *gateWord) contradicts(k evidence.Kind, o *gateWord) bool {
	return k.Convicts(w.said, o.said) || k.Convicts(o.said, w.said)
}

// checkWords compares what gates have signed: with each other, and with the journals of the gates.
func (j *judge) checkWords() {
	slices.SortStableFunc(j.words, func(a, b *gateWord) int {
		return cmp.Or(a.gate.Compare(b.gate), cmp.Compare(a.session, b.session), cmp.Compare(a.Time, b.Time))
	})
	j.checkSignIns()
	j.checkOpens()
	for rest := j.words; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(w *gateWord) bool { return w.gate != rest[0].gate })
		if n < 0 {
			n = len(rest)
		}
		j.checkNumbers(rest[:n])
		if resource, _ := j.trust.GateOf(rest[0].gate); !j.trust.severalPlaces(resource) {
			j.checkTimes(rest[:n])
		}
		rest = rest[n:]
	}
	for _, g := range j.gates {
		for _, w := range j.words {
			if w.gate == g.member {
				g.answers++
				j.checkWritten(g, w)
			}
		}
	}
}

// lies reports two answers that no gate signs both of that keeps its rules.
func (j *judge) lies(k Kind, a, b *gateWord, detail string) {
	_, h, _ := b.holder()
	if b.shown.Journal == a.shown.Journal && b.shown.Seq < a.shown.Seq {
		a, b = b, a
	}
	j.add(Finding{
		Kind: k, Token: h.token, Hop: h.number, Accused: b.gate, Members: []ident.Member{b.gate}, At: fromMillis(b.Time), Detail: detail,
		Records: refs(a.shown.RecordRef, b.shown.RecordRef), Exhibits: []Exhibit{a.shown, b.shown},
	})
}

// checkSignIns looks for sign-ins with two sessions, or with a session and a refusal.
func (j *judge) checkSignIns() {
	first := make(map[evidence.SignIn]*gateWord)
	for _, w := range j.words {
		if !w.said.Gate.Refused && !w.own() {
			continue
		}
		at := w.said.Gate.SignIn
		o := first[at]
		switch {
		case o == nil:
			first[at] = w
		case o.contradicts(evidence.TwoAnswers, w):
			j.lies(TwoAnswers, o, w, fmt.Sprintf("%s, and %s", o.says(), w.says()))
		}
	}
}

// checkOpens looks for sessions that a gate opens, or says to last, outside the windows. An answer may be signed a while after its session
// has begun: one that is signed after the end of the session shows nothing.
func (j *judge) checkOpens() {
	for _, w := range j.words {
		a, ok := w.Answer.(gate.OpenAnswer)
		if !ok || w.Time >= a.Until {
			continue
		}
		from, until := clock.FromMillis(w.Time), clock.FromMillis(a.Until)
		if j.trust.permits(w.Resource, from, until) {
			continue
		}
		j.add(Finding{
			Kind: ShutGate, Token: a.Token, Hop: a.Hop, Members: []ident.Member{w.gate}, At: fromMillis(w.Time), Records: refs(w.shown.RecordRef),
			Detail: fmt.Sprintf("session %d, from %s to %s", a.Session, from.Format(time.RFC3339), until.Format(time.RFC3339)),
		})
	}
}

// says is what an answer says, for people.
func (w *gateWord) says() string {
	switch a := w.Answer.(type) {
	case gate.OpenAnswer:
		return fmt.Sprintf("OPEN of session %d", a.Session)
	case gate.ClosedAnswer:
		return fmt.Sprintf("CLOSED of session %d", a.Session)
	case gate.RefuseAnswer:
		return "REFUSE, " + a.Code.String()
	}
	return fmt.Sprintf("BUSY with session %d", w.session)
}

// checkNumbers looks for sessions of one number that are not the same: of other sign-ins, or of another holder than BUSY names. The slot of
// BUSY is that of the sign-in that it answers, and a session may be at a place of another slot once the group has changed its slots.
func (j *judge) checkNumbers(words []*gateWord) {
	var own, told *gateWord // of a session: the first answer to its own sign-in, and the first that says who has it
	for i, w := range words {
		if i == 0 || w.session != words[i-1].session {
			own, told = nil, nil
		}
		if w.session == 0 {
			continue
		}
		_, _, says := w.holder()
		switch {
		case w.own() && own != nil && own.contradicts(evidence.NumberTwice, w):
			j.lies(NumberTwice, own, w, fmt.Sprintf("session %d for two sign-ins", w.session))
		case says && told != nil && told.contradicts(evidence.NumberTwice, w):
			j.lies(NumberTwice, told, w, fmt.Sprintf("session %d with two holders or tokens", w.session))
		}
		if w.own() && own == nil {
			own = w
		}
		if says && told == nil {
			told = w
		}
	}
}

// checkTimes looks for sessions at one slot, which has one place, that overlap by the times that the gate has signed. Its clock may have
// been set.
func (j *judge) checkTimes(words []*gateWord) {
	latest := make(map[uint64]*gateWord) // by slot: of the sessions so far, what was said last about one's own sign-in
	for start := 0; start < len(words); {
		end := start + 1
		for end < len(words) && words[end].session == words[start].session {
			end++
		}
		session := words[start:end]
		start = end
		for _, w := range session {
			if o := latest[w.Slot]; w.own() && o != nil && w.Time < o.Time && o.session < w.session {
				j.add(Finding{
					Kind: TimesCross, Members: []ident.Member{w.gate}, At: fromMillis(w.Time), Records: refs(o.shown.RecordRef, w.shown.RecordRef),
					Detail: fmt.Sprintf("%s at slot %d is %d ms before %s", w.says(), w.Slot, o.Time-w.Time, o.says()),
				})
			}
		}
		for _, w := range session {
			if o := latest[w.Slot]; w.own() && (o == nil || o.Time < w.Time) {
				latest[w.Slot] = w
			}
		}
	}
}

// checkWritten compares an answer with the journal of its gate. That names places, and not slots: the token tells the slot.
func (j *judge) checkWritten(g *gateBook, w *gateWord) {
	if w.session == 0 {
		return
	}
	s, missing := g.sessionOf(w)
	if m, h, says := w.holder(); s == nil && says && !missing {
		g.told[custodyKey{m, h}] = true
	}
	find := func(detail string, of ...RecordRef) {
		j.add(Finding{
			Kind: Unwritten, Members: []ident.Member{g.member, w.Member}, At: fromMillis(w.Time),
			Records: refs(append(of, w.shown.RecordRef)...), Detail: w.says() + detail,
		})
	}
	m, h, says := w.holder()
	switch {
	case s == nil && missing:
		find(", which the gate's journal does not have")
	case s == nil:
	case says && (m != s.member || h != s.hop), w.own() && (w.Member != s.member || w.Title != s.title):
		find(", and the gate's journal has it of another member or token", s.in)
	}
}

// sessionOf is the session that an answer names. missing says that there is none in a part of the journal that would have it: between
// two sessions of one part, or behind the last one when the journal goes on. What is in the gap before a part is not missing, nor what a
// crash may have lost.
func (g *gateBook) sessionOf(w *gateWord) (s *session, missing bool) {
	if len(g.byNumber) != len(g.sessions) {
		g.byNumber = slices.SortedStableFunc(slices.Values(g.sessions), func(a, b *session) int { return cmp.Compare(a.number, b.number) })
	}
	list := g.byNumber
	i, ok := slices.BinarySearchFunc(list, w.session, func(s *session, n uint64) int { return cmp.Compare(s.number, n) })
	switch {
	case ok:
		return list[i], false
	case i == 0 && len(list) > 0:
		return nil, false
	case i == len(list):
		last := g.begun
		if i > 0 {
			last = list[i-1].number
		}
		return nil, (i == 0 || list[i-1].part == g.part) && !isLost(last, w.session, gate.MaxNumber) && g.coversAll(fromMillis(w.Time), fromMillis(w.Time))
	}
	last, next := list[i-1], list[i]
	return nil, last.part == next.part && w.session > next.floor && !isLost(last.number, w.session, next.number)
}

// isLost reports whether a gate that keeps the rules may have signed an answer about a session between two others that its journal does not have: a
// crash may lose the records of as many numbers as a start then passes over (R-83 of spec/gate.md).
func isLost(last, n, next uint64) bool {
	return n > last && n-last <= gate.MaxAhead && next-last > gate.MaxAhead
}
