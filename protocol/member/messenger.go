package member

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/wire"
)

const (
	// strangerRate and strangerBurst bound the members that are dialled for a POLICY
	// message, per second and at once: each costs 1.3 ms of processor time on both
	// sides together. Connections live for 30 seconds without a message, and a
	// transport keeps 1024.
	strangerRate  = 20
	strangerBurst = 64

	// maxTells bounds the POLICY messages of one urgency that wait for a dial: an eighth of
	// eight thousand members can be told of a new token. It is 0.7 MB at most.
	maxTells = 1024

	// maxDialled bounds the members that are remembered to have been dialled for them.
	maxDialled = 4096
)

// urgency is which POLICY messages go first where several wait for a dial.
type urgency uint8

const (
	statements urgency = iota // of keepers
	questions                 // of a keeper to all members
	hints                     // of policies
	urgencies
)

// messenger sends what policies say to those of other members. It dials members that are
// not connected, and keeps what has to wait for that.
type messenger struct {
	*core
	events *events

	waiting [urgencies][]outgoing
	dialled map[ident.Member]dialled
	dials   budget
	at      clock.Instant // when the next member may be dialled
}

func newMessenger(c *core, q *events) *messenger {
	return &messenger{
		core: c, events: q, at: clock.Never, dials: budget{strangerBurst, c.now.Boot},
		dialled: make(map[ident.Member]dialled),
	}
}

// outgoing is a message that is to be sent.
type outgoing struct {
	to    ident.Member
	msg   *wire.Policy
	asker *slot // of a question: whose policy it is of
}

func (t outgoing) urgency() urgency {
	switch {
	case t.asker != nil:
		return questions
	case shareOf(t.msg.Body) == ofKeepers:
		return statements
	}
	return hints
}

// dialled is a member that was dialled for a message.
type dialled struct {
	at     clock.Instant
	failed bool  // it did not answer
	asker  *slot // of the message, if it was a question
}

// sendFor sends a message from the policy of a slot to a peer's.
func (w *messenger) sendFor(s *slot, a *policy.Action) {
	t := outgoing{to: a.To, msg: &wire.Policy{
		Resource: s.key.resource, Slot: s.key.number, Policy: s.resource.Policy,
		Configuration: w.settings.Version, Body: slices.Clone(a.Field),
	}}
	if a.Question {
		t.asker = s
	}
	w.submit(t)
}

// submit sends a message now, or when its receiver may be dialled, if that may be.
func (w *messenger) submit(t outgoing) {
	list := &w.waiting[t.urgency()]
	switch d := w.dialled[t.to]; {
	case t.to == w.self || w.dir.Eligible(t.to, w.now.Wall) != nil && !w.peers.has(t.to):
		w.reject("policy message to nobody")
	case !w.peers.has(t.to) && !w.dir.Dialable(t.to):
		w.reject("policy message out of reach")
	case w.peers.has(t.to):
		w.sendConnected(t)
	case d.failed && t.asker != nil && w.now.Boot < d.at.Add(w.settings.Silence):
		// A question is not worth a second dial so soon.
	case w.dialsFor(t):
	case len(*list) >= maxTells:
		w.reject("policy messages waiting")
		w.unsent(t.asker, t.to)
	default:
		*list = append(*list, t)
		w.queues(t, 1)
	}
}

// queues counts the questions that wait, and tells the policy of the first and the last.
func (w *messenger) queues(t outgoing, n int) {
	s := t.asker
	if s == nil {
		return
	}
	before := s.queued
	if s.queued += n; before == 0 || s.queued == 0 {
		w.events.notify(s, policy.Event{Kind: policy.Queued, Members: s.queued})
	}
}

// unsent tells a policy that a question has not gone.
func (w *messenger) unsent(asker *slot, to ident.Member) {
	if asker != nil {
		w.events.notify(asker, policy.Event{Kind: policy.Unsent, From: to})
	}
}

// sendConnected sends no more than the peer handles.
func (w *messenger) sendConnected(t outgoing) {
	of := shareOf(t.msg.Body)
	switch {
	case w.allows(w.peers.of(t.to), keeperSends+limited(of)):
		w.send(t.to, t.msg)
	case of == ofKeepers:
		w.reject("own keeper rate")
		w.unsent(t.asker, t.to)
	default:
		w.reject("own policy rate")
	}
}

// tick sends what waits, as far as the dials permit: one message to each member
// that is dialled, and the others when it has answered.
func (w *messenger) tick() {
	if w.now.Boot < w.at {
		return
	}
	w.at = clock.Never
	for i := range w.waiting {
		w.waiting[i] = slices.DeleteFunc(w.waiting[i], func(t outgoing) bool {
			goes := w.dialsFor(t)
			if goes {
				w.queues(t, -1)
			}
			return goes
		})
		if len(w.waiting[i]) == 0 {
			w.waiting[i] = nil
		}
	}
}

// dialsFor dials for a message, and reports whether it may.
func (w *messenger) dialsFor(t outgoing) bool {
	d, known := w.dialled[t.to]
	switch {
	case known && !d.failed && w.now.Boot < d.at.Add(dialPatience):
		w.at = min(w.at, d.at.Add(dialPatience))
	case w.dials.spend(w.now.Boot, strangerRate, strangerBurst):
		if len(w.dialled) >= maxDialled {
			clear(w.dialled)
		}
		w.dialled[t.to] = dialled{at: w.now.Boot, asker: t.asker}
		w.send(t.to, t.msg)
		return true
	default:
		w.at = min(w.at, w.now.Boot.Add(w.dials.wait(strangerRate)))
	}
	return false
}

// connected sends what waits for a member that is connected now.
func (w *messenger) connected(id ident.Member) {
	delete(w.dialled, id)
	w.take(id, w.sendConnected)
}

// unreachable drops what waits for a member that was dialled and does not answer. If the
// failure was on this side the member is dialled again.
func (w *messenger) unreachable(in Unreachable) {
	d, known := w.dialled[in.Peer]
	switch {
	case !known || d.failed:
	case in.Silent || in.Refused:
		d.failed = true
		w.dialled[in.Peer] = d
		w.take(in.Peer, func(outgoing) {})
	default:
		delete(w.dialled, in.Peer)
		w.unsent(d.asker, in.Peer)
		w.at = min(w.at, w.now.Boot)
	}
}

// take takes what waits for a member out of the queues.
func (w *messenger) take(id ident.Member, use func(outgoing)) {
	for i := range w.waiting {
		w.waiting[i] = slices.DeleteFunc(w.waiting[i], func(t outgoing) bool {
			if t.to != id {
				return false
			}
			use(t)
			w.queues(t, -1)
			return true
		})
	}
}
