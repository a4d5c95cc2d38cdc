package member

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/journal"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/token"
	"github.com/wandertoken/wander/protocol/window"
	"github.com/wandertoken/wander/protocol/wire"
)

// The policy field on a transfer and the body of a policy message have one
// size in every layer; these fail to compile otherwise.
var (
	_ [policy.MaxField - token.MaxField]struct{}
	_ [token.MaxField - policy.MaxField]struct{}
	_ [policy.MaxField - wire.MaxPolicyBody]struct{}
	_ [wire.MaxPolicyBody - policy.MaxField]struct{}
)

// visitsKept is how many visits of tokens a slot remembers for its policy over
// a restart: the policies' own histories are no longer.
const visitsKept = 16

type slotKey struct {
	resource string
	number   uint64
}

func (k slotKey) String() string { return fmt.Sprintf("%s, slot %d", k.resource, k.number) }

func (k slotKey) compare(o slotKey) int {
	if c := strings.Compare(k.resource, o.resource); c != 0 {
		return c
	}
	return cmp.Compare(k.number, o.number)
}

// slot is one slot of one resource: the place of one token.
type slot struct {
	key       slotKey
	resource  group.Resource
	params    policy.Params // that the policy was made with
	policy    policy.Policy // nil while the slot is leaving
	timer     clock.Instant
	place     int           // among the member's timers, or -1
	demand    bool          // as the policy was last told
	closed    bool          // its gate lets nobody in now: see entries.go
	hours     *window.Hours // of its resource's windows: see schedule.go
	byGate    gateHours
	founded   bool
	leaving   bool              // see configure.go
	founding  founding          // see founding.go
	visits    []journal.Visited // oldest first
	measures  []measure         // against others, oldest first: see complaints.go
	isolated  bool              // votes were missing when its policy was stepped last
	newest    uint64            // the latest genesis time of those that were here
	monitored []ident.Member    // whom the policy has monitored, oldest first
	queued    int               // questions of the policy that wait: see messenger.go
	word      gateWord          // what its gate has said last
	heard     clock.Instant     // when it said something last; 0: never
	passages  passages          // for people

	seen, operations uint64
	// Wall clock, µs since 1970; 0: never.
	lastSeen      uint64
	lastOperation uint64        // anybody's, as far as it is known here
	ownOperation  uint64        // this member's
	returned      time.Duration // between the last two of this member's
}

// remember keeps a visit in the place of the oldest one, but never of the last one of the
// newest token: the next genesis has to be later.
func (s *slot) remember(v journal.Visited) {
	s.newest = max(s.newest, v.Born)
	s.visits = append(s.visits, v)
	if len(s.visits) <= visitsKept {
		return
	}
	newest := func(v journal.Visited) bool { return v.Born == s.newest }
	oldest := 0
	if newest(s.visits[0]) && !slices.ContainsFunc(s.visits[1:], newest) {
		oldest = 1
	}
	s.visits = slices.Delete(s.visits, oldest, oldest+1)
}
