package ca

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/wandertoken/wander/crypto/envelope"
	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
)

// floorMargin is how much longer than its certificates can be valid a revocation
// is kept: a member's clock may be slow by that.
const floorMargin = 7 * 24 * time.Hour

// SetConfig signs a configuration, as the version that follows the one that
// holds. Version, Issued, Authorities and RevocationFloor are set here; a Name
// that is empty, the group's own, and everything else that is zero and has a
// default, too; resources may come in any order. Errors: those of group.Settings.Validate, ErrNotGate, ErrUnchanged,
// ErrLocked, ErrBroken, those of opening the key (see Issue), and those of the
// disk.
func (a *Authority) SetConfig(s group.Settings) (signed group.Config, err error) {
	if s, err = a.complete(s); err != nil {
		return group.Config{}, err
	}
	err = a.signing(func(l *ledger, key *signature.PrivateKey) (err error) {
		if err = l.state.checkConfig(&s); err == nil {
			signed, err = l.configure(s, key)
		}
		return err
	})
	return signed, err
}

// CheckConfig returns the error that SetConfig would return for these settings, but for those of the key and the size of what is
// signed. It signs nothing.
func (a *Authority) CheckConfig(s group.Settings) (err error) {
	if s, err = a.complete(s); err != nil {
		return err
	}
	return a.locked(func(l *ledger) error { return l.state.checkConfig(&s) })
}

// complete gives settings what they leave out, and validates them.
func (a *Authority) complete(s group.Settings) (group.Settings, error) {
	s.Name = cmp.Or(s.Name, a.Certificate().Body().Name)
	s = s.WithDefaults()
	slices.SortFunc(s.Resources, func(x, y group.Resource) int { return cmp.Compare(x.Name, y.Name) })
	s.Version, s.Issued = 1, a.ledger.now()
	return s, s.Validate()
}

// checkConfig gives settings the authority's keys, and returns ErrUnchanged or ErrNotGate if they are not to be signed.
func (s *state) checkConfig(c *group.Settings) error {
	c.Authorities = s.inForce()
	if same(s.config, *c) {
		return ErrUnchanged
	}
	return s.checkGates(c.Resources)
}

// checkGates returns ErrNotGate if a resource names a gate that has no certificate of one, or no longer counts. One
// that has only expired is a gate still: it renews when it is back.
func (s *state) checkGates(resources []group.Resource) error {
	for _, r := range resources {
		if r.Gate.IsZero() {
			continue
		}
		newest, known := s.lastOf(r.Gate.Member)
		reason := s.final(r.Gate.Member)
		switch {
		case reason != nil:
			return fmt.Errorf("resource %q: gate: %w: %w", r.Name, ErrNotGate, reason)
		case !known:
			return fmt.Errorf("resource %q: gate: %w: %v has no certificate of this authority", r.Name, ErrNotGate, r.Gate.Member)
		case newest.Role != certificate.GateRole:
			return fmt.Errorf("resource %q: gate: %w: %v is %v %s", r.Name, ErrNotGate, r.Gate.Member, newest.Role, newest.Name)
		}
	}
	return nil
}

// configure signs settings as the next version.
func (l *ledger) configure(s group.Settings, key *signature.PrivateKey) (group.Config, error) {
	s.Version, s.Issued = l.state.config.Version()+1, l.now()
	s.RevocationFloor = l.state.floor(s, s.Issued)
	signed, err := s.Sign(l.state.group(), key)
	if err != nil {
		return group.Config{}, err
	}
	return signed, l.record(entry{
		Time: s.Issued, Event: configured, Number: s.Version, Name: s.Name, Object: signed.Raw(),
	})
}

// inForce are the ids of the CA keys that count: those that the configuration
// lists, and those that the next one is to list.
func (s *state) inForce() [][envelope.KeyIDSize]byte {
	var ids [][envelope.KeyIDSize]byte
	listed := s.config.Settings().Authorities
	for _, a := range s.authorities {
		if slices.Contains(listed, a.ID()) || s.config.IsZero() || a.Body().Version > s.config.Version() {
			ids = append(ids, a.ID())
		}
	}
	return ids
}

// floor is the version up to which revocations may be forgotten under some new
// settings: the last of those in a row that are over. It never goes back.
func (s *state) floor(settings group.Settings, now time.Time) uint64 {
	floor := s.config.Settings().RevocationFloor
	lifetime := max(settings.CertificateLifetime, s.config.Settings().CertificateLifetime)
	for _, r := range s.revocations[min(floor, s.revocationVersion()):] {
		end := r.Time.Add(lifetime)
		if newest, known := s.lastOf(r.Member); known {
			end = later(end, newest.NotAfter)
		}
		inForce := slices.Contains(settings.Authorities, r.signer)
		if inForce && !now.After(end.Add(floorMargin)) {
			break
		}
		floor = r.Version
	}
	return floor
}

// same reports whether a configuration says what s says. That more revocations
// could be forgotten is no reason for another one.
func same(c group.Config, s group.Settings) bool {
	holds := c.Settings()
	s.Version, s.Issued, s.RevocationFloor = holds.Version, holds.Issued, holds.RevocationFloor
	return !c.IsZero() && reflect.DeepEqual(holds, s)
}
