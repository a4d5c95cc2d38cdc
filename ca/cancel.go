package ca

import (
	"fmt"
	"slices"
	"time"

	"github.com/wandertoken/wander/protocol/ident"
)

// unused reports whether nobody has used an invite, and nobody has taken it back.
func (i *Invite) unused() bool { return i.Member.IsZero() && i.Cancelled.IsZero() }

// Open reports whether an invite still lets somebody in at a time.
func (i *Invite) Open(at time.Time) bool { return i.unused() && at.Before(i.Expires) }

// Cancel takes back the open invite with this id, or all those for this name, and
// returns them. Once more, it does nothing. It signs nothing, so the private key
// is not needed. Errors: ErrNoInvite, ErrInviteUsed for the id of one that let
// somebody in, ErrLocked, ErrBroken, and those of the disk.
func (a *Authority) Cancel(target string) ([]Invite, error) {
	var ended []Invite
	err := a.locked(func(l *ledger) error {
		list, err := l.state.invites.of(target)
		if err == nil {
			ended, err = l.cancel(list)
		}
		return err
	})
	return ended, err
}

// of is the invite with an id, or those for a name.
func (v *invites) of(target string) ([]*Invite, error) {
	var id InviteID
	if id.UnmarshalText([]byte(target)) == nil && v.byID[id] != nil {
		i := v.byID[id]
		if !i.Member.IsZero() {
			return nil, fmt.Errorf("%w: %v (%s), by member %v", ErrInviteUsed, id, i.Name, i.Member)
		}
		return []*Invite{i}, nil
	}
	list := v.named(target)
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: %q", ErrNoInvite, target)
	}
	return list, nil
}

// named lists the invites for some names, in the order in which they were
// made.
func (v *invites) named(names ...string) []*Invite {
	var list []*Invite
	for _, i := range v.list {
		if slices.Contains(names, i.Name) {
			list = append(list, i)
		}
	}
	return list
}

// cancel takes back those of some invites that are open, one line of the log
// each: a crash in between leaves the rest to the next try.
func (l *ledger) cancel(list []*Invite) ([]Invite, error) {
	var ended []Invite
	now := l.now()
	for _, i := range list {
		if !i.Open(now) {
			continue
		}
		if err := l.record(entry{Time: now, Event: cancelled, Name: i.Name, Invite: &i.ID}); err != nil {
			return ended, err
		}
		ended = append(ended, *i)
	}
	return ended, nil
}

// namesOf lists the names that a member has had.
func (s *state) namesOf(m ident.Member) []string {
	var names []string
	for _, r := range s.records {
		if r.Member == m && !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return names
}

// takeCancel takes in that an invite was taken back.
func (v *invites) takeCancel(e entry) error {
	if e.Invite == nil {
		return errLine
	}
	i := v.byID[*e.Invite]
	if i == nil || !i.unused() {
		return errSequence
	}
	i.Cancelled = e.Time
	return nil
}
