package main

import (
	"bytes"
	"fmt"

	"github.com/wandertoken/wander/spec/vector"
)

const connectionsFile = "connections.json"

// word is a preamble that has been read: of which process, and which of its words.
type word struct {
	process byte
	ordinal uint64
}

func (w word) body() []byte {
	return encode(array(uintOf(0), array(bstr(repeat(w.process, 16)), uintOf(w.ordinal), boolean(false))))
}

// rivalry is one row of T-12: two connections with a peer, and what becomes of them.
type rivalry struct {
	slug, about      string
	oldHere, newHere bool  // dialled by this member
	old              *word // nil: not read
	newStays         bool
	held             bool // the old one stays, too, for the smaller id
}

// rivalries are all rows.
func rivalries() []rivalry {
	earlier, later, restarted := &word{5, 6}, &word{5, 8}, &word{6, 8}
	return []rivalry{
		{"own-silent", "this member's dial is not answered yet, and the peer's own dial comes", true, false, nil, true, true},
		{"own-earlier", "the peer answered this member's dial before it dialled", true, false, earlier, true, false},
		{"own-later", "the peer answered this member's dial after it had dialled", true, false, later, false, false},
		{"own-restarted", "the peer answered this member's dial, and has restarted", true, false, restarted, true, false},
		{"theirs-earlier", "the peer dialled both, the new one last", false, false, earlier, true, false},
		{"theirs-later", "the peer dialled both, the old one last", false, false, later, false, false},
		{"theirs-restarted", "the peer dialled both, and has restarted between", false, false, restarted, true, false},
		{"held-earlier", "the peer answers the connection that is held, after it dialled the old one", false, true, earlier, true, false},
		{"held-later", "the peer had answered the connection that is held before it dialled the old one", false, true, later, false, false},
		{"held-restarted", "another process of the peer answers the connection that is held", false, true, restarted, true, false},
	}
}

// connectionVectors say which of two connections with one peer stays open.
func (s *suite) connectionVectors() {
	s.open(connectionsFile, "Which of two connections with one peer stays open: protocol.md, T-12. The input is the body of the peer's preamble on the new one.")
	smaller, greater := ada, ben
	if bytes.Compare(ada.id, ben.id) > 0 {
		smaller, greater = ben, ada
	}
	for _, r := range rivalries() {
		s.rivals(r, "smaller", smaller, greater, !r.newStays || r.held)
		s.rivals(r, "greater", greater, smaller, !r.newStays)
	}
}

// rivals adds a vector for each of the two connections, as the member with the smaller
// or the greater id has it.
func (s *suite) rivals(r rivalry, side string, self, peer *party, oldStays bool) {
	add := func(object string, stays bool) {
		f := ok(r.slug+"-"+side, fmt.Sprintf("%s; this member has the %s id", r.about, side), "T-12")
		if !stays {
			f.outcome, f.class = "transport.ErrReplaced", vector.ClassInvalid
		}
		v := s.vector(object, "preamble", f, word{5, 7}.body())
		v.With = map[string]vector.Bytes{
			"self": self.id, "peer": peer.id, "old": nil,
			"old_dialler": dialler(r.oldHere, self, peer), "new_dialler": dialler(r.newHere, self, peer),
		}
		if r.old != nil {
			v.With["old"] = r.old.body()
		}
		s.add(connectionsFile, v)
	}
	add("connection-new", r.newStays)
	add("connection-old", oldStays)
}

func dialler(here bool, self, peer *party) []byte {
	if here {
		return self.id
	}
	return peer.id
}
