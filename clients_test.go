package wander_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander"
	"github.com/wandertoken/wander/internal/await"
)

// program is a program of another language that asks a daemon.
func (d *alone) program(t *testing.T, language, text string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath(language)
	if err != nil {
		t.Skip(language + " is not installed")
	}
	file := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	c := exec.Command(path, file)
	here, err := os.Getwd()
	require.NoError(t, err)
	c.Env = append(os.Environ(), "WANDER_SOCKET="+d.socket, "PYTHONPATH="+here+"/clients/python", "PYTHONDONTWRITEBYTECODE=1", "CLIENTS="+here+"/clients")
	return c
}

// says runs such a program, and returns what it prints.
func (d *alone) says(t *testing.T, language, text string) string {
	t.Helper()
	out, err := d.program(t, language, text).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return strings.TrimSpace(string(out))
}

func TestPython_RunningDaemon(t *testing.T) {
	d := newAlone(t)
	assert.Equal(t, "done", d.says(t, "python3", `
import os, time, wander

with wander.hold("tape", wait=60, label="a test") as first:
    assert first.resource == "tape" and first.member == "alone" and first.left() > 60, vars(first)
    first.check()
    assert wander.status()["resources"][0]["slots"][0]["executing"]
    try:
        wander.hold("tape", wait=0).acquire()
        raise SystemExit("two at once")
    except wander.NotGranted:
        pass
    os.environ["WANDER_HELD"] = "tape=" + first.id
    try:
        wander.hold("tape").acquire()
        raise SystemExit("it waits for itself")
    except wander.Held:
        del os.environ["WANDER_HELD"]

try:
    with wander.hold("tape") as second:
        assert second.fence >= first.fence
        raise KeyError("of the block")
except KeyError:
    pass

again = wander.hold("tape").acquire()
again.release()
again.release()

grants = [wander.hold("tape") for _ in range(4)]
for turn in grants:
    grant = turn.acquire()
    grant.release()
assert 0 < grant.return_s <= grant.return_p95_s < 600, (grant.return_s, grant.return_p95_s)
assert first.return_s is None and first.return_p95_s is None

try:
    with wander.hold("tape", max_hold=0.2) as short:
        while short.left() > 0:
            time.sleep(0.01)
    raise SystemExit("after the deadline")
except wander.Lost:
    pass

try:
    with wander.hold("tape", once_per=3600):
        raise SystemExit("it ran a moment ago")
except wander.NotDue:
    pass
try:
    wander.hold("tap").acquire()
    raise SystemExit("no such resource")
except wander.Refused as e:
    assert "not in the group configuration" in str(e) and e.code == "refused", e
try:
    wander.hold("tape", path=os.environ["WANDER_SOCKET"] + "x").acquire()
    raise SystemExit("no daemon")
except wander.Unavailable:
    pass

assert wander._seconds("2026-11-29T10:00:00.123456789Z") == 1795946400.123456789
assert wander._seconds("2026-11-29T10:00:00+01:00") == 1795942800
assert [m["name"] for m in wander.members()] == ["alone"]
print("done")
`))
}

// The thread that listens hears that the daemon stops.
func TestPython_DaemonStops_Lost(t *testing.T) {
	d := newAlone(t)
	held, err := wander.Dial(d.socket).Acquire(t.Context(), "tape")
	require.NoError(t, err)
	c := d.program(t, "python3", `
import os, time, wander
grant = wander.hold("tape").acquire()
open(os.environ["WANDER_SOCKET"] + ".held", "w").close()
while not grant.lost:
    time.sleep(0.01)
print(grant.lost)
try:
    grant.check()
except wander.Lost:
    print("over")
`)
	type end struct {
		out []byte
		err error
	}
	ended := make(chan end, 1)
	go func() {
		out, err := c.CombinedOutput()
		ended <- end{out, err}
	}()
	require.NoError(t, held.Release())
	await.Until(t, "the grant", func() bool {
		_, err := os.Stat(d.socket + ".held")
		return err == nil || len(ended) > 0
	})
	var e end
	d.stopWhen(func() { e = await.Next(t, "its end", ended) })
	require.NoError(t, e.err, "%s", e.out)
	assert.Equal(t, "stopped\nover\n", string(e.out))
	d.start()
}

func TestShell_RunningDaemon(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	d := newAlone(t)
	const text = `
set -eu
. "$CLIENTS/shell/wander.sh"
wander_acquire tape 60
test -n "$WANDER_GRANT" && test "$WANDER_FENCE" -gt 0 && test -n "$WANDER_DEADLINE"
first=$WANDER_FENCE
if (wander_acquire tape 0); then exit 1; else test $? = 75; fi
wander_release
wander_release
wander_acquire tape
test "$WANDER_FENCE" -ge "$first"
wander_release
for turn in 1 2 3; do wander_acquire tape; wander_release; done
case $WANDER_RETURN_S,$WANDER_RETURN_P95_S in [0-9]*,[0-9]*) echo told ;; esac
if wander_acquire tap; then exit 1; else test $? = 69; fi
if WANDER_SOCKET=/nowhere wander_acquire tape; then exit 1; else test $? = 69; fi
test -z "$(jobs)"
echo done
`
	for _, shell := range []string{"sh", "bash"} {
		out := d.says(t, shell, text)
		assert.True(t, strings.HasSuffix(out, "done"), out)
		assert.Contains(t, out, "tape: not granted in time")
		assert.Contains(t, out, "told\n", "when the next turn is expected")
		assert.Contains(t, out, "tap: refused by the configuration: resource is not in the group configuration")
	}
}
