package group

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/crypto/canonical"
	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/protocol/duration"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/window"
)

// The permitted ranges of Settings. A range whose lower end has no constant
// begins at 1, or at a millisecond.
const (
	// MaxName bounds the names of groups, resources, policies and presets, in
	// bytes.
	MaxName = 64
	// MaxResources bounds the resources of a group. So many, with the longest
	// names and all parameters of any policy that there is, and without gates, fit the payload of
	// a configuration. A quiet member needs 15 to 20 kB for each.
	MaxResources = 1024
	// MaxTokens bounds the slots of all resources together, each of which has its own
	// token and policy: what a member keeps in memory of a group with the most slots
	// is about half a gigabyte.
	MaxTokens = 64 * MaxSlots
	// MaxMembers bounds the members of a group: what a directory is built to
	// keep in memory, about two gigabytes.
	MaxMembers = 1 << 20
	// maxUpdateCapacity bounds the updates that ride on one token or receipt,
	// so that they and the handoff's objects fit one frame.
	maxUpdateCapacity = 32
	// MinFailureQuorum is 2 because one member alone must not make another one
	// failed.
	MinFailureQuorum = 2
	// MaxFailureQuorum bounds the witnesses that a failure can need: the
	// statement of each has to travel.
	MaxFailureQuorum = 16
	// MinCertificateLifetime bounds certificate_lifetime from below: a member
	// renews its certificate in the last third of its life, and needs time
	// there for a few tries.
	MinCertificateLifetime = time.Minute
	// MaxLifetime bounds certificate lifetimes and what is derived from them:
	// the usual life of a CA.
	MaxLifetime = 10 * 365 * 24 * time.Hour
	// MinClockAllowance is more than the difference of two clocks that are
	// synchronised over the internet.
	MinClockAllowance = time.Second
	// MaxClockAllowance bounds how false the time of a token may be.
	MaxClockAllowance = 30 * 24 * time.Hour
	// MinSettlementTime is far above any time that a handoff takes.
	MinSettlementTime = time.Hour
	// MinGossipInterval keeps a member below ten exchanges a second.
	MinGossipInterval = 100 * time.Millisecond
	// MaxGossipInterval bounds how long a revocation may take to the next peer.
	MaxGossipInterval = time.Hour
	// MinSilence is a few round trips around the earth, with the pauses before lost
	// packets are sent again.
	MinSilence = time.Second
	// MaxSilence bounds the silence: as long as address translators and firewalls commonly restart.
	MaxSilence = 10 * time.Minute
)

// The defaults of Settings.
const (
	// defaultMembersMax is far above most groups, and their directory costs
	// each member at most two hundred megabytes.
	defaultMembersMax = 100_000
	// defaultUpdateCapacity is the papers'.
	defaultUpdateCapacity = 10
	// defaultFailureQuorum is the smallest.
	defaultFailureQuorum = 2
	// DefaultCertificateLifetime is usual for machines that renew by
	// themselves.
	DefaultCertificateLifetime = 90 * 24 * time.Hour
	// DefaultClockAllowance tolerates a clock in the wrong time zone.
	DefaultClockAllowance = 24 * time.Hour
	// DefaultSettlementTime is the longest outage after which an operator may
	// reasonably expect a member to return.
	DefaultSettlementTime = 90 * 24 * time.Hour
	// DefaultGossipInterval lets news reach a million members in ten minutes
	// without any token.
	DefaultGossipInterval = 30 * time.Second
	// DefaultSilence is enough for QUIC to send a packet five times, up to a
	// round trip of 100 ms, and for a busy machine or a change of routes. See
	// docs/configuration.md for its cost.
	DefaultSilence = 4 * time.Second
)

// Settings are what must be the same for all members of a group. They take
// effect once a CA has signed them.
type Settings struct {
	// Version only grows, from 1 on: of two configurations the one with the
	// higher version is in force.
	Version uint64
	// Name of the group, for people; see CheckName.
	Name string
	// Issued is when the CA signed this, in whole milliseconds.
	Issued time.Time
	// Resources, 1 to MaxResources, in strictly ascending order of their names.
	Resources []Resource
	// MembersMax is how many members a directory takes in, 1 to MaxMembers. If
	// the group has more, some members are unknown to others and get no token
	// from them. A higher value costs memory only if the CA certifies that
	// many.
	MembersMax int
	// UpdateCapacity is how many updates travel on a token or receipt, 1 to
	// maxUpdateCapacity. More make news travel faster, and handoffs larger.
	UpdateCapacity int
	// FailureQuorum is how many witnesses make a member failed, 2 to 16. With
	// fewer, a few liars can remove others; with more, a small group does not
	// reach the quorum for a member that has really failed.
	FailureQuorum int
	// CertificateLifetime is the longest that a member's certificate may be
	// valid, MinCertificateLifetime to MaxLifetime. Departed members are
	// remembered as long.
	CertificateLifetime time.Duration
	// ClockAllowance is how far a new token's time may be from a receiver's
	// clock, MinClockAllowance to MaxClockAllowance. If it is too small,
	// members with wrong clocks cannot generate. If it is too large, a liar can
	// backdate a token so that it precedes every other one.
	ClockAllowance time.Duration
	// SettlementTime is for how long members wait, after a member has departed,
	// for what it may have sent before, MinSettlementTime to MaxLifetime. It
	// must exceed the longest outage after which a durable member returns
	// (spec/protocol.md, chapter 8, §1).
	SettlementTime time.Duration
	// GossipInterval is how often a member compares its directory with that of
	// a random peer, MinGossipInterval to MaxGossipInterval.
	GossipInterval time.Duration
	// Silence is after what time without an answer a member counts as unresponsive,
	// MinSilence to MaxSilence. A shorter one replaces lost tokens sooner, and suspects
	// slow members more often.
	Silence time.Duration
	// RenewGrace is for how long after the end of a member's newest certificate the CA's service
	// still renews it, 0 (never) to CertificateLifetime. With a longer one a machine that was off comes back by
	// itself, and a key that was copied from a disk is worth something for longer.
	RenewGrace time.Duration
	// Authorities are the CA keys in force, by their ids: 1 to MaxAuthorities
	// different ones, the signer's among them. What other keys have signed no
	// longer counts. If there are none, Sign adds the signer's.
	Authorities [][envelope.KeyIDSize]byte
	// RevocationFloor is the version of the revocation list up to which members
	// may forget revocations: no certificate of those revoked can be valid.
	RevocationFloor uint64
	// Extensions are for later versions.
	Extensions canonical.Extensions
}

// Constants are the numbers among the Settings, in the order in which the configuration
// has them.
var Constants = []policy.Setting[Settings]{
	{
		Name: "members_max", Quantity: policy.Count, Low: 1, High: MaxMembers, Default: defaultMembersMax,
		Field: func(s *Settings) any { return &s.MembersMax },
	},
	{
		Name: "update_capacity", Quantity: policy.Count, Low: 1, High: maxUpdateCapacity, Default: defaultUpdateCapacity,
		Field: func(s *Settings) any { return &s.UpdateCapacity },
	},
	{
		Name: "failure_quorum", Quantity: policy.Count, Low: MinFailureQuorum, High: MaxFailureQuorum, Default: defaultFailureQuorum,
		Field: func(s *Settings) any { return &s.FailureQuorum },
	},
	{
		Name: "certificate_lifetime", Quantity: policy.Span, Low: int64(MinCertificateLifetime), High: int64(MaxLifetime),
		Default: int64(DefaultCertificateLifetime), Field: func(s *Settings) any { return &s.CertificateLifetime },
	},
	{
		Name: "clock_allowance", Quantity: policy.Span, Low: int64(MinClockAllowance), High: int64(MaxClockAllowance),
		Default: int64(DefaultClockAllowance), Field: func(s *Settings) any { return &s.ClockAllowance },
	},
	{
		Name: "settlement_time", Quantity: policy.Span, Low: int64(MinSettlementTime), High: int64(MaxLifetime),
		Default: int64(DefaultSettlementTime), Field: func(s *Settings) any { return &s.SettlementTime },
	},
	{
		Name: "gossip_interval", Quantity: policy.Span, Low: int64(MinGossipInterval), High: int64(MaxGossipInterval),
		Default: int64(DefaultGossipInterval), Field: func(s *Settings) any { return &s.GossipInterval },
	},
	{
		Name: "silence", Quantity: policy.Span, Low: int64(MinSilence), High: int64(MaxSilence),
		Default: int64(DefaultSilence), Field: func(s *Settings) any { return &s.Silence },
	},
	{
		Name: "renew_grace", Quantity: policy.Span, Low: 0, High: int64(MaxLifetime), Default: 0,
		Field: func(s *Settings) any { return &s.RenewGrace },
	},
}

// WithDefaults returns the settings with defaults for what is zero, in the
// resources too.
func (s Settings) WithDefaults() Settings {
	for _, c := range Constants {
		c.WithDefault(&s)
	}
	resources := make([]Resource, len(s.Resources))
	for i, r := range s.Resources {
		resources[i] = r.WithDefaults()
	}
	s.Resources = resources
	return s
}

// Validate returns the first error that applies: ErrVersion, ErrName,
// ErrOutOfRange, ErrFraction, ErrAuthorities, ErrMalformed (extensions),
// ErrResources, ErrGate, or policy.ErrOutOfRange. The message names the setting as the
// group's file spells it, and what is permitted.
func (s Settings) Validate() error {
	if s.Version == 0 {
		return ErrVersion
	}
	if ms := s.Issued.UnixMilli(); ms < 0 || ms/1000 > maxSeconds {
		return fmt.Errorf("%w: issued is %v, permitted are the years 1970 to 9999", ErrOutOfRange, s.Issued)
	}
	return cmp.Or(
		CheckName(s.Name),
		check(Constants, &s),
		s.validateGrace(),
		s.validateAuthorities(),
		extensions(s.Extensions),
		s.validateResources(),
	)
}

// validateGrace refuses a grace that is longer than a certificate's life: a key that was away for longer than it
// has been certified for is another machine's for all that anybody knows, and an operator decides.
func (s Settings) validateGrace() error {
	if s.RenewGrace <= s.CertificateLifetime {
		return nil
	}
	return fmt.Errorf("%w: renew_grace is %s, permitted are 0s to %s, which is certificate_lifetime", ErrOutOfRange,
		duration.Format(s.RenewGrace), duration.Format(s.CertificateLifetime))
}

func (s Settings) validateAuthorities() error {
	if n := len(s.Authorities); n > MaxAuthorities {
		return fmt.Errorf("%w: %d, permitted are 1 to %d", ErrAuthorities, n, MaxAuthorities)
	}
	for i, id := range s.Authorities {
		if slices.Contains(s.Authorities[:i], id) {
			return fmt.Errorf("%w: %x is there twice", ErrAuthorities, id)
		}
	}
	return nil
}

// Slots returns how many slots all resources have together.
func (s Settings) Slots() (n int) {
	for _, r := range s.Resources {
		n += r.Slots
	}
	return n
}

func (s Settings) validateResources() error {
	if n := len(s.Resources); n == 0 || n > MaxResources {
		return fmt.Errorf("%w: %d resources, permitted are 1 to %d", ErrResources, n, MaxResources)
	}
	slots := 0
	for i, r := range s.Resources {
		if err := r.Validate(); err != nil {
			return fmt.Errorf("resource %q: %w", r.Name, err)
		}
		if slots += r.Slots; slots > MaxTokens {
			return fmt.Errorf("%w: resource %q is the one with which there are %d slots in all, permitted are %d", ErrResources, r.Name, slots, MaxTokens)
		}
		if i == 0 || s.Resources[i-1].Name < r.Name {
			continue
		}
		if s.Resources[i-1].Name == r.Name {
			return fmt.Errorf("%w: %q is there twice", ErrResources, r.Name)
		}
		return fmt.Errorf("%w: %q comes after %q", ErrResources, r.Name, s.Resources[i-1].Name)
	}
	return nil
}

func extensions(e canonical.Extensions) error {
	if err := e.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}

// check returns the first error about settings of a T: ErrOutOfRange, or ErrFraction for
// what the configuration cannot carry exactly.
func check[T any](settings []policy.Setting[T], of *T) error {
	for _, c := range settings {
		if err := c.Check(of, ErrOutOfRange); err != nil {
			return err
		}
		if !c.Whole(of) {
			return fmt.Errorf("%w: %s is %v", ErrFraction, c.Name, c.Value(of))
		}
	}
	return nil
}

// CheckName returns ErrName unless name can be that of a group, a resource, a
// policy or a preset: 1 to MaxName of a-z, 0-9, '.', '_' and '-', beginning with a
// letter or digit.
func CheckName(name string) error {
	if len(name) == 0 || len(name) > MaxName {
		return fmt.Errorf("%w: %d characters, permitted are 1 to %d", ErrName, len(name), MaxName)
	}
	for i := range len(name) {
		b := name[i]
		letter := b >= 'a' && b <= 'z' || b >= '0' && b <= '9'
		if !letter && (i == 0 || b != '.' && b != '_' && b != '-') {
			return fmt.Errorf("%w: %q, permitted are a-z, 0-9 and, not at the beginning, '.', '_' and '-'", ErrName, name)
		}
	}
	return nil
}

const (
	// MaxSlots bounds the slots of a resource, each of which has its own token.
	MaxSlots = 1024
	// DefaultPolicy is the random walk of one token.
	DefaultPolicy = "wandering"
	// DefaultSkipDelay keeps an idle token at ten hops a second, which costs a
	// member of a small group little, and a waiting one little time.
	DefaultSkipDelay = 100 * time.Millisecond
)

// Resource is one resource that a group shares.
type Resource struct {
	Name   string // see CheckName
	Policy string // name of the policy; a member refuses a resource whose policy it does not know
	Slots  int    // how many operations may run at once, 1 to MaxSlots
	policy.Params
	// MaxHold is the longest grant that a program can get, policy.MinDuration
	// to policy.MaxOperationTime. If it is longer than OperationTime, the
	// papers' formulas no longer predict the group's behaviour.
	MaxHold time.Duration
	// Windows are when programs may run, at most window.Max; without any they always may. If they are too short, programs
	// wait for the next one; if they are too long, the resource is in use when others need it.
	Windows window.Windows
	// Gate stands before the resource; the zero value is none.
	Gate       Gate
	Extensions canonical.Extensions // for later versions and other policies
}

var (
	slots = policy.Setting[Resource]{
		Name: "slots", Quantity: policy.Count, Low: 1, High: MaxSlots, Default: 1, Field: func(r *Resource) any { return &r.Slots },
	}
	maxHold = policy.Setting[Resource]{
		Name: "max_hold", Quantity: policy.Span, Low: int64(policy.MinDuration), High: int64(policy.MaxOperationTime),
		Field: func(r *Resource) any { return &r.MaxHold },
	}
	// ResourceConstants are the numbers of a Resource beside the parameters of its policy.
	ResourceConstants = []policy.Setting[Resource]{slots, maxHold}
)

// WithDefaults returns the resource with defaults for settings that are zero,
// where zero has no meaning of its own: policy, slots, skip_delay, max_hold
// as operation_time, and those of its gate if it has one.
func (r Resource) WithDefaults() Resource {
	r.Policy = cmp.Or(r.Policy, DefaultPolicy)
	r.Slots = cmp.Or(r.Slots, 1)
	r.SkipDelay = cmp.Or(r.SkipDelay, DefaultSkipDelay)
	r.MaxHold = cmp.Or(r.MaxHold, r.OperationTime)
	if !r.Gate.IsZero() {
		r.Gate = r.Gate.WithDefaults()
	}
	return r
}

// PolicyParams returns what the policy of the resource needs of the resource's
// own settings. Settings.PolicyParams adds those of the group.
func (r Resource) PolicyParams() policy.Params {
	p := r.Params
	p.MaxHold = r.MaxHold
	return p
}

// PolicyParams returns what the policy of one of the group's resources needs of
// the settings.
func (s Settings) PolicyParams(r Resource) policy.Params {
	p := r.PolicyParams()
	p.Silence = s.Silence
	return p
}

// Validate returns the first error that applies: ErrName, ErrOutOfRange,
// ErrFraction, ErrWindows, ErrGate, ErrMalformed (extensions) or policy.ErrOutOfRange. Package
// catalog checks that the policy exists, has the preset and uses the
// parameters.
func (r Resource) Validate() error {
	if err := CheckName(r.Policy); err != nil {
		return fmt.Errorf("policy: %w", err)
	}
	if r.Preset != "" {
		if err := CheckName(r.Preset); err != nil {
			return fmt.Errorf("preset: %w", err)
		}
	}
	return cmp.Or(
		CheckName(r.Name),
		r.Params.Validate(),
		r.checkWhole(),
		check(ResourceConstants, &r),
		r.OnIsolated.Validate(),
		CheckWindows(r.Windows, r.OperationTime),
		r.checkGate(),
		extensions(r.Extensions),
	)
}

// checkWhole returns ErrFraction for a parameter that the configuration cannot
// carry exactly.
func (r Resource) checkWhole() error {
	for _, p := range policy.Parameters {
		if !p.Whole(&r.Params) {
			return fmt.Errorf("%w: %s", ErrFraction, p.Name)
		}
	}
	return nil
}
