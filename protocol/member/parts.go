package member

import (
	"slices"

	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/wire"
)

// maxAssemblies bounds the configurations that come in parts at one time, from all
// peers together: 4 MB. When there is one more, the one begun first is given up; it is
// asked for again, as is one whose peer does not go on.
const maxAssemblies = 16

// assembly is a configuration that comes in parts from one peer.
type assembly struct {
	from ident.Member
	raw  []byte
	rest uint64 // bytes that are still to come
}

// assemblies are those that have begun, in that order.
type assemblies []*assembly

// of finds the assembly of a peer, or nil.
func (l assemblies) of(from ident.Member) *assembly {
	for _, a := range l {
		if a.from == from {
			return a
		}
	}
	return nil
}

// continues reports whether a part goes on where the last one ended.
func (a *assembly) continues(msg *wire.Configuration) bool {
	return a != nil && uint64(len(a.raw)) == msg.Before && a.rest == uint64(len(msg.Configuration))+msg.Rest
}

// add takes in a part: the first of a configuration, or one that continues what has
// come from its peer. It returns the whole with the last.
func (l *assemblies) add(from ident.Member, msg *wire.Configuration) (raw []byte, whole bool) {
	a := l.of(from)
	if msg.Before == 0 {
		l.drop(from)
		a = &assembly{from: from}
	}
	a.raw, a.rest = append(a.raw, msg.Configuration...), msg.Rest
	if a.rest == 0 {
		l.drop(from)
		return a.raw, true
	}
	if l.of(from) == nil {
		if len(*l) >= maxAssemblies {
			*l = slices.Delete(*l, 0, 1)
		}
		*l = append(*l, a)
	}
	return nil, false
}

// drop gives up what has come from a peer.
func (l *assemblies) drop(from ident.Member) {
	*l = slices.DeleteFunc(*l, func(a *assembly) bool { return a.from == from })
}
