package ca

import (
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/group"
)

// Phase is how far the replacement of a CA key is.
type Phase int

// The phases, in their order. From the last a rotation comes back to the first.
const (
	// Settled: one key is in force, and signs.
	Settled Phase = iota
	// Introduced: a new key is in force too, and signs nothing yet.
	Introduced
	// Switched: the new key signs; what the old one has signed still counts.
	Switched
)

func (p Phase) String() string { return [...]string{"settled", "introduced", "switched"}[p] }

// MarshalText is the form in listings.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Use says what a CA key is for at present.
type Use string

// The uses of a CA key, each at most once but the last.
const (
	Signs   Use = "signs"
	Next    Use = "next"    // is to sign after the switch
	Old     Use = "old"     // has signed what still counts
	Retired Use = "retired" // has signed what counts no more, or never signed
)

// Key is one of an authority's keys.
type Key struct {
	Number    int // from 1 on, in the order in which they were made
	Statement group.Authority
	File      string // of the private key, in the authority's folder
	Use       Use
}

// Rotation is where the replacement of the CA key stands.
type Rotation struct {
	Phase Phase
	Keys  []Key // every one there was, by number
	// Since is when the configuration of the last step was signed.
	Since time.Time
	// Heard is when gossip alone has brought that configuration to every member
	// that is up, also of the largest group. The next step need not wait for it.
	Heard time.Time
	// Pending are the newest certificates of living members which are valid and
	// signed by the old key. Before it is retired they have to be renewed.
	Pending []Record
}

// gossipRounds is how many rounds of gossip take news to a million members, each
// of which doubles how many have them, and a few more.
const gossipRounds = 24

// Rotation tells where the replacement of the CA key stands. Errors: those of
// List.
func (a *Authority) Rotation() (Rotation, error) {
	var r Rotation
	err := a.locked(func(l *ledger) error { r = l.state.rotation(l.now()); return nil })
	return r, err
}

func (s *state) rotation(now time.Time) Rotation {
	settings := s.config.Settings()
	r := Rotation{
		Phase: s.phase(), Since: settings.Issued, Heard: settings.Issued.Add(gossipRounds * settings.GossipInterval),
	}
	r.Keys = s.keys()
	if r.Phase == Switched {
		r.Pending = s.pending(now)
	}
	return r
}

// keys are all there were.
func (s *state) keys() []Key {
	var list []Key
	for i, a := range s.authorities {
		list = append(list, Key{Number: i + 1, Statement: a, File: keyName(i + 1), Use: s.use(i + 1)})
	}
	return list
}

// use is what the n-th key is for.
func (s *state) use(n int) Use {
	signs := s.numberOf(s.signer().ID())
	switch {
	case n == signs:
		return Signs
	case !slices.Contains(s.inForce(), s.authorities[n-1].ID()):
		return Retired
	case n > signs:
		return Next
	}
	return Old
}

// numbered are the numbers of the keys with a use.
func (s *state) numbered(use Use) []int {
	var numbers []int
	for n := range len(s.authorities) {
		if s.use(n+1) == use {
			numbers = append(numbers, n+1)
		}
	}
	return numbers
}

func (s *state) phase() Phase {
	switch {
	case len(s.numbered(Next)) > 0:
		return Introduced
	case len(s.numbered(Old)) > 0:
		return Switched
	}
	return Settled
}

// pending are the newest certificates of living members that are valid at a time
// and not signed by the key that signs now.
func (s *state) pending(now time.Time) []Record {
	var list []Record
	signs := s.numberOf(s.signer().ID())
	for i, r := range s.records {
		if s.byMember[r.Member] == i && s.final(r.Member) == nil && now.Before(r.NotAfter) && r.Key != signs {
			list = append(list, r)
		}
	}
	return list
}

// IntroduceKey begins a rotation: it makes a key, encrypted with the passphrase
// of the one that signs if that is, and has that one vouch for it, in a
// configuration that lists both. A lifetime of 0 means ten years. What a
// crash left half done, it completes. Errors: ErrNoConfiguration, ErrRotating,
// ErrLifetime, group.ErrTooManyAuthorities, ErrLocked, ErrBroken, those of
// opening the key (see Issue), and those of the disk.
func (a *Authority) IntroduceKey(lifetime time.Duration) error {
	lifetime, err := checkLifetime(lifetime)
	if err != nil {
		return err
	}
	return a.signing(func(l *ledger, by *signature.PrivateKey) error {
		s := l.state
		switch {
		case s.config.IsZero():
			return ErrNoConfiguration
		case s.isUnlisted():
			return l.list(by, s.inForce()) // a crash came between the two
		case s.phase() != Settled:
			return fmt.Errorf("%w: it is %v", ErrRotating, s.phase())
		case len(s.chain()) >= group.MaxAuthorities:
			return fmt.Errorf("%w: a chain has at most %d", group.ErrTooManyAuthorities, group.MaxAuthorities)
		}
		next, err := a.keys.next(len(s.authorities)+1, s)
		if err != nil {
			return err
		}
		if err := l.introduce(next, by, lifetime); err != nil {
			return err
		}
		return l.list(by, s.inForce())
	})
}

// isUnlisted reports whether there is a key that the configuration does not list
// yet, although it is in force.
func (s *state) isUnlisted() bool {
	newest := s.authorities[len(s.authorities)-1]
	return newest.Body().Version > s.config.Version()
}

// introduce vouches for another key by the one that signs.
func (l *ledger) introduce(key, by *signature.PrivateKey, lifetime time.Duration) error {
	now := l.now()
	statement, err := group.Statement{
		Name: l.state.authorities[0].Body().Name, Group: l.state.group(), Key: key.Public().Bytes(),
		NotBefore: now.Add(-backdate), NotAfter: now.Add(lifetime), Version: l.state.config.Version() + 1,
	}.Sign(by)
	if err != nil {
		return err
	}
	said := statement.Body()
	return l.record(entry{
		Time: now, Event: introduced, Number: said.Version, Name: said.Name,
		NotBefore: &said.NotBefore, NotAfter: &said.NotAfter, Object: statement.Raw(),
	})
}

// list signs the configuration anew, with some keys in force.
func (l *ledger) list(by *signature.PrivateKey, ids [][envelope.KeyIDSize]byte) error {
	s := l.state.config.Settings()
	s.Authorities = ids
	_, err := l.configure(s, by)
	return err
}

// SwitchKey lets the key that was introduced sign, from a configuration on that
// still lists the old one. Errors: ErrNotRotating unless a key was introduced;
// ErrLocked, ErrBroken, those of opening the key (see Issue), and those of the
// disk.
func (a *Authority) SwitchKey() error {
	next := func(s *state) (group.Authority, error) {
		numbers := s.numbered(Next)
		if len(numbers) == 0 {
			return group.Authority{}, fmt.Errorf("%w: it is %v", ErrNotRotating, s.phase())
		}
		return s.authorities[numbers[0]-1], nil
	}
	return a.with(next, func(l *ledger, key *signature.PrivateKey) error { return l.list(key, l.state.inForce()) })
}

// RetireKey ends a rotation: from this configuration on, what the old key has
// signed counts no more. Members whose certificates it signed are members no
// more until they have another: ErrPending when there are some, unless force
// says to do it none the less. Other errors: ErrNotRotating unless the new key
// signs; ErrLocked, ErrBroken, those of opening the key (see Issue), and those
// of the disk.
func (a *Authority) RetireKey(force bool) error {
	return a.signing(func(l *ledger, by *signature.PrivateKey) error {
		if phase := l.state.phase(); phase != Switched {
			return fmt.Errorf("%w: it is %v", ErrNotRotating, phase)
		}
		if pending := l.state.pending(l.now()); len(pending) > 0 && !force {
			return fmt.Errorf("%w: %d members, the first is %s", ErrPending, len(pending), pending[0].Name)
		}
		return l.listSigner(by)
	})
}

// WithdrawKey takes back the introduction of a key that has not signed yet, permanently:
// for one that is lost, or that somebody else may have. Errors:
// ErrNotRotating unless a key was introduced; ErrLocked, ErrBroken, those of
// opening the key (see Issue), and those of the disk.
func (a *Authority) WithdrawKey() error {
	return a.signing(func(l *ledger, by *signature.PrivateKey) error {
		if phase := l.state.phase(); phase != Introduced {
			return fmt.Errorf("%w: it is %v", ErrNotRotating, phase)
		}
		return l.listSigner(by)
	})
}

// listSigner signs the configuration anew, with the signer's key only in force.
func (l *ledger) listSigner(by *signature.PrivateKey) error {
	return l.list(by, [][envelope.KeyIDSize]byte{l.state.signer().ID()})
}

// chain are the keys in force and those that vouch for them, each behind the one
// that vouches for it: what others need to verify them.
func (s *state) chain() []group.Authority {
	needed := s.inForce()
	var chain []group.Authority
	for i, a := range slices.Backward(s.authorities) {
		if i == 0 || slices.Contains(needed, a.ID()) {
			needed = append(needed, a.Voucher())
			chain = append(chain, a)
		}
	}
	slices.Reverse(chain)
	return chain
}
