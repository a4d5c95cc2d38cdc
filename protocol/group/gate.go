package group

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
)

// The permitted ranges of a Gate. A range whose lower end has no constant begins at a millisecond.
const (
	// MaxGateSlots bounds the slots of a resource with a gate: as many as a gate keeps (gate.MaxSlots).
	MaxGateSlots = 64
	// MaxSettle bounds settle: a resource that needs longer to come to rest is shut most of the time.
	MaxSettle = 10 * time.Minute
	// MaxGateKeep bounds gate_keep: for so long a slot stays empty beside those that wait, so a longer one
	// costs more than the place of a slow successor is worth.
	MaxGateKeep = time.Minute
	// MaxHookTime bounds gate_open_timeout and gate_close_timeout: until then a hook that hangs raises no alarm.
	MaxHookTime = time.Hour
	// MinRevocationAge is the least gate_revocation_max_age. A gate asks the authority once a minute, so with
	// less one lost answer shuts the gate.
	MinRevocationAge = 2 * time.Minute
)

// The defaults of a Gate.
const (
	// defaultSettle is enough for a service to see that a connection has ended.
	defaultSettle = time.Second
	// defaultGateKeep is a handoff and a sign-in over a slow line.
	defaultGateKeep = 2 * time.Second
	// defaultOpenTimeout is far above what opening a way takes.
	defaultOpenTimeout = 5 * time.Second
	// defaultCloseTimeout is twice what a database has for ending a statement.
	defaultCloseTimeout = 10 * time.Second
)

// Policies that a gate treats unlike others. The names are those of package catalog, which this package
// does not know.
const (
	uncoordinated = "uncoordinated" // there is no token to show
	multitoken    = "multitoken"    // several programs run at once, by design
)

// GateMode says what a gate does with what it decides.
type GateMode uint8

// The modes. The numbers are those of the group configuration.
const (
	// Enforce lets in only what the gate has opened for.
	Enforce GateMode = iota
	// Observe lets everything in, and logs what would have been refused.
	Observe
)

var gateModes = []string{"enforce", "observe"}

func (m GateMode) String() string {
	if int(m) < len(gateModes) {
		return gateModes[m]
	}
	return fmt.Sprintf("GateMode(%d)", uint8(m))
}

func (m GateMode) validate() error {
	if int(m) < len(gateModes) {
		return nil
	}
	return fmt.Errorf("%w: gate_mode is %d, permitted are %s", ErrOutOfRange, uint8(m), strings.Join(gateModes, ", "))
}

// UnmarshalText reads the name of a mode. Error: ErrOutOfRange.
func (m *GateMode) UnmarshalText(name []byte) error {
	i := slices.Index(gateModes, string(name))
	if i < 0 {
		return fmt.Errorf("%w: gate_mode is %q, permitted are %s", ErrOutOfRange, name, strings.Join(gateModes, ", "))
	}
	*m = GateMode(i)
	return nil
}

// Gate says which gate stands before a resource, and how it works. The zero value is none.
type Gate struct {
	// Member is the id of the gate's key, for which the authority has issued a certificate of a gate.
	Member ident.Member
	// Address is where members reach the gate, see certificate.CheckAddress.
	Address string
	Mode    GateMode
	// MinInterval is from the end of a member's session to its next one; 0: none. If it is too short, members
	// that lie about their tokens get more than their share; if it is too long, the resource is idle.
	MinInterval time.Duration
	// Settle is from the confirmation of close until something may open. If it is too short, the resource may
	// still write what the last session told it; if it is too long, the resource is idle.
	Settle time.Duration
	// Sessions is how many sessions may be open at once at one slot, 1 to MaxGateSlots; more than 1 only where the
	// policy lets several programs run at once.
	Sessions int
	// RevocationMaxAge is after what time without the authority's revocations the gate refuses all; 0: never. If it
	// is short, the gate is shut when the authority is away; if it is long, a revoked member comes in meanwhile.
	RevocationMaxAge time.Duration
	// Keep is for how long the slot is kept for the linked successor when a session has ended. If it is too short,
	// the token's next holder waits behind others; if it is too long, they wait for one that does not come.
	Keep time.Duration
	// OpenTimeout is for how long the open hook may run. One that is too short lets nobody in.
	OpenTimeout time.Duration
	// CloseTimeout is for how long the close hook may run. If it is too short, the slot gets stuck although
	// work ends; if it is too long, the alarm comes late.
	CloseTimeout time.Duration
}

// GateConstants are the numbers of a Gate, by their keys in the group configuration.
var GateConstants = []policy.Setting[Gate]{
	{
		Key: 1, Name: "gate_min_interval", Quantity: policy.Span, Optional: true, Low: int64(policy.MinDuration), High: int64(policy.MaxInterval),
		Field: func(g *Gate) any { return &g.MinInterval },
	},
	{
		Key: 2, Name: "settle", Quantity: policy.Span, Low: int64(policy.MinDuration), High: int64(MaxSettle), Default: int64(defaultSettle),
		Field: func(g *Gate) any { return &g.Settle },
	},
	{
		Key: 3, Name: "gate_sessions", Quantity: policy.Count, Low: 1, High: MaxGateSlots, Default: 1,
		Field: func(g *Gate) any { return &g.Sessions },
	},
	{
		Key: 4, Name: "gate_revocation_max_age", Quantity: policy.Span, Optional: true, Low: int64(MinRevocationAge), High: int64(MaxLifetime),
		Field: func(g *Gate) any { return &g.RevocationMaxAge },
	},
	{
		Key: 5, Name: "gate_keep", Quantity: policy.Span, Low: int64(policy.MinDuration), High: int64(MaxGateKeep), Default: int64(defaultGateKeep),
		Field: func(g *Gate) any { return &g.Keep },
	},
	{
		Key: 6, Name: "gate_open_timeout", Quantity: policy.Span, Low: int64(policy.MinDuration), High: int64(MaxHookTime), Default: int64(defaultOpenTimeout),
		Field: func(g *Gate) any { return &g.OpenTimeout },
	},
	{
		Key: 7, Name: "gate_close_timeout", Quantity: policy.Span, Low: int64(policy.MinDuration), High: int64(MaxHookTime), Default: int64(defaultCloseTimeout),
		Field: func(g *Gate) any { return &g.CloseTimeout },
	},
}

// WithDefaults returns the gate with defaults for numbers that are zero, where zero has no meaning of its own.
func (g Gate) WithDefaults() Gate {
	for _, c := range GateConstants {
		if !c.Optional {
			c.WithDefault(&g)
		}
	}
	return g
}

// IsZero reports whether there is no gate.
func (g Gate) IsZero() bool { return g == Gate{} }

// checkGate returns the first error about the resource's gate: ErrGate, ErrOutOfRange or ErrFraction. No gate is
// none.
func (r Resource) checkGate() error {
	g := r.Gate
	switch {
	case g.IsZero():
		return nil
	case g.Member.IsZero():
		return fmt.Errorf("%w: gate is missing, which the other settings of a gate need", ErrGate)
	case r.Policy == uncoordinated:
		return fmt.Errorf("%w: policy %s has no tokens that a gate could ask for; leave out gate", ErrGate, r.Policy)
	case r.Slots > MaxGateSlots:
		return fmt.Errorf("%w: slots is %d, permitted are 1 to %d before a gate", ErrGate, r.Slots, MaxGateSlots)
	}
	if err := certificate.CheckAddress(g.Address); err != nil {
		return fmt.Errorf("%w: gate_address: %w", ErrGate, err)
	}
	if err := cmp.Or(g.Mode.validate(), g.checkConstants()); err != nil {
		return err
	}
	switch {
	case g.Sessions > 1 && r.Policy != multitoken:
		return fmt.Errorf("%w: gate_sessions is %d, and policy %s lets one program run at a slot", ErrGate, g.Sessions, r.Policy)
	case g.Sessions*r.Slots > MaxGateSlots:
		return fmt.Errorf("%w: gate_sessions is %d at each of %d slots, permitted are %d in all", ErrGate, g.Sessions, r.Slots, MaxGateSlots)
	}
	return nil
}

func (g Gate) checkConstants() error {
	err := check(GateConstants, &g)
	for _, c := range GateConstants {
		if c.Optional && c.Check(&g, ErrOutOfRange) != nil { // its zero is no derived value
			_, low, high := c.Texts()
			return fmt.Errorf("%w: %s is %v, permitted are 0 (none) and %s to %s", ErrOutOfRange, c.Name, c.Value(&g), low, high)
		}
	}
	return err
}

// gateForm is the gate of a resource. A number that is zero is absent, so that there is one encoding only.
type gateForm struct {
	_         struct{} `cbor:",toarray"`
	Member    ident.Member
	Address   string
	Mode      uint64
	Constants map[uint64]uint64
}

func (g Gate) form() gateForm {
	f := gateForm{Member: g.Member, Address: g.Address, Mode: uint64(g.Mode), Constants: make(map[uint64]uint64)}
	for _, c := range GateConstants {
		if n := c.Wire(&g); n != 0 {
			f.Constants[c.Key] = n
		}
	}
	return f
}

// gate is what the form says, unchecked. Errors: ErrMalformed, ErrGate for a number that is not known: who does not
// know it cannot say how the gate works.
func (f gateForm) gate() (Gate, error) {
	g := Gate{Member: f.Member, Address: f.Address, Mode: GateMode(min(f.Mode, uint64(len(gateModes))))}
	if g.Member.IsZero() {
		return Gate{}, fmt.Errorf("%w: the gate of nobody", ErrMalformed)
	}
	known := 0
	for _, c := range GateConstants {
		n, there := f.Constants[c.Key]
		if !there {
			continue
		}
		known++
		if n == 0 {
			return Gate{}, fmt.Errorf("%w: %s is there and 0", ErrMalformed, c.Name)
		}
		c.SetWire(&g, n)
	}
	if known < len(f.Constants) {
		return Gate{}, fmt.Errorf("%w: unknown setting", ErrGate)
	}
	return g, nil
}
