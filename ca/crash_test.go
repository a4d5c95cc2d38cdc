package ca

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/node/store/faultfs"
)

// crashes are the ways to end.
var crashes = map[string]func(*faultfs.FS) *faultfs.FS{
	"power loss": (*faultfs.FS).PowerLoss,
	"kill":       (*faultfs.FS).Kill,
	"kill, then power loss": func(f *faultfs.FS) *faultfs.FS {
		return f.Kill().PowerLoss()
	},
}

func TestAuthority_CrashAtEveryOperation_Survives(t *testing.T) {
	for name, crash := range crashes {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(2) {
				n := 1
				for ; ; n++ {
					disk := faultfs.New(seed<<16 + uint64(n))
					disk.CrashAt(n)
					var done acknowledged
					err := work(faultDisk{disk}, &done, wholeLife)
					if !disk.Crashed() {
						require.NoError(t, err)
						break
					}
					require.ErrorIs(t, err, faultfs.ErrCrashed)
					done.check(t, faultDisk{crash(disk)})
				}
				require.Greater(t, n, 80, "operations")
			}
		})
	}
}

// TestAuthority_KillThenPowerLoss_SameState: it must not build on
// what the killed process wrote and did not sync.
func TestAuthority_KillThenPowerLoss_SameState(t *testing.T) {
	for n := 1; ; n++ {
		disk := faultfs.New(uint64(n))
		disk.CrashAt(n)
		var done acknowledged
		err := work(faultDisk{disk}, &done, wholeLife)
		if !disk.Crashed() {
			require.NoError(t, err)
			return
		}
		disk = disk.Kill()
		a, err := Open(testDir, options(faultDisk{disk}))
		if errors.Is(err, ErrNoAuthority) {
			continue
		}
		require.NoError(t, err)
		shown, err := a.List()
		require.NoError(t, err)
		after, err := reopen(t, faultDisk{disk.PowerLoss()}).List()
		require.NoError(t, err)
		require.Equal(t, shown.Records, after.Records)
		require.Equal(t, shown.Revoked, after.Revoked)
		require.Equal(t, shown.Config.Version(), after.Config.Version())
	}
}

// TestAuthority_CrashDuringRecovery_Survives crashes once more at every
// operation of the recovery from every crash.
func TestAuthority_CrashDuringRecovery_Survives(t *testing.T) {
	const everyKind = 7 // steps, of which each kind is one
	for n := 1; ; n++ {
		for m := 1; ; m++ {
			disk := faultfs.New(uint64(n))
			disk.CrashAt(n)
			var done acknowledged
			err := work(faultDisk{disk}, &done, everyKind)
			if !disk.Crashed() {
				require.NoError(t, err)
				return
			}
			disk = disk.Kill()
			disk.CrashAt(m)
			if _, err = Open(testDir, options(faultDisk{disk})); errors.Is(err, ErrNoAuthority) {
				_, err = Create(testDir, CreateOptions{Options: options(faultDisk{disk}), Name: "demo"})
			}
			if !disk.Crashed() {
				require.NoError(t, err)
				break
			}
			done.check(t, faultDisk{disk.PowerLoss()})
		}
	}
}

func TestAuthority_WriteFails_BrokenUntilReopened(t *testing.T) {
	full := errors.New("no space left")
	for n := 1; ; n++ {
		a, d := fresh(t)
		d.FailAt(d.Ops()+n, full)
		_, err := a.Issue(Request{Name: "a", Key: keyOf(2)})
		if err == nil {
			require.Greater(t, n, 10)
			return
		}
		require.ErrorIs(t, err, full)
		if _, err = a.Issue(Request{Name: "b", Key: keyOf(3)}); err != nil {
			require.ErrorIs(t, err, ErrBroken)
		}
		b := reopen(t, d)
		issue(t, b, "c", 4)
		l, err := b.List()
		require.NoError(t, err)
		checkFiles(t, d, l)
		_, err = Open(testDir, options(d))
		require.NoError(t, err)
	}
}

func TestAuthority_ReadFails_Broken(t *testing.T) {
	full := errors.New("no space left")
	for n := 1; ; n++ {
		a, d := fresh(t)
		issue(t, reopen(t, d), "a", 2)
		require.NoError(t, d.Remove(a.ledger.folder.name(GroupFile)))
		d.FailAt(d.Ops()+n, full)
		_, err := a.List()
		if err == nil {
			require.Greater(t, n, 4)
			return
		}
		require.ErrorIs(t, err, full)
		_, err = a.List()
		require.ErrorIs(t, err, ErrBroken)
		l, err := reopen(t, d).List()
		require.NoError(t, err)
		checkFiles(t, d, l)
	}
}
