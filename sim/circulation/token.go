package circulation

import (
	"encoding/binary"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// foundation is the wall clock at instant 0, ms since 1970: the year 2020. A
// clock that is wrong by decades still is after 1970.
const foundation = 1_577_836_800_000

// custody is where a token is.
type custody uint8

const (
	absent  custody = iota // no token: its place is free
	held                   // rests with the holder
	running                // there, and the operation runs
	passing                // on its way from holder
	waiting                // with a holder that is down
	lost                   // gone; the sender does not know it yet
)

// token is one token.
type token struct {
	// Event is what policies are told of the token, ready to be told: to put
	// it together each time would take as long as the policy. The Field is
	// reused.
	policy.Event
	holder int32  // or who passed it on last
	to     int32  // where it is passed to, if it is to go there and nowhere else; or -1
	epoch  uint32 // of the holder when it passed it on
	state  custody
	tries  uint8 // receivers that were down

	// reserved is when the receiver reservedFor has accepted the token, which its
	// holder prepares to pass on; Never while nobody was asked. -1 is anybody.
	reserved    clock.Instant
	reservedFor int32
}

// find is the token with this id that exists, or nil. Where it is in the table
// is part of its id.
func (w *Simulation) find(id *ident.Token) (*token, int32) {
	i := binary.LittleEndian.Uint32(id[8:])
	if int(i) >= len(w.tokens) || w.tokens[i].Token.ID != *id || w.tokens[i].state == absent {
		return nil, 0
	}
	return &w.tokens[i], int32(i)
}

// Generate makes a token at a member, as if its policy had asked for it. It
// reports whether that was done: not at a member that is down, or holds one.
func (w *Simulation) Generate(member int) bool { return w.generate(int32(member)) }

// generate is what protocol/member does: a member that holds a token of the
// slot makes no other.
func (w *Simulation) generate(m int32) bool {
	s := &w.sites[m]
	if s.place < 0 || s.holds > 0 {
		return false
	}
	i := w.place()
	w.stats.Generated++
	t := &w.tokens[i]
	field := t.Token.Field[:0]
	*t = token{holder: m, state: held, reserved: clock.Never}
	t.Token = policy.Token{
		Born:      uint64(max(0, foundation+time.Duration(w.now).Milliseconds()+s.offset)),
		Generator: MemberID(int(m)), Field: field,
	}
	binary.BigEndian.PutUint64(t.Token.ID[:], w.pcg.Uint64()) // as of a hash: it decides between tokens of one age
	binary.LittleEndian.PutUint32(t.Token.ID[8:], uint32(i))
	binary.BigEndian.PutUint64(t.Token.ID[12:], w.stats.Generated)
	s.holds++
	w.tokensUp++
	for _, o := range w.observers {
		o.TokenBorn(w.now, int(m), t.Token.ID)
	}
	w.remember(s, t, false)
	w.schedule(0, generated, m, i, s.epoch)
	return true
}

// place finds room for a token.
func (w *Simulation) place() int32 {
	if n := len(w.freeTokens); n > 0 {
		i := w.freeTokens[n-1]
		w.freeTokens = w.freeTokens[:n-1]
		return i
	}
	w.tokens = append(w.tokens, token{})
	return int32(len(w.tokens) - 1)
}

// free gives a token's room to others.
func (w *Simulation) free(i int32) {
	w.tokens[i].state = absent
	w.freeTokens = append(w.freeTokens, i)
}

// end lets a token be no more.
func (w *Simulation) end(t *token, how End) {
	if t.state == held || t.state == running || t.state == waiting {
		w.sites[t.holder].holds--
	}
	t.state = lost
	w.tokensUp--
	for _, o := range w.observers {
		o.TokenGone(w.now, t.Token.ID, how)
	}
}

// lose is the end of a token that nobody wanted.
func (w *Simulation) lose(i int32, how End) {
	w.end(&w.tokens[i], how)
	w.stats.Lost++
	w.free(i)
}

// interrupt ends an operation that runs under t without telling the policy.
func (w *Simulation) interrupt(t *token) {
	if t.state != running {
		return
	}
	t.state = held
	for _, o := range w.observers {
		o.OperationEnded(w.now, int(t.holder))
	}
}
