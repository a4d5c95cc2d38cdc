package cluster

import (
	"time"

	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

// Deed is what a driver has done for its member.
type Deed uint8

// The deeds.
const (
	Wrote   Deed = iota // a record, which a crash may still take
	Synced              // what was written before is durable
	Said                // a message to a peer left
	Granted             // a program starts
	Crashed             // the process ended; of what was not synced, the first Kept records stay
	Stopped             // the process ended in order
)

// Moment is one deed, for Setting.Watch. What it points to is the cluster's.
type Moment struct {
	At      time.Duration // of virtual time
	Group   ident.Group
	Member  ident.Member
	Durable bool // the member is
	Deed    Deed
	Record  journal.Record // Wrote
	Message wire.Message   // Said
	To      ident.Member   // Said
	Token   ident.Token    // Granted, with Hop
	Hop     uint64
	Kept    int // Crashed
}

// watched tells who watches the run what a driver has done.
func (n *node) watched(m Moment) {
	if n.c.watch == nil {
		return
	}
	m.At, m.Group, m.Member, m.Durable = n.c.now, n.c.group.ID(), n.id, n.durable
	n.c.watch(m)
}

// watchedEffect is watched for what is not about the journal.
func (n *node) watchedEffect(e effect.Effect) {
	switch e := e.(type) {
	case effect.Send:
		n.watched(Moment{Deed: Said, To: e.To, Message: e.Message})
	case effect.Grant:
		n.watched(Moment{Deed: Granted, Token: e.Token, Hop: e.Hop})
	}
}
