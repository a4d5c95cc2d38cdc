package ca

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/protocol/group"
)

// SetConfig signs a configuration, as the version that follows the one that
// holds. Version and Issued are set here; a Name that is empty, the group's
// own, and everything else that is zero and has a default, too; resources may
// come in any order. Errors: those of group.Settings.Validate, ErrUnchanged,
// ErrLocked, ErrBroken, those of opening the key (see Issue), and those of the
// disk.
func (a *Authority) SetConfig(s group.Settings) (group.Config, error) {
	s.Name = cmp.Or(s.Name, a.Certificate().Statement().Name)
	s = s.WithDefaults()
	slices.SortFunc(s.Resources, func(x, y group.Resource) int { return cmp.Compare(x.Name, y.Name) })
	s.Version, s.Issued = 1, a.options.now()
	if err := s.Validate(); err != nil {
		return group.Config{}, err
	}
	var signed group.Config
	err := a.signing(func(key *signature.PrivateKey) error {
		if same(a.state.config, s) {
			return ErrUnchanged
		}
		var err error
		s.Version, s.Issued = a.state.config.Version()+1, a.options.now()
		signed, err = s.Sign(a.state.group(), key)
		if err != nil {
			return err
		}
		return a.record(entry{
			Time: signed.Settings().Issued, Event: configured, Number: s.Version, Name: s.Name, Object: signed.Raw(),
		})
	})
	if err != nil {
		return group.Config{}, err
	}
	return signed, nil
}

// same reports whether a configuration says what s says.
func same(c group.Config, s group.Settings) bool {
	holds := c.Settings()
	s.Version, s.Issued = holds.Version, holds.Issued
	return !c.IsZero() && reflect.DeepEqual(holds, s)
}
