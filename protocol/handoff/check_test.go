package handoff

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/token"
)

// Check finds each broken invariant, by what it says.
func TestCheck_Broken_Found(t *testing.T) {
	const held, reserved = 0, 1 // hops
	for want, breaks := range map[string]func(m *Machine, hold, live *record){
		"records in HOLD":       func(m *Machine, _, _ *record) { m.book.held++ },
		"records in LIVE":       func(m *Machine, _, _ *record) { m.book.live-- },
		"in LIVE, 2 counted":    func(m *Machine, _, live *record) { m.book.offerers[live.from].live++ },
		"records wait":          func(m *Machine, hold, _ *record) { hold.slot, hold.wake = 0, 1 },
		"heap is out of order":  func(m *Machine, _, live *record) { live.slot = 5 },
		"waits until":           func(_ *Machine, _, live *record) { live.wake = clock.Never },
		"is in the place of":    func(m *Machine, hold, _ *record) { hold.key.hop = 9 },
		"not a state":           func(_ *Machine, hold, _ *record) { hold.state = None },
		"reservation for nob":   func(_ *Machine, _, live *record) { live.from = ident.Member{} },
		"with a transfer":       func(_ *Machine, _, live *record) { live.taken = ident.Hash{1} },
		"no transfer can ask":   func(_ *Machine, hold, _ *record) { hold.state = Closed },
		"an operation runs":     func(_ *Machine, _, live *record) { live.busy = true },
		"offered without":       func(_ *Machine, _, live *record) { live.search = &search{} },
		"title without custody": func(_ *Machine, hold, live *record) { live.title = hold.title },
		"the title of hop":      func(_ *Machine, hold, _ *record) { hold.title = token.Title{} },
		"with a transfer: fal":  func(m *Machine, hold, _ *record) { hold.state = Sent },
		"tokens are offered":    func(_ *Machine, hold, _ *record) { hold.search = &search{} },
		"listed and not":        func(m *Machine, hold, _ *record) { m.offers.searches[hold.key] = hold },
		"never given out":       func(m *Machine, _, live *record) { m.numbers.accepts.next = live.accept },
		"is not reserved":       func(m *Machine, _, _ *record) { m.numbers.sequence.next = 1 << 20 },
		"above the next number": func(m *Machine, _, _ *record) { m.numbers.accepts.next = 0 },
		"below the floor":       func(m *Machine, _, live *record) { m.book.offerers[live.from].floor++ },
		"not in the book":       func(m *Machine, _, live *record) { m.book.offerers[live.from].records[0] = &record{} },
		"stands for number":     func(m *Machine, _, live *record) { m.book.offerers[live.from].records[0] = live },
		"is open":               func(m *Machine, _, live *record) { m.recipients.memory(live.from, ident.Incarnation{}).open[1] = true },
		"was promised": func(m *Machine, _, live *record) {
			m.recipients.memory(live.from, ident.Incarnation{}).promised = 1
		},
		"is not remembered": func(m *Machine, _, live *record) { m.recipients.of(live.from).current = &memory{} },
		"times evidence":    func(m *Machine, _, live *record) { m.conflicts.accused[live.from] = MaxEvidencePerMember + 1 },
		"the journal at":    func(m *Machine, _, _ *record) { m.openings.serial++ },
	} {
		t.Run(want, func(t *testing.T) {
			m, key, _, peer := newPair(t)
			g, err := token.GenesisBody{Resource: "r", Generator: m.cfg.Self, Sequence: m.DrawSequence(), Time: 1}.Sign(m.cfg.Group, key)
			require.NoError(t, err)
			m.Open(1, [token.TagSize]byte{1})
			m.Own(g, false)
			live := m.reserve(peer, hopOf(reserved), nil)
			require.NotNil(t, live)
			hold := m.book.in(Hold, g.ID(), held)
			require.NoError(t, m.Check())
			breaks(m, hold, live)
			assert.ErrorContains(t, m.Check(), want)
		})
	}
}
