package circulation

import (
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
)

// Observer is told of events as they happen. It must not change the Simulation
// from within, except by LosePass and At. Embed Ignore to handle some events
// only.
type Observer interface {
	// Demanded: a member wants to run the operation from now on. Those that
	// always want do so from their start and from the end of each operation.
	Demanded(now clock.Instant, member int)
	// OperationBegan and OperationEnded: the latter also when a crash ends it.
	OperationBegan(now clock.Instant, member int)
	OperationEnded(now clock.Instant, member int)
	// Visit: a token arrives from another member. A token that the member
	// generates, or that a pass brings back, is no visit.
	Visit(now clock.Instant, member int, token ident.Token)
	// TokenBorn: a token is generated, at the start or later.
	TokenBorn(now clock.Instant, member int, token ident.Token)
	// TokenGone: a token has ceased to exist.
	TokenGone(now clock.Instant, token ident.Token, how End)
	// MemberUp: a member joined or returned. The members of the start are not
	// reported.
	MemberUp(now clock.Instant, member int)
	// MemberDown: a member crashed or left.
	MemberDown(now clock.Instant, member int)
	// WindowsChanged: Config.Windows open, or close. Without any there is none.
	WindowsChanged(now clock.Instant, open bool)
	// Advanced: Run returns; nothing more happens until now.
	Advanced(now clock.Instant)
}

// End is how a token came to its end.
type End uint8

// The ends of a token.
const (
	// Dropped by a policy.
	Dropped End = iota + 1
	// LostInTransit between two members.
	LostInTransit
	// LostWithHolder, which crashed and does not keep it.
	LostWithHolder
)

// Ignore is an Observer that does nothing.
type Ignore struct{}

var _ Observer = Ignore{}

// Demanded implements Observer.
func (Ignore) Demanded(clock.Instant, int) {}

// OperationBegan implements Observer.
func (Ignore) OperationBegan(clock.Instant, int) {}

// OperationEnded implements Observer.
func (Ignore) OperationEnded(clock.Instant, int) {}

// Visit implements Observer.
func (Ignore) Visit(clock.Instant, int, ident.Token) {}

// TokenBorn implements Observer.
func (Ignore) TokenBorn(clock.Instant, int, ident.Token) {}

// TokenGone implements Observer.
func (Ignore) TokenGone(clock.Instant, ident.Token, End) {}

// MemberUp implements Observer.
func (Ignore) MemberUp(clock.Instant, int) {}

// MemberDown implements Observer.
func (Ignore) MemberDown(clock.Instant, int) {}

// WindowsChanged implements Observer.
func (Ignore) WindowsChanged(clock.Instant, bool) {}

// Advanced implements Observer.
func (Ignore) Advanced(clock.Instant) {}
