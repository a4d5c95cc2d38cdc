package member

import (
	"errors"
	"slices"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/effect"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/wire"
)

// core is what all machines of a member share: who the member is, the time of the
// step, the group as it is known, the connected peers, and what the step wants done.
// A machine embeds a pointer to the member's one core. It has no logic of its own.
type core struct {
	cfg         Config
	self        ident.Member
	incarnation ident.Incarnation
	settings    group.Settings // of the configuration in force
	now         clock.Reading
	sources     sources
	dir         *directory.Directory
	limits      limits // on what one peer may have this member do
	peers       peers

	stopping  bool // Shutdown was called: nothing new begins
	recalling bool // waits for greetings after a restart: see recall.go
	revoked   bool
	departed  bool
	// changed says that another member may follow this one on the ring now. Whatever
	// learns about members sets it, and ring.go clears it.
	changed bool

	effects []effect.Effect   // of this step, in the order in which they arose
	counts  map[string]uint64 // messages that were rejected, by reason
}

func (c *core) emit(e effect.Effect) { c.effects = append(c.effects, e) }

func (c *core) persist(r journal.Record, sync bool) {
	c.emit(effect.Persist{At: c.now.Micros(), Record: r, Sync: sync})
}

func (c *core) send(to ident.Member, msg wire.Message) {
	c.emit(effect.Send{To: to, Message: msg})
}

func (c *core) reject(reason string) { c.counts[reason]++ }

// drain takes out the effects of the step.
func (c *core) drain() []effect.Effect {
	out := slices.Clone(c.effects)
	clear(c.effects)
	c.effects = c.effects[:0]
	return out
}

// eligible is nil for a member that may take part in a new handoff, and otherwise the
// reason. A member that a quorum has declared failed, and that is connected, is alive and
// will say so to all.
func (c *core) eligible(id ident.Member) error {
	err := c.dir.Eligible(id, c.now.Wall)
	if errors.Is(err, directory.ErrFailed) && c.peers.has(id) {
		return nil
	}
	return err
}
