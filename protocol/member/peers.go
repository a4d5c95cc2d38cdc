package member

import (
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// peer is what is kept about a connected member.
type peer struct {
	hello         *wire.Hello
	configuration uint64 // the highest version that it has shown or was given
	revocations   uint64 // up to which version it has shown to know all
	repairing     repairing
	late          int // questions about its directory that it has not answered in time
	budgets       [kindsOfLimits]budget
}

// peers are the members with a connection.
type peers struct {
	byID    map[ident.Member]*peer
	inOrder []ident.Member // by id
}

// of is what is kept about a connected member, or nil.
func (p *peers) of(id ident.Member) *peer { return p.byID[id] }

// has reports whether a member is connected.
func (p *peers) has(id ident.Member) bool { return p.byID[id] != nil }

func (p *peers) len() int { return len(p.byID) }

// list is the connected members by id, in a list of the caller's own.
func (p *peers) list() []ident.Member { return slices.Clone(p.inOrder) }

// add takes in a member that was not connected.
func (p *peers) add(id ident.Member, peer *peer) {
	p.byID[id] = peer
	at, _ := slices.BinarySearchFunc(p.inOrder, id, ident.Member.Compare)
	p.inOrder = slices.Insert(p.inOrder, at, id)
}

// remove takes out a member that is connected no more.
func (p *peers) remove(id ident.Member) {
	if at, found := slices.BinarySearchFunc(p.inOrder, id, ident.Member.Compare); found {
		p.inOrder = slices.Delete(p.inOrder, at, at+1)
	}
	delete(p.byID, id)
}
