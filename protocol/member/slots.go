package member

import (
	"maps"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/window"
)

// slotTable is the slots of this member, with those that are leaving.
type slotTable struct {
	*core
	byKey  map[slotKey]*slot
	order  []*slot // by resource and number
	timers timers  // of their policies
}

// configured is a slot of the configuration in force, or nil.
func (t *slotTable) configured(resource string, number uint64) *slot {
	if s := t.byKey[slotKey{resource, number}]; s != nil && !s.leaving {
		return s
	}
	return nil
}

// inForce are the slots of the configuration in force.
func (t *slotTable) inForce() []*slot {
	return slices.DeleteFunc(slices.Clone(t.order), func(s *slot) bool { return s.leaving })
}

func (t *slotTable) sort() {
	t.order = slices.SortedFunc(maps.Values(t.byKey), func(a, b *slot) int { return a.key.compare(b.key) })
}

// addLeaving is the slot of a token under which a program may still run since before
// a restart, though the configuration lacks the slot.
func (t *slotTable) addLeaving(k slotKey) *slot {
	s := &slot{key: k, resource: group.Resource{Name: k.resource}, leaving: true, timer: clock.Never, place: -1, hours: new(window.Hours)}
	t.byKey[k] = s
	t.sort()
	return s
}

// visit remembers that a token was here.
func (t *slotTable) visit(s *slot, title token.Title, operated bool) {
	g := title.Genesis.Body()
	s.remember(journal.Visited{
		Resource: s.key.resource, Slot: s.key.number, Token: title.Token(), Born: g.Time,
		Generator: g.Generator, At: t.now.Micros(), Operated: operated,
	})
	s.lastSeen = t.now.Micros()
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

// recallFounding notes that the first token of a slot was made, or need not be.
func (t *slotTable) recallFounding(r journal.Record) {
	var k slotKey
	switch r := r.(type) {
	case *journal.Founded:
		k = slotKey{r.Resource, r.Slot}
	case *journal.Generated:
		b, _, err := token.PeekGenesis(t.cfg.Group.ID(), r.Genesis)
		if err != nil || !r.Founding {
			return
		}
		k = slotKey{b.Resource, b.Slot}
	}
	if s := t.byKey[k]; s != nil {
		s.founded = true
	}
}

// recallVisits rebuilds what the policies are told of the time before the
// restart, from the newest records.
func (t *slotTable) recallVisits(past []journal.Stamped) {
	known := make(map[ident.Token]journal.Visited)
	grants := make(map[ident.Grant]ident.Token)
	for _, p := range past {
		switch r := p.Record.(type) {
		case *journal.Visited:
			known[r.Token] = *r
			t.recallVisit(*r)
		case *journal.Generated:
			t.recallCustody(known, r.Genesis, p.At)
		case *journal.Held:
			t.recallCustody(known, r.Genesis, p.At)
		case *journal.Started:
			grants[r.Grant] = r.Token
		case *journal.Ended:
			if v, ok := known[grants[r.Grant]]; ok && r.Operated {
				v.At, v.Operated = p.At, true
				t.recallVisit(v)
			}
		}
	}
}

func (t *slotTable) recallCustody(known map[ident.Token]journal.Visited, genesis []byte, at uint64) {
	b, h, err := token.PeekGenesis(t.cfg.Group.ID(), genesis)
	if err != nil {
		return
	}
	v := journal.Visited{
		Resource: b.Resource, Slot: b.Slot, Token: ident.Token(h), Born: b.Time, Generator: b.Generator, At: at,
	}
	known[v.Token] = v
	t.recallVisit(v)
}

func (t *slotTable) recallVisit(v journal.Visited) {
	s := t.byKey[slotKey{v.Resource, v.Slot}]
	if s == nil {
		return
	}
	s.remember(v)
	s.lastSeen = max(s.lastSeen, v.At)
	if v.Operated {
		s.lastOperation = max(s.lastOperation, v.At)
		s.ownOperation = max(s.ownOperation, v.At)
	}
}
