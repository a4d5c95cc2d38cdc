package member

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/clock"
	"github.com/wandertoken/wander/protocol/directory"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/handoff"
	"github.com/wandertoken/wander/protocol/ident"
	"github.com/wandertoken/wander/protocol/policy"
	"github.com/wandertoken/wander/protocol/policy/catalog"
)

// Config is what a member is made of.
type Config struct {
	Group       *group.Group
	Certificate certificate.Certificate
	Key         *signature.PrivateKey
	// Seed makes every random choice. Outside tests it must come from an
	// unpredictable source, and never be used twice.
	Seed [32]byte
	// Durable members keep custody over a crash: the driver syncs what is to
	// be synced. A volatile member starts with an empty memory.
	Durable bool
	// NewIncarnation begins a new custody memory although the journal could
	// be continued: the operator's word that it was restored from a backup or
	// cloned.
	NewIncarnation bool
	// Found makes the first token of each slot, once for a journal.
	Found bool
	// Machine names this machine and the place of the journal on it; a journal
	// that was begun elsewhere is not continued. Boot names this boot.
	Machine, Boot string
	// Sample is how many other members this one keeps in its directory, drawn at
	// random: directory.SampleSize says how many are enough. 0 keeps all.
	Sample int
	// NoPreOffer makes the search for the next holder begin only when the
	// policy releases the token. It exists to measure what pre-offering
	// gains.
	NoPreOffer bool
	// NoRecall makes a member that continues its journal use and take tokens at once. It
	// exists for vectors, which begin when that is over, and to see what the wait is for.
	NoRecall bool
	// Tuning of the handoff; zero means handoff.DefaultTuning.
	Tuning handoff.Tuning
	// Observer, if there is one, is told what the policies decide.
	Observer Observer

	// policies makes them: catalog.New, or a test's.
	policies func(name string, params policy.Params, in policy.Surroundings) (policy.Policy, error)
}

// Observer watches policies at work, so that what a live member did can be
// given to the same policy in the simulator. It is called from Step and keeps
// nothing that it is given: events and actions are only borrowed.
type Observer interface {
	// PolicyMade is told of each policy object: of which slot, by which name
	// and parameters, and the seed of its ChaCha8 source.
	PolicyMade(resource string, slot uint64, name string, params policy.Params, seed [32]byte)
	// PolicyStepped is told of each event and the answer to it.
	PolicyStepped(resource string, slot uint64, now clock.Instant, event policy.Event, answer []policy.Action)
	// PolicyAsked is told of each question to the Roster, and its answer, before the
	// step in which it was asked.
	PolicyAsked(resource string, slot uint64, asked policy.Asked)
	// Dropped is told of each token that the member drops without its policy's asking.
	Dropped(resource string, slot uint64, token ident.Token, reason policy.DropReason)
}

func (c *Config) validate() error {
	key := c.Key.Public().Bytes()
	if ident.MemberOf(c.Group.ID(), key[:]) != c.Certificate.Member() {
		return ErrKey
	}
	if role := c.Certificate.Role(); role != certificate.MemberRole {
		return fmt.Errorf("%w: %v", certificate.ErrRole, role)
	}
	if c.Tuning == (handoff.Tuning{}) {
		c.Tuning = handoff.DefaultTuning
	}
	if c.policies == nil {
		c.policies = catalog.New
	}
	return nil
}

// sources are Step's randomness: one source for the member, split for its parts, so that
// one part's draws do not shift another's.
type sources struct{ member, handoff, openings *rand.ChaCha8 }

func split(seed [32]byte) (s sources, policies func() [32]byte) {
	root := rand.NewChaCha8(seed)
	next := func() (child [32]byte) {
		_, _ = root.Read(child[:]) // never fails
		return child
	}
	tags := rand.NewChaCha8(sha256.Sum256(append(seed[:], "openings"...)))
	return sources{member: rand.NewChaCha8(next()), handoff: rand.NewChaCha8(next()), openings: tags}, next
}

func newMember(cfg Config, now clock.Reading) (*Member, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	self := cfg.Certificate.Member()
	c := &core{
		cfg: cfg, self: self, now: now, dir: directory.New(cfg.Group, self),
		peers: peers{byID: make(map[ident.Member]*peer)}, counts: make(map[string]uint64),
	}
	m := &Member{core: c, housekeepAt: now.Boot}
	snapshots := &snapshots{core: c, from: make(map[ident.Member]bool)}
	greeter := &greeter{core: c, snapshots: snapshots}
	queue := &events{core: c}
	m.live = newLiveness(c, greeter, queue)
	m.members = newMembership(c, m.live, snapshots, greeter, m)
	m.circ = newCirculation(c, queue, m.live, m.members)
	m.members.endpoints.custody = m.circ.custody
	m.sources, m.circ.nextSeed = split(cfg.Seed)
	m.dir.SetSample(cfg.Sample, m.sources.member)
	m.dir.Admit(cfg.Certificate)
	if _, err := m.circ.configure(); err != nil {
		return nil, fmt.Errorf("group configuration: %w", err)
	}
	return m, nil
}
