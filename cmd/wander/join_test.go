package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/crypto/keyfile"
	"github.com/wandertoken/wander/internal/await"
	"github.com/wandertoken/wander/internal/ports"
	"github.com/wandertoken/wander/node"
	"github.com/wandertoken/wander/node/enrolment"
	"github.com/wandertoken/wander/protocol/certificate"
)

// lockedBuffer is written to by a command that goes on.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// served is `wander ca serve` of a bench.
type served struct {
	address string
	log     lockedBuffer
	ahead   atomic.Int64 // how far its clock is ahead of the one that it started with, in ns
	stop    func()
}

// serve runs the service until stop, or the test's end. Its clock stands where it
// is now, until ahead moves it.
func (b *caBench) serve(args ...string) *served {
	b.t.Helper()
	s := &served{}
	in, end := io.Pipe()
	first, out := io.Pipe()
	now := b.now
	code := make(chan int, 1)
	go func() {
		code <- run(&environment{Environment: cli.Environment{
			In: in, Out: out, Err: &s.log, Getenv: func(name string) string { return b.vars[name] },
			Now: func() time.Time { return now.Add(time.Duration(s.ahead.Load())) },
		}}, append([]string{"ca", "serve", "--listen", ports.Address(b.t), "--until-input-ends"}, args...))
		_ = out.Close()
	}()
	line, err := bufio.NewReader(first).ReadString('\n')
	require.NoError(b.t, err)
	word, ok := strings.CutPrefix(strings.TrimSpace(line), "serving on ")
	require.True(b.t, ok, "%s%s", line, s.log.String())
	s.address = word
	s.stop = sync.OnceFunc(func() {
		_ = end.Close()
		assert.Zero(b.t, <-code, s.log.String())
	})
	b.t.Cleanup(s.stop)
	return s
}

// invited is an invite for a service.
func (b *caBench) invited(name, address string) string {
	b.t.Helper()
	line := b.must("ca", "invite", "--name", name, "--address", address)
	require.Regexp(b.t, `^wander1-[A-Za-z0-9_-]+\n$`, line)
	return strings.TrimSpace(line)
}

func (b *caBench) settings(file string) settings {
	b.t.Helper()
	s, err := loadSettings(&environment{Environment: cli.Environment{Getenv: func(string) string { return "" }}}, file)
	require.NoError(b.t, err)
	return s
}

func (b *caBench) identity(dir string) node.Identity {
	b.t.Helper()
	id, err := node.LoadIdentity(filepath.Join(dir, "member.crt"), filepath.Join(dir, "member.key"), filepath.Join(dir, "group.crt"))
	require.NoError(b.t, err)
	return id
}

func TestJoin(t *testing.T) {
	b := started(t)
	s := b.serve()
	line := b.invited("ftp-03", s.address)
	assert.Contains(t, b.err.String(), "wander join INVITE")
	fingerprint := certificate.FormatFingerprint(b.identityOfCA())
	assert.Contains(t, b.err.String(), fingerprint)

	out := b.must("join", line, "--dir", "m", "--advertise", "ftp-03.example.org:4133", "--resource", "ftp", "--", "./mirror", `a "b" \c`)
	id := b.identity("m")
	for _, says := range []string{
		"joined group demo as ftp-03", "CA key " + fingerprint, "member " + id.Certificate.Member().String(),
		"key    " + certificate.Fingerprint(id.Key.Public()), "m/member.key", "m/wander.toml",
		"next: wander node --config m/wander.toml --found", "until 2026-05-30",
	} {
		if says == "until 2026-05-30" {
			assert.Contains(t, out, "valid "+says)
			continue
		}
		assert.Contains(t, out, says)
	}
	assert.Empty(t, b.err.String())
	assert.Equal(t, "ftp-03", id.Certificate.Name())
	info, err := os.Stat("m/member.key")
	require.NoError(t, err)
	assert.NoError(t, keyfile.CheckMode(info.Mode()))

	set := b.settings("m/wander.toml")
	assert.Equal(t, []string{"ftp-03.example.org:4133"}, set.Listen.Advertise)
	assert.Equal(t, []string{s.address}, set.CA.Address)
	assert.Equal(t, "m/state", set.StateDir)
	assert.Equal(t, "ftp", set.Operation.Resource)
	assert.Equal(t, []string{"m/mirror", `a "b" \c`}, set.Operation.Command)
	_, err = set.nodeConfig()
	require.NoError(t, err)
	assert.Contains(t, s.log.String(), "msg=enrolled name=ftp-03")
	left, err := filepath.Glob("m/.wander-*")
	require.NoError(t, err)
	assert.Empty(t, left)
}

// identityOfCA is the id of the CA key in force.
func (b *caBench) identityOfCA() [16]byte {
	g, _ := b.group()
	return g.Config().Signer()
}

// The second one meets the first.
func TestJoin_OtherFiles_Kept(t *testing.T) {
	b := started(t)
	s := b.serve()
	b.must("join", b.invited("a", s.address), "--dir", "a")
	b.must("join", b.invited("lonely", s.address), "--dir", "lonely")
	assert.Contains(t, b.err.String(), "1 other member, but the CA does not know where")
	assert.NotContains(t, b.out.String(), "--found")

	id := b.identity("a")
	e := certificate.Endpoint{
		Member: id.Certificate.Member(), Sequence: 1, Mode: certificate.Reachable, Addresses: []string{"a.example.org:4133", "[2001:db8::1]:4133"},
	}
	signed, err := e.Sign(id.Group.ID(), id.Key)
	require.NoError(t, err)
	client := enrolment.Client{
		Addresses: []string{s.address}, Group: id.Group, Certificate: id.Certificate, Key: id.Key, Now: func() time.Time { return b.now },
	}
	_, err = client.Sync(t.Context(), enrolment.Mine{Endpoint: signed.Raw()})
	require.NoError(t, err)

	out := b.must("join", b.invited("c", s.address), "--dir", "c")
	assert.Equal(t, []string{"a.example.org:4133"}, b.settings("c/wander.toml").Bootstrap.Peers)
	assert.Equal(t, [][]byte{signed.Raw()}, b.identity("c").Extra.Endpoints)
	assert.Contains(t, out, "next: wander node --config c/wander.toml\n")
	assert.Contains(t, b.err.String(), "no other member can dial this one: write where they reach it into c/wander.toml")
	b.must("join", b.invited("d", s.address), "--dir", "d", "--listen", "127.0.0.1:4133")
	assert.NotContains(t, b.err.String(), "no other member can dial this one")
}

// On a machine with the package the unit starts the member, as the user wander.
func TestStartLine_Unit_NoDaemonByHand(t *testing.T) {
	assert.Equal(t, "systemctl enable --now wander", startLine(defaultConfigFile, false, true))
	assert.Equal(t, "systemctl set-environment WANDER_NODE_OPTIONS=--found; systemctl enable --now wander; "+
		"systemctl unset-environment WANDER_NODE_OPTIONS    # the first member generates the tokens, once", startLine(defaultConfigFile, true, true))
	assert.Equal(t, "wander node --config x --found    # the first member generates the tokens, once", startLine("x", true, false))
	assert.Equal(t, "wander node --config x", startLine("x", false, false))
	assert.False(t, hasUnit("x"))
	for listen, any := range map[string]bool{"[::]:4133": true, "0.0.0.0:1": true, ":4133": true, "": false, "127.0.0.1:1": false, "a.example.org:1": false} {
		assert.Equal(t, any, isAnyAddress(listen), listen)
	}
}

// A crash at any step leaves what the same command finishes: with the same key,
// and so the same member.
func TestJoin_AfterCrash_Completed(t *testing.T) {
	b := started(t)
	s := b.serve()
	line := b.invited("a", s.address)
	first := b.must("join", line, "--dir", "m")
	whole := make(map[string][]byte)
	files := []string{"member.key", "group.crt", "member.crt", "wander.toml"} // in the order in which they are written
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join("m", name))
		require.NoError(t, err)
		whole[name] = text
	}
	for step := range len(files) + 1 {
		dir := filepath.Join(b.dir, "after", string(rune('0'+step)))
		require.NoError(t, os.MkdirAll(dir, 0o755))
		for _, name := range files[:step] {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), whole[name], 0o600))
		}
		// and the file that was being written
		half := filepath.Join(dir, ".wander-12345.tmp")
		require.NoError(t, os.WriteFile(half, []byte("-----BEGIN"), 0o600))
		crashed := time.Now().Add(-time.Hour) // what is younger, a daemon may be writing
		require.NoError(t, os.Chtimes(half, crashed, crashed))
		if step == 0 {
			// The key was lost with the machine: what it asked for is its own.
			b.fails(77, "works once", "join", line, "--dir", dir, "--wait", "0s")
			continue
		}
		out := b.must("join", line, "--dir", dir)
		if step == len(files) {
			assert.Contains(t, out, "nothing to do")
			assert.Contains(t, out, "wander.toml --found", "it never ran, and there is nobody else")
		} else {
			assert.Equal(t, strings.ReplaceAll(first, "m/", dir+"/"), out)
		}
		for _, name := range files {
			text, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			assert.Equal(t, string(whole[name]), string(text), name)
		}
		left, err := filepath.Glob(filepath.Join(dir, ".wander-*"))
		require.NoError(t, err)
		assert.Empty(t, left)
	}
	var listed caReport
	require.NoError(t, json.Unmarshal([]byte(b.must("ca", "list", "--output", "json")), &listed))
	assert.Len(t, listed.Certificates, 1, "in all")
}

// The service may be killed and started at will: what it has issued it issues
// again to the same key only.
func TestJoin_ServiceRestarts_Completed(t *testing.T) {
	b := started(t)
	s := b.serve()
	line := b.invited("a", s.address)
	s.stop()
	b.fails(69, "check that wander ca serve is running", "join", line, "--dir", "m", "--wait", "0s")
	key, err := os.ReadFile("m/member.key")
	require.NoError(t, err, "it was made before anything was sent")
	again := b.serve("--listen", s.address)
	b.must("join", line, "--dir", "m")
	assert.Equal(t, again.address, s.address)
	after, err := os.ReadFile("m/member.key")
	require.NoError(t, err)
	assert.Equal(t, key, after)
}

// join tries again while the service is away, and takes what comes.
func TestJoin_ServiceAway_Waits(t *testing.T) {
	b := started(t)
	s := b.serve()
	line := b.invited("a", s.address)
	s.stop()
	env := &environment{Environment: cli.Environment{
		In: strings.NewReader(line + "\n"), Out: io.Discard, Err: &lockedBuffer{}, Getenv: func(string) string { return "" },
		Now: func() time.Time { return b.now },
	}}
	code := make(chan int, 1)
	go func() { code <- run(env, []string{"join", "-", "--dir", "m", "--wait", "1m"}) }()
	await.Until(t, "another try", func() bool {
		return strings.Contains(env.Err.(*lockedBuffer).String(), "trying again in 250ms")
	})
	b.serve("--listen", s.address)
	assert.Zero(t, await.Next(t, "its end", code), env.Err.(*lockedBuffer).String())
}

// A join never overwrites a file.
func TestJoin_HomeOfAnother_Refused(t *testing.T) {
	b := started(t)
	s := b.serve()
	a, c := b.invited("a", s.address), b.invited("c", s.address)
	b.must("join", a, "--dir", "m")
	before, err := os.ReadFile("m/member.key")
	require.NoError(t, err)
	b.fails(78, "is member a of the group already", "join", c, "--dir", "m")
	b.must("ca", "init", "--dir", "other", "--name", "other", "--no-passphrase")
	b.must("ca", "config", "--dir", "other", "group.toml")
	foreign := strings.TrimSpace(b.must("ca", "invite", "--dir", "other", "--name", "a", "--address", s.address))
	b.fails(78, "is of another group, demo", "join", foreign, "--dir", "m")
	after, err := os.ReadFile("m/member.key")
	require.NoError(t, err)
	assert.Equal(t, before, after)

	require.NoError(t, os.Mkdir("odd", 0o755))
	b.write("odd/member.key", "not a key")
	b.fails(78, "never overwritten", "join", c, "--dir", "odd")
	require.NoError(t, os.WriteFile("odd/member.key", before, 0o600))
	require.NoError(t, os.Chmod("odd/member.key", 0o644))
	b.fails(78, "chmod 600", "join", c, "--dir", "odd")
	require.NoError(t, os.Remove("m/wander.toml"))
	b.write("m/wander.toml", "# mine\n")
	require.NoError(t, os.Remove("m/member.crt"))
	b.must("join", a, "--dir", "m")
	b.identity("m")
	text, err := os.ReadFile("m/wander.toml")
	require.NoError(t, err)
	assert.Equal(t, "# mine\n", string(text))

	// The CA of another group answers at the address: it learns nothing.
	b.fails(77, "nothing was sent", "join", foreign, "--dir", "n")
	assert.NotContains(t, s.log.String(), "no invite")
}

func TestJoin_Invalid_Refused(t *testing.T) {
	b := started(t)
	s := b.serve()
	line := b.invited("a", s.address)
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{64, "no invite specified", nil},
		{64, "after the invite", []string{line, line}},
		{64, "copy the whole line again", []string{line[:len(line)-2]}},
		{64, "begins with wander1-", []string{"hello"}},
		{64, "update wander", []string{"wander2-AAAA"}},
		{64, "cannot be combined", []string{"--request", "--install", "x"}},
		{64, "cannot be combined with", []string{"--request", line}},
		{64, "cannot be combined with an invite", []string{line, "--name", "b"}},
		{64, "go together", []string{line, "--resource", "ftp"}},
		{64, "go together", []string{line, "--", "mirror"}},
		{64, "host:port", []string{line, "--advertise", "ftp-03"}},
		{64, "to only dial out", []string{line, "--listen", "ftp-03"}},
		{64, "to only dial out", []string{line, "--listen", "[::]:65536"}},
		{64, "to only dial out", []string{line, "--listen", "[::]:"}},
		{64, "cannot hold", []string{line, "--resource", "ftp", "--", "a\xffb"}},
		{64, "no group specified", []string{"--request", "--name", "a"}},
		{64, "no member name", []string{"--request"}},
		{78, "group.crt", []string{"--request", "--name", "a", "--group", "nothing"}},
		{78, "group.crt", []string{"--install", "nothing"}},
	} {
		b.fails(c.code, c.says, append([]string{"join", "--dir", "m"}, c.args...)...)
		assert.NoFileExists(t, "m/member.key", c.says)
	}
	// A secret that is no longer one.
	b.must("join", line, "--dir", "first")
	b.fails(77, "works once", "join", line, "--dir", "m")
	assert.NoFileExists(t, "m/member.key", "the run that made it was refused")
	late := b.invited("late", s.address)
	s.stop()
	b.now = b.now.Add(2 * time.Hour)
	b.serve("--listen", s.address)
	b.fails(77, "this one expired at", "join", late, "--dir", "late")
	// A clock that is wrong is said to be.
	good := b.invited("good", s.address)
	b.now = b.now.Add(-24 * time.Hour)
	b.fails(78, "set this machine's clock: it is wrong by at least 22h", "join", good, "--dir", "good")
	b.now = b.now.Add(22*time.Hour + 30*time.Minute)
	b.must("join", good, "--dir", "good")
	assert.Contains(t, b.err.String(), "clock is 1h30m slow")
	assert.Contains(t, b.err.String(), "certificate is not valid yet")
}
