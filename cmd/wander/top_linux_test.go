package main

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/api"
)

// topAt begins wander top at a terminal, and returns its end.
func topAt(t *testing.T, variables map[string]string) (keys func(string), resize func(columns uint16), seen *safeBuffer, ended chan int) {
	t.Helper()
	socket := runSocket(t)
	hesitating().listen(t, socket)
	file, looks, seen := keyboard(t, 80)
	env := &environment{Environment: cli.Environment{In: file, Out: file, Err: file, Now: time.Now, Getenv: func(name string) string { return variables[name] }}}
	ended = make(chan int, 1)
	go func() { ended <- run(env, []string{"top", "--socket", socket}) }()
	keys = func(text string) {
		_, err := looks.WriteString(text)
		require.NoError(t, err)
	}
	resize = func(columns uint16) {
		require.NoError(t, unix.IoctlSetWinsize(int(looks.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: columns}))
	}
	return keys, resize, seen, ended
}

// last is what is on the screen: all since the cursor was home last.
func last(seen *safeBuffer) string {
	text := seen.String()
	return text[max(0, strings.LastIndex(text, home)):]
}

func TestTop_Terminal_KeysAndSizes(t *testing.T) {
	t.Parallel()
	keys, resize, seen, ended := topAt(t, map[string]string{"LANG": "C.UTF-8"})
	await.Until(t, "a page", func() bool { return strings.Contains(last(seen), "token with beta, you are next [next]") })
	assert.Contains(t, seen.String(), "\x1b[1m")
	keys("/zz")
	await.Until(t, "the filter", func() bool { return strings.Contains(last(seen), "members with: zz_") })
	keys("q\r")
	await.Until(t, "the filter is set", func() bool { return strings.Contains(last(seen), "filter (zzq)") })
	keys("\x1b")
	await.Until(t, "the filter is gone", func() bool { return strings.Contains(last(seen), "/ filter  up") })
	keys("\x1b[B\x1b[C")
	resize(100)
	await.Until(t, "a wider page", func() bool {
		first, _, _ := strings.Cut(strings.TrimPrefix(last(seen), home), endLine)
		return len(first) > 90
	})
	keys("q")
	assert.Equal(t, cli.ExitOK, await.Next(t, "the end", ended))
	await.Until(t, "the screen as before", func() bool { return strings.HasSuffix(seen.String(), leaveScreen) })
}

// A daemon that hangs keeps nobody from quitting.
func TestTop_DaemonHangs_QuitsAtOnce(t *testing.T) {
	t.Parallel()
	socket := runSocket(t)
	stop := hesitating().listen(t, socket)
	file, looks, seen := keyboard(t, 80)
	env := &environment{Environment: cli.Environment{In: file, Out: file, Err: file, Now: time.Now, Getenv: func(string) string { return "" }}}
	ended := make(chan int, 1)
	go func() { ended <- run(env, []string{"top", "--socket", socket}) }()
	await.Until(t, "a page", func() bool { return strings.Contains(last(seen), "[next]") })
	stop()
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer l.Close()
	conn, err := l.Accept()
	require.NoError(t, err)
	defer conn.Close()
	asked := time.Now()
	_, err = looks.WriteString("q")
	require.NoError(t, err)
	assert.Equal(t, cli.ExitOK, await.Next(t, "the end", ended))
	assert.Less(t, time.Since(asked), daemonPatience/2)
}

func TestTop_NoColor_NoStyles(t *testing.T) {
	t.Parallel()
	keys, _, seen, ended := topAt(t, map[string]string{"NO_COLOR": "1"})
	await.Until(t, "a page", func() bool { return strings.Contains(last(seen), "[next]") })
	keys("\x03")
	assert.Equal(t, cli.ExitOK, await.Next(t, "the end", ended))
	assert.NotRegexp(t, `\x1b\[[0-9;]*m`, seen.String())
}

// Where nobody could move a cursor, pages come one after the other.
func TestTop_NoTerminal_PagesPrinted(t *testing.T) {
	t.Parallel()
	_, _, seen, _ := topAt(t, map[string]string{"TERM": "dumb"})
	await.Until(t, "two pages", func() bool { return strings.Count(seen.String(), "RESOURCE") > 1 })
	assert.NotContains(t, seen.String(), "\x1b")

	socket := runSocket(t)
	hesitating().listen(t, socket)
	var out safeBuffer
	env := &environment{Environment: cli.Environment{Out: &out, Err: &out, Now: time.Now, Getenv: func(string) string { return "" }}}
	assert.Equal(t, cli.ExitOK, run(env, []string{"top", "--socket", socket, "--pages", "1"}))
	assert.Equal(t, 1, strings.Count(out.String(), "RESOURCE"))
	assert.Equal(t, cli.ExitUsage, run(env, []string{"top", "--socket", socket, "--pages", "-1"}))
	assert.Equal(t, cli.ExitUnavailable, run(env, []string{"top", "--socket", socket + "x"}))
}

// A daemon that goes while somebody looks is named as gone, with what was known last.
func TestTop_DaemonGone_Said(t *testing.T) {
	socket := runSocket(t)
	stop := hesitating().listen(t, socket)
	w := &watcher{env: &environment{Environment: cli.Environment{Now: time.Now, Getenv: func(string) string { return "" }}}, socket: socket, client: api.Dial(socket)}
	require.NoError(t, w.ask(context.Background()))
	stop()
	require.NoError(t, w.ask(context.Background()))
	assert.Contains(t, w.state.Trouble, "[no_daemon]")
	assert.Equal(t, "alpha", w.state.Status.Name)
	hesitating().listen(t, socket)
	require.NoError(t, w.ask(context.Background()))
	assert.Empty(t, w.state.Trouble)
}
