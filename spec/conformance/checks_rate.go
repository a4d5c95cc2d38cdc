package conformance

import (
	"slices"

	"github.com/wandertoken/wander/protocol/wire"
)

// rateChecks are about chapter 7: what a peer may ask for at once. How much that is, each
// implementation decides; these checks ask for several times what this one grants.
var rateChecks = []Check{
	{"hello-rate", []string{"M-8"}, "Of 60 HELLOs that state a newer configuration not each one makes the member ask for it; the connection stays.", helloRate},
	{"want-rate", []string{"M-6"}, "Of 4000 WANTs at once not each one is answered; the connection stays.", wantRate},
	{"gossip-rate", []string{"M-14"}, "Of 200 GOSSIPs at once not each one is answered; the connection stays.", gossipRate},
}

// flood says the same message many times, and returns how many answers have come
// once the member has handled all.
func flood[M wire.Message](s *session, m wire.Message, times int, answer func(M) bool) (answers int) {
	s.say(slices.Repeat([]wire.Message{m}, times)...)
	s.fence()
	s.listen(s.t.Quiet)
	for _, m := range s.heard {
		if m, ok := m.(M); ok && answer(m) {
			answers++
		}
	}
	return answers
}

func helloRate(t *trial) {
	const times = 60
	s := t.greet()
	h := s.greeting()
	h.Configuration = s.hello.Configuration + 1
	n := flood(s, h, times, func(m *wire.Want) bool { return m.Topic == wire.WantConfiguration })
	t.check(n < times, "all %d are handled", times)
}

func wantRate(t *trial) {
	const times = 4000
	s := t.greet()
	n := flood(s, revocationsWanted(), times, whatever[*wire.Revocations])
	t.check(n < times, "all %d are answered", times)
	t.check(n > 0, "none of %d is answered", times)
}

func gossipRate(t *trial) {
	const times = 200
	s := t.greet()
	n := flood(s, s.gossip(false), times, isAnswer)
	t.check(n < times, "all %d are answered", times)
	t.check(n > 0, "none of %d is answered", times)
}
