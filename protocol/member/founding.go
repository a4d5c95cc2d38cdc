package member

import (
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// Founding is what POLICY names in the place of a policy when it is about the
	// first token of a slot. No policy has this name.
	Founding = "founding"

	// maxFounders is how many members may generate the first token of a slot: those
	// that rank highest for it. With so many, some are alive.
	maxFounders = 4

	// foundersLooked is how many of the highest are looked at for them: those that do
	// not answer are passed over.
	foundersLooked = 16

	// foundingAsks is how many members at random a founder asks besides the other
	// founders: in a small group all, in a large one enough that a member that comes
	// late to a configuration finds one that has seen the slot's token.
	foundingAsks = 8

	// foundingQuestions is how many times a founder asks those that have not answered: an
	// answer may be late at a busy machine, and one that is known may come with it.
	foundingQuestions = 3

	// foundingPause is for how long a founder waits for answers: far above a round
	// trip, and three dials on the way.
	foundingPause = time.Second

	// foundingStagger is between the first questions about two slots: some thousand
	// slots at once ask for no more than the peers take (policyRate).
	foundingStagger = 5 * time.Millisecond

	// foundingFor is after what time the slot's policy is left to generate the token,
	// below the least time without a token after which the default policy does.
	foundingFor = 20 * time.Second
)

// The bodies of POLICY messages about founding.
const (
	foundingAsk   byte = iota + 1 // the sender is about to generate the first token
	foundingClear                 // it may, as far as the sender knows
	foundingWait                  // another founder, which ranks higher, is about to
	foundingKnown                 // a token of the slot has been seen
)

// founding is the state of one member's part in the first token of a slot that a
// configuration has added while the group works. A member founds when it ranks among
// the highest for the slot, those above it say that they do not, and of those asked
// somebody answers and nobody objects. It is a hint, like every message of a policy: at
// worst there are two tokens, or none until the policy generates one.
type founding struct {
	active    bool
	looked    bool // whether this member is one of the founders
	candidate bool // it is, as of the last look
	broad     int  // questions in a row that went to more than those above
	objected  bool // since the last question
	at, until clock.Instant
	asked     []ident.Member
	clear     []ident.Member // who answered that this member may
	rival     ident.Member   // asked too, and ranks higher
	rivalAt   clock.Instant
}

// founders are the members that make the first token of a slot; this one may be one of them.
type founders struct {
	*core
	custody    *custody
	candidates *candidates
	messenger  *messenger
	mint       *mint
	added      []*slot // that are being founded
}

// begin begins to found the slots among these that the former configuration
// lacks.
func (o *founders) begin(slots []*slot, former group.Settings) {
	at := o.now.Boot.Add(foundingPause / 4) // others learn of the configuration
	for _, s := range slots {
		if o.custody.knowsToken(s) || has(former, s.key) {
			continue
		}
		if o.cfg.Found && !s.founded {
			s.founded = true // the operator's word is about the slots that there were
			o.persist(&journal.Founded{Resource: s.key.resource, Slot: s.key.number}, false)
		}
		if o.dir.Sampled() {
			continue // it cannot tell who ranks highest
		}
		s.founding = founding{active: true, at: at, until: at.Add(foundingFor)}
		o.added = append(o.added, s)
		at = at.Add(foundingStagger)
	}
}

// has reports whether a configuration has a slot.
func has(s group.Settings, k slotKey) bool {
	return slices.ContainsFunc(s.Resources, func(r group.Resource) bool {
		return r.Name == k.resource && k.number < uint64(r.Slots)
	})
}

// rank are the members that may generate the first token of a slot, but for those
// that do not answer: those that rank above this one, and those below. It is false when
// this member is none of them.
func (o *founders) rank(s *slot) (above, below []ident.Member, candidate bool) {
	if o.dir.Candidates() == 0 {
		return nil, nil, true // though nobody can dial it
	}
	ranked := o.dir.Witnesses(directory.SlotID(s.key.resource, s.key.number), foundersLooked, o.now.Wall, nil)
	ranked = slices.DeleteFunc(ranked, o.candidates.avoids)
	ranked = ranked[:min(maxFounders, len(ranked))]
	at := slices.Index(ranked, o.self)
	if at < 0 {
		return ranked, nil, false
	}
	return ranked[:at], ranked[at+1:], true
}

// tick goes on with the first tokens of slots.
func (o *founders) tick() {
	if o.recalling {
		return
	}
	o.added = slices.DeleteFunc(o.added, func(s *slot) bool {
		if s.founding.active && s.founding.at <= o.now.Boot {
			o.step(s)
		}
		return !s.founding.active
	})
}

func (o *founders) step(s *slot) {
	f := &s.founding
	if o.custody.knowsToken(s) || o.now.Boot >= f.until || o.stopping || o.departed || o.revoked {
		*f = founding{}
		return
	}
	f.at = o.now.Boot.Add(foundingPause)
	above, below, candidate := o.rank(s)
	f.looked, f.candidate = true, candidate
	switch {
	case !candidate || o.outranked(f):
		f.broad, f.clear = 0, nil
		return
	case !f.cleared(above):
		f.broad = 0
		o.ask(s, above)
		return
	case f.broad == 0 || f.objected:
		f.broad = 0
	case len(f.clear) == 0 && o.dir.Candidates() > 0: // nobody answers: it may be cut off
	case f.broad >= foundingQuestions, f.cleared(f.asked):
		*f = founding{}
		o.mint.generate(s, false)
		return
	}
	f.broad++
	o.ask(s, o.dir.DrawSome(o.sources.member, foundingAsks, o.now.Wall, func(id ident.Member) bool {
		return slices.Contains(above, id) || slices.Contains(below, id) || o.candidates.avoids(id)
	}, slices.Concat(above, below)))
}

// outranked reports whether a member that ranks higher has asked just now.
func (o *founders) outranked(f *founding) bool {
	return !f.rival.IsZero() && o.now.Boot < f.rivalAt.Add(2*foundingPause)
}

// cleared reports whether all of a list have said that this member may generate.
func (f *founding) cleared(list []ident.Member) bool {
	for _, id := range list {
		if !slices.Contains(f.clear, id) {
			return false
		}
	}
	return true
}

func (o *founders) ask(s *slot, list []ident.Member) {
	s.founding.objected, s.founding.asked = false, list
	for _, id := range list {
		o.say(s, id, foundingAsk)
	}
}

func (o *founders) say(s *slot, to ident.Member, what byte) {
	o.messenger.submit(outgoing{to: to, msg: &wire.Policy{
		Resource: s.key.resource, Slot: s.key.number, Policy: Founding,
		Configuration: o.settings.Version, Body: []byte{what},
	}})
}

// onMessage answers a question about the first token of a slot, or takes in an
// answer.
func (o *founders) onMessage(from ident.Member, s *slot, body []byte) {
	f := &s.founding
	switch {
	case len(body) != 1:
		o.reject("policy mismatch")
	case body[0] == foundingAsk:
		o.say(s, from, o.answer(from, s))
	case !f.active || !slices.Contains(f.asked, from):
		o.reject("policy mismatch")
	case body[0] == foundingKnown:
		*f = founding{}
	case body[0] == foundingWait:
		f.objected = true
	case body[0] == foundingClear && !slices.Contains(f.clear, from):
		f.clear = append(f.clear, from)
	}
}

// answer says what is known of a slot's first token. Of two members that ask,
// the one that ranks lower is told to wait, and waits itself when it is this one.
func (o *founders) answer(from ident.Member, s *slot) byte {
	f := &s.founding
	if o.custody.knowsToken(s) {
		return foundingKnown
	}
	if !f.active {
		return foundingClear
	}
	if !f.looked {
		_, _, f.candidate = o.rank(s)
		f.looked = true
	}
	ranks := directory.NewWitnessRank(o.cfg.Group.ID(), directory.SlotID(s.key.resource, s.key.number))
	switch asks := ranks.Of(from); {
	case f.candidate && directory.Above(ranks.Of(o.self), asks),
		o.outranked(f) && directory.Above(ranks.Of(f.rival), asks):
		return foundingWait
	default:
		f.rival, f.rivalAt = from, o.now.Boot
		return foundingClear
	}
}

// next is when tick has something to do.
func (o *founders) next() clock.Instant {
	next := clock.Never
	for _, s := range o.added {
		if s.founding.active && !o.recalling {
			next = min(next, s.founding.at)
		}
	}
	return next
}
