package main

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// The size of the model's arrays in replay.pml. A story ends where it outgrows them.
const (
	mostHops  = 60
	mostLines = 20000
)

// line is one step of the model, as replay.pml reads it.
type line struct {
	at        time.Duration
	machine   string
	node, hop int
	event     string
	to        int
	rid       string
}

func (l line) String() string {
	return fmt.Sprintf(`{"at":%.6f,"machine":%q,"node":%d,"hop":%d,"event":%q,"to":%d,"rid":%q}`,
		l.at.Seconds(), l.machine, l.node, l.hop, l.event, l.to, l.rid)
}

// record is a member's record of one hop, in the words of the model.
type record uint8

const (
	none record = iota
	hold
	sent
	over // CLOSED or DROPPED
	voided
)

func (r record) forgettable() bool { return r == over || r == voided }

// slot is what a member knows of one hop.
type slot struct {
	memory, disk record
	from         ident.Member // who the transfer came from; zero: custody was reached without one
	accept       uint64       // the number that it named
	reservation  uint64       // the number of the present reservation; 0: none
	issued       []rid        // of this memory, oldest first
}

// rid is a number that was given to an offerer.
type rid struct {
	accept  uint64
	offerer ident.Member
	dead    bool // below the floor
}

// place is one hop at one member.
type place struct {
	node int
	hop  int
}

// story is what became of one token.
type story struct {
	nodes   map[ident.Member]int
	durable map[int]bool
	slots   map[place]*slot
	offered map[int]bool // hops whose OFFER has left
	passed  map[int]bool // hops whose TRANSFER has left
	replied map[int]bool // hops whose first answer has left
	lines   []line
	ended   bool // the rest does not fit
}

func newStory() *story {
	return &story{
		nodes: make(map[ident.Member]int), durable: make(map[int]bool), slots: make(map[place]*slot),
		offered: make(map[int]bool), passed: make(map[int]bool), replied: make(map[int]bool),
	}
}

// node numbers a member; the first one is the generator.
func (s *story) node(m ident.Member, durable bool) int {
	n, known := s.nodes[m]
	if !known {
		n = len(s.nodes)
		s.nodes[m] = n
		s.durable[n] = durable
	}
	return n
}

// volatile has bit n set when node n is volatile.
func (s *story) volatile() (mask int) {
	for n, durable := range s.durable {
		if !durable {
			mask |= 1 << n
		}
	}
	return mask
}

func (s *story) slot(p place) *slot {
	if s.slots[p] == nil {
		s.slots[p] = &slot{}
	}
	return s.slots[p]
}

// step adds a line, unless the story has ended.
func (s *story) step(l line) {
	s.ended = s.ended || l.hop >= mostHops-1 || len(s.lines) == mostLines
	if s.ended {
		return
	}
	if l.rid == "" {
		l.rid = "NONE"
	}
	s.lines = append(s.lines, l)
}
