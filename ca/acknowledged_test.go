package ca

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// acknowledged is what an authority has said that it did.
type acknowledged struct {
	created bool
	config  uint64
	serials map[uint64]string // serial to name
	revoked []ident.Member
	left    []ident.Member
	invites []Invited
	used    map[InviteID]uint64 // invite to serial
	// cancelling was begun to be taken back, and has been if cancelled.
	cancelling InviteID
	cancelled  bool
	proved     []ident.Hash
}

// wholeLife is how many steps work knows.
const wholeLife = 14

// work is a life of an authority, of some steps or up to the first error.
func work(d disk, done *acknowledged, length int) error {
	a, err := Create(testDir, CreateOptions{Options: options(d), Name: "demo"})
	if err != nil {
		return err
	}
	done.created = true
	steps := []func() error{
		func() error { return done.setConfig(a, settings("ftp")) },
		func() error { return done.issue(a, "a", 2) },
		func() error { return done.issue(a, "b", 3) },
		func() error { return done.revoke(a, keyOf(2).Bytes()) },
		func() error { return done.invite(a, "c") },
		func() error { return done.redeem(a, 5) },
		func() error { return done.leave(a, 3) },
		func() error { return done.setConfig(a, settings("ftp", "backup")) },
		func() error { return done.issue(a, "a", 4) },
		func() error { return done.revoke(a, keyOf(3).Bytes()) }, // also one that has left
		func() error { return done.invite(a, "d") },
		func() error { return done.cancel(a) },
		func() error { return done.prove(a, 4) },
		func() error { return done.revokeBy(a, 4) },
	}
	for _, step := range steps[:length] {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (k *acknowledged) setConfig(a *Authority, s group.Settings) error {
	c, err := a.SetConfig(s)
	if err == nil {
		k.config = c.Version()
	}
	return err
}

func (k *acknowledged) issue(a *Authority, name string, seed byte) error {
	c, err := a.Issue(Request{Name: name, Key: keyOf(seed)})
	if err != nil {
		return err
	}
	return k.note(c, name)
}

func (k *acknowledged) note(c certificate.Certificate, name string) error {
	if k.serials == nil {
		k.serials = map[uint64]string{}
	}
	if before, used := k.serials[c.Body().Serial]; used {
		return fmt.Errorf("serial %d issued to %s and %s", c.Body().Serial, before, name)
	}
	k.serials[c.Body().Serial] = name
	return nil
}

func (k *acknowledged) revoke(a *Authority, key [32]byte) error {
	m := ident.MemberOf(a.Group(), key[:])
	_, err := a.Revoke(m, "")
	if err == nil {
		k.revoked = append(k.revoked, m)
	}
	return err
}

func (k *acknowledged) invite(a *Authority, name string) error {
	i, err := a.Invite(name, 0)
	if err == nil {
		k.invites = append(k.invites, i)
	}
	return err
}

// cancel takes back the last invite.
func (k *acknowledged) cancel(a *Authority) error {
	k.cancelling = k.invites[len(k.invites)-1].ID
	_, err := a.Cancel(k.cancelling.String())
	k.cancelled = err == nil
	return err
}

// redeem uses the last invite.
func (k *acknowledged) redeem(a *Authority, seed byte) error {
	i := k.invites[len(k.invites)-1]
	c, err := a.Redeem(i.ID, i.Secret, i.Name, keyOf(seed))
	if err != nil {
		return err
	}
	k.used = map[InviteID]uint64{i.ID: c.Body().Serial}
	return k.note(c, i.Name)
}

// prove brings evidence against the member with the key of this seed.
func (k *acknowledged) prove(a *Authority, seed byte) error {
	e, _, err := a.TakeEvidence(forkOf(a, seed, 1), ident.Member{1})
	if err == nil {
		k.proved = append(k.proved, e.ID)
	}
	return err
}

// revokeBy revokes it for the same.
func (k *acknowledged) revokeBy(a *Authority, seed byte) error {
	p, _, err := a.RevokeBy(forkOf(a, seed, 1))
	if err == nil {
		k.revoked = append(k.revoked, p.Accused)
	}
	return err
}

func (k *acknowledged) leave(a *Authority, seed byte) error {
	public := keyOf(seed).Bytes()
	m := ident.MemberOf(a.Group(), public[:])
	signed, err := certificate.Leave{Member: m}.Sign(a.Group(), privateKeyOf(seed))
	if err != nil {
		return err
	}
	if err = a.Left(signed.Raw()); err == nil {
		k.left = append(k.left, m)
	}
	return err
}

// check holds what is found after a crash against what was acknowledged, and
// uses the authority on.
func (k *acknowledged) check(t *testing.T, d disk) {
	t.Helper()
	a, err := Open(testDir, options(d))
	if !k.created && errors.Is(err, ErrNoAuthority) {
		a, err = Create(testDir, CreateOptions{Options: options(d), Name: "demo"})
	}
	require.NoError(t, err)
	l, err := a.List()
	require.NoError(t, err)
	k.checkListing(t, l)
	checkFiles(t, d, l)
	require.NoError(t, k.issue(a, "later", 9))
	again, err := reopen(t, d).List()
	require.NoError(t, err)
	require.Len(t, again.Records, len(l.Records)+1)
	k.checkInvites(t, a, again)
}

// checkInvites: an invite that was acknowledged is good once, whether its use
// was acknowledged, happened without that, or not; and the one who began to use
// it gets the same certificate, however often it asks.
func (k *acknowledged) checkInvites(t *testing.T, a *Authority, l Listing) {
	t.Helper()
	for _, i := range k.invites {
		if i.ID == k.cancelling {
			k.checkCancelled(t, a, i)
			continue
		}
		before := len(l.Records)
		for _, r := range l.Records {
			if r.Name == i.Name {
				before--
			}
		}
		first := redeem(t, a, i, 5)
		if serial, used := k.used[i.ID]; used {
			require.Equal(t, serial, first.Body().Serial)
		}
		require.Equal(t, first.Raw(), redeem(t, a, i, 5).Raw())
		_, err := a.Redeem(i.ID, i.Secret, i.Name, keyOf(6))
		require.ErrorIs(t, err, ErrRefused)
		after, err := a.List()
		require.NoError(t, err)
		require.Len(t, after.Records, before+1, "certificates for one invite")
	}
}

// checkCancelled: an invite that was taken back lets nobody in, and it is taken
// back again at will.
func (k *acknowledged) checkCancelled(t *testing.T, a *Authority, i Invited) {
	t.Helper()
	_, err := a.Cancel(i.Name)
	require.NoError(t, err)
	again, err := a.Cancel(i.Name)
	require.NoError(t, err)
	require.Empty(t, again)
	_, err = a.Redeem(i.ID, i.Secret, i.Name, keyOf(7))
	require.ErrorIs(t, err, ErrRefused)
}

// checkListing: everything acknowledged is there, and at most one operation
// that was not.
func (k *acknowledged) checkListing(t *testing.T, l Listing) {
	t.Helper()
	extra := 0
	names := map[uint64]string{}
	for _, r := range l.Records {
		require.NotContains(t, names, r.Serial)
		names[r.Serial] = r.Name
	}
	for serial, name := range k.serials {
		require.Equal(t, name, names[serial])
	}
	extra += len(l.Records) - len(k.serials)
	for i, m := range k.revoked {
		require.Equal(t, m, l.Revoked[i].Member)
	}
	extra += len(l.Revoked) - len(k.revoked)
	for i, m := range k.left {
		require.Equal(t, m, l.Left[i].Member)
	}
	extra += len(l.Left) - len(k.left)
	for i, made := range k.invites {
		require.Equal(t, InviteID(made.ID), l.Invites[i].ID)
	}
	extra += len(l.Invites) - len(k.invites)
	for i, id := range k.proved {
		require.Equal(t, id, l.Evidence[i].ID)
	}
	extra += len(l.Evidence) - len(k.proved)
	if k.cancelled {
		require.False(t, l.Invites[len(l.Invites)-1].Cancelled.IsZero())
	}
	require.GreaterOrEqual(t, l.Config.Version(), k.config)
	extra += int(l.Config.Version() - k.config)
	require.LessOrEqual(t, extra, 1)
}

// checkFiles: what is made from the log says what the log says.
func checkFiles(t *testing.T, d disk, l Listing) {
	t.Helper()
	require.Len(t, blocks(t, d, caFile), 1)
	if !l.Config.IsZero() {
		g, revocations := published(t, d)
		require.Equal(t, l.Config.Raw(), g.Config().Raw())
		require.Len(t, revocations, len(l.Revoked))
		for _, r := range l.Records {
			file := fmt.Sprintf("%s/%08d-%s.crt", issuedDir, r.Serial, r.Name)
			b := blocks(t, d, file)
			require.Len(t, b, 1, file)
			c, err := certificate.Parse(g.ID(), b[0].Bytes, g)
			require.NoError(t, err)
			require.Equal(t, r.Member, c.Member())
		}
	}
	for _, r := range l.Revoked {
		require.Len(t, blocks(t, d, fmt.Sprintf("%s/%08d-%v.rev", revokedDir, r.Version, r.Member)), 1)
	}
	for _, e := range l.Evidence {
		require.Len(t, blocks(t, d, e.File), 1)
	}
}
