package member

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// Status is what a member knows at one moment.
type Status struct {
	Member        ident.Member
	Incarnation   ident.Incarnation
	Configuration uint64 // version
	Revocations   uint64 // version up to which every revocation is known
	Slots         []SlotStatus
	Peers         []ident.Member // connected
	Handoffs      handoff.Stats
	InDoubt       int               // transfers whose answer is due
	Generated     uint64            // tokens, since the member was made
	Dropped       uint64            // tokens, since the member was made
	Rejected      map[string]uint64 // messages that changed nothing, by reason
	// UpdatesPending is how many membership updates are still to be told.
	UpdatesPending int
	// GossipExchanges is how often this member has begun to compare its
	// directory with a peer's because gossip_interval had passed.
	GossipExchanges uint64
	Stopping        bool
	Revoked         bool
	Recalling       bool   // waits for greetings after a restart
	Rollbacks       uint64 // custody memories given up, since the member was made
	LastLoss        string // what the last one was; empty: none
	Copies          int    // starts of other processes with this member's key

	Behind    bool    // a certificate states a version that is not known here yet
	Faults    []Fault // who handed over what nobody honest does, most often first
	Snapshots int     // peers whose directories have been compared since joining
	Suspects  int     // members that do not answer

	NoPlace bool // on the ring, for the resources that are shared in one

	Late     time.Duration // how late this member has run of late, as far as it counts: up to 3.5 s; 0: punctual
	Patience int           // how many times as long it therefore waits before it suspects others: 1 to 8

	ClockAhead time.Duration // of the median of the peers' clocks
	Others     int           // members known but this one
}

// SlotStatus is a member's view of one slot.
type SlotStatus struct {
	Resource                string
	Policy, Preset          string
	Weight                  int     // of this member; 0 if the resource has no weights
	Gauges                  []Gauge // what the policy shows of itself
	Slot                    uint64
	Leaving                 bool // not in the configuration any more; a program still runs
	Held, Executing         bool
	Token                   ident.Token   // the last one seen
	Hop                     uint64        // of the token held
	Waiting                 int           // programs that wait for the resource
	WaitingSince            clock.Instant // when the first of them asked; of Waiting
	Seen                    uint64        // tokens, since the slot was made
	LastSeen, LastOperation uint64        // wall clock, µs since 1970; 0: never
	Operations              uint64        // of this member, since it was made
	Returned                time.Duration // between its last two operations
	// Missing are the members whose votes have not come, as the last program here did not
	// begin for want of votes; Isolated is for how long that has been so.
	Missing  []ident.Member
	Isolated time.Duration // 0: votes come
	Gate     GateStatus
	Hours    HoursStatus

	// Born is when the token held was made, in ms since 1970, and Ends is when the program here
	// is killed at the latest; 0: there is none.
	Born   uint64
	Ends   clock.Instant
	Across bool           // what runs here lasts across a restart of the machine
	Asker  *journal.Asker // of the program that runs here; nil: the daemon, or not known
	// MaxHold is after what time a program is killed at the latest, and Expected is how long one takes at most, as the
	// configuration says; 0: it says only when one is killed.
	MaxHold, Expected time.Duration
	// Observed is what is known of the token while it is not here, and Passages are its last arrivals.
	Observed policy.Observation
	Passages []Passage
	Founding bool // the slot's first token is being made by one of several members
}

// GateStatus is what a member knows of a slot's gate. The zero value is a slot without one.
type GateStatus struct {
	Gated     bool
	Observes  bool          // it is no condition while it cannot be reached
	Reached   bool          // it has a connection
	Said      string        // what it has said last, or what was asked of it; empty: nothing yet
	Heard     clock.Instant // when it said that; 0: never
	Hinders   Hindrance
	Session   uint64        // that its last answer names; 0: none
	NotBefore uint64        // before which it refuses, ms since 1970; 0: it did not say
	Asked     clock.Instant // since when a program waits for its answer, or for the end of the session before; 0: none does
}

// Gauge is one figure that a policy shows.
type Gauge struct {
	Name  string // ends in its base unit
	Value float64
}

// Status is a snapshot, for people and metrics.
func (m *Member) Status() Status {
	s := Status{
		Member: m.self, Incarnation: m.incarnation, Configuration: m.settings.Version,
		Generated: m.circ.mint.generated, Dropped: m.circ.custody.dropped, Peers: m.peers.list(), Handoffs: m.circ.custody.handoff.Stats(), InDoubt: m.circ.custody.handoff.Unanswered(),
		Rejected: maps.Clone(m.counts), Stopping: m.stopping, Revoked: m.revoked,
		Revocations: m.dir.RevocationVersion(), GossipExchanges: m.members.exchange.rounds, UpdatesPending: m.members.news.list.Len(),
		Behind: m.members.behind(), Faults: m.members.faults.list(), Snapshots: len(m.members.snapshots.from), Suspects: len(m.live.detector.suspects),
		Recalling: m.recalling, Rollbacks: m.circ.recall.rollbacks, Copies: len(m.circ.recall.copies),
		NoPlace: m.circ.ring.outside, Late: m.live.own.late.left(m.now.Boot), Patience: m.live.own.multiplier(),
		ClockAhead: m.circ.admission.clocks.ahead(m.now), Others: m.Len() - 1,
	}
	if m.circ.recall.rollbacks > 0 {
		s.LastLoss = m.circ.recall.lastLoss.String()
	}
	held, waiting := make(map[*slot][]*hold, len(m.circ.custody.holds)), make(map[string]waits)
	for _, h := range m.circ.custody.holds {
		held[h.slot] = append(held[h.slot], h)
	}
	for _, d := range m.circ.demands.list {
		waiting[d.resource] = waiting[d.resource].with(d)
	}
	for _, e := range m.circ.entries.byID {
		if e.state == knocking {
			waiting[e.demand.resource] = waiting[e.demand.resource].with(e.demand)
		}
	}
	others := m.circ.candidates.size()
	s.Slots = make([]SlotStatus, len(m.circ.slots.order))
	for i, slot := range m.circ.slots.order {
		s.Slots[i] = slot.status(held[slot], waiting[slot.key.resource])
		s.Slots[i].Gate, s.Slots[i].Observed = m.circ.entries.status(slot), slot.observed(others)
		s.Slots[i].Hours = m.circ.schedule.status(slot)
		s.Slots[i].Weight = m.weightIn(slot.resource)
		for _, h := range held[slot] {
			s.Slots[i].Born = m.circ.custody.describe(h).Born
		}
		if v, ok := slot.policy.(policy.Isolated); ok {
			if since, missing, is := v.Isolated(); is {
				s.Slots[i].Missing, s.Slots[i].Isolated = missing, max(1, m.now.Boot.Sub(since))
			}
		}
	}
	return s
}

// waits are the programs that wait for one resource: how many, and since when the first of them.
type waits struct {
	count int
	since clock.Instant
}

func (w waits) with(d *demand) waits {
	if w.count == 0 || d.asked < w.since {
		w.since = d.asked
	}
	w.count++
	return w
}

// status is what a slot shows, with the tokens of it that are held here and the
// programs that wait for its resource.
func (s *slot) status(held []*hold, waiting waits) SlotStatus {
	st := SlotStatus{
		Resource: s.key.resource, Policy: s.resource.Policy, Preset: presetOf(s.resource), Slot: s.key.number,
		Leaving: s.leaving, Waiting: waiting.count, WaitingSince: waiting.since, Seen: s.seen,
		LastSeen: s.lastSeen, LastOperation: s.lastOperation,
		Operations: s.operations, Returned: s.returned,
		Passages: slices.Clone(s.passages.came), Founding: s.founding.active,
	}
	if st.MaxHold = s.resource.MaxHold; s.resource.OperationTime < st.MaxHold {
		st.Expected = s.resource.OperationTime
	}
	if g, ok := s.policy.(policy.Gauger); ok {
		g.Gauges(func(name string, value float64) { st.Gauges = append(st.Gauges, Gauge{name, value}) })
	}
	if n := len(s.visits); n > 0 {
		st.Token = s.visits[n-1].Token
	}
	for _, h := range held {
		st.Held, st.Token, st.Hop = true, h.token, h.hop
		if h.grant.runs() {
			st.Executing, st.Ends = true, h.grant.next()
			if r := h.grant.record; r != nil {
				st.Asker, st.Across = r.Asker, r.Across > 0
			}
		}
	}
	return st
}

// presetOf is the name of a resource's preset, its policy's first where it gives none.
func presetOf(r group.Resource) string {
	if r.Preset == "" && r.Policy != "" {
		return catalog.Presets(r.Policy)[0].Name
	}
	return r.Preset
}

// Holds reports whether a token of the resource is in custody here.
func (m *Member) Holds(resource string) bool {
	for _, h := range m.circ.custody.holds {
		if h.slot.key.resource == resource {
			return true
		}
	}
	return false
}

// InForce reports whether a grant is in force here: its program has not ended, as far as is known.
func InForce(m *Member, id ident.Grant) bool { return m.circ.grants.inForce[id] != nil }

// MissingVotes is how many votes were missing when a program under a token of the resource
// could not begin last; 0: it could.
func (m *Member) MissingVotes(resource string) (n int) {
	for _, s := range m.circ.slots.order {
		if v, ok := s.policy.(policy.Isolated); ok && s.key.resource == resource {
			if _, missing, is := v.Isolated(); is {
				n = max(n, len(missing))
			}
		}
	}
	return n
}

// Settings are those of the group configuration in force.
func (m *Member) Settings() group.Settings { return m.settings }

// Group is the CA keys and the configuration in force.
func (m *Member) Group() *group.Group { return m.cfg.Group }

// ID is this member's identifier.
func (m *Member) ID() ident.Member { return m.self }

// Addresses are where a member says that it can be reached.
func (m *Member) Addresses(id ident.Member) []string { return m.dir.Addresses(id) }

// Endpoint is the endpoint record of a member, encoded.
func (m *Member) Endpoint(id ident.Member) ([]byte, bool) { return m.dir.Endpoint(id) }

// weightIn is this member's weight in a resource; 0 if that has no weights.
func (m *Member) weightIn(r group.Resource) int {
	if r.Weights.IsZero() {
		return 0
	}
	return r.Weights.Of(m.dir.Class(m.self))
}

// RevocationVersion is up to which version every revocation is known.
func (m *Member) RevocationVersion() uint64 { return m.dir.RevocationVersion() }

// Candidates is how many other members can be passed a token.
func (m *Member) Candidates() int { return m.dir.Candidates() }

// Left is the statement by which a member has left, if it has.
func (m *Member) Left(id ident.Member) ([]byte, bool) { return m.dir.Left(id) }

// Revocation is the revocation of a member, encoded, if it is revoked.
func (m *Member) Revocation(id ident.Member) ([]byte, bool) { return m.dir.Revocation(id) }

// Known is one member as another one knows it.
type Known struct {
	Certificate certificate.Certificate
	Eligible    error // nil, or why it takes no part: see package directory
	Connected   bool
	Suspected   bool // does not answer
	Addresses   []string
	Sequence    uint64 // of the endpoint record; 0: none is known
	Stated      int    // of how many others it says that they do not answer
}

// Members are the members known here, in order of their ids.
func (m *Member) Members() iter.Seq[Known] {
	return func(yield func(Known) bool) {
		for id := range m.dir.Members() {
			c, ok := m.dir.Certificate(id)
			if !ok {
				continue
			}
			k := Known{
				Certificate: c, Eligible: m.dir.Eligible(id, m.now.Wall),
				Connected: m.peers.has(id), Suspected: m.live.detector.isSuspect(id), Addresses: m.dir.Addresses(id),
			}
			k.Sequence, _ = m.dir.Sequence(id)
			k.Stated = m.dir.Stated(id)
			if !yield(k) {
				return
			}
		}
	}
}

// RecentLeaves are the last leaves that were news here, encoded.
func (m *Member) RecentLeaves() [][]byte { return slices.Clone(m.members.learner.leaves) }

// Faults are the members that have been at fault, most often first.
func (m *Member) Faults() []Fault { return m.members.faults.list() }
