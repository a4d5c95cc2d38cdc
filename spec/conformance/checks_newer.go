package conformance

import (
	"time"

	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/wire"
)

// newerChecks take the resource of the test away from the member: it comes last.
var newerChecks = []Check{
	{"newer-configuration", []string{"D-29", "O-4", "P-46", "H-40", "H-47"}, "A newer configuration that lacks the resource is in force at once: it is what HELLO and GOSSIP state, an OFFER is refused with reason 3, and a transfer on a reservation from before is VOID. Needs one.", newerConfiguration},
}

func newerConfiguration(t *trial) {
	if t.Newer == nil || t.Newer.ID() != t.Group.ID() {
		t.skip("needs a group file with a newer configuration that lacks resource %s", t.Resource)
	}
	s, title := t.greet(), t.mint()
	if s.hello.Configuration >= t.Newer.Config().Version() {
		t.skip("needs a configuration above version %d", s.hello.Configuration)
	}
	a := s.reserve(title)
	ask := &wire.Gossip{Configuration: t.Newer.Config().Version(), Revocations: s.hello.Revocations}
	for _, part := range wire.ConfigurationParts(t.Newer.Config().Raw(), t.Newer.Vouchers()) {
		s.say(part)
	}
	repeat(s, ask, 100*time.Millisecond, "GOSSIP with the newer version", func(m *wire.Gossip) bool {
		return m.Answer && m.Configuration == t.Newer.Config().Version()
	})
	s.refused(offer(t.mint()), wire.RefuseResource, "a resource that the newer configuration lacks")
	x, m := s.transfer(title, s.transferBody(title, a))
	v, _ := s.verdict(x, m)
	t.check(v == token.Void, "%v for a transfer of a resource that is gone, want VOID", v)
	t.check(t.greet().hello.Configuration == t.Newer.Config().Version(), "HELLO states another configuration")
}
