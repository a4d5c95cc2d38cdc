package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/api"
)

// terminal opens a terminal of so many columns, and what somebody sees who looks at it.
func terminal(t *testing.T, columns uint16) (file *os.File, seen *safeBuffer) {
	t.Helper()
	file, _, seen = keyboard(t, columns)
	return file, seen
}

// keyboard is terminal with the other end, where somebody types and changes the size.
func keyboard(t *testing.T, columns uint16) (file, looks *os.File, seen *safeBuffer) {
	t.Helper()
	looks, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { looks.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(looks.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(looks.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(looks.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}))
	file, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { file.Close() })
	seen = new(safeBuffer)
	go func() {
		text := make([]byte, 4096)
		for {
			n, err := looks.Read(text)
			if err != nil {
				return
			}
			_, _ = seen.Write(text[:n])
		}
	}()
	return file, looks, seen
}

// A person at a terminal sees the daemon's sentence in one line, which goes when the wait ends.
func TestNoteWaiting_Terminal_SentenceShown(t *testing.T) {
	t.Parallel()
	for columns, want := range map[uint16]string{
		200: "waiting for ftp: token with beta, you are next", 1: "waiting for ftp: token with beta", 30: "waiting for ftp: token with …",
	} {
		socket := runSocket(t)
		hesitating().listen(t, socket)
		file, seen := terminal(t, columns)
		o := newRunOptions()
		o.resource = "ftp"
		r := &runner{runOptions: o, env: &environment{Environment: cli.Environment{Err: file}}, client: api.Dial(socket)}
		stop := r.noteWaiting()
		await.Until(t, want, func() bool { return strings.Contains(seen.String(), want) })
		stop()
		await.Until(t, "an empty line", func() bool { return strings.HasSuffix(seen.String(), "\r\x1b[K") })
		assert.NotContains(t, seen.String(), "\n")
	}
}

// A wait of less than a second shows nothing, and leaves on the line what is there.
func TestNoteWaiting_NothingShown_LineKept(t *testing.T) {
	file, seen := terminal(t, 80)
	o := newRunOptions()
	r := &runner{runOptions: o, env: &environment{Environment: cli.Environment{Err: file}}}
	r.noteWaiting()()
	_, err := file.WriteString("end")
	require.NoError(t, err)
	await.Until(t, "the end", func() bool { return strings.Contains(seen.String(), "end") })
	assert.Equal(t, "end", seen.String())
}
