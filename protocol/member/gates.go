package member

import (
	"fmt"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/group"
)

// gateSettings are what a member reads in the configuration about a resource's gate.
type gateSettings struct {
	settle, keep, open time.Duration
	observes           bool
}

// gateOf is a resource's gate, if it has one.
func gateOf(r group.Resource) (g gateSettings, ok bool) {
	if r.Gate.IsZero() {
		return gateSettings{}, false
	}
	return gateSettings{settle: r.Gate.Settle, keep: r.Gate.Keep, open: r.Gate.OpenTimeout, observes: r.Gate.Mode == group.Observe}, true
}

// RevocationsAbove are the signed revocations above a version that a member knows, in their order: at most most of them. upTo is the
// version of the member's list, or that of the last one if there are more.
func RevocationsAbove(m *Member, version uint64, most int) (upTo uint64, list [][]byte) {
	list, more := m.dir.Revocations(version, most)
	if more && len(list) > 0 {
		if r, err := certificate.PeekRevocation(m.cfg.Group.ID(), list[len(list)-1]); err == nil {
			return r.Version, list
		}
	}
	return m.RevocationVersion(), list
}

// GateWord is why the gate of a resource lets no program in here, as far as is known; empty if it does, or if there is none.
func GateWord(m *Member, resource string) string {
	for _, s := range m.circ.slots.order {
		if s.key.resource != resource {
			continue
		}
		switch g := m.circ.entries.status(s); {
		case !g.Gated, g.Observes:
		case !g.Reached:
			return "cannot be reached"
		case s.word.asked:
			return "has not answered"
		case !s.word.hinders:
		case g.NotBefore > 0:
			return "has " + g.Said + ", not before " + clock.FromMillis(g.NotBefore).UTC().Format(time.RFC3339)
		case g.Session > 0:
			return fmt.Sprintf("has said: %s, session %d", g.Said, g.Session)
		default:
			return "has said: " + g.Said
		}
	}
	return ""
}
