package member

import (
	"errors"
	"fmt"
)

// errUnheld is a token that a policy counts on and this member has no custody of.
var errUnheld = errors.New("the handoff has no custody of it")

// errEntry is a session at a gate that is in an impossible state.
var errEntry = errors.New("impossible")

// Check returns the first invariant of the member's state that does not hold, or nil:
// those of its handoffs, of its sessions at gates and of its directory, and that each token a policy knows is in the
// handoff's custody. Simulations call it after every step, and the daemon does not: it
// costs a look at all that the member knows.
func (m *Member) Check() error {
	if err := m.circ.custody.check(); err != nil {
		return fmt.Errorf("custody: %w", err)
	}
	if err := m.circ.entries.check(); err != nil {
		return err
	}
	if err := m.circ.custody.handoff.Check(); err != nil {
		return fmt.Errorf("handoff: %w", err)
	}
	if err := m.dir.Check(); err != nil {
		return fmt.Errorf("directory: %w", err)
	}
	return nil
}

func (c *custody) check() error {
	for _, h := range c.holds {
		if _, ok := c.handoff.Title(h.token, h.hop); !ok {
			return fmt.Errorf("token %v, hop %d: %w", h.token, h.hop, errUnheld)
		}
	}
	return nil
}
