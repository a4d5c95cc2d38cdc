package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// onlyWithAskers skips a test where the system does not tell who connects.
func onlyWithAskers(t *testing.T) {
	if !tellsAsker {
		t.Skip("this system does not tell who connects: ", runtime.GOOS)
	}
}

func TestAccess_GroupAndMode_Parsed(t *testing.T) {
	onlyWithAskers(t)
	for _, c := range []struct {
		group, mode string
		want        os.FileMode
		err         error
	}{
		{"", "", 0, nil}, {"", "0600", 0o600, nil}, {"", "0666", 0o666, nil}, {"4711", "", 0o660, nil}, {"4711", "0660", 0o660, nil},
		{"", "0660", 0, ErrMode}, {"4711", "0600", 0, ErrMode}, {"4711", "0666", 0, ErrMode}, {"", "660", 0, ErrMode}, {"", "rw", 0, ErrMode}, {"", "0777", 0, ErrMode},
		{"no such group", "", 0, ErrGroup}, {"-1", "", 0, ErrGroup}, {"4294967296", "", 0, ErrGroup},
	} {
		a, err := ParseAccess(c.group, c.mode)
		if assert.ErrorIs(t, err, c.err, "%+v", c); c.err == nil {
			assert.Equal(t, c.want, a.mode, "%+v", c)
			assert.Equal(t, c.want == groupMode, a.gid == 4711, "%+v", c)
		}
	}
}

// open is a folder that every user can enter, for a socket.
func open(t *testing.T) string {
	dir := filepath.Dir(socketPath(t))
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

func TestListen_Group_SocketIsIts(t *testing.T) {
	onlyWithAskers(t)
	path := filepath.Join(open(t), SocketName)
	access, err := ParseAccess(strconv.Itoa(os.Getegid()), "")
	require.NoError(t, err)
	l, err := Listen(path, access)
	require.NoError(t, err)
	defer l.Close()
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, groupMode, info.Mode().Perm())
	_, gid, _ := ownersOf(info)
	assert.Equal(t, os.Getegid(), gid)
}

// A folder that the users of the socket cannot enter is refused, and so is a group that the daemon's user is not in.
// Nothing stays behind.
func TestListen_NoAccess_Refused(t *testing.T) {
	onlyWithAskers(t)
	access, err := ParseAccess("4711", "")
	require.NoError(t, err)
	if os.Geteuid() == 0 {
		dir := open(t)
		inner := filepath.Join(dir, "state")
		require.NoError(t, os.Mkdir(inner, 0o700))
		_, err = Listen(filepath.Join(inner, SocketName), access)
		assert.ErrorIs(t, err, ErrFolder)
		assert.ErrorContains(t, err, "state has mode 0700")
		require.NoError(t, os.Chmod(inner, 0o750))
		_, err = Listen(filepath.Join(inner, SocketName), access)
		assert.ErrorIs(t, err, ErrFolder, "it is another group's")
		require.NoError(t, os.Chown(inner, -1, 4711))
		l, err := Listen(filepath.Join(inner, SocketName), access)
		require.NoError(t, err)
		l.Close()
		require.NoError(t, os.Chmod(inner, 0o701))
		_, err = Listen(filepath.Join(inner, SocketName), access)
		require.ErrorIs(t, err, ErrFolder, "the bits for others are not for its group")
		return
	}
	path := filepath.Join(open(t), SocketName)
	_, err = Listen(path, access)
	assert.ErrorIs(t, err, ErrNotInGroup)
	assert.NoFileExists(t, path)
}

// A folder in which others could put something into the socket's place is refused, and no link is followed.
func TestListen_FolderOfOthers_Refused(t *testing.T) {
	onlyWithAskers(t)
	access, err := ParseAccess("", "0666")
	require.NoError(t, err)
	for mode, want := range map[os.FileMode]error{
		0o755: nil, 0o777: ErrFolderChanged, 0o775: ErrFolderChanged, 0o777 | os.ModeSticky: nil, 0o700: ErrFolder,
	} {
		dir := open(t)
		above := filepath.Join(dir, "above", "below")
		require.NoError(t, os.MkdirAll(above, 0o755))
		require.NoError(t, os.Chmod(filepath.Dir(above), mode))
		for _, in := range []string{filepath.Dir(above), above} {
			l, err := Listen(filepath.Join(in, SocketName), access)
			if require.ErrorIs(t, err, want, "%v %s", mode, in); err == nil {
				l.Close()
			}
		}
	}
	dir := open(t)
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(dir, 4711, 0))
		_, err = Listen(filepath.Join(dir, SocketName), access)
		require.ErrorIs(t, err, ErrFolderChanged, "another user's")
		require.NoError(t, os.Chown(dir, 0, 0))
	}
	secret, link := filepath.Join(dir, "secret"), filepath.Join(dir, SocketName)
	require.NoError(t, os.WriteFile(secret, nil, 0o600))
	require.NoError(t, os.Symlink(secret, link))
	for _, a := range []Access{{}, access} {
		require.ErrorIs(t, a.open(link), ErrNotSocket)
	}
	info, err := os.Stat(secret)
	require.NoError(t, err)
	assert.EqualValues(t, 0o600, info.Mode().Perm())
}

func TestServer_Connection_AskerKnown(t *testing.T) {
	onlyWithAskers(t)
	f := newFake()
	d := serve(t, f, socketPath(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	acquire(ctx, Dial(d.socket), AcquireRequest{Resource: "ftp"})
	asked := receive(t, f.demands)
	want := &Asker{User: uint32(os.Geteuid()), Group: uint32(os.Getegid()), Process: int32(os.Getpid())}
	assert.Equal(t, want, asked.request.Asker)
	s, err := Dial(d.socket).Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []UserStatus{{User: want.User, Programs: 1}}, s.Users)
}

// stranger is a user other than the daemon's.
func stranger(n int) *Asker { return &Asker{User: uint32(os.Geteuid() + n), Process: 7} }

// ask serves one request of a process.
func ask(h http.Handler, a *Asker, path, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), askerKey{}, a)))
	return w
}

// One user cannot take the places of the others: TestStreams_TooMany_Refused is about all of them.
func TestStreams_OneUser_OthersHavePlaces(t *testing.T) {
	f := newFake()
	h := newHandler(f, MaxStreams)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	served := make(chan struct{})
	wait := func(a *Asker) {
		r := httptest.NewRequest(http.MethodPost, "/v1/acquire", strings.NewReader(`{"resource":"ftp"}`))
		go func() {
			h.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithValue(ctx, askerKey{}, a)))
			served <- struct{}{}
		}()
		assert.Equal(t, a, receive(t, f.demands).request.Asker)
	}
	for range MaxUserStreams {
		wait(stranger(1))
	}
	assert.ErrorIs(t, refusal(ask(h, stranger(1), "/v1/acquire", `{"resource":"ftp"}`).Body.Bytes()), ErrUnavailable)
	wait(stranger(2))
	wait(&Asker{User: uint32(os.Geteuid())})
	cancel()
	for range MaxUserStreams + 2 {
		receive(t, served)
	}
	ctx, cancel = context.WithCancel(t.Context())
	wait(stranger(1))
	cancel()
	receive(t, served)
}

// The daemon's own user is bounded by the places in all only.
func TestCounter_Owner_Unbounded(t *testing.T) {
	var c counter
	owner := &Asker{User: uint32(os.Geteuid())}
	assert.True(t, c.add(owner, 1, 9))
	assert.True(t, c.add(owner, 1, 9))
	assert.True(t, c.add(stranger(1), 1, 9))
	assert.False(t, c.add(stranger(1), 1, 9))
	c.remove(stranger(1))
	assert.True(t, c.add(stranger(1), 1, 9))
}

// All other users together leave places to the daemon's own.
func TestPlaces_ManyUsers_OwnerHasSome(t *testing.T) {
	as := func(a *Asker) context.Context { return context.WithValue(t.Context(), askerKey{}, a) }
	p := places{most: 8, ofUser: 2, ofUsers: 6}
	var free func()
	for n := range 6 {
		var err error
		free, err = p.take(as(stranger(1 + n/2)))
		require.NoError(t, err)
	}
	_, err := p.take(as(stranger(9)))
	require.ErrorIs(t, err, ErrUnavailable)
	owner := &Asker{User: uint32(os.Geteuid())}
	for range 2 {
		_, err = p.take(as(owner))
		require.NoError(t, err)
	}
	_, err = p.take(as(owner))
	require.ErrorIs(t, err, ErrUnavailable, "no place is left")
	free()
	_, err = p.take(as(stranger(9)))
	require.NoError(t, err)
}

// Who may use resources may not take the member out of the group, or its certificate out of force, nor have it dial.
func TestRequest_OfAnotherUser_OwnersRefused(t *testing.T) {
	h := NewHandler(newFake())
	for path, body := range map[string]string{"/v1/leave": "", "/v1/renew": "", "/v1/probe": `{"peer":"beta"}`, "/v1/back": `{"resource":"ftp"}`} {
		assert.ErrorIs(t, refusal(ask(h, stranger(1), path, body).Body.Bytes()), ErrRefused, path)
		for _, a := range []*Asker{nil, {}, {User: uint32(os.Geteuid())}} {
			assert.Equal(t, http.StatusOK, ask(h, a, path, body).Code, path)
		}
	}
	assert.ErrorIs(t, refusal(ask(h, stranger(1), "/v1/acquire", `{"resource":"ftp","across_reboot":true}`).Body.Bytes()), ErrRefused)
}
