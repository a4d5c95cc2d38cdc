package papers

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// historySize bounds how many tokens an agent remembers.
//
// Forgetting a token can only keep it alive for one more round: it counts as
// new when it comes back, and is removed the next time. It can never remove
// one. And a token is forgotten only when historySize others were here since
// it was, while the paper never sees more than two spurious tokens at a time.
// TestBound_FewMembers_ChangesNothing measures it.
const historySize = 8

// place is where a token is, as far as the agent knows.
type place uint8

const (
	elsewhere place = iota
	resting         // here, until record.until
	running         // here, and the operation runs under it
)

// record is what an agent knows of one token.
type record struct {
	id   ident.Token
	born uint64 // genesis time, ms

	until clock.Instant // of a resting token
	place place

	// spurious: an older token was here after this one was. It is what line
	// 12 looks for in the history, kept up to date instead of searched.
	spurious bool
}

// precedes orders tokens by age (line 12), and by id where that is equal.
func (r *record) precedes(o *record) bool {
	if r.born != o.born {
		return r.born < o.born
	}
	return r.id.Compare(o.id) < 0
}

// history is the history of line 35 without repetitions: one record for each
// of the tokens seen last, the latest first. Records of tokens that are here
// are never forgotten, so the agent keeps its tokens in it too.
type history struct {
	n       int
	records [historySize]record
}

// index is where a token's record is, or -1.
func (h *history) index(id *ident.Token) int {
	for i := range h.n {
		if h.records[i].id == *id {
			return i
		}
	}
	return -1
}

// find returns a token's record, or nil.
func (h *history) find(id *ident.Token) *record {
	if i := h.index(id); i >= 0 {
		return &h.records[i]
	}
	return nil
}

// push notes that a token is here now (line 35), and what line 12 will find
// because of it: all younger tokens seen before are spurious. It returns the
// token's record, or nil when every record is of another token that is here.
// It moves records, so those found before are not to be used any more.
func (h *history) push(t *policy.Token) *record {
	if h.n > 0 && h.records[0].id == t.ID {
		return &h.records[0] // none was here since it was, so none is to be marked
	}
	r := record{id: t.ID, born: t.Born}
	for i := range h.n {
		if r.precedes(&h.records[i]) {
			h.records[i].spurious = true
		}
	}
	i := h.index(&t.ID)
	if i >= 0 {
		r = h.records[i]
	} else if i = h.room(); i < 0 {
		return nil
	}
	copy(h.records[1:i+1], h.records[:i])
	h.records[0] = r
	return &h.records[0]
}

// room is where a new record fits: behind the others or, when there are
// historySize, in place of the token not seen for longest of those that are
// not here. It is -1 when all are here.
func (h *history) room() int {
	if h.n < historySize {
		h.n++
		return h.n - 1
	}
	for i := h.n - 1; i >= 0; i-- {
		if h.records[i].place == elsewhere {
			return i
		}
	}
	return -1
}
