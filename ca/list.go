package ca

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// Listing is what an authority has signed.
type Listing struct {
	Authority         group.Authority // the one that signs
	Keys              []Key           // every CA key there was, by number
	Config            group.Config    // zero before the first one
	RevocationVersion uint64
	Records           []Record   // every certificate, by serial
	Revoked           []Revoked  // every revocation, by version
	Left              []Left     // every leave, in the order in which they came
	Invites           []Invite   // every invite, in the order in which they were made
	Evidence          []Evidence // all that was taken in, in the order in which it came
}

// List lists what the authority, and other processes with it, have signed.
// Errors: ErrLocked, ErrBroken, ErrDamaged, and those of the disk.
func (a *Authority) List() (Listing, error) {
	var all Listing
	err := a.locked(func(l *ledger) error {
		s := l.state
		all = Listing{Authority: s.signer(), Keys: s.keys(), Config: s.config, RevocationVersion: s.revocationVersion(), Records: slices.Clone(s.records)}
		for i := range all.Records {
			if dead := s.dead[all.Records[i].Member]; dead != nil {
				copied := *dead
				all.Records[i].Revoked = &copied
			}
			if gone := s.left[all.Records[i].Member]; gone != nil {
				copied := *gone
				all.Records[i].Left = &copied
			}
		}
		for _, r := range s.revocations {
			all.Revoked = append(all.Revoked, r.Revoked)
		}
		for _, gone := range s.leaves {
			all.Left = append(all.Left, *gone)
		}
		for _, i := range s.invites.list {
			all.Invites = append(all.Invites, *i)
		}
		for _, e := range s.proofs {
			all.Evidence = append(all.Evidence, *e)
		}
		return nil
	})
	return all, err
}

// Find is the member that target names: the name in a certificate, or a member
// id. Of several members with one name it is the only living one with a
// certificate that has not expired, or the last of them. Errors: ErrUnknown,
// ErrAmbiguous, and those of List.
func (a *Authority) Find(target string) (ident.Member, error) {
	var found ident.Member
	err := a.locked(func(l *ledger) error {
		var err error
		found, err = l.state.find(target, l.now())
		return err
	})
	return found, err
}

// find is Find as of a time.
func (s *state) find(target string, now time.Time) (ident.Member, error) {
	serials := s.byName[target]
	if len(serials) == 0 {
		return parseMember(target)
	}
	switch living := s.named(target, now); len(living) {
	case 0:
		return s.records[serials[len(serials)-1]].Member, nil
	case 1:
		return living[0], nil
	default:
		var ids []string
		for _, m := range living {
			ids = append(ids, m.String())
		}
		return ident.Member{}, fmt.Errorf("%w: %s is %s", ErrAmbiguous, target, strings.Join(ids, ", "))
	}
}

func parseMember(target string) (ident.Member, error) {
	raw, err := hex.DecodeString(target)
	if err != nil || len(raw) != ident.MemberSize {
		return ident.Member{}, fmt.Errorf("%w: %q", ErrUnknown, target)
	}
	return ident.Member(raw), nil
}

// FindSerial is the member whose certificate has this serial number. Errors:
// ErrUnknown, and those of List.
func (a *Authority) FindSerial(serial uint64) (ident.Member, error) {
	var found ident.Member
	err := a.locked(func(l *ledger) error {
		for _, r := range l.state.records {
			if r.Serial == serial {
				found = r.Member
				return nil
			}
		}
		return fmt.Errorf("%w: serial number %d", ErrUnknown, serial)
	})
	return found, err
}
