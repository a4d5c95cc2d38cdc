package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/gate/driver"
	"github.com/wandertoken/wander/gate/gatetest"
	"github.com/wandertoken/wander/internal/await"
	core "github.com/wandertoken/wander/protocol/gate"
	"github.com/wandertoken/wander/protocol/group"
	"github.com/wandertoken/wander/protocol/ident"
)

// A gate stops at the second signal, also if a hook cannot be killed.
func TestServeGate_HookNeverEnds_SecondSignalStops(t *testing.T) {
	t.Parallel()
	w := gatetest.New(t, 1, nil)
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	floor := uint64(0)
	hangs, release := make(chan struct{}, 1), make(chan struct{})
	g, err := driver.Open(context.Background(), driver.Config{
		Dir: t.TempDir(), Resource: gatetest.Resource, Target: driver.Target{Network: "tcp", Address: "127.0.0.1:1"}, Group: w.Group,
		Certificate: w.Gate.Certificate, Key: w.Gate.Key, Conn: conn, Floor: &floor,
		CloseHook: func(context.Context, driver.Call) core.Result {
			hangs <- struct{}{}
			<-release
			return core.Failed
		},
	})
	require.NoError(t, err)
	await.Next(t, "the close hook of the first start", hangs)
	stop := make(chan os.Signal, 2)
	stop <- os.Interrupt
	stop <- os.Interrupt
	assert.Error(t, serveGate(g, stop, slog.New(slog.DiscardHandler)))
	close(release)
	await.Next(t, "the end of the gate", g.Done())
}

// A gate that has fetched its configuration keeps the revocations of its group file.
func TestCatchUp_GroupFileRevokes_Kept(t *testing.T) {
	w := gatetest.New(t, 2, nil)
	h := gateHome{groups: filepath.Join(t.TempDir(), "group.crt")}
	first, second := w.Revoke(w.Members[0].ID()), w.Revoke(w.Members[1].ID())
	cfg := driver.Config{
		Group: w.Newer(func(x *group.Settings) { x.Resources[0].Gate = group.Gate{} }), Extra: group.Extra{Revocations: [][]byte{first}},
		Certificate: w.Gate.Certificate,
		Sync: func(context.Context, *group.Group, uint64) (driver.News, error) {
			return driver.News{Group: w.Newer(func(x *group.Settings) { x.Version++ }), Revocations: [][]byte{second}}, nil
		},
	}
	h.catchUp(&cfg, slog.New(slog.DiscardHandler))
	_, extra, err := cli.ReadGroup(h.groups)
	require.NoError(t, err)
	assert.Equal(t, [][]byte{first, second}, extra.Revocations)
}

func TestGateTargets_EachForm(t *testing.T) {
	sql, files, plain := driver.Target{Network: "unix", Address: "/run/s=1"}, driver.Target{Network: "tcp", Address: "localhost:873"}, driver.Target{Network: "unix", Address: "/run/s"}
	for text, c := range map[string]struct {
		plain driver.Target
		named map[string]driver.Target
	}{
		"unix:/run/s":                           {plain: plain},
		"unix:/run/s=1":                         {plain: sql}, // a path may have it, too
		"sql=unix:/run/s=1 files=localhost:873": {named: map[string]driver.Target{"sql": sql, "files": files}},
		"files=localhost:873 unix:/run/s":       {plain: plain, named: map[string]driver.Target{"files": files}},
	} {
		var cfg driver.Config
		for _, one := range strings.Fields(text) {
			require.NoError(t, addTarget(&cfg, one), text)
		}
		assert.Equal(t, c.plain, cfg.Target, text)
		assert.Equal(t, c.named, cfg.Targets, text)
	}
	for _, text := range []string{"sql", "sql=", "sql=unix:", "S=localhost:1", "=localhost:1", "a:1 b:1", "x=a:1 x=b:1"} {
		var cfg driver.Config
		var err error
		for _, one := range strings.Fields(text) {
			if err == nil {
				err = addTarget(&cfg, one)
			}
		}
		assert.Error(t, err, text)
	}
	for text, hint := range map[string]string{
		"/run/s": "for a Unix socket: --target unix:/run/s", "sql=/run/s": "for a Unix socket: --target sql=unix:/run/s",
		"localhost": "name its port: --target localhost:PORT", "files=localhost": "name its port: --target files=localhost:PORT", "sql=unix:": "", "": "",
	} {
		var cfg driver.Config
		var bad *cli.Error
		require.ErrorAs(t, addTarget(&cfg, text), &bad, text)
		assert.Equal(t, hint, bad.Hint, text)
	}
}

// A gate says which of its folders others can use.
func TestGateHome_OpenFolders_Named(t *testing.T) {
	h := gateHome{dir: filepath.Join(t.TempDir(), "g")}
	for _, c := range []struct {
		home, state os.FileMode
		names       []string
	}{
		{0o755, 0o700, nil}, {0o700, 0o700, nil}, {0o775, 0o700, []string{h.dir}}, {0o757, 0o700, []string{h.dir}},
		{0o755, 0o750, []string{h.state()}}, {0o777, 0o755, []string{h.dir, h.state()}},
	} {
		require.NoError(t, os.MkdirAll(h.state(), 0o700))
		require.NoError(t, os.Chmod(h.dir, c.home))
		require.NoError(t, os.Chmod(h.state(), c.state))
		var names []string
		for _, f := range h.openFolders() {
			names = append(names, f.name)
			assert.Contains(t, f.hint, f.name)
		}
		assert.Equal(t, c.names, names, "%o %o", c.home, c.state)
	}
}

// A key that this user may not read is no riddle.
func TestPermissionHint_OfAnotherUser_SaysWho(t *testing.T) {
	hint := permissionHint(&os.PathError{Op: "open", Path: "g/member.key", Err: os.ErrPermission}, "g")
	assert.Regexp(t, `^the gate runs as (\S+), which may not use the files: .* chown -R \S+ g$`, hint)
	assert.Empty(t, permissionHint(os.ErrNotExist, "g"))
}

// The status of a slot has the reason, the time and the member's name.
func TestGateStatus_Slot_SaysWhyAndUntil(t *testing.T) {
	id, at := ident.Member{0x5c, 0x3e}, time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	session := driver.SlotStatus{State: "OPEN", Session: 7, Member: &id, Name: "anna", Until: &at}
	closing := session
	closing.State, closing.Closing = "CLOSING", &driver.ClosingStatus{Why: "deadline", AtMost: at}
	for text, s := range map[string]driver.SlotStatus{
		"IDLE": {State: "IDLE"},
		"OPEN, session 7 of anna (" + id.Short() + ") until 2026-01-02 03:04:05":                          {State: "OPEN", Session: 7, Member: &id, Name: "anna", Until: &at},
		"CLOSING (deadline): close has until 2026-01-02 03:04:05, session 7 of anna (" + id.Short() + ")": closing,
		"CLOSING (restart): nothing opens before 2026-01-02 03:04:05":                                     {State: "CLOSING", Closing: &driver.ClosingStatus{Why: "restart", Settles: true, AtMost: at}},
		"STUCK, session 7 of unknown (" + id.Short() + ") until 2026-01-02 03:04:05, alarm: stuck":        {State: "STUCK", Session: 7, Member: &id, Until: &at, Alarm: "stuck"},
	} {
		assert.Equal(t, text, slotText(s))
	}
	var out strings.Builder
	printGateStatus(&out, driver.Status{Slots: []driver.SlotStatus{{State: "STUCK", HookSaid: "close: psql:\tno"}}})
	assert.Contains(t, out.String(), "slot 0      STUCK\n            hook close: psql: no\n")
	assert.NotContains(t, out.String(), "warning")
	printGateStatus(&out, driver.Status{Counts: map[string]uint64{"target_failures": 2}})
	assert.Contains(t, out.String(), "warning     the resource could not be reached 2 times since the start: ")
}

// A gate for a resource that has none says what to do; a name that is misspelt is that first.
func TestOpenFailure_NoGateForTheResource_SaysWhatToDo(t *testing.T) {
	w := gatetest.New(t, 1, nil)
	for resource, hint := range map[string]string{
		"taep": `did you mean "tape"?`, "ftp": "the group has tape", gatetest.Resource: fmt.Sprintf("give the resource gate = %q and its gate_address", w.Gate.ID()),
	} {
		var bad *cli.Error
		require.ErrorAs(t, openFailure(driver.ErrResource, driver.Config{Resource: resource, Group: w.Group, Certificate: w.Gate.Certificate}), &bad)
		assert.Equal(t, cli.ExitConfiguration, bad.Code)
		assert.Contains(t, bad.Hint, hint, resource)
	}
	var bad *cli.Error
	require.ErrorAs(t, openFailure(core.ErrFloor, driver.Config{}), &bad)
	assert.Contains(t, bad.Hint, "--floor")
}

// A target that is misspelt shows at the start, as far as the gate can see it without a connection.
func TestMissingSocket_EachTarget(t *testing.T) {
	dir, err := os.MkdirTemp("", "wander") // short, for a socket
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	require.NoError(t, err)
	defer l.Close()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o600))
	for target, missing := range map[string]bool{
		"unix:" + dir + "/s": false, "sql=unix:" + dir + "/s": false, "localhost:1": false, "files=localhost:1": false, "unix:@abstract": false,
		"unix:" + dir + "/S": true, "sql=unix:" + dir + "/S": true, "unix:" + dir + "/f": true,
	} {
		assert.Equal(t, missing, missingSocket(target) != nil, target)
	}
}

// A gate that is not there has no address of the web.
func TestGateStatus_NoGate_SaysWhichSocket(t *testing.T) {
	code, _, errs := runCommand("", "gate", "status", "--dir", filepath.Join(t.TempDir(), "g"))
	assert.Equal(t, cli.ExitUnavailable, code)
	assert.Contains(t, errs, "error: no gate answers: dial unix ")
	assert.NotContains(t, errs, "http")
	assert.Contains(t, errs, "hint: start it with wander gate")
}
