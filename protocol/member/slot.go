package member

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// The policy field on a transfer and the body of a policy message have one
// size in every layer; these fail to compile otherwise.
var (
	_ [policy.MaxField - token.MaxField]struct{}
	_ [token.MaxField - policy.MaxField]struct{}
	_ [policy.MaxField - wire.MaxPolicyBody]struct{}
	_ [wire.MaxPolicyBody - policy.MaxField]struct{}
)

// votersNamed bounds the members that one report names whose votes are missing.
const votersNamed = 4

// visitsKept is how many visits of tokens a slot remembers for its policy over
// a restart: the policies' own histories are no longer.
const visitsKept = 16

type slotKey struct {
	resource string
	number   uint64
}

func (k slotKey) String() string { return fmt.Sprintf("%s, slot %d", k.resource, k.number) }

func (k slotKey) compare(o slotKey) int {
	if c := strings.Compare(k.resource, o.resource); c != 0 {
		return c
	}
	return cmp.Compare(k.number, o.number)
}

// slot is one slot of one resource: the place of one token.
type slot struct {
	key      slotKey
	resource group.Resource
	params   policy.Params // that the policy was made with
	policy   policy.Policy // nil while the slot is leaving
	timer    clock.Instant
	place    int  // among the member's timers, or -1
	demand   bool // as the policy was last told
	founded  bool
	leaving  bool              // see leaving.go
	founding founding          // see founding.go
	visits   []journal.Visited // oldest first
	isolated bool              // votes were missing when its policy was stepped last
	newest   uint64            // the latest genesis time of those that were here
	watches  []ident.Member    // whom the policy watches, oldest first
	queued   int               // questions of the policy that wait: see tells.go

	seen, operations uint64
	// Wall clock, µs since 1970; 0: never.
	lastSeen      uint64
	lastOperation uint64        // anybody's, as far as it is known here
	ownOperation  uint64        // this member's
	returned      time.Duration // between the last two of this member's
}

// hold is a token in custody here.
type hold struct {
	token ident.Token
	hop   uint64
	slot  *slot
	field []byte
	grant *grant // runs under it
	lost  bool   // the memory of it was given up
}

// configure makes the slots that the group configuration asks for, and returns
// those with a new policy, which are to be resumed. Slots that it lacks leave.
func (m *Member) configure() (fresh []*slot, err error) {
	settings := m.cfg.Group.Config().Settings()
	for _, r := range settings.Resources { // all or nothing
		if err := catalog.Check(r.Policy, r.PolicyParams()); err != nil {
			return nil, fmt.Errorf("resource %q: %w", r.Name, err)
		}
	}
	m.settings = settings
	m.dir.SetLimit(m.settings.MembersMax)
	m.dir.SetQuorum(m.settings.FailureQuorum)
	m.dir.ForgetRevocations(m.settings.RevocationFloor)
	configured := make(map[slotKey]bool)
	m.policyRate, m.policyBurst = policyLimits(m.settings.Slots())
	for _, r := range m.settings.Resources {
		params := m.settings.PolicyParams(r)
		for n := range uint64(r.Slots) {
			k := slotKey{r.Name, n}
			configured[k] = true
			old := m.slots[k]
			if old != nil && !old.leaving && old.resource.Policy == r.Policy && old.params == params {
				old.resource = r
				continue
			}
			former := time.Duration(0) // the longest program under the configuration before
			if old != nil {
				former = old.resource.MaxHold
			}
			p, err := m.makePolicy(k, r, params, former)
			if err != nil {
				return nil, err
			}
			if old == nil {
				old = &slot{key: k, timer: clock.Never, place: -1}
				m.slots[k] = old
			} else if old.resource.Policy != r.Policy || old.resource.Preset != r.Preset {
				m.clearFields(old)
			}
			old.resource, old.params, old.policy, old.demand, old.leaving = r, params, p, false, false
			m.timers.set(old, clock.Never)
			m.live.monitors.unwatchAll(old)
			fresh = append(fresh, old)
		}
	}
	m.leaveSlots(configured)
	m.changed = true // there may be a ring now, or none any more
	return fresh, nil
}

// makePolicy makes the policy of a slot. Programs may run from before it for as long as the
// former configuration lets them.
func (m *Member) makePolicy(k slotKey, r group.Resource, params policy.Params, former time.Duration) (policy.Policy, error) {
	seed, slot := m.nextSeed(), directory.SlotID(k.resource, k.number)
	p, err := m.cfg.policies(r.Policy, params, policy.Surroundings{
		Self: m.self, Random: rand.NewChaCha8(seed), Roster: roster{m, k}, Slot: slot,
		Electorate: electorate{m, slot}, Longest: former, Patience: m.live.own.multiplier, Forgetful: !m.cfg.Durable,
		Young: former == 0, Receipt: m.readReceipt, Serial: func() uint64 { return m.handoff.Position().Serial },
	})
	if err != nil {
		return nil, fmt.Errorf("resource %q: %w", r.Name, err)
	}
	if o := m.cfg.Observer; o != nil {
		o.PolicyMade(r.Name, k.number, r.Policy, params, seed)
	}
	return p, nil
}

func (m *Member) sortSlots() {
	m.order = slices.SortedFunc(maps.Values(m.slots), func(a, b *slot) int { return a.key.compare(b.key) })
}

// clearFields removes what a former policy has written on the tokens held: another
// one, or another preset, gives it another meaning.
func (m *Member) clearFields(s *slot) {
	for _, h := range m.holds {
		if h.slot == s {
			h.field = nil
		}
	}
}

// resumeSlot tells a new policy what the slot remembers and holds. What the former
// one let go of and nobody has accepted is the new one's. While the member waits for
// greetings the policy is told nothing: the end of that resumes all slots.
func (m *Member) resumeSlot(s *slot) {
	if m.recalling {
		return
	}
	for _, v := range s.visits {
		ago := int64(m.now.Micros()) - int64(v.At)
		at := m.now.Boot - clock.Instant(max(0, ago)*1000)
		m.events.notify(s, policy.Event{
			Kind: policy.Recalled, At: at, Operated: v.Operated,
			Token: policy.Token{ID: v.Token, Born: v.Born, Generator: v.Generator},
		})
	}
	m.tellNeighbour(s)
	m.tellDemand(s)
	holds := m.holdsOf(s)
	for _, h := range holds {
		m.handoff.Keep(h.token, h.hop)
		if h.grant != nil {
			h.grant.resumed = true
			m.events.notify(s, policy.Event{Kind: policy.Running, Token: m.describe(h)})
		}
	}
	for _, h := range holds {
		if h.grant == nil {
			m.events.notify(s, policy.Event{Kind: policy.Resumed, Token: m.describe(h)})
		}
	}
	m.events.notify(s, policy.Event{Kind: policy.Timer}) // begin to wait for a token
}

// holdsOf are the tokens of a slot that are held here, in their order.
func (m *Member) holdsOf(s *slot) (list []*hold) {
	for _, h := range m.holds {
		if h.slot == s {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, compareHolds)
	return list
}

func compareHolds(a, b *hold) int { return a.token.Compare(b.token) }

// world answers the handoff's questions from what the member knows.
type world struct{ *Member }

func (m *Member) holdsInOrder() []*hold {
	return slices.SortedFunc(maps.Values(m.holds), compareHolds)
}

// policiesGreet tells the policies that a member has connected: it lives, but may have
// started anew, and forgotten what it was told.
func (m *Member) policiesGreet(id ident.Member) {
	for _, s := range m.order {
		m.events.notify(s, policy.Event{Kind: policy.Greeted, From: id})
	}
}

// describe is what a policy is told of a token in custody.
func (m *Member) describe(h *hold) policy.Token {
	title, _ := m.handoff.Title(h.token, h.hop)
	g := title.Genesis.Body()
	return policy.Token{ID: h.token, Born: g.Time, Generator: g.Generator, Hop: h.hop, Field: h.field}
}

// notice passes on to the policy what happened to custody, and evidence to the
// driver.
func (m *Member) notice(n *handoff.Notice) {
	if n.Kind == handoff.Convicted {
		m.convicted(n.Peer, n.Objects[0], n.Objects[1])
		return
	}
	t := n.Title.Token()
	g := n.Title.Genesis.Body()
	s := m.configuredSlot(g.Resource, g.Slot)
	if s == nil {
		m.noticeUnconfigured(slotKey{g.Resource, g.Slot}, n)
		return
	}
	switch n.Kind {
	case handoff.Gained:
		if m.endsFork(s, t, n.Hop) {
			return
		}
		h := m.hold(s, n.Title, n.Hop)
		m.visit(s, n.Title, false)
		// What the token says of the future is a wrong clock's.
		s.lastOperation = max(s.lastOperation, min(n.Title.Transfer.Body().LastOperation(), m.now.Millis())*1000)
		m.events.notify(s, policy.Event{Kind: policy.Arrival, From: n.Peer, Belated: n.Belated, Token: m.describe(h)})
	case handoff.Returned:
		m.unwilling(n.Peer)
		if m.endsFork(s, t, n.Hop) {
			return
		}
		h := m.hold(s, n.Title, n.Hop)
		m.events.notify(s, policy.Event{Kind: policy.PassSettled, Outcome: policy.Returned, Token: m.describe(h)})
	case handoff.Unwanted:
		m.unwilling(n.Peer)
		if h := m.holds[t]; h != nil && !m.stopping {
			m.events.notify(s, policy.Event{Kind: policy.PassSettled, Outcome: policy.Returned, Token: m.describe(h)})
		}
	case handoff.Parted:
		delete(m.holds, t)
		if _, kept := s.policy.(policy.Admitter); !kept { // only a keeper looks after what has left
			return
		}
		m.events.notify(s, policy.Event{Kind: policy.Parted, From: n.Peer, Token: policy.Token{ID: t, Born: g.Time, Generator: g.Generator, Hop: n.Hop}})
	case handoff.Delivered, handoff.Abandoned:
		if m.holds[t] != nil { // it has come back meanwhile, and the policy knows it as new
			if n.Kind == handoff.Delivered {
				m.events.notify(s, policy.Event{Kind: policy.Parted, From: n.Peer, Body: n.Receipt, Token: policy.Token{ID: t, Born: g.Time, Generator: g.Generator, Hop: n.Hop}})
			}
			return
		}
		outcome, receiver := policy.Delivered, n.Peer
		if n.Kind == handoff.Abandoned {
			outcome, receiver = policy.Abandoned, ident.Member{}
		}
		m.events.notify(s, policy.Event{Kind: policy.PassSettled, Outcome: outcome, From: receiver, Body: n.Receipt, Token: policy.Token{ID: t, Born: g.Time, Generator: g.Generator, Hop: n.Hop}})
	}
}

// endsFork drops a custody if there are two of one token here, the one that is here
// and one that has just begun at hop, and reports whether that was the new one. Only a
// fork brings a token here twice: somebody has signed two transfers of one hop, or this
// member has been given an old journal. Policies know tokens by their ids, one custody
// each; and what two chains lead to is one token again from here on. The lower hop
// goes, which after a rollback is the one that this member has given away already,
// unless a program runs under it.
func (m *Member) endsFork(s *slot, t ident.Token, hop uint64) bool {
	h := m.holds[t]
	if h == nil {
		return false
	}
	if h.grant == nil && h.hop < hop {
		gone := m.describe(h)
		if m.drop(s.key, t, h.hop, policy.Forked) {
			delete(m.holds, t)
			m.events.notify(s, policy.Event{Kind: policy.PassSettled, Outcome: policy.Abandoned, Token: gone})
			return false
		}
	}
	m.drop(s.key, t, hop, policy.Forked)
	return true
}

func (m *Member) hold(s *slot, title token.Title, hop uint64) *hold {
	h := &hold{token: title.Token(), hop: hop, slot: s, field: title.Transfer.Body().Field}
	m.holds[h.token] = h
	return h
}

// visit remembers that a token was here.
func (m *Member) visit(s *slot, title token.Title, operated bool) {
	g := title.Genesis.Body()
	s.remember(journal.Visited{
		Resource: s.key.resource, Slot: s.key.number, Token: title.Token(), Born: g.Time,
		Generator: g.Generator, At: m.now.Micros(), Operated: operated,
	})
	s.lastSeen = m.now.Micros()
	if operated {
		if s.ownOperation != 0 {
			s.returned = time.Duration(s.lastSeen-s.ownOperation) * time.Microsecond
		}
		s.lastOperation, s.ownOperation = s.lastSeen, s.lastSeen
		s.operations++
		return
	}
	s.seen++
}

// remember keeps a visit in the place of the oldest one, but never of the last one of the
// newest token: the next genesis has to be later.
func (s *slot) remember(v journal.Visited) {
	s.newest = max(s.newest, v.Born)
	s.visits = append(s.visits, v)
	if len(s.visits) <= visitsKept {
		return
	}
	newest := func(v journal.Visited) bool { return v.Born == s.newest }
	oldest := 0
	if newest(s.visits[0]) && !slices.ContainsFunc(s.visits[1:], newest) {
		oldest = 1
	}
	s.visits = slices.Delete(s.visits, oldest, oldest+1)
}

// decide lets a policy answer one event and carries its actions out.
func (m *Member) decide(h policyEvent) {
	if h.slot.leaving {
		return
	}
	m.actions = h.slot.policy.Step(m.now.Boot, h.event, m.actions[:0])
	if o := m.cfg.Observer; o != nil {
		o.PolicyStepped(h.slot.key.resource, h.slot.key.number, m.now.Boot, h.event, m.actions)
	}
	for i := range m.actions {
		m.act(h.slot, &m.actions[i])
	}
	m.noteIsolated(h.slot)
	if held := m.holds[h.event.Token.ID]; held != nil && m.stopping && held.grant == nil {
		m.handoff.Release(held.token, held.hop, ident.Member{}, held.field)
	}
}

// noteIsolated reports that votes are missing, and that they come again.
func (m *Member) noteIsolated(s *slot) {
	v, ok := s.policy.(policy.Isolated)
	if !ok {
		return
	}
	_, missing, is := v.Isolated()
	if is == s.isolated {
		return
	}
	s.isolated = is
	if !is {
		m.emit(effect.Report{Kind: "votes are back", About: m.self, Detail: s.key.String() + ": a program begins"})
		return
	}
	why := fmt.Sprintf("no vote has come from %d members, among them %v", len(missing), missing[:min(len(missing), votersNamed)])
	if m.dir.Sampled() {
		why = "this member keeps a sample of the group only, and does not know who votes: leave directory.sample out"
	}
	m.emit(effect.Report{
		Kind: "votes missing", About: m.self,
		Detail: fmt.Sprintf("%v: no program begins (on_isolated = %q); %s", s.key, s.params.OnIsolated.String(), why),
	})
}

func (m *Member) act(s *slot, a *policy.Action) {
	switch a.Kind {
	case policy.Wait:
		m.timers.set(s, a.At)
	case policy.Generate:
		m.generate(s, false)
	case policy.Tell:
		m.tellPeer(s, a)
	case policy.Watch:
		m.live.monitors.watch(s, a.To)
	case policy.Unwatch:
		m.live.monitors.unwatch(s, a.To)
	case policy.Shun:
		m.shun(s, a)
	case policy.Complain:
		m.complain(s, a)
	default:
		if h := m.holds[a.Token]; h != nil && h.slot == s {
			m.actOn(h, a)
		}
	}
}

// actOn carries out an action on a token in custody.
func (m *Member) actOn(h *hold, a *policy.Action) {
	switch a.Kind {
	case policy.Run:
		m.run(h, a.At)
	case policy.Prepare:
		if !m.cfg.NoPreOffer {
			m.handoff.Prepare(h.token, h.hop, a.To)
		}
	case policy.Pass:
		if h.grant == nil {
			m.handoff.Release(h.token, h.hop, a.To, a.Field)
		}
	case policy.Drop:
		if m.handoff.Drop(h.token, h.hop, uint64(a.Reason)) {
			m.dropped++
			delete(m.holds, h.token)
		}
	}
}

// generate makes a token and takes custody of it. A member that holds one of
// the slot makes no other: its policy may have let go of it, but nobody has
// accepted it yet. One without a place on the ring (rule P-17) sees none because
// none comes to it, not because it is lost.
func (m *Member) generate(s *slot, founding bool) {
	if m.stopping || m.recalling || m.handoff.Held() >= handoff.MaxHeld || len(m.holdsOf(s)) > 0 {
		return
	}
	if m.ring.outside && !founding && s.resource.Policy == catalog.Ring {
		return
	}
	body := token.GenesisBody{
		Resource: s.key.resource, Slot: s.key.number, Generator: m.self,
		Incarnation: m.incarnation, Sequence: m.handoff.DrawSequence(), Time: m.birthTime(s),
	}
	_, _ = m.sources.member.Read(body.Nonce[:]) // never fails
	body.Extensions = m.handoff.Position().Extensions()
	g, err := body.Sign(m.cfg.Group.ID(), m.cfg.Key)
	if err != nil {
		m.reject("genesis not signed")
		return
	}
	m.handoff.Own(g, founding)
	m.generated++
	s.founded = s.founded || founding
	title := token.Title{Genesis: g}
	h := m.hold(s, title, 0)
	m.visit(s, title, false)
	m.events.notify(s, policy.Event{Kind: policy.Generated, Token: m.describe(h)})
}
