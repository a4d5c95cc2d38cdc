package multitoken

import (
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/host"
)

// phase is what an agent does with the token it uses.
type phase uint8

const (
	idle    phase = iota // it uses none
	resting              // nobody here wants to run: it stays until uses.until
	running              // the operation runs under it
	keeping              // it is not used, or not any more, and stays until uses.until
)

// uses are what all presets share: the token in use, and those that wait for the end of that.
type uses struct {
	host.Host
	used  ident.Token // the token in use, unless idle
	phase phase
	until clock.Instant

	// waiting are the tokens that wait, in the order of their use. Its capacity does not change.
	waiting []ident.Token
}

func (u *uses) holds(t ident.Token) bool {
	return u.phase != idle && u.used == t || slices.Contains(u.waiting, t)
}

// run runs the operation under the token in use, if it rests and somebody
// wants it.
func (u *uses) run() {
	if u.phase == resting && u.Demand {
		u.phase = running
		u.Run(u.used)
	}
}

// queue lets a token wait, or drops it where too many do.
func (u *uses) queue(t ident.Token) {
	if len(u.waiting) == cap(u.waiting) {
		u.Drop(t, policy.Overflow)
		return
	}
	u.waiting = append(u.waiting, t)
}

// unqueue is the token that has waited longest.
func (u *uses) unqueue() ident.Token {
	t := u.waiting[0]
	u.waiting = append(u.waiting[:0], u.waiting[1:]...) // moves a few: the capacity stays
	return t
}

// lose forgets a token that the driver had to remove. It reports whether that one was in use: a
// use that was to begin has not.
func (u *uses) lose(t ident.Token) (used bool) {
	if i := slices.Index(u.waiting, t); i >= 0 {
		u.waiting = slices.Delete(u.waiting, i, i+1)
	}
	used = (u.phase == resting || u.phase == keeping) && u.used == t
	if used {
		u.phase = idle
	}
	return used
}
