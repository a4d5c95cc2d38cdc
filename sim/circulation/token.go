package circulation

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

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

// rests reports whether a token is with its holder, and not in transit.
func (t *token) rests() bool { return t.state == held || t.state == running || t.state == waiting }

// tokens is the table of the tokens.
type tokens struct {
	*group
	table[token]
	alive int // how many exist
}

// find is the token with this id that exists, or nil. Where it is in the table
// is part of its id.
func (all *tokens) find(id *ident.Token) (*token, int32) {
	i := binary.LittleEndian.Uint32(id[8:])
	if int(i) >= len(all.list) || all.list[i].Token.ID != *id || all.list[i].state == absent {
		return nil, 0
	}
	return &all.list[i], int32(i)
}

// found makes the tokens of the start, fewer where fewer members are up.
func (all *tokens) found() {
	left := all.cfg.Found
	for _, m := range all.rng.Perm(all.cfg.Members) {
		if left > 0 && all.sites[m].place >= 0 {
			all.generate(int32(m))
			left--
		}
	}
}

// generate is what protocol/member does: a member that holds a token of the
// slot makes no other. It reports whether it made one.
func (all *tokens) generate(m int32) bool {
	s := &all.sites[m]
	if s.place < 0 || s.holds > 0 {
		return false
	}
	i := all.place()
	all.stats.Generated++
	t := &all.list[i]
	field := t.Token.Field[:0]
	*t = token{holder: m, state: held, reserved: clock.Never}
	t.Token = policy.Token{
		Born:      uint64(max(0, all.cfg.Begin.UnixMilli()+time.Duration(all.now).Milliseconds()+s.offset)),
		Generator: MemberID(int(m)), Field: field,
	}
	binary.BigEndian.PutUint64(t.Token.ID[:], all.pcg.Uint64()) // as of a hash: it decides between tokens of one age
	binary.LittleEndian.PutUint32(t.Token.ID[8:], uint32(i))
	binary.BigEndian.PutUint64(t.Token.ID[12:], all.stats.Generated)
	s.holds++
	all.alive++
	for _, o := range all.observers {
		o.TokenBorn(all.now, int(m), t.Token.ID)
	}
	all.remember(s, t, false)
	all.schedule(0, generated, m, i, s.epoch)
	return true
}

// free gives a token's room to others.
func (all *tokens) free(i int32) {
	all.list[i].state = absent
	all.release(i)
}

// end lets a token be no more.
func (all *tokens) end(t *token, how End) {
	if t.rests() {
		all.sites[t.holder].holds--
	}
	t.state = lost
	all.alive--
	for _, o := range all.observers {
		o.TokenGone(all.now, t.Token.ID, how)
	}
}

// lose is the end of a token that nobody wanted.
func (all *tokens) lose(i int32, how End) {
	all.end(&all.list[i], how)
	all.stats.Lost++
	all.free(i)
}

// holders are the members that hold a token, ascending.
func (all *tokens) holders() []int32 {
	var holders []int32
	for i := range all.list {
		if t := &all.list[i]; t.rests() {
			holders = append(holders, t.holder)
		}
	}
	slices.Sort(holders)
	return slices.Compact(holders)
}
