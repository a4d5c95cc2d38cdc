package policy

import (
	"fmt"
	"slices"
	"strings"
)

// OnIsolated says what a member does that is cut off from others.
type OnIsolated uint8

// What a member does that is cut off. The numbers are those of the group configuration.
const (
	// Continue lets it run programs under a token that it has.
	Continue OnIsolated = iota
	// Stop lets it begin one only with the vote of the slot's first member.
	Stop
	// Majority lets it begin one only with the votes of more than half of all members.
	Majority
)

var onIsolated = []string{"continue", "stop", "majority"}

func (o OnIsolated) String() string {
	if int(o) < len(onIsolated) {
		return onIsolated[o]
	}
	return fmt.Sprintf("OnIsolated(%d)", uint8(o))
}

// Validate returns ErrOutOfRange for what is none of the three.
func (o OnIsolated) Validate() error {
	if int(o) < len(onIsolated) {
		return nil
	}
	return fmt.Errorf("%w: on_isolated is %d, permitted are %s", ErrOutOfRange, uint8(o), onIsolatedNames())
}

// UnmarshalText reads the name of one. Error: ErrOutOfRange.
func (o *OnIsolated) UnmarshalText(name []byte) error {
	i := slices.Index(onIsolated, string(name))
	if i < 0 {
		return fmt.Errorf("%w: on_isolated is %q, permitted are %s", ErrOutOfRange, name, onIsolatedNames())
	}
	*o = OnIsolated(i)
	return nil
}

func onIsolatedNames() string { return strings.Join(onIsolated, ", ") }
