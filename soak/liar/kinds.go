package main

import (
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// kind is what makes a member bad.
type kind interface {
	// wants reports whether the member always wants the resource.
	wants() bool
	// act is called rate times a second, while an honest member is connected.
	act()
	// heard is told of each message, and reports whether the honest machine hears it, too.
	heard(from ident.Member, m wire.Message) bool
	// says is told of each message that the honest machine wants to send, and reports
	// whether it is sent.
	says(to ident.Member, m wire.Message) bool
}

// kinds of bad members with a certificate.
var kinds = map[string]func(*agent) (kind, error){
	"minter":    newMinter,
	"forger":    newForger,
	"bypasser":  newBypasser,
	"hoarder":   newHoarder,
	"dodger":    newDodger,
	"evader":    newEvader,
	"dropper":   newDropper,
	"idler":     newIdler,
	"misleader": newMisleader,
	"pretender": newPretender,
	"friends":   newFriends,
	"favourer":  newFavourer,
}

// silent is a kind that does nothing.
type silent struct{ *agent }

func (silent) wants() bool                           { return false }
func (silent) act()                                  {}
func (silent) heard(ident.Member, wire.Message) bool { return true }
func (silent) says(ident.Member, wire.Message) bool  { return true }
