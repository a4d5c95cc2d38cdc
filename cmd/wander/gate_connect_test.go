//go:build unix

package main

import (
	"bytes"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/node/api"
	"github.com/wandertoken/wander/protocol/ident"
)

// echoTunnel sends back what comes.
type echoTunnel struct {
	*net.UnixConn
	over chan struct{}
}

func (e *echoTunnel) Done() <-chan struct{} { return e.over }

// shortDir is a folder whose sockets have short paths.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wander")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// gatedDaemon is a daemon with a session under one grant, before a resource that sends back what it gets. The first streams fail.
func gatedDaemon(t *testing.T, grant ident.Grant, first ...error) (socket string) {
	t.Helper()
	failing := make(chan error, len(first))
	for _, err := range first {
		failing <- err
	}
	dir := shortDir(t)
	l, err := net.Listen("unix", filepath.Join(dir, "echo"))
	require.NoError(t, err)
	visited(t, l, func(c net.Conn) {
		defer c.Close()
		_, _ = io.Copy(c, c)
	})
	daemon := newFakeDaemon(nil)
	daemon.tunnels = func(g ident.Grant) (api.Tunnel, error) {
		if g != grant {
			return nil, api.ErrNoSession
		}
		select {
		case err := <-failing:
			return nil, err
		default:
		}
		c, err := net.Dial("unix", l.Addr().String())
		if err != nil {
			return nil, err
		}
		return &echoTunnel{c.(*net.UnixConn), make(chan struct{})}, nil
	}
	socket = filepath.Join(dir, "wander.sock")
	daemon.listen(t, socket)
	return socket
}

// within is an environment within runs, the innermost last.
func within(in string, out io.Writer, held ...string) *environment {
	return &environment{Environment: cli.Environment{
		In: strings.NewReader(in), Out: out, Err: io.Discard,
		Getenv: func(name string) string {
			if name == heldVariable {
				return strings.Join(held, ",")
			}
			return ""
		},
	}}
}

func TestGateConnect_WithinRun_StreamJoined(t *testing.T) {
	grant := ident.Grant{7}
	socket := gatedDaemon(t, grant)
	var out bytes.Buffer
	env := within("to the resource\n", &out, "db="+ident.Grant{1}.String(), "tape="+ident.Grant{2}.String(), "db="+grant.String())
	assert.Zero(t, run(env, []string{"gate", "connect", "db", "--socket", socket}))
	assert.Equal(t, "to the resource\n", out.String())
}

// failingTunnel ends as it says.
type failingTunnel struct {
	*echoTunnel
	err error
}

func (f *failingTunnel) Read([]byte) (int, error) { return 0, f.err }

func TestGateConnect_StreamEnds_CodeSaysHow(t *testing.T) {
	for want, end := range map[int]error{cli.ExitOK: io.EOF, cli.ExitLost: api.ErrNoSession, cli.ExitUnavailable: api.ErrUnavailable, cli.ExitFailure: api.ErrInternal} {
		socket := endingDaemon(t, end)
		env := within("to the resource\n", io.Discard, "db="+ident.Grant{7}.String())
		var log bytes.Buffer
		env.Err = &log
		assert.Equal(t, want, run(env, []string{"gate", "connect", "db", "--socket", socket}), "%v", end)
		if end != io.EOF {
			assert.Contains(t, log.String(), "db: "+end.Error())
		}
	}
}

// endingDaemon is a daemon whose streams end as it is told.
func endingDaemon(t *testing.T, end error) (socket string) {
	t.Helper()
	daemon := newFakeDaemon(nil)
	daemon.tunnels = func(ident.Grant) (api.Tunnel, error) {
		ours, theirs, err := unixPair(t)
		if err != nil {
			return nil, err
		}
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		return &failingTunnel{&echoTunnel{ours, make(chan struct{})}, end}, nil
	}
	socket = filepath.Join(shortDir(t), "wander.sock")
	daemon.listen(t, socket)
	return socket
}

func unixPair(t *testing.T) (a, b *net.UnixConn, err error) {
	l, err := net.Listen("unix", filepath.Join(shortDir(t), "pair"))
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	near, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		return nil, nil, err
	}
	far, err := l.Accept()
	if err != nil {
		return nil, nil, err
	}
	return near.(*net.UnixConn), far.(*net.UnixConn), nil
}

// TestGateConnect_ListenSessionEnds_Ends: it does not wait for another stream to find that out.
func TestGateConnect_ListenSessionEnds_Ends(t *testing.T) {
	socket := endingDaemon(t, api.ErrNoSession)
	path := filepath.Join(shortDir(t), "private", "db.sock")
	ended := make(chan int, 1)
	go func() {
		ended <- run(within("", io.Discard, "db="+ident.Grant{7}.String()), []string{"gate", "connect", "db", "--socket", socket, "--listen", path})
	}()
	await.Until(t, "the socket", func() bool {
		conn, err := net.Dial("unix", path)
		if err == nil {
			t.Cleanup(func() { conn.Close() })
		}
		return err == nil
	})
	assert.Equal(t, cli.ExitLost, <-ended)
}

func TestGateConnect_NoRunOrSession_Refused(t *testing.T) {
	socket := gatedDaemon(t, ident.Grant{7})
	assert.Equal(t, cli.ExitUsage, run(within("", io.Discard), []string{"gate", "connect", "db", "--socket", socket}))
	env := within("", io.Discard, "tape="+ident.Grant{7}.String(), "db="+ident.Grant{8}.String())
	var log bytes.Buffer
	env.Err = &log
	assert.Equal(t, cli.ExitUsage, run(env, []string{"gate", "connect", "taep", "--socket", socket}))
	assert.Contains(t, log.String(), "not within a run of taep\nhint: did you mean \"tape\"?\n")
	assert.Equal(t, cli.ExitUsage, run(env, []string{"gate", "connect", "files", "--socket", socket}))
	assert.Contains(t, log.String(), "not within a run of files\nhint: this is within a run of tape, db\n")
	assert.Equal(t, cli.ExitLost, run(env, []string{"gate", "connect", "db", "--socket", socket}))
}

// Nobody is told to take everybody's folder away.
func TestPrivateFolder_ForEverybody_AnotherOne(t *testing.T) {
	for mode, hint := range map[os.FileMode]string{0o777 | os.ModeSticky: "a folder of your own", 0o755: "chmod 700 "} {
		dir := filepath.Join(t.TempDir(), "d")
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.Chmod(dir, mode))
		var bad *cli.Error
		require.ErrorAs(t, privateFolder(dir), &bad)
		assert.Contains(t, bad.Hint, hint)
	}
}

// TestGateConnect_Listen_OwnerOnly: R-54.
func TestGateConnect_Listen_OwnerOnly(t *testing.T) {
	grant := ident.Grant{7}
	socket := gatedDaemon(t, grant)
	path := filepath.Join(shortDir(t), "private", "db.sock")
	ended := make(chan int, 1)
	go func() {
		ended <- run(within("", io.Discard, "db="+grant.String()), []string{"gate", "connect", "db", "--socket", socket, "--listen", path})
	}()
	var conn net.Conn
	await.Until(t, "the socket", func() bool {
		var err error
		conn, err = net.Dial("unix", path)
		return err == nil
	})
	defer conn.Close()
	_, err := io.WriteString(conn, "ping")
	require.NoError(t, err)
	answer := make([]byte, 4)
	_, err = io.ReadFull(conn, answer)
	require.NoError(t, err)
	assert.Equal(t, "ping", string(answer))
	for name, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.Equal(t, want, info.Mode().Perm(), name)
	}
}

// TestGateConnect_ListenStreamFails_OthersGoOn: one stream too many does not end those that are open.
func TestGateConnect_ListenStreamFails_OthersGoOn(t *testing.T) {
	grant := ident.Grant{7}
	socket := gatedDaemon(t, grant, api.ErrUnavailable)
	path := filepath.Join(shortDir(t), "private", "db.sock")
	go run(within("", io.Discard, "db="+grant.String()), []string{"gate", "connect", "db", "--socket", socket, "--listen", path})
	var conn net.Conn
	dials := func() bool {
		var err error
		conn, err = net.Dial("unix", path)
		return err == nil
	}
	await.Until(t, "the socket", dials)
	_, err := io.ReadAll(conn)
	require.NoError(t, err, "the stream is closed")
	conn.Close()
	require.True(t, dials(), "the socket is still served")
	defer conn.Close()
	_, err = io.WriteString(conn, "ping")
	require.NoError(t, err)
	answer := make([]byte, 4)
	_, err = io.ReadFull(conn, answer)
	require.NoError(t, err)
}

func TestGateConnect_ListenInOpenFolder_Refused(t *testing.T) {
	grant := ident.Grant{7}
	dir := shortDir(t)
	require.NoError(t, os.Chmod(dir, 0o755))
	env := within("", io.Discard, "db="+grant.String())
	code := run(env, []string{"gate", "connect", "db", "--socket", gatedDaemon(t, grant), "--listen", filepath.Join(dir, "db.sock")})
	assert.Equal(t, cli.ExitConfiguration, code)
}
