package circulation

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// MemberID returns the id of the member with this index.
func MemberID(index int) (id ident.Member) {
	binary.BigEndian.PutUint64(id[:], uint64(index)+1)
	return id
}

// memberIndex is the index of a member, or -1 of an id that is nobody's.
func memberIndex(id ident.Member) int {
	n := binary.BigEndian.Uint64(id[:])
	if n == 0 || n > policy.MaxMembers*64 || MemberID(int(n-1)) != id {
		return -1
	}
	return int(n - 1)
}

// membership lets members join, leave, crash and return, and tells the others
// who follows them.
type membership struct {
	*group
	tokens      *tokens
	handoffs    *handoffs
	operations  *operations
	watches     *watches
	roster      *roster
	agents      *agents
	make        func(member int) (policy.Policy, error)
	stream      *rand.Rand // streamClock
	renumbering bool       // tellNeighbours is to come
}

// admit adds a member that has not started.
func (m *membership) admit() error {
	made, err := m.make(len(m.sites))
	if err != nil {
		return err
	}
	s := site{policy: made, due: clock.Never, timer: clock.Never, entry: noEntry, next: -1, place: int32(len(m.up))}
	if limit := m.cfg.ClockOffset.Milliseconds(); limit > 0 {
		s.offset = m.stream.Int64N(2*limit+1) - limit
	}
	if !m.cfg.Forgetful && (m.cfg.Recall || m.cfg.CrashEvery > 0) {
		s.visits = new([]visit)
	}
	m.up = append(m.up, int32(len(m.sites)))
	m.sites = append(m.sites, s)
	return nil
}

// start tells a policy what it needs to begin its work, as protocol/member.
func (m *membership) start(member int32) {
	s := &m.sites[member]
	if s.visits != nil {
		for _, v := range *s.visits {
			m.agents.step(member, &policy.Event{Kind: policy.Recalled, Token: v.token, At: v.at, Operated: v.operated})
		}
	}
	m.tellNeighbour(member)
	m.operations.begin(member)
	if s.holds > 0 {
		for i := range m.tokens.list {
			if t := &m.tokens.list[i]; t.state == waiting && t.holder == member {
				t.state = held
				m.agents.step(member, &policy.Event{Kind: policy.Resumed, Token: t.Token})
			}
		}
	}
	m.agents.step(member, &policy.Event{Kind: policy.Timer})
}

// tellNeighbour tells a policy who was last found to follow its member.
func (m *membership) tellNeighbour(member int32) {
	s := &m.sites[member]
	e := &policy.Event{Kind: policy.Neighbour, Members: int(s.members)}
	if s.next != member {
		e.From = MemberID(int(s.next))
	}
	m.agents.step(member, e)
}

// findNeighbours finds who follows whom, and who has to be told news.
func (m *membership) findNeighbours() (changed []int32) {
	if len(m.up) == 0 {
		return nil
	}
	next, members := slices.Min(m.up), int32(len(m.up))
	for member := int32(len(m.sites)) - 1; member >= 0; member-- {
		s := &m.sites[member]
		if s.place < 0 {
			continue
		}
		if s.next != next || s.members != members {
			s.next, s.members = next, members
			changed = append(changed, member)
		}
		next = member
	}
	slices.Reverse(changed)
	return changed
}

// renumber lets everybody hear of a change soon; several at one instant are
// told as one.
func (m *membership) renumber() {
	if !m.renumbering {
		m.renumbering = true
		m.schedule(0, neighbours, 0, 0, 0)
	}
}

func (m *membership) tellNeighbours() {
	m.renumbering = false
	changed := m.findNeighbours()
	m.stats.Events += uint64(len(changed)) // each costs as much as an event of its own
	for _, member := range changed {
		m.tellNeighbour(member)
	}
}

// join is Simulation.Join.
func (m *membership) join(contact int) int {
	if err := m.admit(); err != nil {
		panic("circulation: the policy that New has made before: " + err.Error())
	}
	member := len(m.sites) - 1
	if m.cfg.Directory != nil {
		m.cfg.Directory.Joined(member, contact)
	}
	m.arise(int32(member))
	return member
}

// arise starts a member that is up now, and lets the others hear of it.
func (m *membership) arise(member int32) {
	m.roster.rose(member)
	for _, o := range m.observers {
		o.MemberUp(m.now, int(member))
	}
	s := &m.sites[member]
	s.members = int32(len(m.up))
	for s.next = member + 1; ; s.next++ {
		if int(s.next) == len(m.sites) {
			s.next = 0
		}
		if m.sites[s.next].place >= 0 {
			break
		}
	}
	m.start(member)
	m.renumber()
}

// leave is Simulation.Leave.
func (m *membership) leave(member int32) bool {
	if !m.fall(member) {
		return false
	}
	m.roster.left()
	s := &m.sites[member]
	s.gone, s.left, s.visits = true, true, nil
	if m.cfg.Directory != nil {
		m.cfg.Directory.Left(int(member))
	}
	for i := range m.tokens.list {
		if t := &m.tokens.list[i]; t.holder == member && t.state == held {
			m.handoffs.pass(t, int32(i), ident.Member{}, t.Token.Field)
		}
	}
	return true
}

// crash is Simulation.Crash.
func (m *membership) crash(member int32, downFor time.Duration) bool {
	if !m.fall(member) {
		return false
	}
	m.stats.Crashed++
	m.sites[member].gone = downFor == forever
	for i := range m.tokens.list {
		t := &m.tokens.list[i]
		if t.holder != member || t.state != held {
			continue
		}
		if m.cfg.Forgetful || downFor == forever {
			m.tokens.lose(int32(i), LostWithHolder)
		} else {
			t.state = waiting
		}
	}
	if downFor < forever {
		m.schedule(downFor, comeBack, member, 0, m.sites[member].epoch)
	}
	return true
}

// fall takes a member out of those that are up, and ends its operations.
func (m *membership) fall(member int32) bool {
	s := &m.sites[member]
	if s.place < 0 {
		return false
	}
	for i := range m.tokens.list {
		if t := &m.tokens.list[i]; t.holder == member {
			m.operations.interrupt(t)
		}
	}
	last := m.up[len(m.up)-1]
	m.up[s.place] = last
	m.sites[last].place = s.place
	m.up = m.up[:len(m.up)-1]
	s.place, s.due, s.timer, s.next = -1, clock.Never, clock.Never, -1
	s.wants, s.heard = false, false
	s.policy = nil
	s.epoch++
	m.roster.fell(member)
	m.watches.fallen(member)
	for _, o := range m.observers {
		o.MemberDown(m.now, int(member))
	}
	m.renumber()
	return true
}

// comeBack is the return of a member after a crash.
func (m *membership) comeBack(member int32) {
	s := &m.sites[member]
	if s.gone {
		return
	}
	made, err := m.make(int(member))
	if err != nil {
		panic("circulation: the policy that New has made before: " + err.Error())
	}
	s.policy, s.place = made, int32(len(m.up))
	m.up = append(m.up, member)
	m.arise(member)
}
