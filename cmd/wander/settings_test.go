package main

import (
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/wandertoken/wander"
	"github.com/wandertoken/wander/cmd/internal/cli"
	"github.com/wandertoken/wander/internal/configfile"
	"github.com/wandertoken/wander/protocol/group"
)

func environ(vars map[string]string) *environment {
	return &environment{Environment: cli.Environment{Getenv: func(name string) string { return vars[name] }}}
}

// settingsFrom reads a settings file with this text, in a folder of its own.
func settingsFrom(t *testing.T, text string, vars map[string]string) (settings, string, error) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "wander.toml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	s, err := loadSettings(environ(vars), file)
	return s, dir, err
}

// Without file and environment the defaults hold.
// Programs find a daemon that has no settings of its own.
func TestSettings_Default_SocketOfTheClient(t *testing.T) {
	s := defaultSettings()
	assert.Equal(t, wander.DefaultSocket, s.socket())
}

func TestSettingsDefaults(t *testing.T) {
	if _, err := os.Stat(defaultConfigFile); err == nil {
		t.Skip("this machine has a " + defaultConfigFile)
	}
	s, err := loadSettings(environ(nil), "")
	require.NoError(t, err)
	assert.Equal(t, defaultSettings(), s)
	s, _, err = settingsFrom(t, "", nil)
	require.NoError(t, err)
	assert.Equal(t, defaultSettings(), s)
}

// The environment names the file where no flag does; then the file has to be there.
func TestSettings_ConfigVariable_NamesTheFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "other.toml")
	require.NoError(t, os.WriteFile(file, []byte(`state_dir = "s"`), 0o600))
	env := environ(map[string]string{configVariable: file})
	path, err := socketPath(env, "")
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "s", "wander.sock"), path)
	flag := filepath.Join(dir, "flag.toml")
	require.NoError(t, os.WriteFile(flag, []byte(`state_dir = "/flag"`), 0o600))
	s, err := loadSettings(env, flag)
	require.NoError(t, err)
	assert.Equal(t, "/flag", s.StateDir)
	_, err = loadSettings(environ(map[string]string{configVariable: filepath.Join(dir, "none")}), "")
	var refused *cli.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "set WANDER_CONFIG to a readable file, or unset it", refused.Hint)
}

// The environment stands over the file, key by key, and the file over the
// defaults. Every key there is can be given in the environment.
func TestSettingsPrecedence(t *testing.T) {
	s := defaultSettings()
	for _, key := range configfile.Keys(&s) {
		t.Run(key, func(t *testing.T) {
			inFile, inEnvironment := `"/from/file"`, "/from/environment"
			var want any = "/from/environment"
			was := valueAt(&s, key)
			switch was.(type) {
			case []string:
				inFile, inEnvironment = `["/from/file"]`, "one, two,three"
				want = []string{"one", "two", "three"}
			case int:
				inFile, inEnvironment, want = "7", "9", 9
			case time.Duration:
				inFile, inEnvironment, want = `"3s"`, "1m", time.Minute
			}
			section, name, found := strings.Cut(key, ".")
			text := key + " = " + inFile
			if found {
				text = "[" + section + "]\n" + name + " = " + inFile
			}
			file, _, err := settingsFrom(t, text, nil)
			require.NoError(t, err)
			assert.NotEqual(t, was, valueAt(&file, key))

			variable := "WANDER_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
			both, _, err := settingsFrom(t, text, map[string]string{variable: inEnvironment})
			require.NoError(t, err)
			assert.Equal(t, want, valueAt(&both, key))

			none, _, err := settingsFrom(t, text, map[string]string{variable: ""})
			require.NoError(t, err)
			assert.Equal(t, file, none, "an empty variable is none")
		})
	}
}

// Paths in the file are relative to its folder; those of the environment, and
// absolute ones, are what they are.
func TestSettingsAnchor(t *testing.T) {
	text := `
state_dir = "state"
[identity]
certificate = "../a.crt"
key = "/etc/a.key"
[operation]
command = ["./backup", "./not-a-path"]
[api]
socket = "wander.sock"
`
	s, dir, err := settingsFrom(t, text, map[string]string{"WANDER_IDENTITY_GROUP": "group.crt"})
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "state"), s.StateDir)
	assert.Equal(t, filepath.Join(filepath.Dir(dir), "a.crt"), s.Identity.Certificate)
	assert.Equal(t, "/etc/a.key", s.Identity.Key)
	assert.Equal(t, "group.crt", s.Identity.Group)
	assert.Equal(t, []string{filepath.Join(dir, "backup"), "./not-a-path"}, s.Operation.Command)
	assert.Equal(t, filepath.Join(dir, "wander.sock"), s.socket())

	for text, want := range map[string]string{
		`state_dir = "/s"`:                          "/s/wander.sock",
		"state_dir = \"/s\"\n[api]\nsocket = \"-\"": "-",
	} {
		s, _, err := settingsFrom(t, text, nil)
		require.NoError(t, err)
		assert.Equal(t, want, s.socket())
	}
	s, _, err = settingsFrom(t, "[operation]\ncommand = [\"rsync\"]", nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"rsync"}, s.Operation.Command, "is looked for in PATH")
}

// nodeBench is a bench with an authority and two members, made at this time.
func nodeBench(t *testing.T, now time.Time) *caBench {
	b := newCABench(t)
	b.now = now
	b.write("group.toml", smallGroup)
	b.must("ca", "init", "--name", "demo", "--no-passphrase")
	b.must("ca", "config", "group.toml")
	b.must("ca", "issue", "--name", "a", "--out", "a")
	b.must("ca", "issue", "--name", "b", "--out", "b")
	return b
}

// memberSettings is a complete settings file; what the case adds stands behind it.
const memberSettings = `state_dir = "state"
[identity]
certificate = "a.crt"
key = "a.key"
group = "ca/group.crt"
[listen]
address = "127.0.0.1:0"
`

// listenAt is memberSettings with another address to listen on.
func listenAt(address string) string {
	return strings.Replace(memberSettings, "127.0.0.1:0", address, 1)
}

// TestNode_InvalidSettings_Refused: what is wrong ends the program with a code, one line
// that says what, and a line that says what to do.
func TestNode_InvalidSettings_Refused(t *testing.T) {
	b := nodeBench(t, time.Now())
	copied, err := os.ReadFile("a.key")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile("loose.key", copied, 0o600))
	require.NoError(t, os.Chmod("loose.key", 0o644))
	for _, c := range []struct {
		name, text, says, hint string
		vars                   map[string]string
		code                   int
	}{
		{"an unknown key", "stat_dir = \"x\"\n" + memberSettings, `node.toml:1:1: unknown key "stat_dir"`, `did you mean "state_dir"?`, nil, 78},
		{"an unknown section", memberSettings + "[metric]\nlisten = \"x\"\n", "node.toml:8", "", nil, 78},
		{"no TOML", memberSettings + "[log\n", "node.toml:8", "", nil, 78},
		{"a number for a text", "mode = 1\n" + memberSettings, "node.toml:1", "", nil, 78},
		{"a key twice", memberSettings + "address = \"x\"\n", "node.toml:8", "", nil, 78},
		{"a mode", `mode = "fast"` + "\n" + memberSettings, `mode = "fast"`, "durable", nil, 78},
		{"a mode in the environment", memberSettings, `mode = "fast"`, "durable", map[string]string{"WANDER_MODE": "fast"}, 78},
		{"a level", memberSettings + "[log]\nlevel = \"loud\"\n", "log.level", "debug", nil, 78},
		{"a format", memberSettings + "[log]\nformat = \"xml\"\n", "log.format", "json", nil, 78},
		{"a duration without a unit", memberSettings + "[operation]\nmax_hold = 4\n", `"4" is not a duration`, "", nil, 78},
		{"a duration that is none", memberSettings + "[operation]\nmax_hold = \"soon\"\n", `"soon" is not a duration`, "", nil, 78},
		{"a duration in the environment", memberSettings, `WANDER_OPERATION_GRACE: "soon"`, "", map[string]string{"WANDER_OPERATION_GRACE": "soon"}, 78},
		{"must not be negative", memberSettings + "[operation]\nresource = \"ftp\"\ncommand = [\"true\"]\ngrace = \"-1s\"\n", "negative", "", nil, 78},
		{"a program that is not there", memberSettings + "[operation]\nresource = \"ftp\"\ncommand = [\"./nothing\"]\n", "operation.command", "installed", nil, 78},
		{"a command for no resource", memberSettings + "[operation]\ncommand = [\"true\"]\n", "operation's resource", "", nil, 78},
		{"a command for another resource", memberSettings + "[operation]\nresource = \"gopher\"\ncommand = [\"true\"]\n", `"gopher" is not in the group`, "", nil, 78},
		{"a resource without a command", memberSettings + "[operation]\nresource = \"ftp\"\n", "operation.command must be set", "", nil, 78},
		{"no certificate", memberSettings, "nowhere.crt", "wander join", map[string]string{"WANDER_IDENTITY_CERTIFICATE": "nowhere.crt"}, 78},
		{"a key that others can read", memberSettings, "loose.key", "chmod 600 loose.key", map[string]string{"WANDER_IDENTITY_KEY": "loose.key"}, 78},
		{"another member's key", memberSettings, "b.key is not the key of", "", map[string]string{"WANDER_IDENTITY_KEY": "b.key"}, 78},
		{"a certificate for a group file", memberSettings, "group", "", map[string]string{"WANDER_IDENTITY_GROUP": "a.crt"}, 78},
		{"an address to listen on", listenAt("nowhere"), "node.toml:7:11: listen.address: listen udp: address nowhere: missing port", `for example "[::]:4133"`, nil, 78},
		{"a port to listen on", listenAt("127.0.0.1:70000"), "node.toml:7:11: listen.address: ", `for example "[::]:4133"`, nil, 78},
		{"another machine's address to listen on", listenAt("192.0.2.1:4133"), "node.toml:7:11: listen.address: ", `for example "[::]:4133"`, nil, 78},
		{"an address to listen on in the environment", memberSettings, "WANDER_LISTEN_ADDRESS: listen.address: ", `for example "[::]:4133"`, map[string]string{"WANDER_LISTEN_ADDRESS": "nowhere"}, 78},
		{"an address to advertise", memberSettings + "advertise = [\"localhost\"]\n", `node.toml:8:13: listen.advertise: invalid address: "localhost"`, `["192.0.2.7:4133"]`, nil, 78},
		{"an address to advertise in the environment", memberSettings, "WANDER_LISTEN_ADVERTISE: ", "others reach", map[string]string{"WANDER_LISTEN_ADVERTISE": "localhost"}, 78},
		{"a bootstrap peer", memberSettings, `WANDER_BOOTSTRAP_PEERS: bootstrap.peers: `, "other members", map[string]string{"WANDER_BOOTSTRAP_PEERS": "127.0.0.1:4133,nowhere"}, 78},
		{"an authority", memberSettings + "[ca]\naddress = [\"nowhere\"]\n", "node.toml:9:11: ca.address: ", "wander ca serve", nil, 78},
		{"a group that is not there", memberSettings + "[api]\ngroup = \"no such group\"\n", `api.group: no such group on this system: "no such group"`, "getent group", nil, 78},
		{"a mode of the socket", memberSettings + "[api]\nmode = \"0777\"\n", `api.mode: socket mode not permitted: "0777"`, `"0660"`, nil, 78},
		{"a mode for no group", memberSettings, "api.mode: socket mode not permitted: 0660 is for a group", `"0600"`, map[string]string{"WANDER_API_MODE": "0660"}, 78},
		{"a socket where its users cannot go", memberSettings + "[api]\nmode = \"0666\"\n", "api.socket: other users cannot enter the folder: ", "/run/wander/wander.sock", nil, 78},
		{"a hook that is not there", memberSettings + "[hooks]\non_lost = \"/no/such/hook\"\n", "hooks.on_lost: /no/such/hook is not an executable file: no such file or directory", "absolute path", nil, 78},
		{"a hook of the PATH", memberSettings, "hooks.on_grant: logger must be an absolute path", "only root or the daemon's user", map[string]string{"WANDER_HOOKS_ON_GRANT": "logger"}, 78},
		{"metrics", memberSettings + "[metrics]\nlisten = \"nowhere\"\n", "node.toml:9:10: metrics.listen: ", "127.0.0.1:9464", nil, 78},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.vars = c.vars
			b.write("node.toml", c.text)
			b.nodeFails(c.code, c.says, "node.toml")
			if c.hint != "" {
				assert.Contains(t, b.err.String(), "\nhint: ")
				assert.Contains(t, b.err.String(), c.hint)
			}
			assert.NoFileExists(t, filepath.Join("state", "wander.sock"))
		})
	}
	b.vars = nil
	b.nodeFails(78, "no such file", "nowhere.toml")
}

// A port that another program has is said to be that.
func TestNode_PortInUse_Refused(t *testing.T) {
	b := nodeBench(t, time.Now())
	other, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer other.Close()
	b.write("node.toml", listenAt(other.LocalAddr().String()))
	b.nodeFails(cli.ExitConfiguration, "\nhint: choose another port in listen.address", "node.toml")
}

// nodeFails is fails for a node that must not start.
func (b *caBench) nodeFails(code int, says, file string) {
	b.t.Helper()
	b.nodeEnds(code, file)
	assert.Contains(b.t, b.err.String(), says)
	assert.True(b.t, strings.HasPrefix(b.err.String(), "error: "), b.err.String())
}

// nodeEnds runs a node that must end by itself: one that does not would run on.
func (b *caBench) nodeEnds(code int, file string) {
	b.t.Helper()
	ended := make(chan int, 1)
	go func() { ended <- b.wander("node", "--config", file) }()
	select {
	case got := <-ended:
		assert.Equal(b.t, code, got, b.err.String())
	case <-time.After(time.Minute):
		require.FailNow(b.t, "the node runs, with "+file)
	}
}

// TestNode_Ineligible_Ends: code 79 if the member was revoked, after which systemd does not start it again, and 77 if its
// certificate has expired.
func TestNode_Ineligible_Ends(t *testing.T) {
	ends := func(t *testing.T, b *caBench, code int, says, hint string) {
		b.write("node.toml", memberSettings)
		b.nodeEnds(code, "node.toml")
		assert.Regexp(t, "(?m)^error: .*"+says+".*\nhint: "+hint, b.err.String())
	}
	t.Run("revoked", func(t *testing.T) {
		b := nodeBench(t, time.Now())
		b.must("ca", "revoke", "a")
		ends(t, b, cli.ExitGone, "revoked", "to rejoin, .*in another folder")
		b.fails(79, "revoked", "cert", "status", "--config", "node.toml")
		assert.Contains(t, b.out.String(), "state       revoked")
	})
	t.Run("expired", func(t *testing.T) {
		const longer = group.DefaultCertificateLifetime + time.Hour
		b := nodeBench(t, time.Now())
		b.now = b.now.Add(longer) // the node goes by the clock of its environment
		ends(t, b, cli.ExitNoPermission, "expired", "get an invite for the same name")
	})
}

func valueAt(s *settings, key string) any {
	return reflect.ValueOf(configfile.Place(s, key)).Elem().Interface()
}
