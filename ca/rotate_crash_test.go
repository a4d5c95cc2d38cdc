package ca

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/crypto/signature"
	"github.com/wandertoken/wander/node/store/faultfs"
	"github.com/wandertoken/wander/protocol/certificate"
	"github.com/wandertoken/wander/protocol/group"
)

// turning is a life of an authority with a rotation in it, and how far it got.
type turning struct {
	acknowledged
	steps int            // of the rotation, that were acknowledged
	seen  []*group.Group // what was published before each of them
}

// rotationSteps are those of a rotation.
var rotationSteps = []func(*Authority) error{
	func(a *Authority) error { return a.IntroduceKey(0) },
	(*Authority).SwitchKey,
	func(a *Authority) error { return a.RetireKey(true) },
}

func (l *turning) live(t *testing.T, d *faultfs.FS, crashAt int) error {
	a := create(t, faultDisk{d})
	require.NoError(t, l.setConfig(a, settings("ftp")))
	require.NoError(t, l.issue(a, "a", 2))
	d.CrashAt(d.Ops() + crashAt)
	for i, step := range rotationSteps {
		g, _ := published(t, faultDisk{d})
		l.seen = append(l.seen, g)
		if err := step(a); err != nil {
			return err
		}
		l.steps++
		if err := l.issue(a, string(rune('b'+i)), byte(3+i)); err != nil {
			return err
		}
	}
	return nil
}

// resume goes on from where the authority says it is, if need be with the
// completion of a first step that is half done.
func resume(t *testing.T, a *Authority, complete bool) {
	t.Helper()
	if complete && a.ledger.state.isUnlisted() {
		require.NoError(t, a.IntroduceKey(0))
		require.ErrorIs(t, a.IntroduceKey(0), ErrRotating)
	}
	for range len(rotationSteps) {
		r := standing(t, a)
		if r.Phase == Settled && len(r.Keys) == 2 && r.Keys[1].Use == Signs {
			return
		}
		require.NoError(t, rotationSteps[r.Phase](a))
	}
}

// done is how many steps a rotation has behind it.
func done(r Rotation) int {
	if r.Phase == Settled && len(r.Keys) > 1 {
		return len(rotationSteps)
	}
	return int(r.Phase)
}

// TestRotation_CrashAtEveryOperation_Survives: what was acknowledged has
// happened, one step more at most; whoever followed up to any step follows to
// the end; and there is a private key for everything that is to be signed.
func TestRotation_CrashAtEveryOperation_Survives(t *testing.T) {
	for _, name := range []string{"power loss", "kill"} {
		crash := crashes[name]
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				disk := faultfs.New(uint64(n))
				var life turning
				err := life.live(t, disk, n)
				if !disk.Crashed() {
					require.NoError(t, err)
					require.Greater(t, n, 70, "operations")
					return
				}
				require.ErrorIs(t, err, faultfs.ErrCrashed)
				life.checkRotation(t, faultDisk{crash(disk)}, name == "kill")
			}
		})
	}
}

func (l *turning) checkRotation(t *testing.T, d faultDisk, complete bool) {
	t.Helper()
	a := reopen(t, d)
	found := done(standing(t, a))
	require.GreaterOrEqual(t, found, l.steps)
	require.LessOrEqual(t, found, l.steps+1)
	l.follow(t, d, a)
	resume(t, a, complete)
	require.Equal(t, []Use{Retired, Signs}, uses(standing(t, a)))
	l.follow(t, d, a)
	require.NoError(t, l.issue(a, "later", 9))
	listing, err := reopen(t, d).List()
	require.NoError(t, err)
	serials := map[uint64]bool{}
	for _, r := range listing.Records {
		require.False(t, serials[r.Serial], "a serial is never issued twice")
		serials[r.Serial] = true
	}
	for serial := range l.serials {
		require.True(t, serials[serial])
	}
}

// follow: everybody who knew what was published once can go on from there.
func (l *turning) follow(t *testing.T, d faultDisk, a *Authority) {
	t.Helper()
	g, _ := published(t, d)
	require.Equal(t, a.Config().Raw(), g.Config().Raw())
	require.NoError(t, a.signing(func(_ *ledger, key *signature.PrivateKey) error {
		require.NotNil(t, g.Key(certificate.AuthorityID(key.Public())))
		return nil
	}))
	for _, before := range l.seen {
		if before.Config().Version() == g.Config().Version() {
			continue
		}
		after, err := before.Update(g.Config().Raw(), g.Vouchers())
		require.NoError(t, err)
		require.Equal(t, g.Config().Settings().Authorities, after.Config().Settings().Authorities)
	}
}
