package member

import "fmt"

// Check returns the first invariant of the member's state that does not hold, or nil:
// those of its handoffs and of its directory. Simulations call it after every step, and
// the daemon does not: it costs a look at all that the member knows.
func (m *Member) Check() error {
	if err := m.circ.custody.handoff.Check(); err != nil {
		return fmt.Errorf("handoff: %w", err)
	}
	if err := m.dir.Check(); err != nil {
		return fmt.Errorf("directory: %w", err)
	}
	return nil
}
