package member

import (
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
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
